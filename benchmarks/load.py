"""How long five people at once wait for pages and for "Next", in Chromium, and the memory of the one server they use.

    python -m benchmarks.load FOLDER [CHECKOUT]

FOLDER holds ``store.sqlite`` with 20,000 instances (``shared/tools/make_scale_dataset.py``) and two runs or more on
them; another CHECKOUT is measured by the same walk, on a store that its own code has made. Each person has a browser
context, and walks over all pages from another start: a page by its name in the menu, an instance from the table, then
"Next", and looks at each for one to four seconds. They begin once all have the app open: five browsers that start cold
are the machine's work, not the server's. A wait ends with the last change on screen. The browser works on the same
processors as the server: seconds of processor time say whose they were.
"""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from playwright.async_api import Browser, Page, async_playwright

from benchmarks.clicks import SETTLED, WATCH
from benchmarks.timing import ROOT, report
from tests.browser.serving import CHROMIUM_FLAGS, chromium, served

PEOPLE = 5
ROUNDS = 2
N_NEXT = 5
LOOKS = (1.0, 4.0)  # seconds, at what has come
MOST_MS = 240_000  # after which something is wrong
TARGETS = {"page, median": 1_500, "page, worst": 4_000, "Next, median": 300, "server MB": 600}
ROW = ".table-root tbody tr"
# What shows that the page is there, by the name of the page.
PAGES = {
    "Browse": ROW,
    "Leaderboard": ROW,
    "Missed aspects": ROW,
    "Lost in the middle": ".js-plotly-plot",
    "Compare": "text=Slice by slice",
    "Dataset": "text=Where aspects can be found",
    "Wording": "h1:has-text('Wording')",
}
IN_BAR = ("Browse", "Leaderboard")  # the others are behind "Analyse"

Act = Callable[[], Awaitable[object]]
Waits = dict[str, list[float]]


async def waited(page: Page, act: Act, shows: str) -> float:
    """Milliseconds from what is done to the last change of a page that shows what it should."""
    await act()
    await page.locator(shows).first.wait_for()
    settled = await page.wait_for_function(SETTLED, polling=50)
    return float(await settled.json_value())


async def choose(page: Page, name: str) -> None:
    if name in IN_BAR:
        await page.get_by_role("link", name=name).first.click()
    else:
        await page.get_by_role("button", name="Analyse").click()
        await page.get_by_role("menuitem", name=name, exact=True).click()


async def walk(browser: Browser, address: str, first: int, together: asyncio.Barrier, waits: Waits) -> None:
    """One person: all pages from the ``first`` on, some rounds of them."""
    context = await browser.new_context(viewport={"width": 1440, "height": 900})
    await context.add_init_script(WATCH)
    page = await context.new_page()
    page.set_default_timeout(MOST_MS)
    looks = random.Random(first)  # noqa: S311 - a reproducible draw, not a secret

    async def wait(name: str, act: Act, shows: str) -> None:
        waits.setdefault(name, []).append(await waited(page, act, shows))
        await asyncio.sleep(looks.uniform(*LOOKS))

    await wait("start", lambda: page.goto(address), "h1")
    await together.wait()
    names = [*PAGES] * 2
    for name in names[first : first + len(PAGES)] * ROUNDS:
        await wait(name, lambda name=name: choose(page, name), PAGES[name])  # type: ignore[misc]
        if name == "Browse":
            await wait("reader", page.locator(ROW).nth(first).click, ".reader .s")
            following = page.get_by_role("button", name="Next", exact=True)
            for _ in range(N_NEXT):
                await wait("Next", following.click, ".reader .s")
            await wait("back", page.get_by_role("button", name="All instances").click, ROW)


def processes(word: bytes) -> list[Path]:
    """Folders in /proc of the processes below this one whose command has a word."""
    found, pending = list[Path](), [Path("/proc/self")]
    for folder in pending:
        for children in folder.glob("task/*/children"):
            pending += [Path(f"/proc/{child}") for child in children.read_text().split()]
        found += [folder] * (word in (folder / "cmdline").read_bytes() and folder != pending[0])
    return found


def cpu_seconds(folders: list[Path]) -> float:
    ticks = sum(
        sum(map(int, (folder / "stat").read_text().rpartition(")")[2].split()[11:13])) for folder in folders
    )
    return ticks / os.sysconf("SC_CLK_TCK")


def megabytes(folder: Path, what: str) -> int:
    return int((folder / "status").read_text().partition(f"{what}:")[2].split()[0]) // 1024


async def load(base: str) -> dict[str, object]:
    waits: Waits = {}
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium(), args=list(CHROMIUM_FLAGS))
        together = asyncio.Barrier(PEOPLE)
        await asyncio.gather(*(walk(browser, base, number, together, waits) for number in range(PEOPLE)))
        (server,) = processes(b"streamlit")
        used = {"server": cpu_seconds([server]), "browser": cpu_seconds(processes(b"chrom"))}
        memory = {"server MB": megabytes(server, "VmRSS"), "most server MB": megabytes(server, "VmHWM")}
        await browser.close()
    pages = [wait for name in PAGES for wait in waits[name]]
    found = {
        "page, median": round(statistics.median(pages)),
        "page, worst": round(max(pages)),
        "Next, median": round(statistics.median(waits["Next"])),
        **memory,
    }
    each = {name: [round(statistics.median(some)), round(max(some))] for name, some in waits.items()}
    return {**found, "median and worst of each": each, "processor seconds": used}


def main(folder: str, checkout: str = str(ROOT)) -> int:
    place = Path(folder).resolve()
    environment = {
        "EVIDENCEBENCH_STORE": str(place / "store.sqlite"),
        "EVIDENCEBENCH_CACHE": str(place / "cache"),
        "PYTHONPATH": checkout,
    }
    with served(Path(checkout) / "app.py", **environment) as base:
        found = asyncio.run(load(base))
    return report(found, [name for name, most in TARGETS.items() if float(str(found[name])) > most])


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
