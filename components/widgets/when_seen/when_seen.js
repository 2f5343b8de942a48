// Says once that its place is on screen and stays there. Draws nothing.
const STAYS = 300; // milliseconds: what stands above may still be growing

export default function ({ parentElement, setTriggerValue }) {
  let waiting;
  const observer = new IntersectionObserver((entries) => {
    clearTimeout(waiting);
    if (entries.at(-1).isIntersecting) waiting = setTimeout(() => setTriggerValue("event", true), STAYS);
  });
  observer.observe(parentElement instanceof Element ? parentElement : parentElement.host);
  return () => {
    clearTimeout(waiting);
    observer.disconnect();
  };
}
