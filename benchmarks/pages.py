"""How long the server takes to draw each page: the first time, and again.

usage: python benchmarks/pages.py STORE DATASET

Runs the real pages through Streamlit's AppTest in this process (no browser, no network), each page in a
session of its own after one draw of Home. "first" includes what is computed and cached; "again" is a
rerun of the page as it stands.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("browse", "leaderboard", "missed", "middle", "wording", "compare", "dataset")


def main() -> None:
    store, dataset = sys.argv[1:3]
    os.environ["EVIDENCEBENCH_STORE"] = store
    sys.path.insert(0, str(ROOT))
    from streamlit.testing.v1 import AppTest

    from evidencebench_core.data import open_store
    from evidencebench_core.runs import RunStore

    runs = RunStore(open_store(Path(store))).runs(dataset)
    print(f"{dataset}: {open_store(Path(store)).dataset(dataset).n_instances:,} instances, {len(runs)} runs")
    for page in PAGES:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300).run()
        app.query_params["dataset"] = dataset
        seconds = []
        for _ in range(3):
            began = time.perf_counter()
            app.switch_page(f"pages/{page}.py")
            app.query_params["dataset"] = dataset
            app.run()
            seconds.append(time.perf_counter() - began)
            assert not app.exception, app.exception[0].message
        print(f"{page:14s} first {seconds[0]:6.2f} s, again {min(seconds[1:]):6.2f} s")


if __name__ == "__main__":
    main()
