// Draws the data of findings.py. Text is only ever written with textContent.

function words(tag, className, text) {
  const node = element(tag, className, text);
  node.dir = "auto";
  return node;
}

/** A sentence in pieces, of which the words of the statement are underlined, and whether it is for or against it. */
function sentenceOf(sentence, stanceWords) {
  const node = words("span", sentence.is_pick ? "said" : "around", "");
  for (const [text, isShared] of sentence.pieces) node.append(isShared ? element("u", "", text) : text);
  if (sentence.stance) node.append(" ", element("b", `stance ${sentence.stance}`, stanceWords[sentence.stance]));
  return node;
}

/** One passage: its number and place, the picked sentences among those between them, what they point at, and why. */
function row(passage, selected, stances) {
  const item = element("div", "pick");
  item.dataset.sentence = String(passage.index);
  item.tabIndex = 0;
  item.setAttribute("role", "button");
  item.setAttribute("aria-pressed", String(passage.picks.includes(selected)));
  const body = element("div", "body");
  const text = element("p", "text");
  for (const sentence of passage.sentences) text.append(sentenceOf(sentence, stances), " ");
  body.append(words("div", "where", passage.place), text);
  for (const { label, caption } of passage.floats) {
    const line = words("p", "float", "");
    line.append(element("b", "", label), ` ${caption}`);
    body.append(line);
  }
  if (passage.why) body.append(words("p", "why", passage.why));
  item.append(words("span", "place", String(passage.number)), body);
  const line = element("li");
  line.append(item);
  return line;
}

/** A model's answer: its verdict, and sentences with a button for each that they cite. */
function answerRows({ answer, model, cited }, selected) {
  const head = words("li", "group", `What ${model} says of the paper`);
  const item = words("li", "answer", answer.problem || `Verdict on the statement: ${answer.verdict}`);
  for (const sentence of answer.sentences) {
    const line = words("p", "text", sentence.text);
    for (const index of sentence.citations) {
      const cite = element("button", "cite", String(index), { type: "button", title: cited[index], "aria-pressed": String(index === selected) });
      cite.dataset.sentence = String(index);
      line.append(" ", cite);
    }
    for (const index of sentence.unknown) line.append(" ", element("b", "stance", `[${index}]: not in this paper`));
    const more = sentence.n_unknown - sentence.unknown.length;
    if (more > 0) line.append(` and ${more.toLocaleString()} more that are not`);
    item.append(line);
  }
  return [head, item];
}

export default function ({ data, parentElement, setTriggerValue }) {
  const list = parentElement.querySelector(".findings");
  list.classList.toggle("dark", darkPage(list));
  list.classList.toggle("large", data.large);
  const selected = chosenIn(list, data.selected);
  const rows = data.answer ? answerRows(data, selected) : [];
  for (const [place, passage] of data.passages.entries()) {
    const isOther = passage.is_abstract !== data.passages[place - 1]?.is_abstract;
    if (isOther) rows.push(words("li", "group", passage.is_abstract ? "What the abstract says" : "In the paper itself"));
    rows.push(row(passage, selected, data.stances));
  }
  list.replaceChildren(...rows);
  if (!data.passages.length) list.append(words("li", "empty", "No sentence was picked."));
  const items = [...list.querySelectorAll(".pick")];
  const choose = (item) => {
    for (const other of list.querySelectorAll("[aria-pressed]")) other.setAttribute("aria-pressed", String(other === item));
    const sentence = Number(item.dataset.sentence);
    setChosen(list, sentence);
    setTriggerValue("event", { sentence });
  };
  list.onclick = (event) => {
    const item = event.target.closest("[data-sentence]");
    if (item && !isSelecting(list)) choose(item);
  };
  const go = (by) => {
    const at = items.findIndex((item) => item.getAttribute("aria-pressed") === "true");
    const next = items.at(at < 0 && by < 0 ? -1 : (at + by) % items.length);
    choose(next);
    next.scrollIntoView({ block: "nearest" });
  };
  onKeys(list, [
    ["n p", "next, previous passage", (key) => items.length > 0 && go(key === "n" ? 1 : -1)],
    ["Enter Space", "show the passage in the paper", (_, target) => items.includes(target) && choose(target)],
  ], { place: "In the list of passages", main: true });
}
