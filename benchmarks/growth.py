"""Whether the app's server grows while it is used: 200 switches of pages and 500 reruns, in one session.

    python -m benchmarks.growth STORE DATASET

Through Streamlit's AppTest in this process, as in `benchmarks.pages`. What is cached by then has been cached in a
warm-up; after it neither the number of Python's objects nor the resident memory may rise.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from itertools import cycle, islice
from pathlib import Path

from streamlit.testing.v1 import AppTest

from benchmarks.pages import PAGES, opened, seconds
from benchmarks.timing import ROOT, report

SWITCHES, RERUNS = 200, 500
MORE_OBJECTS, MORE_MB = 1.01, 10  # may come and go


def counted() -> dict[str, int]:
    """Objects of Python, with those that the collector leaves out, and megabytes."""
    gc.collect()
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    megabytes = int(status.partition("VmRSS:")[2].split()[0]) // 1024
    return {"objects": len(gc.get_objects()) + gc.get_freeze_count(), "MB": megabytes}


def main(store: str, dataset: str) -> int:
    os.environ["EVIDENCEBENCH_STORE"] = store
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300).run()

    def switch(times: int) -> None:
        for page in islice(cycle(PAGES), times):
            seconds(lambda: opened(app, page, dataset=dataset))  # noqa: B023

    def rerun(times: int) -> None:
        opened(app, "browse", dataset=dataset)
        for _ in range(times):
            seconds(app.run)

    switch(SWITCHES // 4)
    rerun(RERUNS // 4)
    time.sleep(5)  # what the server prepares behind its first page
    found = {"warm": counted()}
    for name, act, times in (("switches", switch, SWITCHES), ("reruns", rerun, RERUNS)):
        act(times)
        found[f"after {times} {name}"] = counted()
    warm, *later = found.values()
    most = {"objects": warm["objects"] * MORE_OBJECTS, "MB": warm["MB"] + MORE_MB}
    grown = [what for what in most if max(one[what] for one in later) > most[what]]
    return report(dict(found), grown)


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
