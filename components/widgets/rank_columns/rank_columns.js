// Draws the data of rank_columns. Text is only ever written with textContent.

const SPOKEN = { gold: "gold", missed: "gold, missed", both: "gold", picked: "", none: "" };
const SIGNS = { gold: "g", missed: "m", both: "b", picked: "p", none: "." };

/** One sentence in one column. */
function drawCard(index, sentence, side, names) {
  const [rank, other] = [sentence.ranks[side], sentence.ranks[1 - side]];
  const mark = sentence.marks[side];
  const card = element("button", `card ${mark}`, "", { "data-i": String(index), "data-side": String(side) });
  card.type = "button";
  card.title = sentence.text;
  const spoken = [
    rank ? `rank ${rank}` : "not ranked",
    sentence.picked[side] ? "picked" : "not picked",
    SPOKEN[mark],
    `${other ? `rank ${other}` : "not ranked"} with ${names[1 - side]}`,
    `sentence ${index}`,
  ];
  const head = element("span", "line");
  const place = element("span", "rank", rank ? String(rank) : "–");
  const sign = element("span", "mark");
  if (mark !== "none") sign.append(drawSign(SIGNS[mark], sentence.picked[side] ? "✓" : 0));
  const chips = element("span", "chips");
  for (const aspect of sentence.aspects) {
    const chip = element("span", "chip");
    chip.append(drawDot(aspect.place), element("span", "", aspect.label));
    if (aspect.text) chip.title = aspect.text;
    chips.append(chip);
  }
  head.setAttribute("aria-hidden", "true");
  head.append(place, sign, element("span", "index", `sentence ${index}`), chips);
  const covers = sentence.aspects.length ? `, covers ${sentence.aspects.map((one) => one.label).join(" ")}` : "";
  card.append(element("span", "spoken", `${spoken.filter(Boolean).join(", ")}${covers}: `), head);
  card.append(element("span", "text", sentence.text, { dir: "auto" }));
  return card;
}

/** A column of a group: the picks, then what the other picked. */
function drawColumn(indices, side, data) {
  const list = element("div", "column");
  list.setAttribute("role", "group");
  list.setAttribute("aria-label", data.names[side]);
  let picked = true;
  for (const index of indices) {
    const sentence = data.sentences[index];
    if (picked && !sentence.picked[side]) list.append(element("p", "cut", "not picked"));
    picked = sentence.picked[side];
    list.append(drawCard(index, sentence, side, data.names));
  }
  return list;
}

/** The lines of a group, from card to card. */
function drawLines(pair) {
  const svg = pair.querySelector(":scope > svg");
  const frame = pair.getBoundingClientRect();
  svg.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`);
  const at = (card) => {
    const box = card.querySelector(".line").getBoundingClientRect();
    return box.top + box.height / 2 - frame.top;
  };
  for (const path of svg.children) {
    const [left, right] = path.cards;
    const [x0, x1] = [left.getBoundingClientRect().right - frame.left, right.getBoundingClientRect().left - frame.left];
    const [y0, y1, bend] = [at(left), at(right), (x1 - x0) / 2];
    path.setAttribute("d", `M${x0} ${y0}C${x0 + bend} ${y0} ${x1 - bend} ${y1} ${x1} ${y1}`);
  }
}

function drawGroup(group, data) {
  const section = element("section", "group");
  if (group.title) section.append(element("p", "title", group.title));
  const pair = element("div", "pair");
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("aria-hidden", "true");
  const columns = group.columns.map((indices, side) => drawColumn(indices, side, data));
  for (const index of group.columns[0]) {
    const path = document.createElementNS(SVG, "path");
    const [a, b] = data.sentences[index].picked;
    path.setAttribute("class", a && b ? "same" : a ? "left" : "right");
    path.dataset.i = String(index);
    path.cards = columns.map((column) => column.querySelector(`[data-i="${index}"]`));
    svg.append(path);
  }
  pair.append(columns[0], svg, columns[1]);
  section.append(pair);
  return section;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".ranks");
  root.classList.toggle("dark", darkPage(root));
  const focused = root.querySelector(":focus")?.dataset; // what had the focus keeps it
  const heads = element("div", "names");
  heads.append(...data.names.map((name) => element("p", "name", name)));
  const groups = data.groups.map((group) => drawGroup(group, data));
  root.replaceChildren(...(groups.length ? [heads, ...groups] : [element("p", "", "Neither picked a sentence.")]));
  const pairs = [...root.querySelectorAll(".pair")];
  const redraw = () => pairs.forEach(drawLines);
  root.observer?.disconnect();
  root.observer = new ResizeObserver(redraw);
  for (const node of [root, ...pairs]) root.observer.observe(node);
  redraw();

  const all = (index) => root.querySelectorAll(`[data-i="${index}"]`);
  const light = (index) => {
    for (const node of root.querySelectorAll(".lit")) node.classList.remove("lit");
    if (index !== undefined) for (const node of all(index)) node.classList.add("lit");
  };
  for (const card of all(data.selected)) if (card.matches(".card")) card.setAttribute("aria-current", "true");
  for (const card of root.querySelectorAll(".card")) {
    card.onfocus = () => light(card.dataset.i);
    card.onblur = () => light();
  }
  if (focused?.i) root.querySelector(`.card[data-i="${focused.i}"][data-side="${focused.side}"]`)?.focus();
  const cardOf = (event) => event.target.closest?.(".card");
  const atFocus = () => root.querySelector(".card:focus")?.dataset.i; // stays lit where the pointer is on no card
  root.onpointerover = (event) => light(cardOf(event)?.dataset.i ?? atFocus());
  root.onpointerleave = () => light(atFocus());
  root.onclick = (event) => {
    const card = cardOf(event);
    if (!card) return;
    setTriggerValue("event", { sentence: Number(card.dataset.i) });
    // Where paper and columns stand below each other, the paper comes into view.
    if (innerWidth <= 640) document.querySelector(".st-key-paper-stays-in-sight")?.scrollIntoView();
  };
  root.onkeydown = (event) => {
    const card = cardOf(event);
    const side = card?.dataset.side;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    let next = null;
    if (card && step) {
      const column = [...root.querySelectorAll(`.card[data-side="${side}"]`)];
      next = column[column.indexOf(card) + step];
    } else if (card && event.key === (side === "0" ? "ArrowRight" : "ArrowLeft")) {
      next = root.querySelector(`.card[data-i="${card.dataset.i}"][data-side="${1 - side}"]`);
    }
    if (!next) return;
    event.preventDefault();
    next.focus();
  };
  return () => root.observer.disconnect();
}
