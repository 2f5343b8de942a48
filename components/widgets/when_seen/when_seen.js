// Says that its place is on screen and stays there. Draws nothing.
const STAYS = 300; // milliseconds: what stands above may still be growing
const AGAIN = 4000; // of two places that say so at the same moment Streamlit draws one

export default function ({ parentElement, setTriggerValue }) {
  let waiting;
  const tell = () => {
    setTriggerValue("event", true);
    waiting = setTimeout(tell, AGAIN);
  };
  const observer = new IntersectionObserver((entries) => {
    clearTimeout(waiting);
    if (entries.at(-1).isIntersecting) waiting = setTimeout(tell, STAYS);
  });
  observer.observe(parentElement instanceof Element ? parentElement : parentElement.host);
  return () => {
    clearTimeout(waiting);
    observer.disconnect();
  };
}
