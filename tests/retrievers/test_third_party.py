"""Retrievers of another package, announced by a made-up distribution on sys.path."""

import re
import sys
from pathlib import Path

import pytest

from evidencebench_core.errors import RetrieverError, SettingError
from evidencebench_core.retrievers import RETRIEVERS, full_settings, make_retriever, retriever_entries
from tests.retrievers.queries import make_query

MODULE = """
from evidencebench_core.retrievers import Retrieval, RetrieverEntry, SettingSpec
HERE = __name__

class Backwards:
    name = "backwards"
    def __init__(self, *, step=1):
        self.settings = {"step": step}
        if step == 13:
            raise RuntimeError("unlucky")
    def retrieve(self, query):
        n = len(query.sentences)
        answers = {
            1: Retrieval(tuple(range(n))[::-1], (0.0,) * n, tuple(range(n))[::-1][: query.budget]),
            2: Retrieval((n,), (0.0,), ()),
            3: Retrieval((0, 0), (0.0, 0.0), ()),
            4: Retrieval((0,), (), ()),
            5: [0],
            6: Retrieval((0,), (0.0,), [0]),
            7: Retrieval((0,), (0.0,), (1.0,)),
        }
        return answers[self.settings["step"]]

STEP = {"step": SettingSpec(1, int, "How.", minimum=1)}
good = RetrieverEntry("backwards", "From the end.", STEP, target=HERE + ":Backwards")
misnamed = RetrieverEntry("other", "", target=HERE + ":Backwards")
greedy = RetrieverEntry("greedy", "", sees_gold=True, target=HERE + ":Backwards")
dotted = RetrieverEntry("a.b", "", target=HERE + ":Backwards")
late = RetrieverEntry("late", "", target="no_such_module_here:Thing")
bm25 = RetrieverEntry("bm25", "not the real one", target=HERE + ":Backwards")
not_an_entry = Backwards
"""
ENTRY_POINTS = """[evidencebench.retrievers]
backwards = {module}:good
broken = {module}_missing:good
nothing = {module}:nothing
wrong = {module}:not_an_entry
misnamed = {module}:misnamed
greedy = {module}:greedy
a.b = {module}:dotted
late = {module}:late
bm25 = {module}:bm25
"""


@pytest.fixture(autouse=True)
def _package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = "eb_third_party_example"
    info = tmp_path / "eb_example-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: eb-example\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS.format(module=module))
    (tmp_path / f"{module}.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, module, raising=False)


def test_it_is_listed_and_made_like_ours() -> None:
    assert retriever_entries()["backwards"].summary == "From the end."
    retriever = make_retriever("backwards", {"step": "1"})
    assert (retriever.name, dict(retriever.settings)) == ("backwards", {"step": 1})
    assert retriever.retrieve(make_query("abc", budget=2)).selection == (2, 1)
    assert full_settings("hybrid", {"of": "backwards,lead"})["backwards.step"] == 1
    with pytest.raises(SettingError, match="Did you mean 'step'"):
        full_settings("backwards", {"stepp": 1})
    assert retriever_entries()["bm25"] is RETRIEVERS["bm25"]  # ours cannot be replaced


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("broken", "could not be loaded (ModuleNotFoundError"),
        ("nothing", "could not be loaded (AttributeError"),
        ("wrong", "is a type, not a RetrieverEntry"),
        ("misnamed", "calls itself 'other'"),
        ("greedy", "asks for gold"),
        ("a.b", "has a name with other than"),
    ],
)
def test_a_broken_one_is_listed_and_fails_only_when_used(name: str, why: str) -> None:
    entry = retriever_entries()[name]
    assert why in (entry.problem or "")
    assert "eb-example" in entry.summary
    for use in (make_retriever, full_settings):
        with pytest.raises(RetrieverError) as caught:
            use(name)
        assert str(caught.value).startswith(f"retriever {name}: entry point eb_third_party_example")
        assert why in str(caught.value)


@pytest.mark.parametrize(("name", "settings"), [("late", {}), ("backwards", {"step": 13})])
def test_one_that_cannot_be_made(name: str, settings: dict[str, object]) -> None:
    with pytest.raises(RetrieverError, match=rf"retriever {name}: could not be made \("):
        make_retriever(name, settings)


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (2, "sentences that the paper does not have"),
        (3, "a ranking that repeats a sentence"),
        (4, "0 scores for 1 ranked"),
        (5, "answered with a list"),
        (6, "a selection that is not a tuple of integers"),
        (7, "a selection that is not a tuple of integers"),
        (8, "failed (KeyError: 8)"),
    ],
)
def test_answers_that_are_none(step: int, why: str) -> None:
    with pytest.raises(RetrieverError, match=re.escape(why)):
        make_retriever("backwards", {"step": step}).retrieve(make_query("abc"))
