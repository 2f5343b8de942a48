// Shared by the components: it stands before each one's own script. Text is only ever written with textContent.

/** An element with a class, text and attributes. */
function element(tag, className = "", text = "", attributes = {}) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text) node.textContent = text;
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

/** Whether the page behind `node` is dark, by the luminance of the theme's background. */
function darkPage(node) {
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  if (!probe) return false;
  probe.fillStyle = "#fff";
  probe.fillStyle = getComputedStyle(node).getPropertyValue("--st-background-color").trim(); // no colour leaves it white
  probe.fillRect(0, 0, 1, 1);
  const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b < 110;
}

/** Whether a click ends a drag over text that is to be copied. */
function isSelecting(node) {
  const selection = node.getRootNode().getSelection?.() ?? document.getSelection();
  return Boolean(selection && !selection.isCollapsed);
}

/** What has the keys for itself while the focus is in it: to type in, to choose from, or over the page. */
const TYPING = "input:not([type=checkbox], [type=radio]), textarea, select, [role=listbox], [role=dialog], dialog, [contenteditable]:not([contenteditable=false])";
const SIGNS = { ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc" };
/** The components that have keys; the listener is that of whichever came first. */
const keyOwners = (window.evidencebenchKeyOwners ??= listenForKeys());
/** Where `evidencebenchKeys` is "off" once single keys are turned off. */
let settings = {};
try {
  settings = localStorage;
} catch {} // a notebook's frame has none

/**
 * Gives the component of `root` keys: rows of [keys, what they do, act]; another call replaces them. `act` gets the
 * key and the element with the focus; where it returns false, the key is left to others. The component with the focus
 * comes first, then those that are `main`, but not where a button of Streamlit's has the key, then nobody.
 */
function onKeys(root, rows, { place, main = false }) {
  keyOwners.set(root, { rows, place, main });
}

function listenForKeys() {
  const owners = new Map();
  window.addEventListener("keydown", (event) => {
    for (const root of owners.keys()) if (!root.isConnected) owners.delete(root);
    if (!hear(event, owners)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, true);
  return owners;
}

/** Do what a key asks for; false where it asks for nothing. */
function hear(event, owners) {
  const path = event.composedPath();
  const key = event.key === " " ? "Space" : event.key;
  if (event.metaKey || event.altKey || path.some((node) => node.matches?.(TYPING))) return false;
  const focused = path.map((node) => owners.get(node)).find(Boolean);
  const isOurPage = document.querySelector(".stApp") || [...owners.values()].some(({ main }) => main);
  if (!focused && !isOurPage) return false; // a notebook has keys of its own
  if (event.ctrlKey) return key === "/" && showKeys(owners);
  const isButtons = buttonKeys().some(([sign]) => sign.toLowerCase() === key.toLowerCase());
  if (settings.evidencebenchKeys === "off" && key.length === 1) return isButtons; // it does not hear the key, either
  if (key === "?") return showKeys(owners);
  const heirs = isButtons ? [] : [...owners.values()].filter(({ main }) => main);
  const rows = [focused, ...heirs].flatMap((owner) => owner?.rows ?? []);
  return rows.some(([keys, , act]) => keys.split(" ").includes(key) && act(key, path[0]) !== false);
}

/** The keys of Streamlit's buttons on the page, with the words on them. */
function buttonKeys() {
  return [...document.querySelectorAll('[aria-label^="Shortcut "]')].map((sign) => [
    sign.getAttribute("aria-label").slice("Shortcut ".length).replaceAll(" ", ""),
    sign.closest("button")?.querySelector("p")?.textContent ?? "",
  ]);
}

/** A list of the keys that work on the page, and the switch that turns them off. */
function showKeys(owners = keyOwners) {
  const dialog = element("dialog", "keys", "", { "aria-label": "Keys", closedby: "any" });
  const places = new Map([...owners.values()].map(({ place, rows }) => [place, rows]));
  places.set("On the buttons", buttonKeys()).set("Everywhere", [["? Ctrl+/", "this list"]]);
  for (const [place, rows] of places) {
    if (rows.length) dialog.append(element("h2", "", place));
    for (const [keys, words] of rows) {
      const line = element("p");
      line.append(...keys.split(" ").flatMap((key) => [element("kbd", "", SIGNS[key] ?? key), " "]), words);
      dialog.append(line);
    }
  }
  const choice = element("label");
  const box = element("input", "", "", { type: "checkbox" });
  const close = element("button", "", "Close", { type: "button" });
  box.checked = settings.evidencebenchKeys !== "off";
  box.onchange = () => (settings.evidencebenchKeys = box.checked ? "on" : "off");
  choice.append(box, " Single keys are shortcuts");
  close.onclick = () => dialog.close();
  dialog.onclose = () => dialog.remove();
  dialog.onkeydown = (event) => event.stopPropagation();
  dialog.append(choice, close);
  ([...owners.keys()][0]?.parentNode ?? document.body).append(dialog);
  dialog.showModal();
  return true;
}

/** How long a click may wait for Python to repeat it. */
const ECHO_MS = 3000;

/**
 * A value that browser and Python both hold. A click changes it here at once and Python repeats it
 * a moment later; of two quick clicks the repeat of the first must not undo the second.
 */
class Shared {
  constructor() {
    this.latest = null; // what Python sent last
    this.sent = []; // to Python, not repeated yet
  }

  send(value) {
    this.sent.push({ value, time: performance.now() });
  }

  /** Whether Python's value is to be taken: it is new, and no mere echo of an older click. */
  accepts(value) {
    if (value === this.latest) return false;
    this.latest = value;
    const since = performance.now() - ECHO_MS;
    const sent = this.sent.filter((one) => one.time > since);
    const echo = sent.findIndex((one) => one.value === value);
    this.sent = echo < 0 ? [] : sent.slice(echo + 1);
    return this.sent.length === 0;
  }
}

/** What is chosen in a list: Python's value, unless that is the repeat of an older choice made here (`setChosen`). */
function chosenIn(list, value) {
  list.shared ??= new Shared();
  if (list.shared.accepts(value)) list.chosen = value;
  return list.chosen ?? value;
}

function setChosen(list, value) {
  list.chosen = value;
  list.shared.send(value);
}
