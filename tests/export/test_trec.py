"""TREC runs and diversity qrels: what the lines say, and that ir_measures scores them as we do."""

import io
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import unquote

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.data import Aspect, EvidenceSet
from evidencebench_core.export import Row, write_qrels, write_run
from evidencebench_core.metrics import aspect_recall
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.tasks import Task, task_named

ER_AT_3, RESULTS = task_named("er@3"), task_named("result-er@5")


def evidence(n_sentences: int, aspects: Mapping[str, Sequence[int]], result: str = "") -> EvidenceSet:
    gold = [
        Aspect(name, tuple(sorted(indices)), name == result, f"A{number}")
        for number, (name, indices) in enumerate(aspects.items(), start=1)
    ]
    return EvidenceSet(n_sentences, tuple(gold), optimal=2, results_optimal=1 if result else None)


def answer(name: str, gold: EvidenceSet, picks: Sequence[int] | None) -> Row:
    if picks is None:
        return Row(name, gold, None, "the server was silent")
    return Row(name, gold, Retrieval(tuple(picks), (1.0,) * len(picks), len(picks)))


def run_text(answers: Iterable[Row], task: Task = ER_AT_3) -> str:
    write_run(answers, task, stream := io.StringIO(), "my run")
    return stream.getvalue()


def qrels_text(gold: Iterable[tuple[str, EvidenceSet]], task: Task = ER_AT_3) -> str:
    write_qrels(gold, task, stream := io.StringIO())
    return stream.getvalue()


def subtopic_recall(run: str, qrels: str, k: int) -> dict[str, float]:
    """Of ir_measures, by the original instance id; files are read as ir_measures reads them."""
    gold, picks = ir_measures.read_trec_qrels(qrels + "\n"), ir_measures.read_trec_run(run + "\n")
    scored = ir_measures.iter_calc([ir_measures.parse_measure(f"StRecall@{k}")], list(gold), list(picks))
    return {unquote(metric.query_id): metric.value for metric in scored}


GOLD = evidence(9, {"x": [4, 1], "y": [], "z": [7]}, result="z")


def test_lines_by_hand() -> None:
    # Three picks: scores count down from 3, whatever the retriever's own were; a repeated one is written once.
    run = run_text([answer("i 1", GOLD, [7, 0, 7, 4])])
    assert run == "i%201 Q0 7 1 3 my%20run\ni%201 Q0 0 2 2 my%20run\ni%201 Q0 4 3 1 my%20run\n"
    assert len(run_text([answer("i", GOLD, [0, 2, 3, 7])]).splitlines()) == 3  # beyond the budget it is cut
    # Aspect y is covered by no sentence: it counts, with a document that no run can find.
    qrels = qrels_text([("i", GOLD)])
    assert qrels == "i 1 1 1\ni 1 4 1\ni 2 none 1\ni 3 7 1\n"
    # Of x, y and z, picking 1 covers x: 1/3, not 1/2.
    assert subtopic_recall(run_text([answer("i", GOLD, [1])]), qrels, 3) == {"i": pytest.approx(1 / 3)}
    # The result tasks ask for z alone, and it keeps the number of its label, A3.
    assert qrels_text([("i", GOLD)], RESULTS) == "i 3 7 1\n"


def test_an_answer_that_is_empty_or_missing_scores_0() -> None:
    answers = [answer("empty", GOLD, []), answer("silent", GOLD, None), answer("fine", GOLD, [7])]
    # ir_measures gives 0 to both: as ours for the empty one, and as --missing zero for the other.
    qrels = qrels_text([(row.instance_id, row.evidence) for row in answers], RESULTS)
    assert subtopic_recall(run_text(answers, RESULTS), qrels, 5) == {"empty": 0, "silent": 0, "fine": 1}


@pytest.mark.parametrize(
    ("task", "measure"),
    [("er@3", "is StRecall@3 "), ("er@optimal", "is StRecall@2 "), ("er@25", "looks at 20 at most")],
)
def test_which_measure_is_ours_is_told(task: str, measure: str) -> None:
    rows = [answer("i", evidence(40, {"x": [1]}), (7, 1))]
    assert measure in write_run(rows, task_named(task), io.StringIO(), "me")


ids = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8).filter(str.strip)


@st.composite
def made_up(draw: st.DrawFn) -> tuple[EvidenceSet, list[int]]:
    n_sentences = draw(st.integers(1, 12))
    indices = st.lists(st.integers(0, n_sentences - 1), unique=True, max_size=6)
    aspects = draw(st.lists(indices, min_size=1, max_size=5))
    gold = evidence(n_sentences, {f"a{number}": found for number, found in enumerate(aspects)})
    return gold, draw(indices)


@given(st.dictionaries(ids, made_up(), min_size=1, max_size=4), st.integers(1, 6))
def test_subtopic_recall_is_ours(instances: dict[str, tuple[EvidenceSet, list[int]]], k: int) -> None:
    task = Task(f"er@{k}", "all", k)
    gold = {name: one for name, (one, _) in instances.items()}
    run = run_text([answer(name, one, picks) for name, (one, picks) in instances.items()], task)
    theirs = subtopic_recall(run, qrels_text(gold.items(), task), k)
    assert theirs.keys() == gold.keys()
    for name, (one, picks) in instances.items():
        assert theirs[name] == pytest.approx(aspect_recall(picks[:k], one.covers("all")), abs=1e-9)
