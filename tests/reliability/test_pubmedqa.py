"""Models that answer by a rule, on PubMedQA: every figure is that of independent code from the raw file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import pytest
from sklearn.metrics import f1_score

from evidencebench_core.reliability.items import ItemSet, new_item_set
from evidencebench_core.reliability.score import TaskScore
from evidencebench_core.reliability.tasks import RELIABILITY_TASKS, probes_of
from tests.conftest import real_file
from tests.reliability.asking import scored, scripted_answer
from tests.reliability.scripted_models import overlap

pytestmark = [pytest.mark.realdata, pytest.mark.slow]


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
    every = [
        Row(key, one["QUESTION"], "\n\n".join(one["CONTEXTS"]), one["final_decision"], one["LONG_ANSWER"])
        for key, one in raw.items()
    ]
    return [row for row in every if row.gold != "maybe"]


@pytest.fixture(scope="module")
def few(pubmedqa: ItemSet) -> ItemSet:
    """The first 200 with the answer yes or no."""
    return new_item_set("few", [item for item in pubmedqa.items if item.answer != "maybe"][:200])


def weighted_f1(gold: Sequence[str], read: Sequence[str]) -> float:
    """By scikit-learn; a null is a label that gold never has."""
    return float(f1_score(gold, read, labels=["yes", "no"], average="weighted", zero_division=0))


def by_overlap(question: str, context: str) -> str:
    return "yes" if overlap(question, context) >= 0.5 else "no"


def by_rule(items: ItemSet, task: str, model: str, **settings: object) -> TaskScore:
    return scored(items, task, scripted_answer(items, task, model), model=model, **settings)


def test_one_that_always_says_yes(pubmedqa: ItemSet) -> None:
    baseline = by_rule(pubmedqa, "baseline", "always-yes")
    assert baseline.value.text(decimals=1) == "47.5% (43.5 to 51.4)"
    # The exact interval, of the binomial with 552 of 890, is 0.4364 to 0.5143.
    assert (baseline.value.low, baseline.value.high) == pytest.approx((0.4364, 0.5143), abs=0.002)
    assert (baseline.value.n, baseline.left_out) == (890, {"the answer is maybe": 110})
    assert baseline.constants == {
        "yes": pytest.approx(0.4748, abs=5e-5),
        "no": pytest.approx(0.2091, abs=5e-5),
    }
    few_shot = by_rule(pubmedqa, "few-shot", "always-yes", orders="NNNN,YYYY")
    assert (few_shot.value.value, few_shot.variants["n"].tolist()) == (0.5, [676, 676])
    assert by_rule(pubmedqa, "unknown", "always-yes").value.value == 0.0


def test_one_that_says_what_the_first_example_says(few: ItemSet) -> None:
    score = by_rule(few, "few-shot", "first-example")
    shares = dict(zip(score.variants["variant"], score.variants["value"], strict=True))
    assert shares == {order: float(order[0] == "Y") for order in shares}
    assert (score.value.value, len(shares)) == (0.5, 8)


def test_one_that_counts_words(pubmedqa: ItemSet, rows: list[Row]) -> None:
    gold = [row.gold for row in rows]
    read = [by_overlap(row.question, row.context) for row in rows]
    assert 0 < read.count("no") < 890
    baseline = by_rule(pubmedqa, "baseline", "word-overlap")
    assert baseline.value.value == pytest.approx(weighted_f1(gold, read))
    # Without a context no word is there: the constant no.
    assert by_rule(pubmedqa, "knowledge", "word-overlap").value.value == pytest.approx(0.2091, abs=5e-5)
    own = [overlap(row.question, row.context) for row in rows]
    unknown = by_rule(pubmedqa, "unknown", "word-overlap")
    mirror = unknown.variants.set_index("variant")["value"]["mirror"]
    assert mirror == pytest.approx(sum(share < 0.2 for share in own) / 890)
    assert by_rule(pubmedqa, "unknown", "unknown-when-told").value.value == 1.0


def test_contexts_among_others(few: ItemSet, rows: list[Row]) -> None:
    context = {row.id: row.context for row in rows}
    question = {row.id: row.question for row in rows}
    gold = {row.id: row.gold for row in rows}
    told: dict[str, list[tuple[str, str]]] = {}
    for probe in probes_of(few, RELIABILITY_TASKS["distraction"], {}).probes:
        parts = [context[other] for other in probe.details["distractors"]]
        parts.insert(int(probe.variant), context[probe.item.id])
        assert len({probe.item.id, *probe.details["distractors"]}) == 3
        read = by_overlap(question[probe.item.id], "\n\n".join(parts))
        told.setdefault(probe.variant, []).append((gold[probe.item.id], read))
    score = by_rule(few, "distraction", "word-overlap")
    values = dict(zip(score.variants["variant"], score.variants["value"], strict=True))
    assert values == {
        name: pytest.approx(weighted_f1(*zip(*some, strict=True))) for name, some in told.items()
    }
    every = [pair for some in told.values() for pair in some]
    assert score.value.value == pytest.approx(weighted_f1(*zip(*every, strict=True)))


def test_misspelt_words(few: ItemSet, rows: list[Row]) -> None:
    """Each number of errors: the text differs from the raw file's by as many characters."""
    context = {row.id: row.context for row in rows}
    for probe in probes_of(few, RELIABILITY_TASKS["spelling"], {}).probes:
        pairs = zip(probe.fields["context"], context[probe.item.id], strict=True)
        assert sum(one != other for one, other in pairs) == min(int(probe.variant), probe.details["errors"])
    score = by_rule(few, "spelling", "word-overlap")
    read = [by_overlap(row.question, row.context) for row in rows[:200]]
    clean = score.variants.set_index("variant")["value"]["0"]
    assert clean == pytest.approx(weighted_f1([row.gold for row in rows[:200]], read))


def test_free_text_with_a_judge_that_counts_words(few: ItemSet, rows: list[Row]) -> None:
    rows = rows[:200]
    say = scripted_answer(few, "freeform", "always-yes")  # the first sentence of each context
    score = scored(
        few, "freeform", say, judge=lambda asked: by_overlap(asked["statement_1"], asked["statement_2"])
    )
    alike = [overlap(row.context.split(". ", 1)[0], row.conclusion) >= 0.5 for row in rows]
    assert 0 < sum(alike) < 200
    assert score.value.value == pytest.approx(sum(alike) / 200)
    say = scripted_answer(few, "conclusion", "word-overlap")  # the last sentence
    score = scored(
        few, "conclusion", say, judge=lambda asked: by_overlap(asked["question"], asked["summary"])
    )
    read = [by_overlap(row.question, row.context.rsplit(". ", 1)[-1]) for row in rows]
    assert score.value.value == pytest.approx(weighted_f1([row.gold for row in rows], read))


def test_every_task_counts_every_item_once(pubmedqa: ItemSet) -> None:
    sizes = {}
    for name in ("baseline", "few-shot", "spelling", "distraction", "freeform", "unknown"):
        made = probes_of(pubmedqa, RELIABILITY_TASKS[name], {})
        sizes[name] = len({probe.id for probe in made.probes})
        asked = {probe.item.id for probe in made.probes}
        assert asked.isdisjoint(made.left_out)
        assert asked | made.left_out.keys() == {item.id for item in pubmedqa.items}
        limited = probes_of(pubmedqa, RELIABILITY_TASKS[name], {}, limit=40)
        assert len({probe.item.id for probe in limited.probes}) == 40
    assert sizes == {
        "baseline": 890, "few-shot": 8 * 676, "spelling": 6 * 890, "distraction": 3 * 890, "freeform": 890,
        "unknown": 2 * 890,
    }  # fmt: skip
    balanced = probes_of(pubmedqa, RELIABILITY_TASKS["few-shot"], {"orders": "YN"}, limit=10)
    assert Counter(probe.item.answer for probe in balanced.probes) == {"yes": 5, "no": 5}
