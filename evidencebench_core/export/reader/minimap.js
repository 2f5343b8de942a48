/** The whole paper as a strip: ticks where the marks stand, a frame round what is in view. */
class Minimap {
  /** `page` is what scrolls; `onHover` hears the height of it under the pointer. */
  constructor(page, onHover) {
    this.page = page;
    this.root = element("div", "map", "", { "aria-hidden": "true" });
    this.marks = element("div", "map-marks");
    this.frame = element("div", "map-view");
    this.here = element("div", "map-here");
    this.sentences = [];
    this.ticks = new Map();
    this.selected = null;
    this.root.append(this.marks, element("div", "veil"), this.here, this.frame);
    const point = (event) => {
      const box = this.root.getBoundingClientRect();
      const y = ((event.clientY - box.top) / box.height) * page.scrollHeight;
      if (event.buttons & 1) page.scrollTop = y - page.clientHeight / 2;
      else onHover(y);
    };
    this.root.addEventListener("pointerdown", (event) => {
      this.root.setPointerCapture(event.pointerId);
      point(event);
    });
    this.root.addEventListener("pointermove", point);
    this.root.addEventListener("pointerleave", () => onHover(null));
  }

  /** Ticks for marked sentences and main headings. */
  draw(sentences, types) {
    this.sentences = sentences;
    this.ticks.clear();
    sentences.forEach(({ mark }, i) => {
      if (mark !== "." || types[i] === "h") {
        this.ticks.set(i, element("i", `tick ${mark === "." ? "section" : markName(mark)}`));
      }
    });
    this.marks.replaceChildren(...this.ticks.values());
    this.measure();
  }

  /** Read where every sentence stands, then place the ticks. */
  measure() {
    for (const sentence of this.sentences) {
      sentence.top = sentence.row.offsetTop;
      sentence.height = sentence.row.offsetHeight;
    }
    for (const [i, tick] of this.ticks) this.place(tick, this.sentences[i]);
    this.select(this.selected);
    this.scrolled();
  }

  place(part, { top, height }) {
    const total = this.page.scrollHeight || 1;
    part.style.top = `${(100 * top) / total}%`;
    part.style.height = `${(100 * height) / total}%`;
  }

  scrolled() {
    this.place(this.frame, { top: this.page.scrollTop, height: this.page.clientHeight });
  }

  select(i) {
    this.selected = i;
    const sentence = this.sentences[i ?? -1];
    this.here.hidden = !sentence;
    if (sentence) this.place(this.here, sentence);
  }
}
