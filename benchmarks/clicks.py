"""How long a user waits: the app in Chromium, from a click or an address to what is seen of it.

    python -m benchmarks.clicks FOLDER DATASET

FOLDER holds ``store.sqlite`` with three runs or more on the dataset. Everything is done twice on one server, each time
in a session of its own: the second time, what can be is computed before. Of each action milliseconds to the first
change on screen and to the settled page. The limits are 300 ms to something to see and 1 s, computed before, to the
settled page. Prints one JSON document; exits 1 where a limit is passed.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

from playwright.sync_api import Page, expect, sync_playwright

from evidencebench_core.data import open_store
from tests.browser.serving import CHROMIUM_FLAGS, chromium, served_app

SEEN_MS, SETTLED_MS = 300, 1_000
# Under a debugger, which playwright is, V8 reads the function around every exception again to name its line.
AS_USED = ("--js-flags=--no-enable-lazy-source-positions",)
# From the key or button that is pressed (a page that is opened: from its address) to the first frame with a change.
WATCH = """
const start = (at) => { window.began = at; window.last = at; window.seen = null; };
start(0);
for (const kind of ['pointerdown', 'keydown']) addEventListener(kind, (event) => start(event.timeStamp), true);
const isVisible = (change) => change.type !== 'attributes' || change.target.dataset.stale === 'true';
new MutationObserver((changes) => {
  if (changes.some((change) => change.target !== document.head)) window.last = performance.now();
  if (window.seen === null && changes.some(isVisible) && document.querySelector('[data-testid=stApp]')) {
    window.seen = 0;
    requestAnimationFrame(() => { window.seen = performance.now() - window.began; });
  }
}).observe(document, {
  subtree: true, childList: true, characterData: true, attributes: true,
  attributeFilter: ['data-stale', 'data-test-script-state'],
});
"""
# The last change, once none has come for a while.
SETTLED = """() => {
  const state = document.querySelector('[data-testid=stApp]')?.dataset.testScriptState;
  const isDone = state === 'notRunning' && !document.querySelector('[data-stale=true]');
  return isDone && performance.now() - window.last > 400 && window.last - window.began;
}"""

Act = Callable[[Page], object]


def timed(page: Page, act: Act, shows: str) -> dict[str, int]:
    """Do it, and wait for a settled page that shows what it should."""
    before = server_ms()
    act(page)
    expect(page.locator(shows).first).to_be_visible(timeout=120_000)
    settled = page.wait_for_function(SETTLED, polling=50, timeout=120_000).json_value()
    seen = round(page.evaluate("window.seen") or 0)
    return {"seen": seen, "settled": round(settled), "cpu": server_ms() - before}


def server_ms() -> int:
    """The CPU time of the app, the only one of our children that Python runs."""
    for child in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
        _, _, fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")
        if "streamlit" in Path(f"/proc/{child}/cmdline").read_text():
            return sum(map(int, fields.split()[11:13])) * 1000 // os.sysconf("SC_CLK_TCK")
    raise RuntimeError("the app has ended")


def step(page: Page) -> None:
    page.get_by_test_id("stPaginationNext").click()


def follow(name: str) -> Act:
    return lambda page: page.get_by_role("link", name=name).first.click()


def edit(text: str) -> Act:
    def act(page: Page) -> None:
        page.get_by_role("button", name="Edit hypothesis").click()
        box = page.get_by_role("textbox", name=re.compile("ypothesis")).first
        box.fill(text)
        box.press("Control+Enter")
        expect(page).to_have_url(re.compile("h=" + text.partition(" ")[0]))

    return act


def actions(base: str, dataset: str, instance: str) -> list[tuple[str, str, Act, str]]:
    """Name, the page on which it is done ("" for a new one), what is done, and what it shows."""
    reader = f"{base}/browse?dataset={dataset}&instance={instance}&live=bm25"
    sentence, row, chart = ".reader .s", ".table-root tbody tr", ".js-plotly-plot"

    def to(address: str) -> Act:
        return lambda page: page.goto(address)

    return [
        ("open Home", "", to(base), "h1"),
        ("open the list", "", to(f"{base}/browse?dataset={dataset}"), row),
        ("open the reader", "", to(reader), sentence),
        ("open Runs", "", to(f"{base}/runs?dataset={dataset}"), row),
        ("open Analyse", "", to(f"{base}/analyse?dataset={dataset}"), row),
        ("Analyse: position", "", to(f"{base}/analyse?dataset={dataset}&part=position"), chart),
        ("menu: Runs", reader, follow("Runs"), row),
        ("menu: Analyse", reader, follow("Analyse"), row),
        ("reader: next instance", reader, step, sentence),
        (
            "reader: edit, 3 retrievers",
            f"{reader}~lead~abstract-tail",
            edit(f"Tea{uuid4()} helps."),
            sentence,
        ),
    ]


def main(folder: str, dataset: str) -> int:
    (instance,) = open_store(Path(folder) / "store.sqlite").ids(dataset, 1)
    times: dict[str, dict[str, int]] = {}
    late: list[str] = []
    with served_app(Path(folder)) as base, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=[*CHROMIUM_FLAGS, *AS_USED])
        for turn in ("first", "again"):
            context = browser.new_context(viewport={"width": 1440, "height": 900})
            context.add_init_script(WATCH)
            for name, address, act, shows in actions(base, dataset, instance):
                page = context.new_page()
                if address:
                    timed(page, lambda page, address=address: page.goto(address), "h1")  # type: ignore[misc]
                found = times[f"{name}, {turn}"] = timed(page, act, shows)
                page.close()
                print(f"{name:28s} {turn:6s} {found}", file=sys.stderr)
                if found["seen"] > SEEN_MS or (turn == "again" and found["settled"] > SETTLED_MS):
                    late.append(f"{name}, {turn}")
        browser.close()
    print(json.dumps({"milliseconds": times, "late": late, "load": os.getloadavg()}, indent=2))
    return int(bool(late))


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
