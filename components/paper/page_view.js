// Draws the data of pages.py: a page of a PDF with boxes over its sentences. Text is only ever written with textContent.

/** What stays while pages come and go: the bar, and the part that scrolls. */
function frame(root) {
  const bar = element("div", "bar", "", { role: "group", "aria-label": "Pages" });
  const button = (key, text, label) => element("button", "step", text, { type: "button", "data-key": key, "aria-label": label, title: label });
  const number = element("input", "number", "", { type: "number", min: "1", "aria-label": "Page", "data-key": "number" });
  const zoom = element("select", "zoom", "", { "aria-label": "Zoom", "data-key": "zoom" });
  const turn = element("span", "turn");
  turn.append(button("previous", "‹", "Previous page"), number, element("span", "of"), button("next", "›", "Next page"));
  bar.append(turn, zoom, element("span", "marked", "", { role: "group", "aria-label": "Pages with picks" }));
  root.append(bar, element("div", "scroll", "", { tabindex: "0", role: "region" }));
}

function drawSheet(data, choose) {
  const sheet = element("div", "sheet");
  sheet.style.width = data.zoom ? `${(data.width * Number(data.zoom)) / 75}px` : "100%"; // 96 pixels are 72 points
  sheet.style.aspectRatio = `${data.width} / ${data.height}`;
  const picture = element("img", "", "", { alt: `Page ${data.page} of ${data.n_pages}, as printed`, draggable: "false" });
  picture.src = data.src;
  sheet.append(picture);
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
      const rank = element("button", `rank ${side}`, text, { type: "button", "aria-label": `Passage ${text}`, "aria-pressed": String(index === data.selected), "data-key": `rank-${index}` });
      rank.style.top = `${top}%`;
      parts.push(rank);
    }
    for (const part of parts) {
      part.classList.toggle("picked", place !== null);
      part.classList.toggle("selected", index === data.selected);
      part.onclick = () => choose(index);
      part.onmouseenter = part.onfocus = () => boxes.forEach((box) => box.classList.add("lit"));
      part.onmouseleave = part.onblur = () => boxes.forEach((box) => box.classList.remove("lit"));
    }
    sheet.append(...parts);
  }
  return sheet;
}

/** How many picks stand on which page, as buttons. */
function drawMarked(data, list, go) {
  const counts = new Map();
  for (const [, page] of data.picks) counts.set(page, (counts.get(page) ?? 0) + 1);
  list.replaceChildren(...(counts.size ? [element("span", "", "Picks on page")] : []));
  for (const [page, count] of [...counts].sort((a, b) => a[0] - b[0])) {
    const button = element("button", "", String(page), {
      type: "button", "data-key": `page-${page}`, "aria-current": page === data.page ? "page" : "false",
      "aria-label": `Page ${page}, ${count} ${count === 1 ? "pick" : "picks"}`, title: count === 1 ? "1 pick" : `${count} picks`,
    });
    button.onclick = () => go(page);
    list.append(button);
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".page-view");
  if (!root.firstChild) frame(root);
  const focused = root.querySelector(":focus")?.dataset.key;
  const scroll = root.querySelector(".scroll");
  const say = (event) => {
    root.classList.add("busy");
    setTriggerValue("event", event);
  };
  const go = (page) => {
    if (page >= 1 && page <= data.n_pages && page !== data.page) say({ page });
  };
  const choose = (sentence) => {
    if (!String(window.getSelection())) say({ sentence });
  };

  const shown = `${data.page} ${data.zoom} ${data.n_pages} ${data.width}`;
  const isNew = root.dataset.shown !== shown, moved = root.dataset.selected !== String(data.selected);
  Object.assign(root.dataset, { shown, selected: String(data.selected) });
  root.classList.remove("busy");

  const [previous, next] = root.querySelectorAll(".step");
  previous.disabled = data.page <= 1;
  next.disabled = data.page >= data.n_pages;
  previous.onclick = () => go(data.page - 1);
  next.onclick = () => go(data.page + 1);
  const number = root.querySelector(".number");
  Object.assign(number, { value: String(data.page), max: String(data.n_pages) });
  number.onchange = () => {
    go(Math.round(Number(number.value)));
    number.value = String(data.page);
  };
  root.querySelector(".of").textContent = `of ${data.n_pages}`;
  const zoom = root.querySelector(".zoom");
  zoom.replaceChildren(...data.zooms.map((value) => element("option", "", value ? `${value}%` : "Fit width", { value })));
  zoom.value = data.zoom;
  zoom.onchange = () => say({ zoom: zoom.value });
  drawMarked(data, root.querySelector(".marked"), go);

  const sheet = drawSheet(data, choose);
  const [left, top] = [scroll.scrollLeft, scroll.scrollTop];
  scroll.replaceChildren(sheet);
  scroll.setAttribute("aria-label", `Page ${data.page} of ${data.n_pages}`);
  scroll.scrollTo(isNew ? 0 : left, isNew ? 0 : top);
  if (isNew || moved) {
    const target = sheet.querySelector(".box.selected") ?? (isNew ? sheet.querySelector(".box.picked") : null);
    if (target && (isNew || target.offsetTop < top || target.offsetTop > top + scroll.clientHeight - 40)) {
      scroll.scrollTo(target.offsetLeft - scroll.clientWidth / 3, target.offsetTop - scroll.clientHeight / 3);
    }
  }
  root.querySelector(`[data-key="${focused}"]`)?.focus({ preventScroll: true });

  // The arrows turn pages where nothing scrolls sideways.
  root.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches?.("input, select")) return;
    const turn = scroll.scrollWidth > scroll.clientWidth ? undefined : { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!turn) return;
    go(data.page + turn);
    event.preventDefault();
  };
}
