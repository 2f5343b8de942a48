// Draws the data of picks_list.py. Text is only ever written with textContent.

/** An element with text that reads in its own direction. */
function words(tag, className, text) {
  const node = element(tag, className, text);
  node.dir = "auto";
  return node;
}

/** One pick: its place and section, the sentence among its neighbours, why, and who else. */
function row(pick, data) {
  const item = element("div", "pick");
  item.dataset.sentence = String(pick.index);
  item.tabIndex = 0;
  item.setAttribute("role", "button");
  const placeName = data.plain ? pick.section : `sentence ${pick.index}, ${pick.section}`;
  const page = pick.page ? `page ${pick.page}` : "";
  item.setAttribute("aria-label", `${pick.place}. ${placeName}${page && `, ${page}`}: ${pick.text}. Show it in the paper.`);
  item.setAttribute("aria-pressed", String(pick.index === data.selected));
  const place = words("span", "place", String(pick.place));
  const body = element("div", "body");
  const where = element("div", "where");
  where.append(words("span", "section", pick.section));
  if (page) where.append(words("span", "page", page));
  if (!data.plain) where.append(words("span", "index", String(pick.index)));
  if (pick.others) where.append(words("span", "others", `also ${pick.others}`));
  const text = element("p", "text");
  if (pick.before) text.append(words("span", "around", pick.before), " ");
  text.append(words("span", "said", pick.text));
  if (pick.after) text.append(" ", words("span", "around", pick.after));
  body.append(where, text);
  if (pick.verdict) body.append(words("p", "verdict", pick.verdict));
  const why = `Why: ${pick.why.charAt(0).toLowerCase()}${pick.why.slice(1)}.`.replace(/([.!?…])\.$/, "$1");
  if (pick.why) body.append(words("p", "why", data.plain ? pick.why : why));
  item.append(place, body);
  const line = element("li");
  line.append(item);
  return line;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const list = parentElement.querySelector(".picks");
  const top = list.scrollTop;
  list.classList.toggle("dark", darkPage(list));
  list.replaceChildren(...data.picks.map((pick) => row(pick, data)));
  if (!data.picks.length) list.append(words("li", "empty", data.empty));
  list.scrollTop = top;

  const choose = (target) => {
    const item = target.closest?.(".pick");
    if (!item || String(window.getSelection())) return false;
    for (const other of list.querySelectorAll(".pick")) other.setAttribute("aria-pressed", String(other === item));
    setTriggerValue("event", { sentence: Number(item.dataset.sentence) });
    // Where paper and list stand below each other, the paper comes into view.
    if (innerWidth <= 640) document.querySelector(".st-key-paper-stays-in-sight")?.scrollIntoView();
    return true;
  };
  list.onclick = (event) => choose(event.target);
  list.onkeydown = (event) => {
    if ((event.key === "Enter" || event.key === " ") && choose(event.target)) event.preventDefault();
    const next = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    const target = next && event.target.closest?.("li")?.[next]?.querySelector(".pick");
    if (target) {
      event.preventDefault();
      target.focus();
    }
  };
}
