/** A paper as a page: its sentences with their marks, chips and notes, the legend above, the foot below. */
class Sheet {
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
}
