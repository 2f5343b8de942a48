// Copies the absolute address of data.link; where the browser forbids it, shows the address to copy by hand.
export default function ({ data, parentElement }) {
  const button = parentElement.querySelector("button");
  const input = parentElement.querySelector("input");
  const status = parentElement.querySelector("[role=status]");
  button.textContent = data.label;
  input.hidden = true;
  status.textContent = "";
  button.onclick = async () => {
    const address = new URL(data.link.replace(/^\//, ""), document.baseURI).href;
    input.value = address;
    try {
      await navigator.clipboard.writeText(address);
      status.textContent = "Copied";
    } catch {
      input.hidden = false;
      input.focus();
      input.select();
      status.textContent = "Press Ctrl+C";
    }
    setTimeout(() => (status.textContent = ""), 4000);
  };
}
