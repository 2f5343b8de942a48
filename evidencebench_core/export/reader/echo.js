/** How long a click may wait for Python to repeat it. */
const ECHO_MS = 3000;

/**
 * A value that browser and Python both hold. A click changes it here at once and Python repeats it
 * a moment later; of two quick clicks the repeat of the first must not undo the second.
 */
class Shared {
  constructor() {
    this.latest = null; // what Python sent last
    this.sent = []; // to Python, not repeated yet
  }

  send(value) {
    this.sent.push({ value, time: performance.now() });
  }

  /** Whether Python's value is to be taken: it is new, and no mere echo of an older click. */
  accepts(value) {
    if (value === this.latest) return false;
    this.latest = value;
    const since = performance.now() - ECHO_MS;
    const sent = this.sent.filter((one) => one.time > since);
    const echo = sent.findIndex((one) => one.value === value);
    this.sent = echo < 0 ? [] : sent.slice(echo + 1);
    return this.sent.length === 0;
  }
}
