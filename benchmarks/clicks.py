"""How long a user waits: the app in Chromium, from a click or an address to what is seen of it.

    python -m benchmarks.clicks FOLDER DATASET

FOLDER holds ``store.sqlite`` with three runs or more on the dataset. Everything is done twice on one server, each
time in a session of its own: the second time, what can be is computed before. Of each action milliseconds to the
first change on screen and to the settled page, and, as those lie where the machine has other work, of processor
time in the server and on the page's main thread. The limits are 300 ms to something to see and 1 s, computed
before, to the settled page; Home, opened first, brings Streamlit's own scripts into the browser's cache. A third
time, not judged, is as the second in a Chromium that is being debugged (see AS_USED).
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal
from uuid import uuid4

from playwright.sync_api import Page, expect, sync_playwright

from benchmarks.timing import report
from evidencebench_core.data import open_store
from tests.browser.serving import CHROMIUM_FLAGS, chromium, served_app

SEEN_MS, SETTLED_MS = 300, 1_000
# Under a debugger, which playwright is, V8 reads the function around every exception again to name its line, unless it
# has kept the lines. The charts' code throws four in functions of megabytes: half a second that no user waits.
AS_USED = ("--js-flags=--no-enable-lazy-source-positions",)
# From the key or button that is pressed (a page that is opened: from its address) to the first frame with a change.
WATCH = """
const start = (at) => { window.began = at; window.last = at; window.seen = null; window.ran = false; };
start(0);
for (const kind of ['pointerdown', 'keydown']) addEventListener(kind, (event) => start(event.timeStamp), true);
const isVisible = (change) => change.type !== 'attributes' || change.target.dataset.stale === 'true';
// Not what is hung into HEAD and BODY, as the charts' code is that is loaded ahead: nothing of that is seen.
const isWithin = (change) => change.target !== document.head && change.target !== document.body;
new MutationObserver((changes) => {
  const state = document.querySelector('[data-testid=stApp]')?.dataset.testScriptState;
  window.ran ||= state !== undefined && state !== 'notRunning';
  if (changes.some(isWithin)) window.last = performance.now();
  if (window.seen === null && changes.some(isVisible) && document.querySelector('[data-testid=stApp]')) {
    window.seen = 0;
    requestAnimationFrame(() => { window.seen = performance.now() - window.began; });
  }
}).observe(document, {
  subtree: true, childList: true, characterData: true, attributes: true,
  attributeFilter: ['data-stale', 'data-test-script-state'],
});
"""
# Of a page that is opened the first paint with words, which comes before Streamlit's own.
SEEN = """() => {
  const [paint] = performance.getEntriesByName('first-contentful-paint');
  return window.began === 0 && paint ? paint.startTime : window.seen;
}"""
# The last change, once none has come for a while: longer where the script was not seen to run.
SETTLED = """() => {
  const state = document.querySelector('[data-testid=stApp]')?.dataset.testScriptState;
  const quiet = performance.now() - window.last > (window.ran ? 400 : 3000);
  return quiet && state === 'notRunning' && !document.querySelector('[data-stale=true]') && window.last - window.began;
}"""

Act = Callable[[Page], object]


def server_cpu_ms() -> float:
    """Processor time of the server, the one process that this one has started and that Python runs."""
    ticks = 0
    for children in Path("/proc/self/task").glob("*/children"):
        for child in children.read_text().split():
            if b"streamlit" in Path(f"/proc/{child}/cmdline").read_bytes():
                ticks += sum(
                    map(int, Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[11:13])
                )
    return 1000 * ticks / os.sysconf("SC_CLK_TCK")


def timed(page: Page, act: Act, shows: str) -> dict[str, int]:
    """Do it, and wait for a settled page that shows what it should."""
    client = page.context.new_cdp_session(page)
    client.send("Performance.enable", {"timeDomain": "threadTicks"})

    def page_ms() -> float:
        metrics = {one["name"]: one["value"] for one in client.send("Performance.getMetrics")["metrics"]}
        return 1000 * float(metrics["TaskDuration"])

    server, browser = server_cpu_ms(), page_ms()
    act(page)
    expect(page.locator(shows).first).to_be_visible(timeout=60_000)
    settled = page.wait_for_function(SETTLED, polling=50, timeout=60_000).json_value()
    found = {"seen": page.evaluate(SEEN) or 0, "settled": settled}
    found |= {"server CPU": server_cpu_ms() - server, "page CPU": page_ms() - browser}
    return {name: round(value) for name, value in found.items()}


def choose(label: str, number: int) -> Act:
    """Choose the option of that number in a picker; what is timed begins with the option."""

    def act(page: Page) -> None:
        page.get_by_role("combobox", name=re.compile(label)).click()
        page.get_by_role("option").nth(number).click()

    return act


def press(role: Literal["button", "link"], name: str) -> Act:
    return lambda page: page.get_by_role(role, name=name).click()


def edit(text: str) -> Act:
    def act(page: Page) -> None:
        page.get_by_role("button", name="Edit hypothesis").click()
        box = page.get_by_role("textbox", name=re.compile("Hypothesis that"))
        box.fill(text)
        box.press("Control+Enter")
        expect(page).to_have_url(re.compile("h=" + text.partition(" ")[0]))

    return act


def menu(name: str) -> Act:
    """Open a page of the menu; what is timed begins with its name."""

    def act(page: Page) -> None:
        page.get_by_role("button", name="Analyse").click()
        page.get_by_role("menuitem", name=name).click()

    return act


def paste(text: str) -> Act:
    """Bring a paper of one's own; what is timed begins with the button that reads it."""

    def act(page: Page) -> None:
        page.get_by_role("tab", name="Paste text").click()
        page.get_by_role("textbox", name="Text of the paper").fill(text)
        page.get_by_role("button", name="Read the text").click()

    return act


def main(folder: str, dataset: str) -> int:
    path, store = chromium(), open_store(Path(folder) / "store.sqlite")
    (instance,) = store.ids(dataset, 1)
    reader = f"browse?dataset={dataset}&instance={instance}"
    sentence, row, picked = ".reader .s", ".table-root tbody tr", ".reader [data-mark=picked]"
    new = f"No paper said this before {uuid4()}."  # the first time
    paper = "# Tea\n\n# Results\n\n" + " ".join((new, *store.get(dataset, instance).sentences))

    def to(address: str) -> Act:
        return lambda page: page.goto(f"{base}/{address}")

    def actions(words: str) -> list[tuple[str, str, Act, str]]:
        """Name, the page on which it is done ("" for a new one), what is done, and what it shows."""
        return [
            ("open Home", "", to(""), "h1"),
            ("open the reader", "", to(f"{reader}&r=bm25"), sentence),
            ("open Missed", "", to(f"missed?dataset={dataset}"), row),
            ("open Compare", "", to(f"compare?dataset={dataset}"), "text=Slice by slice"),
            ("menu: Leaderboard", f"{reader}&r=bm25", press("link", "Leaderboard"), row),
            ("menu: Missed", f"{reader}&r=bm25", menu("Missed aspects"), row),
            ("menu: Middle", f"{reader}&r=bm25", menu("Lost in the middle"), ".js-plotly-plot"),
            ("Missed: another run", f"missed?dataset={dataset}", choose("^Run|Run$", 2), row),
            ("Missed: another task", f"missed?dataset={dataset}", choose("Task", 0), row),
            ("Leaderboard: another task", f"leaderboard?dataset={dataset}", choose("Task", 3), row),
            ("reader: another task", f"{reader}&r=bm25", choose("Task", 2), sentence),
            ("reader: next instance", f"{reader}&r=bm25", press("button", "Next"), sentence),
            ("reader: edit, 3 retrievers", f"{reader}&r=bm25~dense~structure", edit(words), sentence),
            ("your paper: dense", "paper?r=dense&h=Tea+lowers+blood+pressure", paste(paper), picked),
        ]  # fmt: skip

    found: dict[str, object] = {}
    late: list[str] = []
    with served_app(Path(folder)) as base, sync_playwright() as playwright:
        used, debugged = (
            playwright.chromium.launch(executable_path=path, args=[*CHROMIUM_FLAGS, *flags])
            for flags in (AS_USED, ())
        )
        for time, browser in (("first", used), ("again", used), ("again, as debugged", debugged)):
            # One cache for Streamlit's own scripts, cold at first; every page is a session of its own.
            context = browser.new_context(viewport={"width": 1440, "height": 900})
            context.add_init_script(WATCH)
            for name, address, act, shows in actions(
                f"Tea{time.split()[-1]} lowers blood pressure in adults who drink it"
            ):
                page = context.new_page()
                if address:
                    timed(page, to(address), "h1")
                times = timed(page, act, shows)
                page.close()
                is_cold = name == "open Home"
                over = times["seen"] > SEEN_MS or (
                    time == "again" and not is_cold and times["settled"] > SETTLED_MS
                )
                late += [f"{name}, {time}"] * (over and browser is used)
                print(
                    f"{name:28s} {time:18s}  " + "  ".join(f"{k} {v:5d}" for k, v in times.items()),
                    file=sys.stderr,
                )
                found[f"{name}, {time}"] = times
        for browser in (used, debugged):
            browser.close()
    return report({"milliseconds": found}, late)


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
