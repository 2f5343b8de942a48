// Puts the focus into a text field of the page, once each time that it is drawn.
const PATIENCE = 120; // frames: the field may come after this

const done = new WeakSet();

export default function ({ data, parentElement }) {
  if (done.has(parentElement)) return;
  done.add(parentElement);
  const place = `.st-key-${CSS.escape(data.key)}`;
  const look = (left) => {
    const field = document.querySelector(`${place} textarea, ${place} input`);
    if (field) {
      field.focus();
      field.setSelectionRange(field.value.length, field.value.length);
    } else if (left > 0) {
      requestAnimationFrame(() => look(left - 1));
    }
  };
  look(PATIENCE);
}
