// Shared by the components: it stands before each one's own script. Text is only ever written with textContent.

/** An element with a class, text and attributes.
 * @param {string} tag @param {string} [className] @param {string} [text]
 * @param {Record<string, string>} [attributes] @returns {HTMLElement} */
function element(tag, className = "", text = "", attributes = {}) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text) node.textContent = text;
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

/** Whether the page behind `node` is dark, by the luminance of the theme's background. @param {Element} node */
function darkPage(node) {
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  if (!probe) return false;
  probe.fillStyle = "#fff";
  probe.fillStyle = getComputedStyle(node).getPropertyValue("--st-background-color").trim(); // no colour leaves it white
  probe.fillRect(0, 0, 1, 1);
  const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b < 110;
}
