"""How much of the house a run walks through."""

import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType

import pytest

import evidencebench_core
from evidencebench_core.data import ingest, open_store
from evidencebench_core.llm import LLM, Connection
from evidencebench_core.runs import execute, plan
from tests.llm.server import reply, scripted

HOUSE = str(Path(evidencebench_core.__file__).parent)


@contextmanager
def walk() -> Iterator[Counter[CodeType]]:
    """The functions of the house that are entered in the block, in any thread, and how often."""
    entered = Counter[CodeType]()

    def enter(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        is_function = not code.co_name.startswith("<") and code.co_flags & 2  # CO_NEWLOCALS: no class body
        if event == "call" and is_function and code.co_filename.startswith(HOUSE):
            entered[code] += 1

    threading.setprofile(enter)
    sys.setprofile(enter)
    try:
        yield entered
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


@pytest.mark.realdata
def test_a_run_is_a_short_walk(train_path: Path, tmp_path: Path) -> None:
    store = open_store(tmp_path / "store.sqlite")
    ingest(store, train_path, "train")
    with walk() as entered:
        list(execute(plan(store, "train", "bm25")))
    assert [n for code, n in entered.items() if code.co_name == "datasets_in"] == [1]
    assert len({code.co_filename for code in entered}) <= 20
    assert len(entered) <= 100, sorted(f"{code.co_filename} {code.co_qualname}" for code in entered)
    with scripted(reply("DECISION: [1]")) as server:
        llm = LLM(Connection(server.url, "key"), store)
        planned = plan(store, "train", "llm", {"model": "gpt-4o"}, limit=8, llm=llm)
        with walk() as entered:
            list(execute(planned))
    assert len({code.co_filename for code in entered}) <= 20
    assert len(entered) <= 140, sorted(f"{code.co_filename} {code.co_qualname}" for code in entered)
