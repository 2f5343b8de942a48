/**
 * The reader: a paper as a page, its evidence marked the way a careful reader marks one.
 *
 * Streamlit calls the default export once to mount and again whenever the data or the theme change;
 * the page is built again only for another paper, else the marks on it are changed in place.
 */
const STEP_MS = 250; // after which a step by key counts as the last one

class Reader extends Sheet {
  constructor(parent) {
    super(parent);
    this.listen();
  }

  update(data, trigger) {
    this.trigger = trigger;
    this.root.classList.toggle("dark", darkPage(this.root));
    if (data === this.data) return; // only the theme changed
    const before = this.data;
    const isNew = data.paper !== before.paper;
    const differs = (...names) =>
      isNew || names.some((name) => JSON.stringify(data[name]) !== JSON.stringify(before[name]));
    const marksChanged = differs("marks", "aspects", "systems", "active", "plain", "by");
    this.data = data;
    this.root.style.height = `min(${data.height}px, calc(100vh - var(--above, 5.5rem)))`;
    this.root.classList.toggle("several", data.systems.length > 1);
    this.root.classList.toggle("plain", data.plain);
    this.root.classList.toggle("marking", Boolean(data.by)); // nothing is dimmed: every sentence is to be read
    onKeys(this.root, this.keys(), { place: "In the paper", main: data.keys === "main" });
    if (isNew) {
      this.build();
      this.shared = { selected: new Shared(), aspect: new Shared() };
    }
    if (differs("words")) this.drawWords();
    if (marksChanged) {
      this.drawAspects();
      this.drawMarks();
      this.drawLegend();
      this.map.draw(this.sentences, data.types);
    }
    if (differs("notes")) this.drawNotes();
    const pinChanged = this.shared.aspect.accepts(data.aspect);
    if (pinChanged) this.pin(data.aspect);
    if (this.shared.selected.accepts(data.selected) && data.selected !== this.selected) {
      this.select(data.selected);
      if (data.selected !== null) this.moveTo(data.selected, false);
    } else if (pinChanged) this.showLit();
    if (marksChanged) this.light(this.lit ?? this.pinned);
  }

  emit(kind, system = this.data.active) {
    clearTimeout(this.soon); // a step before it is told with it
    this.shared.selected.send(this.selected);
    this.shared.aspect.send(this.pinned);
    const { paper } = this.data;
    this.trigger("event", { kind, paper, sentence: this.selected, aspect: this.pinned, system });
  }

  /** To the next sentence that is wanted, round the end. It starts from the sentence with the focus,
   * or from what is in view if the page was scrolled away from that. */
  go(step, wanted) {
    const n = this.sentences.length;
    const { scrollTop, clientHeight } = this.page;
    const { row, top, height } = this.sentences[this.at];
    const inView = top + height > scrollTop && top < scrollTop + clientHeight;
    const fresh = this.at === 0 && this.root.querySelector(":focus") !== row && this.selected !== 0;
    const edge = step > 0 ? this.sentenceAt(scrollTop) - 1 : this.sentenceAt(scrollTop + clientHeight) + 1;
    let i = inView && !fresh ? this.at : edge;
    for (let tried = 0; tried < n; tried += 1) {
      i = (i + step + n) % n;
      if (wanted(i)) return this.moveTo(i, true);
    }
  }

  /** The same, and the sentence is the selected one; Python hears of the last of quick steps. */
  walk(step, wanted) {
    this.go(step, wanted);
    if (this.data.plain || !wanted(this.at)) return;
    this.select(this.at);
    this.shared.selected.send(this.selected); // the repeat of a click before it must not undo it meanwhile
    clearTimeout(this.soon);
    this.soon = setTimeout(() => this.emit("sentence"), STEP_MS);
  }

  toggleSentence(i) {
    this.stand(i);
    this.select(this.selected === i ? null : i);
    this.emit("sentence");
  }

  toggleAspect(position) {
    this.pin(this.pinned === position ? null : position);
    this.showLit();
    this.emit("aspect");
  }

  listen() {
    const { root, page } = this;
    root.addEventListener("click", (event) => this.click(event));
    for (const [enter, leave] of [["mouseover", "mouseout"], ["focusin", "focusout"]]) {
      root.addEventListener(enter, (event) => {
        const chip = event.target.closest(".chip");
        if (chip) this.light(Number(chip.dataset.a));
      });
      root.addEventListener(leave, (event) => {
        if (event.target.closest(".chip")) this.light(this.pinned);
      });
    }
    root.addEventListener("focusin", (event) => {
      const row = event.target.closest(".s");
      if (row) this.stand(Number(row.dataset.i));
    });
    page.addEventListener("scroll", () => {
      this.map.scrolled();
      this.say();
    }, { passive: true });
    const resized = new ResizeObserver(() => {
      this.map.measure();
      this.say();
    });
    resized.observe(page);
    resized.observe(this.list);
  }

  click(event) {
    const part = event.target.closest("[data-help], [data-a], [data-system], [data-jump], [data-i]");
    const { help, a, system, jump, i } = part?.dataset ?? {};
    if (help !== undefined) showKeys();
    else if (a !== undefined) this.toggleAspect(Number(a));
    else if (system !== undefined) this.emit("system", Number(system));
    else if (jump !== undefined) this.walk(1, (index) => this.sentences[index].mark === jump);
    else if (i !== undefined && !isSelecting(this.root)) this.toggleSentence(Number(i));
  }

  /** Its keys, as rows of `onKeys`. */
  keys() {
    const isMissed = (i) => this.sentences[i].mark === "m";
    const isEvidence = (i) =>
      this.pinned === null ? this.sentences[i].mark !== "." : this.covering[i].includes(this.pinned);
    const step = (key, wanted) => this.walk("jn".includes(key) ? 1 : -1, wanted);
    const rowOf = (target) => this.root.contains(target) && target.closest(".s");
    return [
      ["j k", "next, previous evidence (of the pinned aspect, if one is)", (key) => step(key, isEvidence)],
      ["n N", "next, previous missed sentence", (key) => this.data.marks.includes("m") && step(key, isMissed)],
      ["ArrowDown ArrowUp", "next, previous sentence", (key, target) =>
        Boolean(rowOf(target)) && this.go(key === "ArrowDown" ? 1 : -1, () => true)],
      ["Enter", "select the sentence, or pin the aspect", (key, target) =>
        rowOf(target) === target && this.toggleSentence(Number(target.dataset.i))],
      ["Escape", "let go of both", (key, target) => this.root.contains(target) && this.letGo()],
    ];
  }

  /** Let go of aspect and sentence; false where neither is held. */
  letGo() {
    if (this.pinned === null && this.selected === null) return false;
    this.pin(null);
    this.select(null);
    return this.emit("clear");
  }
}

/** One reader a place in the app. */
const readers = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const reader = readers.get(parentElement) ?? new Reader(parentElement);
  readers.set(parentElement, reader);
  reader.update(data, setTriggerValue);
}
