// Goes back to the top of the page whenever another thing is shown. Draws nothing.
let shown;

export default function ({ data, parentElement }) {
  if (shown !== undefined && shown !== data.place) {
    let node = parentElement instanceof Element ? parentElement : parentElement.host;
    while (node && !(node.scrollTop > 0)) node = node.parentElement ?? node.getRootNode().host;
    if (node) node.scrollTop = 0;
  }
  shown = data.place;
}
