// Draws the data of pair_map/__init__.py. Text is only ever written with textContent.
export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".pair-map");
  const focused = root.querySelector("button:focus")?.dataset.place;
  const table = element("table");
  table.append(element("caption", "", data.caption));
  const header = element("tr");
  header.append(element("td"));
  const rows = data.names.map(({ label, short }, number) => {
    header.append(element("th", "", String(number + 1), { scope: "col", title: label }));
    const row = element("tr");
    const name = element("th", "", short, { scope: "row", title: label });
    name.append(element("b", "", String(number + 1)));
    row.append(name, ...data.names.map(() => element("td")));
    return row;
  });
  table.append(header, ...rows);
  for (const { place, text, title, colour, ink, sure, chosen, turned } of data.squares) {
    const square = element("button", sure ? "sure" : "", text, { type: "button", title, "aria-pressed": String(chosen) });
    square.dataset.place = place.join();
    square.style.background = colour;
    square.style.color = ink;
    square.onclick = () => setTriggerValue("event", place);
    const cell = rows[place[0]].cells[place[1] + 1];
    cell.className = chosen ? "chosen" : turned ? "turned" : "";
    cell.append(square);
  }
  root.replaceChildren(table);
  if (focused) root.querySelector(`[data-place="${focused}"]`)?.focus();
}
