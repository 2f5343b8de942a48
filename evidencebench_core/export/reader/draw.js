/**
 * What the reader is drawn with: small pieces of DOM and the words that go with them.
 * All text is set with textContent, so nothing in a paper is ever markup.
 *
 * The data, as `view_data` makes them:
 *   `types`: t title, f rest of the title block, h heading, s lesser heading, a abstract, p text;
 *   `marks`: . none, g gold, p picked, b both, m missed, o proposed; both have one letter a sentence;
 *   `words`: by sentence what it shares with the hypothesis: from, to (characters), weight.
 */

/** Letter -> name, what it is called in the legend after the number of gold sentences, and what it means. */
const MARKS = {
  g: ["gold", "already covered", "Covers an aspect; not picked, but picks cover all that it covers"],
  p: ["picked", "Picked, not gold", "Picked, and covers no aspect"],
  b: ["both", "picked", "Picked, and covers an aspect"],
  m: ["missed", "missed", "Covers an aspect that no pick covers"],
  o: ["proposed", "Proposed", "Proposed by a model, and not marked"],
};
const HEADINGS = "tfhs";
const LETTERS = "ABC";
const SVG = "http://www.w3.org/2000/svg";
const DOTS = [
  "M5 .4a4.6 4.6 0 0 1 0 9.2a4.6 4.6 0 0 1 0-9.2z",
  "M.5 .5h9v9h-9z",
  "M5 .3 10 9.5H0z",
  "M5 .2 9.8 5 5 9.8 .2 5z",
  "M5 1.4a3.6 3.6 0 0 1 0 7.2a3.6 3.6 0 0 1 0-7.2z",
];
const markName = (letter) => MARKS[letter]?.[0] ?? "none";

function ordinal(n) {
  const teen = n % 100 > 10 && n % 100 < 14;
  return n + ((!teen && ["th", "st", "nd", "rd"][n % 10]) || "th");
}

/** A shape in a square of ten by ten. */
function drawShape(className, path) {
  const [svg, shape] = ["svg", "path"].map((tag) => document.createElementNS(SVG, tag));
  svg.setAttribute("class", className);
  svg.setAttribute("viewBox", "0 0 10 10");
  shape.setAttribute("d", path);
  svg.append(shape);
  return svg;
}

/** The sign of a mark: a diamond for gold, hollow if missed, a pill with the rank for a pick. */
function drawSign(letter, rank) {
  if ("gmo".includes(letter)) return drawShape(`sign ${markName(letter)}`, "M5 .6 9.4 5 5 9.4 .6 5z");
  return element("i", `sign ${markName(letter)}`, rank ? String(rank) : "");
}

/** An aspect's dot: eight colours, and another shape where they start over. */
function drawDot(position) {
  const shape = Math.floor(position / 8) % DOTS.length;
  const dot = drawShape(shape === DOTS.length - 1 ? "dot ring" : "dot", DOTS[shape]);
  dot.style.setProperty("--dot", `var(--aspect-${position % 8})`);
  return dot;
}

/** What readers noted on a sentence: a flag, or a speech bubble, with their words on hover and to screen readers. */
function drawNote({ sentence, words, flagged }) {
  const what = flagged ? "flagged" : "commented";
  const sign = element("span", "note", "", { id: `n${sentence}`, role: "img", "aria-label": `${what}: ${words}` });
  sign.title = words;
  sign.append(drawShape("", flagged ? "M1.6 0H2.8V.9H9.4L7.4 3.4 9.4 5.9H2.8V10H1.6z" : "M.4 .8H9.6V7H5.2L2.6 9.6V7H.4z"));
  return sign;
}

function drawChip(aspect, position, inStrip) {
  const chip = element("button", "chip", "", { "data-a": String(position), "aria-pressed": "false" });
  chip.tabIndex = inStrip ? 0 : -1;
  chip.append(drawDot(position), element("span", "", aspect.label));
  if (inStrip && aspect.result) chip.append(element("small", "", "result"));
  return chip;
}

/** One sentence of the page, without any mark. */
function drawSentence(words, index, type) {
  const row = element("li", `s type-${type}`, "", {
    role: "listitem",
    "data-i": String(index),
    "aria-labelledby": `m${index} t${index}`,
  });
  const icon = element("span", "icon", "", { id: `m${index}`, role: "img" });
  const text = element("div", "t", "", { dir: "auto" });
  const said = element("span", "", words, { id: `t${index}` });
  const chips = element("span", "chips", "", { dir: "ltr" });
  const others = element("span", "others");
  row.tabIndex = index ? -1 : 0;
  if (HEADINGS.includes(type)) {
    said.setAttribute("role", "heading");
    said.setAttribute("aria-level", type === "t" || type === "h" ? "2" : "3");
  }
  text.append(said, chips);
  row.append(element("span", "no", String(index)), icon, text, others);
  return { row, icon, said, chips, others, mark: "", rank: -1, top: 0, height: 0 };
}

/** A sentence's text with its shared words underlined, the thicker the more each weighs;
 * `most` is the paper's largest weight, `by` what the weights add up to. */
function drawWords(text, spans, most, by) {
  const letters = [...text]; // Python counts characters, not halves of them
  const total = spans.reduce((sum, [, , weight]) => sum + weight, 0);
  let at = 0;
  const parts = spans.flatMap(([from, to, weight]) => {
    const level = by ? Math.min(Math.max(Math.ceil((3 * weight) / most), 1), 3) : 2;
    const word = element("span", `word weight-${level}`, letters.slice(from, to).join(""));
    if (by) word.title = `adds ${weight.toFixed(2)} to the sentence's ${by} score, ${total.toFixed(2)}`;
    const before = letters.slice(at, from).join("");
    at = to;
    return [before, word];
  });
  return [...parts, letters.slice(at).join("")];
}

/** Facts of an aspect, and its text where the data has it. */
function aspectWords(aspect) {
  const size = aspect.sentences.length;
  const state = aspect.covered ? "covered by the picks" : "missed by the picks";
  const facts = [
    aspect.label,
    aspect.result ? "result aspect" : "aspect",
    `${size} sentence${size === 1 ? "" : "s"}`,
    aspect.focus ? (aspect.covered === null ? "" : state) : "not asked for by this task",
  ];
  return { facts: facts.filter(Boolean).join(" · "), text: aspect.text ?? "" };
}

/** "sentence 12, gold, picked 3rd, covers A1 A4" */
function spokenMark(index, { mark, rank }, labels, by) {
  return [
    `sentence ${index}`,
    mark === "b" || mark === "g" ? (by ? `marked by ${by}` : "gold") : mark === "m" ? "missed" : mark === "o" ? "proposed" : "",
    rank ? `picked ${ordinal(rank)}` : "",
    labels.length ? `covers ${labels.join(" ")}` : "",
  ].filter(Boolean).join(", ");
}

/** A mark in the legend, which leads to the next of its kind. */
function drawKey(letter, count, label = MARKS[letter][1], meaning = MARKS[letter][2]) {
  const key = element("button", `key ${markName(letter)}`, "", { "data-jump": letter });
  const sign = drawSign(letter, 1);
  sign.setAttribute("aria-hidden", "true");
  key.title = `${meaning}. Click for the next one.`;
  key.disabled = !count;
  key.append(sign, element("span", "", label), " ", element("b", "", String(count)));
  return key;
}

/** How many sentences are gold, before what became of them. */
function drawTotal(count, by) {
  const total = element("span", "total", by ? `Marked by ${by}` : "Gold");
  total.append(element("b", "", String(count)));
  return total;
}

/** The one mark of a page for readers who are no researchers. */
function drawPlainKey(count) {
  const key = drawKey("p", count, `${count} sentence${count === 1 ? "" : "s"} marked`, "Found in the paper");
  key.lastChild.remove();
  return key;
}

/** A system's letter and name. */
function drawSystem({ name }, place, active) {
  const pressed = { "data-system": String(place), "aria-pressed": String(active) };
  const button = element("button", "system", "", pressed);
  button.title = active ? `${name}: its picks are marked` : `Mark the picks of ${name}`;
  button.append(element("b", "", LETTERS[place]), element("span", "", name));
  return button;
}
