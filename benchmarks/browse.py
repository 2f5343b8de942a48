"""How long the app's server takes to answer on Browse, and the memory it needs.

usage: python benchmarks/browse.py STORE DATASET

Runs the real pages through Streamlit's AppTest in this process (no browser, no network): what is timed
is the server side of a click. Prints the median and the worst of seven of each, in ms, and the peak
resident memory of the process.
"""

from __future__ import annotations

import os
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def timed(name: str, action: Callable[[int], object], repeats: int = 7) -> None:
    seconds = []
    for n in range(repeats):
        began = time.perf_counter()
        action(n)
        seconds.append(time.perf_counter() - began)
    print(
        f"{name:32s} median {1000 * statistics.median(seconds):7.1f} ms, worst {1000 * max(seconds):7.1f} ms"
    )


def main() -> None:
    store, dataset = sys.argv[1:3]
    os.environ["EVIDENCEBENCH_STORE"] = store
    sys.path.insert(0, str(ROOT))
    from streamlit.testing.v1 import AppTest

    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    began = time.perf_counter()
    app.run()
    print(f"{'first page, cold':32s} {1000 * (time.perf_counter() - began):14.1f} ms")
    app.switch_page("pages/browse.py")
    app.query_params["dataset"] = dataset
    began = time.perf_counter()
    app.run()
    print(f"{'Browse, first time':32s} {1000 * (time.perf_counter() - began):14.1f} ms")

    words = ("cancer", "wine", "risk exposure", "mice", "copy 19", "human", "asthma")

    def field(label: str, value: str) -> None:
        next(box for box in app.text_input if box.label == label).set_value(value).run()
        assert not app.exception

    timed("search hypotheses", lambda n: field("Search hypotheses", words[n]))
    field("Search hypotheses", "")
    timed("search sentences", lambda n: field("Search sentences", words[n]))
    field("Search sentences", "")

    def filtered(n: int) -> None:
        next(slider for slider in app.slider if slider.label == "Study aspects").set_value((n, 20 + n)).run()
        assert not app.exception

    timed("filter by aspects", filtered)
    next(button for button in app.button if button.label == "Clear all").click().run()

    def sorted_by(n: int) -> None:
        columns = (
            "optimal",
            "n_sentences",
            "hypothesis",
            "ends_coverage",
            "id",
            "n_aspects",
            "n_result_aspects",
        )
        next(box for box in app.selectbox if box.label == "Sort by").set_value(columns[n]).run()
        assert not app.exception

    timed("sort", sorted_by)

    from evidencebench_core.data import open_store

    app.query_params["instance"] = open_store().ids(dataset, 1)[0]
    app.run()

    def following(_: int) -> None:
        next(button for button in app.button if button.label == "Next").click().run()
        assert not app.exception

    timed("next instance (bm25 live)", following)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{'peak resident memory':32s} {peak:14.1f} MB")


if __name__ == "__main__":
    main()
