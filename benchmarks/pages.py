"""How long the app's server takes for each page and for what a user does on Browse, and the memory it needs.

    python -m benchmarks.pages STORE DATASET

Runs the real pages through Streamlit's AppTest in this process (no browser, no network): what is timed is
the server side of a click. "first" includes what is computed and cached, and its processor time, which other
work on the machine does not add to as it does to seconds; "again" is a rerun of the page as it stands. Of the
actions on Browse the median and the worst of seven are printed. `benchmarks.clicks` has the browser's side.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest

from benchmarks.timing import ROOT, peak_mb

PAGES = ("browse", "leaderboard", "missed", "middle", "wording", "compare", "dataset")
WORDS = ("cancer", "wine", "risk exposure", "mice", "copy 19", "human", "asthma")
COLUMNS = ("optimal", "n_sentences", "hypothesis", "ends_coverage", "id", "n_aspects", "n_result_aspects")


def seconds(act: Callable[[], AppTest]) -> float:
    """The time of a run of the app, which must not end in an exception."""
    began = time.perf_counter()
    app = act()
    assert not app.exception, app.exception[0].message
    return time.perf_counter() - began


def opened(app: AppTest, page: str, **params: str) -> AppTest:
    app.switch_page(f"pages/{page}.py")
    app.query_params.update(params)
    return app.run()


def repeated(name: str, act: Callable[[int], AppTest]) -> None:
    times = [1000 * seconds(lambda n=n: act(n)) for n in range(7)]  # type: ignore[misc]
    print(f"{name:28s} median {statistics.median(times):7.1f} ms, worst {max(times):7.1f} ms")


def time_browse(dataset: str, instance: str) -> None:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300).run()
    opened(app, "browse", dataset=dataset)

    def search(label: str, words: str) -> AppTest:
        return next(box for box in app.text_input if box.label == label).set_value(words).run()

    for label in ("Search hypotheses", "Search sentences"):
        repeated(label.lower(), lambda n, label=label: search(label, WORDS[n]))  # type: ignore[misc]
        search(label, "")
    aspects = "Study aspects"
    repeated(
        "filter by aspects",
        lambda n: next(one for one in app.slider if one.label == aspects).set_value((n, 20 + n)).run(),
    )
    opened(app, "browse", dataset=dataset, where="")
    repeated(
        "sort", lambda n: next(b for b in app.selectbox if b.label == "Sort by").set_value(COLUMNS[n]).run()
    )
    app.query_params["instance"] = instance
    app.run()
    repeated(
        "next instance (bm25 live)", lambda _: next(b for b in app.button if b.label == "Next").click().run()
    )


def main() -> None:
    store, dataset = sys.argv[1:3]
    os.environ["EVIDENCEBENCH_STORE"] = store
    from evidencebench_core.data import open_store
    from evidencebench_core.runs import RunStore

    known = open_store(Path(store))
    n_runs = len(RunStore(known).runs(dataset))
    print(f"{dataset}: {known.dataset(dataset).n_instances:,} instances, {n_runs} runs")
    home = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
    print(f"{'home, cold':14s} {seconds(home.run):6.2f} s")
    for page in PAGES:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300).run()
        began = time.process_time()
        first = seconds(lambda: opened(app, page, dataset=dataset))  # noqa: B023
        processor = time.process_time() - began
        again = min(seconds(lambda: opened(app, page, dataset=dataset)) for _ in range(2))  # noqa: B023
        print(f"{page:14s} first {first:6.2f} s (processor {processor:5.2f} s), again {again:6.2f} s")
    time_browse(dataset, known.ids(dataset, 1)[0])
    print(f"peak resident memory {peak_mb()} MB")


if __name__ == "__main__":
    main()
