"""TREC runs and diversity qrels: what the lines say, and that ir_measures scores them as we do."""

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.data import Aspect, EvidenceSet
from evidencebench_core.export import Row, trec_id, write_qrels, write_run
from evidencebench_core.metrics import aspect_recall
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.tasks import Task, task_named

ER_AT_3, RESULTS = task_named("er@3"), task_named("result-er@5")


def evidence(
    n_sentences: int, aspects: Mapping[str, Sequence[int]], results: Sequence[str] = ()
) -> EvidenceSet:
    gold = tuple(
        Aspect(name, tuple(sorted(indices)), name in results, f"A{number}")
        for number, (name, indices) in enumerate(aspects.items(), start=1)
    )
    return EvidenceSet(n_sentences, gold, optimal=2, results_optimal=1 if results else None)


def answer(name: str, gold: EvidenceSet, picks: Sequence[int] | None, ranking: Sequence[int] = ()) -> Row:
    if picks is None:
        return Row(name, gold, None, "the server was silent")
    order = (*picks, *(index for index in ranking if index not in picks))
    return Row(name, gold, Retrieval(order, (1.0,) * len(order), len(picks)))


def run_text(answers: Iterable[Row], task: Task = ER_AT_3, what: Any = "selection") -> tuple[str, Any]:
    stream = io.StringIO()
    result = write_run(answers, task, stream, "my run", what)
    return stream.getvalue(), result


def qrels_text(gold: Iterable[tuple[str, EvidenceSet]], task: Task = ER_AT_3) -> tuple[str, Any]:
    stream = io.StringIO()
    result = write_qrels(gold, task, stream)
    return stream.getvalue(), result


def subtopic_recall(run: str, qrels: str, k: int) -> dict[str, float]:
    """Of ir_measures, by the original instance id; files are read as ir_measures reads them."""
    gold, picks = ir_measures.read_trec_qrels(qrels + "\n"), ir_measures.read_trec_run(run + "\n")
    scored = ir_measures.iter_calc([ir_measures.parse_measure(f"StRecall@{k}")], list(gold), list(picks))
    return {unquote(metric.query_id): metric.value for metric in scored}


GOLD = evidence(9, {"x": [4, 1], "y": [], "z": [7]}, results=["z"])


def test_lines_by_hand() -> None:
    # Three picks: scores count down from 3, whatever the retriever's own were; a repeated one is written once.
    run, _ = run_text([answer("i 1", GOLD, [7, 0, 7, 4])])
    assert run == "i%201 Q0 7 1 3 my%20run\ni%201 Q0 0 2 2 my%20run\ni%201 Q0 4 3 1 my%20run\n"
    run, result = run_text([answer("i", GOLD, [0, 2, 3, 7])])  # beyond the budget it is cut, and told
    assert (len(run.splitlines()), result.over_budget) == (3, ["i"])
    # Aspect y is covered by no sentence: it counts, with a document that no run can find.
    qrels, result = qrels_text([("i", GOLD)])
    assert qrels == "i 1 1 1\ni 1 4 1\ni 2 none 1\ni 3 7 1\n"
    assert result.n_rows == 4
    # Of x, y and z, picking 1 covers x: 1/3, not 1/2.
    run, _ = run_text([answer("i", GOLD, [1])])
    assert subtopic_recall(run, qrels, 3) == {"i": pytest.approx(1 / 3)}
    # The result tasks ask for z alone, and it keeps the number of its label, A3.
    assert qrels_text([("i", GOLD)], RESULTS)[0] == "i 3 7 1\n"


def test_ties_keep_the_order_of_the_ranking() -> None:
    # All scores are equal; TREC's tools would order such a run by docid, highest first, and find 8 before 1.
    gold = evidence(9, {"x": [1], "y": [8]})
    run, _ = run_text([answer("i", gold, [1], [1, 8, 3])], what="ranking")
    assert [line.split()[2] for line in run.splitlines()] == ["1", "8", "3"]
    assert subtopic_recall(run, qrels_text([("i", gold)])[0], 1) == {"i": 0.5}


def test_nothing_is_left_out_in_silence() -> None:
    bare = evidence(9, {"x": [1]})
    picks = {"empty": (GOLD, []), "silent": (GOLD, None), "none": (bare, None), "fine": (GOLD, [7])}
    answers = [answer(name, *one) for name, one in picks.items()]
    text, result = run_text(answers, RESULTS)
    assert {line.split()[0] for line in text.splitlines()} == {"fine"}
    assert result.empty == ["empty"]
    assert result.left_out == {"silent": "the server was silent", "none": "the server was silent"}
    assert len(result.lines()) == 3  # and the measure
    # ir_measures gives 0 to both: as ours for the empty one, and as --missing zero for the other.
    qrels, _ = qrels_text([(one.instance_id, one.evidence) for one in answers], RESULTS)
    assert subtopic_recall(text, qrels, 5) == {"empty": 0, "silent": 0, "fine": 1}


def test_which_measure_is_ours_is_told() -> None:
    def last_note(task: str, what: str = "selection", picks: Sequence[int] = (7, 1)) -> str:
        gold = evidence(40, {"x": [1]}, results=["x"])
        return run_text([answer("i", gold, picks, range(40))], task_named(task), what)[1].notes[-1]

    assert "StRecall@3 of ir_measures" in last_note("er@3")
    assert last_note("er@optimal").startswith("Aspect Recall is StRecall@2 ")
    assert "No single StRecall@k" in last_note("er@optimal", "ranking")
    assert "at 20 at most" in last_note("er@25")
    assert "StRecall@40" in last_note("result-er@unconstrained", picks=range(40))


ids = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8).filter(str.strip)


@given(ids)
def test_ids_are_safe_and_come_back(text: str) -> None:
    safe = trec_id(text)
    assert safe.isascii()
    assert safe.split() == [safe]
    assert unquote(safe) == text


@st.composite
def made_up(draw: st.DrawFn) -> tuple[EvidenceSet, list[int]]:
    n_sentences = draw(st.integers(1, 12))
    indices = st.lists(st.integers(0, n_sentences - 1), unique=True, max_size=6)
    aspects = draw(st.lists(indices, min_size=1, max_size=5))
    gold = evidence(n_sentences, {f"a{number}": found for number, found in enumerate(aspects)})
    return gold, draw(indices)


@given(st.dictionaries(ids, made_up(), min_size=1, max_size=4), st.integers(1, 6))
def test_subtopic_recall_is_aspect_recall_on_made_up_instances(
    instances: dict[str, tuple[EvidenceSet, list[int]]], k: int
) -> None:
    task = Task(f"er@{k}", "all", k)
    gold = {name: one for name, (one, _) in instances.items()}
    run, _ = run_text([answer(name, one, picks) for name, (one, picks) in instances.items()], task)
    theirs = subtopic_recall(run, qrels_text(gold.items(), task)[0], k)
    assert theirs.keys() == gold.keys()
    for name, (one, picks) in instances.items():
        assert theirs[name] == pytest.approx(aspect_recall(picks[:k], one.covers("all")), abs=1e-9)
