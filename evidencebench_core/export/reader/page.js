/**
 * The reader on a page without Python: it holds the marks of every system, and a click switches between them.
 * `onPlace` hears of the active system, the selected sentence and the aspect after a click. What is returned puts others
 * in their place.
 */
function showPaper(parent, views, onPlace = () => {}) {
  const reader = new Reader(parent);
  let place = { active: views[0].active, selected: null, aspect: null };
  const show = (change = {}) => {
    place = { ...place, ...change };
    reader.update({ ...views[0], ...views[place.active], ...place }, (_, { system, sentence, aspect }) => {
      show({ active: system, selected: sentence, aspect });
      onPlace(place);
    });
  };
  show();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => show());
  return show;
}
