"""Somebody's system: whatever it answers becomes a ranking, and what is none says so."""

from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evidencebench_core.errors import EvidenceBenchError, RetrieverError, SettingError
from evidencebench_core.retrievers import Query, Retrieval
from evidencebench_core.retrievers.own import OwnSystem, system_at
from tests.retrievers.queries import make_query

QUERY = make_query("abcd", budget=2)
NO_ANSWERS = (None, 3, [0, 4], [-1], [0.5], "abcd", [[1, 2]], [nan] * 4, {9: 1.0}, {"x": 1.0}, {0: None})


@pytest.mark.parametrize(
    ("answer", "ranking"),
    [
        ([0.1, 0.9, 0.5, 0.9], (1, 3, 2, 0)),  # a score each; of equals the first stands first
        ([5, 9, 9, 7], (1, 2, 3, 0)),  # whole numbers, but not of four sentences
        ([3, 0, 2, 1], (3, 0, 2, 1)),
        (np.array([2, 1]), (2, 1)),
        ({3: 1.0, 1: 1.0, "2": 7}, (2, 1, 3)),
        (Retrieval((2, 3), (5.0, 4.0)), (2, 3)),
        ([], ()),
    ],
)
def test_an_answer_becomes_a_ranking(answer: Any, ranking: tuple[int, ...]) -> None:
    retrieval = OwnSystem(lambda _: answer, "mine").retrieve(QUERY)
    assert (retrieval.ranking, retrieval.selection) == (ranking, ranking[:2])
    assert all(type(index) is int for index in retrieval.ranking)


@pytest.mark.parametrize("answer", [*NO_ANSWERS, Retrieval((9,), (1.0,))])
def test_what_is_no_answer_is_one_line(answer: Any) -> None:
    with pytest.raises(EvidenceBenchError) as caught:
        OwnSystem(lambda _: answer, "mine").retrieve(QUERY)
    assert "\n" not in str(caught.value)


def test_an_error_is_one_line_and_its_traceback_is_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    def broken(query: Query) -> Any:
        raise KeyError("weights\nof mine")

    with pytest.raises(RetrieverError) as caught:
        OwnSystem(broken, " my\nsystem").retrieve(QUERY)
    assert caught.value.place == "system 'my system'"
    assert "\n" not in str(caught.value)
    (record,) = caplog.records
    assert (record.exc_info or [None])[0] is KeyError


FILE = """
from evidencebench_core.retrievers import Retriever, Settings

class Plain:
    by_budget = True
    def rank(self, query):
        return [query.budget]

class Settled(Retriever):
    class settings_class(Settings):
        first: int = 0
    def rank(self, query):
        return [self.settings.first]
"""


def test_a_system_of_a_file_or_a_module(tmp_path: Path) -> None:
    path = tmp_path / "my_system.py"
    path.write_text(FILE)
    plain, settled = system_at(f"{path}:Plain", {}), system_at(f"{path}:Settled", {"first": "3"})
    assert (plain.retrieve(QUERY).ranking, plain.by_budget) == ((2,), True)
    assert (settled.retrieve(QUERY).ranking, settled.settings.values()) == ((3,), {"first": 3})
    path.write_text(f"{FILE}\n# another\n")
    assert system_at(f"{path}:Plain", {}).basis != plain.basis
    assert system_at("tests.retrievers.queries:make_query", {}).label.endswith("queries:make_query")
    for place in ("my_system.py:Nobody", "my_system.py", "none.py:X", "no_such_module:X", "x"):
        with pytest.raises(SettingError):
            system_at(str(tmp_path / place) if ".py" in place else place, {})
    for name, settings in (("Plain", {"a": 1}), ("Settled", {"second": 1})):
        with pytest.raises(SettingError):
            system_at(f"{path}:{name}", settings)
