"""One miss with everything around it."""

from pathlib import Path

import pytest

from evidencebench_core.analyses.miss import miss
from evidencebench_core.data.store import Store
from evidencebench_core.errors import UnknownNameError
from evidencebench_core.retrievers import Retrieval
from tests.analyses.stores import missed_store, ranked, run_of


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return missed_store(tmp_path)


@pytest.fixture
def run(store: Store) -> str:
    picks = Retrieval((12, 1, 0, 9, 10), (8.0, 6.0, 4.0, 3.0, 1.5), (12, 1, 0))
    return run_of(store, "one", {"tea": {"er@3": picks}, "salt": {"er@3": "failed"}})


def test_what_covers_it_best_ranked_first(store: Store, run: str) -> None:
    context = miss(store, run, "er@3", "tea", "effect")
    assert [p.sentence for p in context.passages] == [12, 9]
    nine = context.passages[1]
    assert (nine.rank, nine.score, nine.section) == (4, 3.0, "results")
    assert context.passages[0].shared == {"tea", "lowers"}
    assert (context.number, context.budget) == (1, 3)
    # What took the place of harm.
    picks = miss(store, run, "er@3", "tea", "harm").picks
    # A2 is effect, A4 main: 12 covers both, 1 repeats main, 0 covers nothing.
    assert [(p.sentence, p.new, p.repeated) for p in picks] == [
        (12, ("A2", "A4"), ()),
        (1, (), ("A4",)),
        (0, (), ()),
    ]


def test_other_runs_but_not_the_oracle(store: Store, run: str) -> None:
    finder = run_of(store, "two", {"tea": {"er@3": ranked((0, 10), 2)}})
    silent = run_of(store, "six", {"tea": {"er@3": "failed"}, "salt": {"er@3": ranked((0,), 1)}})
    run_of(store, "oracle", {"tea": {"er@3": ranked((10,), 1)}})
    others = {o.run_id: o for o in miss(store, run, "er@3", "tea", "harm").others}
    assert set(others) == {finder, silent}
    assert (others[finder].found, others[finder].rank, others[finder].sentence) == (True, 2, 10)
    assert others[silent].found is None


def test_what_is_not_there_is_named(store: Store, run: str) -> None:
    with pytest.raises(UnknownNameError, match="aspect 'harms'"):
        miss(store, run, "er@3", "tea", "harms")
    with pytest.raises(UnknownNameError, match="no answer for 'salt'"):
        miss(store, run, "er@3", "salt", "rise")
