// Draws the data of pages.py: a page of a PDF with boxes over its sentences. Text is only ever written with textContent.

function drawSheet(data, say) {
  const sheet = element("div", "sheet");
  sheet.style.width = data.zoom ? `${(data.width * Number(data.zoom)) / 75}px` : "100%"; // 96 pixels are 72 points
  sheet.style.aspectRatio = `${data.width} / ${data.height}`;
  const alt = `Page ${data.page} of ${data.n_pages}, as printed`;
  sheet.append(element("img", "", "", { alt, draggable: "false", src: data.src }));
  for (const { index, place, rects } of data.sentences) {
    const boxes = rects.map(([left, top, width, height]) => {
      const box = element("div", "box");
      Object.assign(box.style, { left: `${left}%`, top: `${top}%`, width: `${width}%`, height: `${height}%` });
      return box;
    });
    const label = data.beside.find((label) => label[3] === index);
    const parts = [...boxes];
    if (label) {
      const [side, top, text] = label;
      const attributes = { type: "button", "aria-label": `Passage ${text}`, "aria-pressed": String(index === data.selected) };
      const rank = element("button", `rank ${side}`, text, { ...attributes, "data-rank": String(index) });
      rank.style.top = `${top}%`;
      parts.push(rank);
    }
    for (const part of parts) {
      part.classList.toggle("picked", place !== null);
      part.classList.toggle("selected", index === data.selected);
      part.onclick = () => isSelecting(sheet) || say({ sentence: index });
      part.onmouseenter = part.onfocus = () => boxes.forEach((box) => box.classList.add("lit"));
      part.onmouseleave = part.onblur = () => boxes.forEach((box) => box.classList.remove("lit"));
    }
    sheet.append(...parts);
  }
  return sheet;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const scroll = parentElement.querySelector(".scroll");
  const focused = scroll.querySelector(":focus")?.dataset.rank;
  const shown = `${data.page} ${data.zoom} ${data.n_pages} ${data.width}`;
  const isNew = scroll.dataset.shown !== shown, moved = scroll.dataset.selected !== String(data.selected);
  const say = (event) => {
    scroll.classList.add("busy");
    setTriggerValue("event", event);
  };
  const sheet = drawSheet(data, say);
  const [left, top] = [scroll.scrollLeft, scroll.scrollTop];
  scroll.replaceChildren(sheet);
  Object.assign(scroll.dataset, { shown, selected: String(data.selected) });
  scroll.classList.remove("busy");
  scroll.setAttribute("aria-label", `Page ${data.page} of ${data.n_pages}`);
  scroll.scrollTo(isNew ? 0 : left, isNew ? 0 : top);
  if (isNew || moved) {
    const target = sheet.querySelector(".box.selected") ?? (isNew ? sheet.querySelector(".box.picked") : null);
    if (target && (isNew || target.offsetTop < top || target.offsetTop > top + scroll.clientHeight - 40)) {
      scroll.scrollTo(target.offsetLeft - scroll.clientWidth / 3, target.offsetTop - scroll.clientHeight / 3);
    }
  }
  scroll.querySelector(`[data-rank="${focused}"]`)?.focus({ preventScroll: true });

  const turn = (by) => {
    if (scroll.scrollWidth > scroll.clientWidth) return false; // there the arrows scroll
    if (data.page + by >= 1 && data.page + by <= data.n_pages) say({ page: data.page + by });
  };
  onKeys(scroll, [
    ["ArrowLeft ArrowRight", "previous, next page", (key) => turn(key === "ArrowLeft" ? -1 : 1)],
  ], { place: "On the page" });
}
