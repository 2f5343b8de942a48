// Prints the HTML page data.page from a frame that runs no script and may do nothing but show and print.
export default function ({ data, parentElement }) {
  const button = parentElement.querySelector("button");
  button.textContent = data.label;
  button.onclick = () => {
    parentElement.querySelector("iframe")?.remove();
    const frame = document.createElement("iframe");
    frame.sandbox.add("allow-same-origin", "allow-modals");
    frame.title = "The page to print";
    frame.style.cssText = "position: fixed; right: 0; bottom: 0; width: 1px; height: 1px; border: 0; opacity: 0";
    frame.onload = () => {
      frame.contentWindow.focus();
      frame.contentWindow.print();
    };
    frame.srcdoc = data.page;
    parentElement.append(frame);
  };
}
