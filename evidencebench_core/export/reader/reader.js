/**
 * The reader: a paper as a page, its evidence marked the way a careful reader marks one.
 *
 * Streamlit calls the default export once to mount and again whenever the data or the theme change;
 * the page is built again only for another paper, else the marks on it are changed in place.
 */
const STEP_MS = 250; // after which a step by key counts as the last one

class Reader {
  constructor(parent) {
    this.data = {};
    this.lit = null; // the aspect pointed at, else the pinned one
    this.litParts = [];
    this.root = element("div", "reader", "", { tabindex: "-1" }); // so that a click anywhere gives it the keys
    this.legend = element("div", "legend", "", { role: "group", "aria-label": "Legend" });
    this.systems = element("div", "systems", "", { role: "group", "aria-label": "Systems" });
    this.strip = element("div", "strip", "", { role: "group", "aria-label": "Study aspects" });
    this.page = element("div", "page", "", { tabindex: "-1" });
    this.list = element("ol", "list", "", { role: "list" });
    this.caption = element("div", "caption");
    this.wordKey = element("div", "word-key");
    this.hint = element("button", "hint", "", { "data-help": "", title: "Show the keys" });
    this.map = new Minimap(this.page, (y) => this.say(y === null ? undefined : this.sentenceAt(y)));
    const [head, body, foot] = ["head", "body", "foot"].map((name) => element("div", name));
    head.append(this.legend, this.systems);
    this.page.append(this.list);
    body.append(this.page, this.map.root);
    foot.append(this.caption, this.wordKey, this.hint);
    this.root.append(head, this.strip, body, foot);
    parent.append(this.root);
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
    const notesChanged = differs("notes");
    this.data = data;
    this.root.style.height = `min(${data.height}px, calc(100vh - var(--above, 5.5rem)))`;
    this.root.classList.toggle("several", data.systems.length > 1);
    this.root.classList.toggle("plain", data.plain);
    this.root.classList.toggle("marking", Boolean(data.by)); // nothing is dimmed: every sentence is to be read
    onKeys(this.root, this.keys(), { place: "In the paper", main: data.keys === "main" });
    if (isNew) this.build();
    if (differs("words")) this.drawWords();
    if (marksChanged) {
      this.drawAspects();
      this.drawMarks();
      this.drawLegend();
      this.map.draw(this.sentences, data.types);
    }
    if (notesChanged) this.drawNotes();
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

  /** The page of a new paper, without any mark. */
  build() {
    const { texts, types } = this.data;
    const rows = document.createDocumentFragment();
    this.sentences = texts.map((words, index) => {
      const before = texts[index - 1] ?? "";
      if (types[index] === "a" && types[index - 1] !== "a" && !/^\W*(abstract|summary)/i.test(before)) {
        rows.append(element("li", "implied", "Abstract", { role: "presentation" }));
      }
      const sentence = drawSentence(words, index, types[index]);
      rows.append(sentence.row);
      return sentence;
    });
    this.list.replaceChildren(rows, element("li", "veil", "", { role: "presentation" }));
    this.list.setAttribute("aria-label", `Paper, ${texts.length} sentences`);
    this.page.scrollTop = 0;
    this.shared = { selected: new Shared(), aspect: new Shared() };
    this.chipped = ""; // what the chips were drawn from
    this.at = 0; // the sentence that keys start from and Tab comes back to
    this.select(null);
    this.pin(null);
  }

  /** The aspect strip and the chips after the sentences; what the picks cover is only restyled. */
  drawAspects() {
    const { aspects } = this.data;
    const chipped = JSON.stringify(aspects.map((a) => [a.label, a.text, a.result, a.sentences]));
    if (chipped !== this.chipped) {
      this.chipped = chipped;
      this.covering = this.sentences.map(() => []); // positions of aspects, by sentence
      aspects.forEach((a, position) => a.sentences.forEach((i) => this.covering[i]?.push(position)));
      this.strip.replaceChildren(...aspects.map((aspect, position) => drawChip(aspect, position, true)));
      this.strip.hidden = aspects.length === 0;
      this.sentences.forEach(({ chips }, i) => {
        if (!chips.firstChild && !this.covering[i].length) return;
        chips.replaceChildren(...this.covering[i].map((at) => drawChip(aspects[at], at, false)));
      });
      this.lit = null;
      this.pin(aspects[this.pinned ?? -1] ? this.pinned : null);
    }
    for (const [chip, position] of this.chips()) {
      const { facts, text } = aspectWords(aspects[position]);
      chip.title = text ? `${facts}\n${text}` : facts;
      chip.classList.toggle("uncovered", aspects[position].covered === false && aspects[position].focus);
      chip.classList.toggle("aside", !aspects[position].focus);
    }
  }

  /** Every aspect chip with its aspect. */
  chips() {
    return [...this.root.querySelectorAll(".chip")].map((chip) => [chip, Number(chip.dataset.a)]);
  }

  /** The flags and comments on sentences, after their words. */
  drawNotes() {
    for (const sign of this.list.querySelectorAll(".note")) sign.remove();
    for (const note of this.data.notes) {
      const { row, chips } = this.sentences[note.sentence];
      chips.before(drawNote(note));
      row.setAttribute("aria-labelledby", ["m", "t", "n"].map((part) => part + note.sentence).join(" "));
    }
  }

  /** Marks, ranks and the other systems' letters; only what differs is touched. */
  drawMarks() {
    const { marks, systems, active, aspects, by } = this.data;
    const ranks = systems.map(({ picks, numbers }) => new Map(picks.map((index, place) => [index, numbers[place] ?? place + 1])));
    this.sentences.forEach((sentence, i) => {
      const rank = (active !== null && ranks[active]?.get(i)) || 0;
      if (sentence.mark !== marks[i] || sentence.rank !== rank) {
        sentence.mark = marks[i];
        sentence.rank = rank;
        sentence.row.dataset.mark = markName(marks[i]);
        sentence.icon.replaceChildren(drawSign(marks[i], rank));
      }
      const others = systems.flatMap(({ name }, place) => {
        const other = place !== active && ranks[place].get(i);
        if (!other) return [];
        const sign = element("span", "other", "", { title: `${name}: picked ${ordinal(other)}` });
        sign.append(element("b", "", LETTERS[place]), String(other));
        return [sign];
      });
      if (others.length || sentence.others.firstChild) sentence.others.replaceChildren(...others);
      const labels = this.covering[i].map((position) => aspects[position].label);
      sentence.icon.setAttribute("aria-label", spokenMark(i, sentence, labels, by));
    });
  }

  /** Underline what the sentences share with the hypothesis, or nothing any more. */
  drawWords() {
    const { texts, words } = this.data;
    const most = (words?.spans.flat() ?? []).reduce((top, [, , weight]) => Math.max(top, weight), 0) || 1;
    this.sentences.forEach(({ said }, i) => {
      const spans = words?.spans[i] ?? [];
      if (!spans.length && !said.firstElementChild) return;
      said.replaceChildren(...(words ? drawWords(texts[i], spans, most, words.by) : [texts[i]]));
    });
    const what = words?.by ? `word: adds to the ${words.by} score, the thicker the more` : "word: in the hypothesis, too";
    this.wordKey.replaceChildren(...(words ? [element("span", "word weight-3", "word"), what.slice(4)] : []));
  }

  drawLegend() {
    const { marks, systems, active, aspects, by } = this.data;
    const focused = this.root.querySelector(".head :focus");
    const counted = (letter) => marks.split(letter).length - 1;
    const isCompared = active !== null && aspects.length > 0;
    const keys = [];
    if (isCompared) {
      keys.push(drawTotal(counted("b") + counted("g") + counted("m"), by));
      keys.push(...[..."bgmp"].map((letter) => drawKey(letter, counted(letter))));
    } else if (active !== null) keys.push(drawKey("p", counted("p"), "Picked", "Picked for the statement"));
    else if (aspects.length || by) keys.push(drawKey("g", counted("g"), by ? `Marked by ${by}` : "Gold", "Covers an aspect"));
    if (counted("o")) keys.push(drawKey("o", counted("o")));
    this.legend.replaceChildren(...(this.data.plain && active !== null ? [drawPlainKey(counted("p"))] : keys));
    const missed = counted("m") ? [["n", "missed"]] : [];
    this.hint.replaceChildren(element("span", "", "Keys"));
    for (const [key, what] of [["j", ""], ["k", "evidence"], ...missed, ["?", "all"]]) {
      this.hint.append(element("kbd", "", key), ...(what ? [element("span", "", what)] : []));
    }
    const switches = systems.map((system, place) => drawSystem(system, place, place === active));
    this.systems.replaceChildren(...(switches.length > 1 ? switches : []));
    for (const [name, value] of Object.entries(focused?.dataset ?? {})) {
      this.root.querySelector(`.head [data-${name}="${value}"]`)?.focus({ preventScroll: true });
    }
  }

  /** The foot: the lit aspect, or where in the paper this is. */
  say(index) {
    const { aspects, types, texts } = this.data;
    const aspect = aspects[this.lit ?? -1];
    this.caption.classList.toggle("whole", Boolean(aspect));
    this.caption.classList.toggle("over", Boolean(aspect) && this.lit !== this.pinned);
    this.caption.tabIndex = aspect ? 0 : -1; // a long text scrolls
    this.caption.setAttribute("aria-live", aspect ? "polite" : "off");
    if (aspect) {
      const { facts, text } = aspectWords(aspect);
      const words = element("span", "", text, { dir: "auto" });
      this.caption.replaceChildren(drawDot(this.lit ?? 0), element("b", "", facts), words);
      return;
    }
    const i = index ?? this.sentenceAt(this.page.scrollTop + 0.25 * this.page.clientHeight);
    let heading = i;
    while (heading > 0 && !HEADINGS.includes(types[heading])) heading -= 1;
    const section = types[i] === "a" ? "Abstract" : HEADINGS.includes(types[heading]) ? texts[heading] : "";
    this.caption.replaceChildren(
      element("span", "section", section, { dir: "auto" }),
      element("span", "count", `${i} / ${texts.length - 1}`, { title: "sentence index / the last one" }),
    );
  }

  /** The first sentence that ends below a height of the page. */
  sentenceAt(y) {
    let [low, high] = [0, this.sentences.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.sentences[middle].top + this.sentences[middle].height > y) high = middle;
      else low = middle + 1;
    }
    return low;
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

  /** Bring a sentence into view, without moving the app's page. */
  moveTo(i, focus) {
    const { row, top, height } = this.sentences[i];
    const room = this.page.clientHeight;
    this.stand(i);
    if (top < this.page.scrollTop + 0.1 * room || top + height > this.page.scrollTop + 0.8 * room) {
      this.page.scrollTop = top - Math.max(0.1 * room, (room - height) / 2.6);
    }
    if (focus) row.focus({ preventScroll: true });
  }

  /** Make a sentence, and the chips in it, the ones that Tab comes to. */
  stand(i) {
    for (const [place, tab] of [[this.at, -1], [i, 0]]) {
      const { row, chips } = this.sentences[place];
      row.tabIndex = tab;
      for (const chip of chips.children) chip.tabIndex = tab;
    }
    this.at = i;
  }

  select(i) {
    const old = this.list.querySelector(".selected");
    old?.classList.remove("selected");
    old?.removeAttribute("aria-current");
    this.selected = i;
    this.map.select(i);
    const row = this.sentences[i ?? -1]?.row;
    row?.classList.add("selected");
    row?.setAttribute("aria-current", "true");
  }

  pin(position) {
    this.pinned = position;
    for (const [chip, aspect] of this.chips()) chip.setAttribute("aria-pressed", String(aspect === position));
    this.light(position);
  }

  /** Light an aspect's sentences and dim the rest. */
  light(position) {
    const indices = this.data.aspects[position ?? -1]?.sentences ?? [];
    const parts = indices.flatMap((i) => [this.sentences[i].row, this.map.ticks.get(i) ?? []].flat());
    for (const part of this.litParts) part.classList.remove("on");
    for (const part of parts) {
      part.classList.add("on");
      part.style.setProperty("--lit", `var(--aspect-${(position ?? 0) % 8})`);
    }
    this.litParts = parts;
    this.lit = position;
    this.root.classList.toggle("lit", position !== null);
    this.say();
  }

  /** Bring the nearest lit sentence into view, unless one is there already. */
  showLit() {
    const lit = this.data.aspects[this.pinned ?? -1]?.sentences ?? [];
    const { scrollTop, clientHeight } = this.page;
    const away = (i) => {
      const { top, height } = this.sentences[i];
      return Math.max(scrollTop - top, top + height - scrollTop - clientHeight, 0);
    };
    const nearest = [...lit].sort((i, j) => away(i) - away(j))[0];
    if (nearest !== undefined && away(nearest) > 0) this.moveTo(nearest, false);
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
