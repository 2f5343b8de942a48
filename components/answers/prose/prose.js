// Draws the data of prose/__init__.py. Text is only ever written with textContent.

const spoken = (look) => `${look.sign} ${look.words}`;

function button(sentence, citation, chosen) {
  const { human, judge } = citation;
  const differ = judge && judge.tone !== human.tone;
  const said = judge ? `people: ${human.words}; judge: ${judge.words}` : human.words;
  const node = element("button", `cite ${(judge ?? human).tone}${differ ? " differ" : ""}`, "", {
    type: "button", title: said, "aria-label": `${citation.document}: ${said}`, "aria-pressed": String(chosen),
  });
  node.dataset.document = citation.document;
  node.append(element("span", "name", citation.document), element("span", "sign", human.sign));
  if (judge) node.append(element("span", "sign judge", judge.sign));
  return node;
}

function row(sentence, chosen, document) {
  const here = sentence.id === chosen;
  const item = element("li", `one ${sentence.mark?.tone ?? "none"}${here ? " here" : ""}`, "", { tabindex: "-1" });
  item.dataset.id = sentence.id;
  item.dataset.problem = sentence.problem ? "1" : "";
  const margin = element("button", "margin", "", {
    type: "button", title: sentence.mark ? spoken(sentence.mark) : "", "aria-pressed": String(here),
    "aria-label": `Sentence ${sentence.id}${sentence.mark ? `, ${sentence.mark.words}` : ""}`,
  });
  margin.append(element("span", "number", sentence.id), element("span", "sign", sentence.mark?.sign ?? ""));
  const body = element("div", "body");
  const text = element("p", "text", sentence.text);
  body.append(text);
  if (sentence.citations.length) {
    const cites = element("span", "cites");
    cites.append(...sentence.citations.map((one) => button(sentence, one, here && one.document === document)));
    text.append(" ", cites);
  }
  if (sentence.note) body.append(element("p", "note", sentence.note));
  item.append(margin, body);
  return item;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const list = parentElement.querySelector(".prose");
  const hadFocus = list.contains(list.getRootNode().activeElement);
  list.classList.toggle("dark", darkPage(list));
  const [chosen, document] = JSON.parse(chosenIn(list, JSON.stringify([data.chosen, data.document])));
  list.replaceChildren(...data.sentences.map((one) => row(one, chosen, document)));
  const rows = [...list.children];
  let place = Math.max(0, rows.findIndex((one) => one.dataset.id === chosen));

  const choose = (next, cited = "") => {
    rows[place]?.classList.remove("here");
    place = next;
    rows[place].classList.add("here");
    rows[place].focus({ preventScroll: true });
    rows[place].scrollIntoView({ block: "nearest" });
    setChosen(list, JSON.stringify([rows[place].dataset.id, cited]));
    setTriggerValue("event", { sentence: rows[place].dataset.id, document: cited });
    // Where answer and document stand below each other, the document comes into view.
    if (cited && innerWidth <= 640) window.document.querySelector(".st-key-answers-unit")?.scrollIntoView();
  };
  const step = (by, isWanted) => {
    let next = place + by;
    while (rows[next] && !isWanted(rows[next])) next += by;
    if (rows[next]) choose(next);
  };
  if (hadFocus) rows[place]?.focus({ preventScroll: true });
  list.onclick = (event) => {
    const item = event.target.closest(".one");
    if (item && !isSelecting(list)) choose(rows.indexOf(item), event.target.closest("[data-document]")?.dataset.document);
  };
  onKeys(list, [
    ["j k", "next, previous sentence", (key) => step(key === "j" ? 1 : -1, () => true)],
    ["n N", "next, previous sentence that is not supported", (key) => step(key === "n" ? 1 : -1, (one) => one.dataset.problem)],
  ], { place: "In the answer", main: true });
}
