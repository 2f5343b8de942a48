// @ts-check
/** A published page: a paper in the reader, whose address names a sentence; or the list of papers, to search in. */
async function showPublished() {
  const packed = document.getElementById("data")?.textContent ?? "";
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const views = JSON.parse(await new Response(stream).text());
  const main = document.body.querySelector("main") ?? document.body;
  main.replaceChildren();
  const linked = () => {
    const index = Number(/^#s(\d+)$/.exec(location.hash)?.[1] ?? NaN);
    return index < views[0].texts.length ? index : null;
  };
  const show = showPaper(main, views, ({ selected }) => {
    if (selected !== linked()) location.replace(selected === null ? "#" : `#s${selected}`);
  });
  show({ selected: linked() });
  addEventListener("hashchange", () => show({ selected: linked() }));
}

/** Only the papers with every word in their row. @param {HTMLInputElement} field */
function searchPapers(field) {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = [...document.querySelectorAll("#papers tbody tr")];
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
  }
  document.getElementById("count").textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length}`;
}

const search = /** @type {HTMLInputElement|null} */ (document.getElementById("search"));
search?.addEventListener("input", () => searchPapers(search));
if (document.getElementById("data")) showPublished();
