// Shared by the small components: it stands before each one's own script. Text is only ever written with textContent.

/** @param {string} tag @param {string} [className] @param {string} [text] */
function element(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

/** Whether the page behind `node` is dark, from the theme's own background colour. */
function darkPage(node) {
  const hex = getComputedStyle(node).getPropertyValue("--st-background-color").trim();
  const channels = hex.match(/^#(..)(..)(..)/)?.slice(1).map((pair) => parseInt(pair, 16));
  return channels ? channels[0] + channels[1] + channels[2] < 384 : false;
}
