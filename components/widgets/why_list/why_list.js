// Draws the data of why_list.py. Text is only ever written with textContent.

const signed = (amount) => `${amount < 0 ? "−" : "+"}${Math.abs(amount).toFixed(2)}`;
const sum = (amounts) => amounts.reduce((total, amount) => total + amount, 0);

function coloured(node, bar) {
  if (bar.hue >= 0) node.style.setProperty("--hue", `var(--aspect-${bar.hue % 8})`);
  if (bar.hue >= 8) node.classList.add("hatched");
  if (bar.adds < 0) node.classList.add("takes");
  return node;
}

/** All groups of a pick on one line: what they add to the right of the zero, what they take to the left. */
function strip(why, reach) {
  const line = element("div", "strip");
  line.setAttribute("role", "img");
  line.setAttribute("aria-label", why.groups.map((bar) => `${bar.label} ${signed(bar.adds)}`).join(", "));
  const width = reach.below + reach.above || 1;
  const places = { left: reach.below, right: reach.below };
  const zero = element("span", "zero");
  zero.style.left = `${(100 * reach.below) / width}%`;
  for (const bar of why.groups) {
    const part = coloured(element("span", "part"), bar);
    if (bar.adds < 0) places.left += bar.adds;
    part.style.left = `${(100 * (bar.adds < 0 ? places.left : places.right)) / width}%`;
    part.style.width = `${(100 * Math.abs(bar.adds)) / width}%`;
    part.title = `${bar.label} ${signed(bar.adds)}`;
    if (bar.adds >= 0) places.right += bar.adds;
    line.append(part);
  }
  line.append(zero);
  return line;
}

/** A table with a bar a line. */
function bars(caption, list, reach, withValue) {
  const table = element("table", withValue ? "features" : "groups");
  table.append(element("caption", "", caption));
  const width = reach.below + reach.above || 1;
  for (const bar of list) {
    const row = element("tr", "");
    const name = element("th", "", bar.label);
    name.scope = "row";
    if (bar.hue >= 0) name.prepend(coloured(element("span", "key"), bar));
    row.append(name);
    if (withValue) row.append(element("td", "value", bar.value));
    const drawn = element("td", "bar");
    const line = element("span", "line");
    const part = coloured(element("span", "part"), bar);
    part.style.left = `${(100 * (reach.below + Math.min(bar.adds, 0))) / width}%`;
    part.style.width = `${(100 * Math.abs(bar.adds)) / width}%`;
    const zero = element("span", "zero");
    zero.style.left = `${(100 * reach.below) / width}%`;
    line.append(part, zero);
    drawn.append(line);
    row.append(drawn, element("td", "adds", signed(bar.adds)));
    table.append(row);
  }
  return table;
}

/** How far the bars of a list go below and above zero. */
function reachOf(lists) {
  const reach = { below: 0, above: 0 };
  for (const bar of lists.flat()) {
    reach.below = Math.max(reach.below, -bar.adds);
    reach.above = Math.max(reach.above, bar.adds);
  }
  return reach;
}

function detail(why) {
  const body = element("div", "detail");
  body.append(bars("Added to the score, by group (SD over the paper)", why.groups, reachOf([why.groups]), false));
  if (why.features.length)
    body.append(
      bars("The features that counted most: value, and what it added", why.features, reachOf([why.features]), true),
    );
  return body;
}

function row(why, data, reach, open) {
  const item = element("li", "why");
  const head = element("div", "head");
  if (!data.opened) {
    const chip = element("button", "sentence", String(why.index));
    chip.type = "button";
    chip.dataset.sentence = String(why.index);
    chip.title = why.text;
    chip.setAttribute("aria-label", `Pick ${why.number}, sentence ${why.index}: show it in the paper`);
    head.append(element("span", "number", `${why.number}.`), chip);
  }
  const said = element("div", "said");
  said.append(element("p", "reason", why.reason), element("p", "coverage", why.coverage));
  head.append(said);
  item.append(head);
  if (data.opened) {
    item.append(detail(why));
    return item;
  }
  const more = element("details", "more");
  more.open = open.has(why.index);
  more.dataset.index = String(why.index);
  const summary = element("summary", "", "");
  const most = why.groups.filter((bar) => bar.adds > 0).slice(0, 3);
  const legend = element("span", "legend");
  for (const bar of most) {
    const entry = element("span", "entry", `${bar.label} ${signed(bar.adds)}`);
    entry.prepend(coloured(element("span", "key"), bar));
    legend.append(entry);
  }
  summary.append(strip(why, reach), legend);
  more.append(summary, detail(why));
  item.append(more);
  return item;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const list = parentElement.querySelector(".whys");
  const top = list.scrollTop;
  const open = new Set([...list.querySelectorAll("details[open]")].map((node) => Number(node.dataset.index)));
  list.classList.toggle("dark", darkPage(list));
  list.classList.toggle("alone", data.opened);
  list.style.maxHeight = data.height ? `${data.height}px` : "";
  const adds = data.whys.map((why) => why.groups.map((bar) => bar.adds));
  const reach = {
    below: Math.max(0, ...adds.map((all) => -sum(all.filter((one) => one < 0)))),
    above: Math.max(0, ...adds.map((all) => sum(all.filter((one) => one > 0)))),
  };
  list.replaceChildren(...data.whys.map((why) => row(why, data, reach, open)));
  list.scrollTop = top;
  list.onclick = (event) => {
    const chip = event.target.closest?.("[data-sentence]");
    if (!chip) return;
    setTriggerValue("event", { sentence: Number(chip.dataset.sentence) });
    // Where paper and list stand below each other, the paper comes into view.
    if (innerWidth <= 640) document.querySelector(".st-key-paper-stays-in-sight")?.scrollIntoView();
  };
}
