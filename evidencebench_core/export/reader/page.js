/** The reader where no Python listens: the marks of every system are there, and a click chooses between them. */
function showPaper() {
  const { hypothesis, views } = JSON.parse(document.getElementById("data")?.textContent ?? "");
  document.body.append(element("p", "hypothesis", hypothesis, { dir: "auto" }));
  const reader = new Reader(document.body);
  let shown = views[0];
  const draw = () => reader.update(shown, (name, event) => {
    if (event.kind === "system") shown = { ...views[0], ...views[event.system] };
    draw();
  });
  draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}

showPaper();
