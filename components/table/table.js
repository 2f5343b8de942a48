// Draws the data of table.py. Text is only ever written with textContent.

const percent = (share) => `${(100 * share).toFixed(1)}%`;

/** Fills `td` with one value of a column. */
function fill(td, column, value) {
  if (value === null || value === undefined || value === "") {
    td.append(element("span", "none", "–"));
    return;
  }
  if (typeof value === "string" && (column.kind === "percent" || column.kind === "interval")) {
    td.textContent = value; // a range
  } else if (column.kind === "number") {
    td.textContent = Number(value).toLocaleString("en-US", {
      minimumFractionDigits: column.digits,
      maximumFractionDigits: column.digits,
      signDisplay: column.signed ? "exceptZero" : "auto",
    });
  } else if (column.kind === "percent") {
    td.textContent = percent(value);
  } else if (column.kind === "interval") {
    fillInterval(td, value);
  } else if (column.kind === "chips") {
    const chips = element("span", "chips");
    for (const chip of value) chips.append(chipButton(chip));
    td.append(chips);
  } else {
    td.dir = "auto";
    const text = column.lines ? element("span", "cut", value) : value;
    if (column.lines) text.style.webkitLineClamp = String(column.lines);
    td.append(text);
    if (column.lines || column.kind === "id") td.title = value;
  }
}

/** A share, its interval in figures, and both on a rule from 0 to 100%. */
function fillInterval(td, { value, low, high }) {
  td.append(element("span", "share", percent(value)));
  const known = low !== null && high !== null;
  if (known) td.append(element("span", "range", `${(100 * low).toFixed(1)}–${(100 * high).toFixed(1)}`));
  const rule = element("span", "rule");
  rule.setAttribute("aria-hidden", "true");
  if (known) {
    const bar = element("span", "bar");
    bar.style.left = `${100 * low}%`;
    bar.style.width = `${100 * (high - low)}%`;
    rule.append(bar);
  }
  const dot = element("span", "dot");
  dot.style.left = `${100 * value}%`;
  rule.append(dot);
  td.append(rule);
}

function chipButton(chip) {
  const kind = chip.number === null ? "sentence" : chip.filled ? "chip" : "chip hollow";
  const button = element("button", kind, chip.label);
  button.type = "button";
  button.dataset.chip = chip.target;
  if (chip.number !== null) button.style.setProperty("--chip", `var(--aspect-${chip.number % 8})`);
  if (chip.title) button.title = chip.title;
  return button;
}

function heading(column, data) {
  const th = element("th", column.kind);
  th.scope = "col";
  if (column.help) th.title = column.help;
  const sorted = data.sort === column.key;
  if (sorted) th.setAttribute("aria-sort", data.descending ? "descending" : "ascending");
  if (!column.sortable) {
    th.textContent = column.label;
    return th;
  }
  const button = element("button", "sort", column.label);
  button.type = "button";
  button.dataset.sort = column.key;
  const arrow = element("span", "arrow", sorted ? (data.descending ? "▼" : "▲") : "");
  arrow.setAttribute("aria-hidden", "true");
  button.append(arrow);
  th.append(button);
  return th;
}

/** A row; where a click on it means something, its first cell without chips is a link, or a button, that means the same. */
function bodyRow(row, data, chosen) {
  const tr = element("tr", row.muted ? "muted" : "");
  row.cells.forEach((value, position) => {
    const column = data.columns[position];
    const td = element("td", column.kind);
    td.dataset.label = column.label;
    fill(td, column, value);
    tr.append(td);
  });
  tr.classList.toggle("chosen", chosen.has(row.id));
  if (data.action === "none" || row.muted) return tr;
  tr.dataset.id = row.id;
  const kind = row.href ? ["a", { href: row.href, draggable: "false" }] : ["button", { type: "button" }];
  const way = element(kind[0], "way", "", kind[1]);
  if (data.action === "tick") way.setAttribute("aria-pressed", String(chosen.has(row.id)));
  const cell = [...tr.cells].find((td) => !td.classList.contains("chips"));
  way.append(...cell.childNodes);
  cell.append(way);
  return tr;
}

/** Where the page stood when a row was opened, by the table's key. */
const left = new Map();

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".table-root");
  const scroll = root.querySelector(".scroll")?.scrollTop ?? 0;
  const focused = root.querySelector("tr:has(:focus)")?.dataset.id;
  const chosen = new Set(data.chosen);
  root.classList.toggle("dark", darkPage(root));

  const frame = element("div", "scroll");
  if (data.height) frame.style.maxHeight = `${data.height}px`;
  const table = element("table", data.action === "none" ? "" : "active");
  if (data.caption) table.append(element("caption", "", data.caption));
  const thead = element("thead");
  const headings = element("tr");
  headings.append(...data.columns.map((column) => heading(column, data)));
  thead.append(headings);
  const tbody = element("tbody");
  tbody.append(...data.rows.map((row) => bodyRow(row, data, chosen)));
  table.append(thead, tbody);
  frame.append(data.rows.length ? table : element("p", "empty", data.empty));
  if (!frame.querySelector("a, button")) frame.tabIndex = 0; // to be scrolled by keys: nothing in it takes the focus
  root.replaceChildren(frame);
  const first = data.rows[0]?.id ?? "";
  if (root.dataset.first !== undefined && root.dataset.first !== first && root.getBoundingClientRect().top < 0) {
    root.scrollIntoView({ block: "start" }); // another page of rows begins at its beginning
  }
  frame.scrollTop = root.dataset.first === first ? scroll : 0;
  root.dataset.first = first;

  const page = document.querySelector('[data-testid="stMain"]');
  let opened = false;
  const send = (kind, value) => setTriggerValue("event", { kind, value });
  const wayOf = (row) => row?.querySelector(".way");
  const ways = [...tbody.rows].map(wayOf).filter(Boolean);
  root.onclick = (event) => {
    const chip = event.target.closest("[data-chip]");
    const sort = event.target.closest("[data-sort]");
    const row = event.target.closest("tr[data-id]");
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // another tab or window, where it is on the link
    if (row) event.preventDefault();
    if (chip) send("chip", chip.dataset.chip);
    else if (sort) send("sort", sort.dataset.sort);
    else if (row && !isSelecting(root)) {
      row.classList.add("pending");
      if (data.action === "open" && page) left.set(data.key, page.scrollTop);
      opened = data.action === "open";
      send(data.action, row.dataset.id);
    }
  };
  onKeys(root, [
    ["ArrowDown ArrowUp", "next, previous row", (key, target) => {
      const next = ways[ways.indexOf(target) + (key === "ArrowDown" ? 1 : -1)];
      return ways.includes(target) && next?.focus();
    }],
    ["Enter", "open or choose the row", () => false], // as a link and a button do
  ], { place: "In a table" });
  wayOf([...tbody.rows].find((row) => focused && row.dataset.id === focused))?.focus({ preventScroll: true });
  if (page && left.has(data.key)) {
    page.scrollTop = left.get(data.key);
    left.delete(data.key);
  }
  return () => {
    if (opened && page) page.scrollTop = 0; // what the row opened begins at its beginning
  };
}
