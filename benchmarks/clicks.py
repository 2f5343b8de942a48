"""How long a user waits: the app in Chromium, from a click or an address to what is seen of it.

    python -m benchmarks.clicks FOLDER DATASET

FOLDER holds ``store.sqlite`` with three runs or more on the dataset. Everything is done twice on one server, each time
in a session of its own: the second time, what can be is computed before. Of each action milliseconds to the first
change on screen, to the settled page, and of the server's CPU. Prints one JSON document; exits 1 where a click passes a
limit the second time: 300 ms to something to see, 1 s to the settled page (of a menu 0.8 s), 0.2 s of CPU.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from uuid import uuid4

from playwright.sync_api import Page, expect, sync_playwright

from evidencebench_core.data import open_store
from tests.browser.serving import CHROMIUM_FLAGS, chromium, served_app

LIMITS = {"seen": 300, "settled": 1_000, "cpu": 200}
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


def edit(page: Page) -> None:
    page.get_by_role("button", name="Edit hypothesis").click()
    box = page.get_by_role("textbox", name=re.compile("ypothesis")).first
    box.fill(f"Tea{uuid4()} helps.")
    box.press("Control+Enter")
    expect(page).to_have_url(re.compile("=Tea"))


def actions(base: str, dataset: str, instance: str) -> list[tuple[str, str, Act | None, str]]:
    """Name, the page that is opened, what is clicked there, if anything, and what is then to be seen."""
    browse, reader = (
        f"{base}/browse?dataset={dataset}",
        f"{base}/browse?dataset={dataset}&instance={instance}",
    )
    runs, analyse = f"{base}/runs?dataset={dataset}", f"{base}/analyse?dataset={dataset}"
    sentence, row, chart = ".reader .s", ".table-root tbody tr", ".js-plotly-plot"
    return [
        ("open Home", base, None, "h1"),
        ("open the list", browse, None, row),
        ("open the reader", reader, None, sentence),
        ("open Runs", runs, None, row),
        ("open Analyse", analyse, None, row),
        ("open Position", f"{analyse}&part=position", None, chart),
        ("menu: Runs", reader, lambda page: page.get_by_role("link", name="Runs").first.click(), row),
        ("menu: Analyse", reader, lambda page: page.get_by_role("link", name="Analyse").first.click(), row),
        ("reader: next", reader, lambda page: page.get_by_role("button", name="Next page").click(), sentence),
        ("reader: edit", f"{reader}&live=bm25~lead~abstract-tail", edit, sentence),
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
                figures = timed(page, partial(Page.goto, url=address), "h1" if act else shows)
                if act:
                    figures = timed(page, act, shows)
                times[f"{name}, {turn}"] = figures
                page.close()
                print(f"{name:16s} {turn:6s} {figures}", file=sys.stderr)
                limits = LIMITS | ({"settled": 800} if name.startswith("menu") else {})
                if act and turn == "again" and any(figures[key] > limits[key] for key in limits):
                    late.append(name)
        browser.close()
    print(json.dumps({"milliseconds": times, "late": late, "load": os.getloadavg()}, indent=2))
    return int(bool(late))


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
