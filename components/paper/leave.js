// Leaves presenter mode, by its button or by Escape, where no text field, menu or dialog wants that key.
let listener;

export default function ({ parentElement, setTriggerValue }) {
  const button = parentElement.querySelector("button");
  button.textContent = "Leave";
  button.title = "Back to all settings (Esc)";
  button.setAttribute("aria-label", "Leave presenter mode");
  button.onclick = () => setTriggerValue("event", true);

  document.removeEventListener("keydown", listener);
  listener = (event) => {
    const wanted = event.composedPath().some((node) => node.matches?.("input, textarea, select, [role=dialog]"));
    const open = document.querySelector("[role=dialog], [role=listbox], [role=menu], [data-baseweb=popover]");
    if (event.key === "Escape" && !event.defaultPrevented && !wanted && !open) button.click();
  };
  document.addEventListener("keydown", listener);
  return () => document.removeEventListener("keydown", listener);
}
