// Loads a file that stands beside the page's own code, once the browser has nothing else to do. Draws nothing.
export default function ({ data }) {
  const own = document.querySelector("script[type=module][src*='/static/js/']");
  if (!own) return;
  const load = () => import(new URL(data.file, own.src).href).catch(() => {});
  const waiting = setTimeout(() => (window.requestIdleCallback ?? setTimeout)(load), 200);
  return () => clearTimeout(waiting);
}
