/**
 * The reader where no Python listens: the marks of every system are there, and a click chooses between them.
 * On a page that can be linked to, `linked` is the sentence that the address names.
 */
function showPaper(parent, views, linked = null) {
  const reader = new Reader(parent);
  let shown = { ...views[0], selected: linked?.() ?? null };
  const draw = () => reader.update(shown, (_, { kind, system, sentence, aspect }) => {
    shown = { ...shown, ...(kind === "system" ? { ...views[0], ...views[system] } : {}), selected: sentence, aspect };
    if (linked && sentence !== linked()) location.replace(sentence === null ? "#" : `#s${sentence}`);
    draw();
  });
  draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  addEventListener("hashchange", () => {
    if (!linked || linked() === shown.selected) return;
    shown = { ...shown, selected: linked() };
    draw();
  });
}
