"""How quick the reader is in the browser: 794 sentences, 36 aspects, 40 picks.

``python -m benchmarks.reader`` prints one JSON document, all times in milliseconds.
``click_to_highlight`` and ``hover_to_light`` run from the input event's own time stamp to after the
next frame is painted; ``reader`` is the part of it after the event came to the reader, the rest is
the browser's queue. Clicks are measured twice: each after the script has answered the one before,
and without waiting, so that Streamlit's runs get in the way. The long tasks are all that held the
browser's main thread over 50 ms, Streamlit's own included. Exits 1 if the 95th percentile of a
click or hover is 100 ms or more.
"""

from __future__ import annotations

import statistics
from typing import Any

from playwright.sync_api import Page, sync_playwright

from benchmarks.timing import ROOT, report
from tests.browser.serving import CHROMIUM_FLAGS, chromium, served

LIMIT_MS = 100
CLICKS = 40
# Ahead of the reader's own listeners; taken once the frame after the event has been painted.
PROBE = """
window.times = {click: [], mouseover: []};
const shadow = document.querySelector('[data-testid=stBidiComponentIsolated]').shadowRoot;
const reader = shadow.querySelector('.reader');
for (const kind of Object.keys(window.times)) {
  shadow.addEventListener(kind, (event) => {
    const row = event.target.closest('.s'), chip = event.target.closest('.strip .chip');
    if (kind === 'click' ? !row : !chip) return;
    const came = performance.now();
    requestAnimationFrame(() => {
      const painted = new MessageChannel();
      painted.port1.onmessage = () => window.times[kind].push({
        ms: performance.now() - event.timeStamp,
        reader: performance.now() - came,
        shown: kind === 'click' ? row.matches('.selected') : reader.matches('.lit'),
      });
      painted.port2.postMessage(null);
    });
  }, true);
}
"""
LONG_TASKS = """
window.longTasks = [];
new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map((one) => one.duration)))
  .observe({type: 'longtask', buffered: true});
"""


def summary(times: list[float]) -> dict[str, float]:
    """Median, 95th percentile and maximum."""
    ordered = sorted(times)
    high = ordered[max(0, round(0.95 * len(ordered)) - 1)]
    return {
        "n": len(ordered),
        "median": round(statistics.median(ordered), 1),
        "p95": round(high, 1),
        "max": round(ordered[-1], 1),
    }


def shown_times(page: Page, kind: str, n: int) -> dict[str, float]:
    """The times of a kind of event, once all have been taken and every one had its effect."""
    page.wait_for_function("([kind, n]) => window.times[kind].length >= n", arg=[kind, n])
    taken = page.evaluate("kind => window.times[kind]", kind)
    if not all(one["shown"] for one in taken):
        raise SystemExit(f"a {kind} was not shown in the frame after it")
    whole = summary([one["ms"] for one in taken])
    reader = summary([one["reader"] for one in taken])
    return {**whole, "reader_median": reader["median"], "reader_max": reader["max"]}


def measured(address: str, path: str, clicks: int = CLICKS) -> dict[str, Any]:
    """Drive the reader and take the times."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(CHROMIUM_FLAGS))
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.add_init_script(LONG_TASKS)
        page.goto(f"{address}/?view=stress")
        page.locator(".reader .s").nth(793).wait_for(state="attached", timeout=60_000)
        build = page.evaluate("window.longTasks")
        page.evaluate(PROBE)
        rows = page.locator(".reader .s .no")
        places = [1 + click * 19 % 790 for click in range(2 * clicks)]
        for place in places[:clicks]:
            rows.nth(place).click()
            page.get_by_text(f"sentence={place} ").wait_for(timeout=60_000)
        click_times = shown_times(page, "click", clicks)
        page.evaluate("window.times.click.length = 0")
        for place in places[clicks:]:
            rows.nth(place).click()
        rapid_times = shown_times(page, "click", clicks)
        page.get_by_text(f"sentence={places[-1]} ").wait_for(timeout=60_000)
        for chip in range(36):
            page.locator(".reader .strip .chip").nth(chip).hover()
        hover_times = shown_times(page, "mouseover", 36)
        page.evaluate("window.longTasks.length = 0")
        page.get_by_role("button", name="No selection of a system").click()
        page.wait_for_function(
            "() => !document.querySelector('[data-testid=stBidiComponentIsolated]')"
            ".shadowRoot.querySelector('[data-mark=picked]')"
        )
        update = page.evaluate("window.longTasks")
        browser.close()
    return {
        "click_to_highlight": click_times,
        "click_to_highlight_while_the_script_runs": rapid_times,
        "hover_to_light": hover_times,
        "long_tasks_while_loading": [round(ms) for ms in build],
        "long_tasks_while_updating": [round(ms) for ms in update],
    }


def main() -> int:
    path = chromium()
    if path is None:
        raise SystemExit("no Chromium: install one, or name it: CHROMIUM=/path/to/chromium")
    with served(ROOT / "tests" / "browser" / "reader_app.py") as address:
        found = measured(address, path)
    slow = [name for name in ("click_to_highlight", "hover_to_light") if found[name]["p95"] >= LIMIT_MS]
    return report(found, slow)


if __name__ == "__main__":
    raise SystemExit(main())
