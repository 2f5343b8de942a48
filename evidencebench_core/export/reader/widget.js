/** The reader in a cell of a notebook, behind a shadow root; the model's `place` is what is selected, in Python, too. */
function render({ model, el }) {
  const root = el.attachShadow({ mode: "open" });
  root.append(element("style", "", STYLE));
  const show = showPaper(root, model.get("views"), (place) => {
    model.set("place", place);
    model.save_changes();
  });
  const follow = () => show(model.get("place"));
  model.on("change:place", follow);
  follow();
  return () => model.off("change:place", follow);
}

export default { render };
