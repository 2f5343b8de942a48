"""How much of the house a run of bm25 walks through."""

import sys
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType

import pytest

import evidencebench_core
from evidencebench_core.data import ingest, open_store
from evidencebench_core.runs import execute, plan

HOUSE = str(Path(evidencebench_core.__file__).parent)


@pytest.mark.realdata
def test_a_run_of_bm25_is_a_short_walk(train_path: Path, tmp_path: Path) -> None:
    store = open_store(tmp_path / "store.sqlite")
    ingest(store, train_path, "train")
    entered = Counter[CodeType]()

    def enter(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        is_function = code.co_name != "<module>" and code.co_flags & 2  # CO_NEWLOCALS: no class body
        if event == "call" and is_function and code.co_filename.startswith(HOUSE):
            entered[code] += 1

    sys.setprofile(enter)
    try:
        for _ in execute(plan(store, "train", "bm25")):
            pass
    finally:
        sys.setprofile(None)
    assert [n for code, n in entered.items() if code.co_name == "datasets_in"] == [1]
    assert len({code.co_filename for code in entered}) <= 20
    assert len(entered) <= 100, sorted(f"{code.co_filename} {code.co_qualname}" for code in entered)
