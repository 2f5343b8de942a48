/** How a chart is saved: in light, whatever the page is. */
const LIGHT = `text { font-family: system-ui, "DejaVu Sans", sans-serif }
  :is(.infolayer, .xtick, .ytick) text { fill: #31333f !important } .gridlayer path { stroke: #e6e6ea !important }`;
const SVG = "http://www.w3.org/2000/svg";
const SHARPNESS = 3; // pixels of a PNG to one of the page

function svgNode(tag, attributes = {}) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  return node;
}

/** The chart as one SVG on white. Plotly draws it in several that lie upon each other. */
function drawingOf(chart) {
  const layers = [...chart.querySelectorAll("svg.main-svg")];
  const { width, height } = layers[0].getBoundingClientRect();
  const drawing = svgNode("svg", { xmlns: SVG, viewBox: `0 0 ${width} ${height}`, width, height });
  const style = svgNode("style");
  style.textContent = LIGHT;
  drawing.append(style, svgNode("rect", { width, height, fill: "#fff" }));
  for (const layer of layers) drawing.append(...layer.cloneNode(true).childNodes);
  return { text: new XMLSerializer().serializeToString(drawing), width, height };
}

async function pngOf(text, width, height) {
  const image = new Image(SHARPNESS * width, SHARPNESS * height);
  image.src = `data:image/svg+xml,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
  canvas.getContext("2d")?.drawImage(image, 0, 0, image.width, image.height);
  return canvas.toDataURL("image/png");
}

export default function ({ data, parentElement }) {
  const buttons = parentElement.querySelector(".files");
  const root = buttons.getRootNode();
  const save = async (form) => {
    const chart = (root.host ?? buttons).closest(".stVerticalBlock")?.querySelector(".stPlotlyChart");
    if (!chart?.querySelector("svg.main-svg")) return;
    const { text, width, height } = drawingOf(chart);
    const href = form === "PNG" ? await pngOf(text, width, height) : `data:image/svg+xml,${encodeURIComponent(text)}`;
    Object.assign(document.createElement("a"), { href, download: `${data.name}.${form.toLowerCase()}` }).click();
  };
  buttons.replaceChildren(...["SVG", "PNG"].map((form) => {
    const button = element("button", "", form, { type: "button", title: `Save the chart as ${form}` });
    button.onclick = () => save(form);
    return button;
  }));
}
