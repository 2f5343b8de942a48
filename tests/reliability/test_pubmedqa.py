"""Models that answer by a rule, on PubMedQA: every figure is that of independent code from the raw file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from sklearn.metrics import f1_score

from evidencebench_core.data import Store
from evidencebench_core.errors import BudgetReachedError
from evidencebench_core.llm import LLM, AnswerCache, Budget, Connection, Limits
from evidencebench_core.reliability.drafts import ItemDrafts
from evidencebench_core.reliability.items import ItemSet, add_items, item_set
from evidencebench_core.reliability.judge import Judgements, judge_probes
from evidencebench_core.reliability.probes import Probe, probes_of
from evidencebench_core.reliability.runs import reliability_runs, results_of, run_plan, run_probes
from evidencebench_core.reliability.score import TaskRun, TaskScore, task_score
from evidencebench_core.reliability.tasks import reliability_task, task_settings
from evidencebench_core.runs import execute
from tests.conftest import real_file
from tests.llm.server import answering, scripted
from tests.reliability.scripted_models import MODELS, answer, overlap, step

ORDERS = ("NNNN", "NNNY", "NNYY", "NYNY", "YNYN", "YYNN", "YYYN", "YYYY")


class Row(NamedTuple):
    """What the raw file says of a question with the answer yes or no."""

    id: str
    question: str
    context: str
    gold: str
    conclusion: str


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    raw = json.loads(real_file("pubmedqa/ori_pqal.json").read_text("utf-8"))
    found = [
        Row(key, one["QUESTION"], "\n\n".join(one["CONTEXTS"]), one["final_decision"], one["LONG_ANSWER"])
        for key, one in raw.items()
    ]
    return [row for row in found if row.gold != "maybe"]


def weighted_f1(gold: Sequence[str], read: Sequence[str]) -> float:
    """By scikit-learn; a null is a label that gold never has."""
    return float(f1_score(gold, read, labels=["yes", "no"], average="weighted", zero_division=0))


def by_overlap(question: str, context: str) -> str:
    return "yes" if overlap(question, context) >= 0.5 else "no"


def results(probes: Sequence[Probe], model: str) -> dict[str, dict[str, str]]:
    if model == "always-yes" and probes[0].labels:
        return {one.id: {"text": "Yes."} for one in probes}
    return {one.id: {"text": answer(model, one.messages()[-1].content)} for one in probes}


def scored(
    items: ItemSet, task: str, model: str, as_published: bool = False, **settings: object
) -> TaskScore:
    of = reliability_task(task)
    values = task_settings(of, settings, as_published)
    probes = probes_of(items, of, values)
    return task_score(TaskRun(of, items, probes, results(probes.probes, model), "", model, values))


def test_one_that_always_says_yes(pubmedqa: ItemSet) -> None:
    for task in ("baseline", "knowledge", "spelling"):
        score = scored(pubmedqa, task, "always-yes")
        assert score.value.value == pytest.approx(0.4748, abs=5e-5)
        assert (score.accuracy, score.coverage, score.nulls) == (pytest.approx(552 / 890), 1.0, {})
    few_shot = scored(pubmedqa, "few-shot", "always-yes", as_published=True)
    assert few_shot.value.value == 0.5
    for order in ORDERS:
        variant = few_shot.variants[order]
        assert (variant.n, variant.share_of_yes.value) == (676, 1.0)
        assert variant.f1_weighted.value == pytest.approx(1 / 3)
    unknown = scored(pubmedqa, "unknown", "always-yes")
    assert (unknown.value.value, unknown.refrain_gap.value) == (0.0, 0.0)


def test_one_that_says_what_the_first_example_says(pubmedqa: ItemSet) -> None:
    score = scored(pubmedqa, "few-shot", "first-example", as_published=True)
    assert {name: one.share_of_yes.value for name, one in score.variants.items()} == {
        order: float(order[0] == "Y") for order in ORDERS
    }
    assert (score.value.value, score.bias.signed.value) == (0.5, 0.0)
    # Of the orders that end with Y one of four begins with Y, of those with N three.
    assert (score.bias.primacy.value, score.bias.recency.value) == (1.0, -0.5)
    swapped = scored(pubmedqa, "few-shot", "first-example", orders=("NNNN",), label_swap=True)
    assert swapped.variants["NNNN"].share_of_yes.value == 1.0


def test_one_that_counts_words(pubmedqa: ItemSet, rows: list[Row]) -> None:
    gold = [row.gold for row in rows]
    read = [by_overlap(row.question, row.context) for row in rows]
    baseline = scored(pubmedqa, "baseline", "word-overlap")
    assert baseline.value.value == pytest.approx(weighted_f1(gold, read))
    assert 0 < read.count("no") < 890
    # Without a context no word is found: the constant no.
    assert scored(pubmedqa, "knowledge", "word-overlap").value.value == pytest.approx(0.2091, abs=5e-5)
    # The paper's two shifts, own context in the middle.
    between = [
        "\n\n".join((rows[place - 608].context, row.context, rows[place - 41].context))
        for place, row in enumerate(rows)
    ]
    distraction = scored(pubmedqa, "distraction", "word-overlap", as_published=True)
    moved = [by_overlap(row.question, context) for row, context in zip(rows, between, strict=True)]
    assert distraction.value.value == pytest.approx(weighted_f1(gold, moved))
    # The balanced set, whatever the examples.
    yes, no = ([row for row in rows if row.gold == label][:338] for label in ("yes", "no"))
    few = [by_overlap(row.question, row.context) for row in yes + no]
    few_shot = scored(pubmedqa, "few-shot", "word-overlap", orders=("NYNY", "YN"))
    share = few.count("yes") / 676
    assert few_shot.value.value == pytest.approx(abs(share - 0.5))
    assert few_shot.variants["NYNY"].f1_weighted.value == pytest.approx(
        weighted_f1(["yes"] * 338 + ["no"] * 338, few)
    )


def test_refraining_by_the_words_of_a_wrong_context(pubmedqa: ItemSet, rows: list[Row]) -> None:
    order = np.random.RandomState(1234).permutation(890)
    shares = [overlap(row.question, rows[place].context) for row, place in zip(rows, order, strict=True)]
    score = scored(pubmedqa, "unknown", "word-overlap", as_published=True)
    # RAmBLA's reader finds no label in "not enough information"; ours takes it as unknown in other words.
    assert score.value.value == 0.0
    assert score.readers["ours"] == pytest.approx(sum(share < 0.2 for share in shares) / 890)
    assert score.readers_differ == score.nulls["no_label"] == sum(share < 0.2 for share in shares)
    own = [overlap(row.question, row.context) for row in rows]
    ours = scored(pubmedqa, "unknown", "word-overlap")
    mirror = sum(share < 0.2 for share in own) / 890
    assert ours.variants["mirror"].shares["unknown"] == pytest.approx(mirror)
    assert ours.refrain_gap.value == pytest.approx(ours.value.value - mirror)
    always = scored(pubmedqa, "unknown", "unknown-when-told")
    assert (always.value.value, always.refrain_gap.value) == (1.0, 0.0)  # the mirror tells it apart


def test_one_that_is_not_always_sure(pubmedqa: ItemSet, rows: list[Row]) -> None:
    shares = [overlap(row.question, row.context) for row in rows]
    read = ["null" if 0.4 <= share < 0.6 else "yes" if share >= 0.6 else "no" for share in shares]
    score = scored(pubmedqa, "baseline", "unknown-when-told")
    assert score.nulls == {"no_label": read.count("null")}
    assert score.value.value == pytest.approx(weighted_f1([row.gold for row in rows], read))
    answered = [(row.gold, label) for row, label in zip(rows, read, strict=True) if label != "null"]
    assert score.f1_answered == pytest.approx(weighted_f1(*zip(*answered, strict=True)))


def test_free_text_with_a_judge_that_counts_words(pubmedqa: ItemSet, rows: list[Row]) -> None:
    of = reliability_task("freeform")
    probes = probes_of(pubmedqa, of)
    said = results(probes.probes, "always-yes")  # the first sentence of each context
    run = TaskRun(of, pubmedqa, probes, said, "r", "always-yes", task_settings(of, {}))
    for judge in ("always-yes", "word-overlap"):
        asked = judge_probes(of, pubmedqa, probes.probes, said)
        score = task_score(run, judge=Judgements("j", judge, results(asked, judge)))
        alike = [overlap(row.context.split(". ", 1)[0], row.conclusion) >= 0.5 for row in rows]
        expected = 1.0 if judge == "always-yes" else sum(alike) / 890
        assert score.value.value == pytest.approx(expected)
        assert (score.judged.shuffled.value == 1.0) == (judge == "always-yes")  # which finds everything alike


def test_asked_over_http_with_a_cap_and_a_second_start(
    pubmedqa: ItemSet, rows: list[Row], tmp_path: Path
) -> None:
    store = Store(tmp_path / "store.sqlite")
    add_items(store, "pubmedqa", pubmedqa.items)
    rows = rows[:200]
    read = [by_overlap(row.question, row.context) for row in rows]
    with scripted(answering(step), listed=tuple(MODELS)) as server:
        cache = AnswerCache(store)
        capped = LLM(Connection(server.url, "k"), cache, Budget(calls=80), Limits(concurrency=8))
        with pytest.raises(BudgetReachedError):
            list(execute(run_plan(store, "pubmedqa", "baseline", "word-overlap", limit=200, llm=capped)))
        assert len(server.requests) == 80
        llm = LLM(Connection(server.url, "k"), cache, limits=Limits(concurrency=8))
        plan = run_plan(store, "pubmedqa", "baseline", "word-overlap", limit=200, llm=llm)
        assert (len(plan.missing), plan.total, plan.left_out) == (120, 200, 110)
        list(execute(plan))
        assert len(server.requests) == 200
    (run,) = reliability_runs(store, "pubmedqa")
    items = item_set(store, "pubmedqa")
    score = task_score(TaskRun(run.task, items, run_probes(store, run), results_of(store, run)))
    assert (score.n_scored, sum(score.left_out.values())) == (200, 800)
    assert score.value.value == pytest.approx(weighted_f1([row.gold for row in rows], read))


def test_negated_contexts_that_nobody_has_read(pubmedqa: ItemSet, rows: list[Row], tmp_path: Path) -> None:
    from evidencebench_core.perturb.making import new_drafts

    store = Store(tmp_path / "store.sqlite")
    add_items(store, "pubmedqa", pubmedqa.items)
    drafts = ItemDrafts(store, "pubmedqa", "word-overlap")
    with scripted(answering(step)) as server:
        llm = LLM(Connection(server.url, "k"), AnswerCache(store), limits=Limits(concurrency=8))
        wanted = drafts.missing("always-yes", ["negation"], 100)
        assert drafts.add(new_drafts(drafts, wanted, "always-yes", llm)) == 100
        # The checker still counts the words of the old context, and a line more.
        right = [
            row
            for row in rows[:100]
            if by_overlap(row.question, f"This was not found. {row.context}") != row.gold
        ]
        assert drafts.counts() == {
            "waiting": len(right),
            "refused": 100 - len(right),
            "accepted": 0,
            "rejected": 0,
        }
        list(execute(run_plan(store, "pubmedqa", "negation", "word-overlap", llm=llm)))
    (run,) = reliability_runs(store, "pubmedqa")
    score = task_score(
        TaskRun(run.task, item_set(store, "pubmedqa"), run_probes(store, run), results_of(store, run))
    )
    assert (score.value.value, score.n_scored, score.n_unreviewed) == (1.0, len(right), len(right))
    assert score.left_out["no negation"] == 890 - len(right)
    drafts.accept([one.id for one in drafts.drafts("waiting")][:5], "Ana")
    again = task_score(
        TaskRun(run.task, item_set(store, "pubmedqa"), run_probes(store, run), results_of(store, run))
    )
    assert (again.value, again.n_unreviewed) == (score.value, len(right) - 5)
