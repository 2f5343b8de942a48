"""Models that answer by a rule, on PubMedQA: every figure is that of independent code from the raw file."""

from __future__ import annotations

import json
import re
import string
from collections import Counter
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
from evidencebench_core.reliability.items import (
    Item,
    ItemSet,
    ItemWording,
    ItemWordings,
    add_items,
    item_set,
    new_item_set,
)
from evidencebench_core.reliability.judge import Judgements, judge_probes
from evidencebench_core.reliability.probes import Probe, probes_of
from evidencebench_core.reliability.runs import reliability_runs, results_of, run_plan, run_probes
from evidencebench_core.reliability.score import TaskRun, TaskScore, task_score
from evidencebench_core.reliability.tasks import reliability_task, task_settings
from evidencebench_core.runs import execute
from tests.conftest import real_file
from tests.llm.server import answering, scripted
from tests.reliability.scripted_models import MODELS, answer, overlap, step

pytestmark = pytest.mark.realdata

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


def by_surety(question: str, context: str) -> str:
    share = overlap(question, context)
    return "null" if 0.4 <= share < 0.6 else "yes" if share >= 0.6 else "no"


RULES = {"word-overlap": by_overlap, "unknown-when-told": by_surety}


def results(probes: Sequence[Probe], model: str) -> dict[str, dict[str, str]]:
    if model == "always-yes" and probes[0].labels:
        return {one.id: {"text": "Yes."} for one in probes}
    return {one.id: {"text": answer(model, one.messages()[-1].content)} for one in probes}


def scored(
    items: ItemSet, task: str, model: str, as_published: bool = False, **settings: object
) -> TaskScore:
    return task_score(asked(items, task, model, as_published, **settings))


def asked(
    items: ItemSet,
    task: str,
    model: str,
    as_published: bool = False,
    wordings: ItemWordings | None = None,
    **settings: object,
) -> TaskRun:
    of = reliability_task(task)
    values = task_settings(of, settings, as_published)
    probes = probes_of(items, of, values, wordings=wordings or {})
    return TaskRun(of, items, probes, results(probes.probes, model), "", model, values)


@pytest.fixture(scope="module")
def few(pubmedqa: ItemSet) -> ItemSet:
    """The first 200 with the answer yes or no."""
    return new_item_set("few", [one for one in pubmedqa.items if one.answer != "maybe"][:200])


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
    read = [by_surety(row.question, row.context) for row in rows]
    score = scored(pubmedqa, "baseline", "unknown-when-told")
    assert score.nulls == {"no_label": read.count("null")}
    assert score.value.value == pytest.approx(weighted_f1([row.gold for row in rows], read))
    answered = [(row.gold, label) for row, label in zip(rows, read, strict=True) if label != "null"]
    assert score.f1_answered == pytest.approx(weighted_f1(*zip(*answered, strict=True)))


@pytest.mark.parametrize("model", RULES)
def test_paraphrases(model: str, few: ItemSet, rows: list[Row]) -> None:
    """Two made wordings, the second of every third item only; figure, flips and consistency against the baseline."""
    words = {row.id: row.question.rstrip("?").split() for row in rows[:200]}
    made = {
        key: {"paraphrase:first half": " ".join(of[: len(of) // 2]) + "?"}
        | ({"paraphrase:odd": " ".join(of[1::2]) + "?"} if place % 3 == 0 else {})
        for place, (key, of) in enumerate(words.items())
        if place % 7  # these have none
    }
    wordings = {key: tuple(ItemWording(name, text) for name, text in of.items()) for key, of in made.items()}
    score = task_score(
        asked(few, "paraphrase", model, wordings=wordings), task_score(asked(few, "baseline", model))
    )
    rule = RULES[model]
    told = [
        (name, row.gold, rule(row.question, row.context), rule(text, row.context))
        for row in rows[:200]
        for name, text in made.get(row.id, {}).items()
    ]
    _, gold, before, after = zip(*told, strict=True)
    assert score.value.value == pytest.approx(weighted_f1(gold, after))
    assert (score.n_probes, score.n_scored) == (len(told), len(made))
    assert score.left_out == {"no paraphrase": 200 - len(made)}
    for name, variant in score.variants.items():
        own = [one[1:] for one in told if one[0] == name]
        assert variant.n == len(own)
        assert variant.f1_weighted.value == pytest.approx(
            weighted_f1([one[0] for one in own], [one[2] for one in own])
        )
    assert score.baseline is not None
    assert score.baseline.difference.value == pytest.approx(
        weighted_f1(gold, after) - weighted_f1(gold, before)
    )
    state = {
        side: ["null" if read == "null" else "right" if read == label else "wrong" for label, read in one]
        for side, one in (
            ("before", zip(gold, before, strict=True)),
            ("after", zip(gold, after, strict=True)),
        )
    }
    flips = Counter(zip(state["before"], state["after"], strict=True))
    assert {(a, b): n for a, of in score.baseline.flips.items() for b, n in of.items() if n} == flips
    same = [one == other != "null" for one, other in zip(before, after, strict=True)]
    assert 0 < sum(same) < len(same)
    assert score.baseline.consistency == pytest.approx(sum(same) / len(same))


@pytest.mark.parametrize("place", ["context", "question"])
def test_misspelt_words(place: str, few: ItemSet, rows: list[Row]) -> None:
    """Each number of errors: the text differs from the raw file's by as many characters, and is read by hand."""
    run = asked(few, "spelling", "unknown-when-told", field=place)
    score = task_score(run)
    kinds = string.ascii_lowercase, string.ascii_uppercase, string.digits
    texts: dict[str, dict[str, str]] = {}
    for probe in run.probes.probes:
        texts.setdefault(probe.variant, {})[probe.item_id] = probe.fields[place]
    assert list(texts) == list(score.variants) == ["0", "1", "3", "10", "20", "50"]
    for n, by_id in texts.items():
        read, n_capped = [], 0
        for row in rows[:200]:
            text, clean = by_id[row.id], getattr(row, place)
            changed = [at for at, (one, other) in enumerate(zip(text, clean, strict=True)) if one != other]
            words = [one.span() for one in re.finditer(r"\w+", clean)]
            assert all(any(clean[at] in kind and text[at] in kind for kind in kinds) for at in changed)
            assert all(sum(start <= at < end for at in changed) <= 1 for start, end in words)
            assert len(changed) == int(n) or (len(changed) < int(n) and place == "question")
            n_capped += len(changed) < int(n)
            question, context = (text, row.context) if place == "question" else (row.question, text)
            read.append(by_surety(question, context))
        variant = score.variants[n]
        assert variant.f1_weighted.value == pytest.approx(weighted_f1([row.gold for row in rows[:200]], read))
        assert variant.null_rate == pytest.approx(read.count("null") / 200)
        assert (variant.n, variant.n_capped) == (200, n_capped)
    assert score.value == score.variants["3"].f1_weighted
    assert score.variants["50"].f1_weighted.value != score.variants["0"].f1_weighted.value


@pytest.mark.parametrize("model", RULES)
def test_negated_contexts(model: str, few: ItemSet, rows: list[Row]) -> None:
    """Made contexts that say less; the expected label is turned round, and followed counts what was right before."""
    contexts = {
        row.id: " ".join(row.context.split()[: 25 + place])
        for place, row in enumerate(rows[:200])
        if place % 5
    }
    wordings = {
        key: (ItemWording("negation", text, reviewed=place % 2 == 0),)
        for place, (key, text) in enumerate(contexts.items())
    }
    baseline = task_score(asked(few, "baseline", model))
    score = task_score(asked(few, "negation", model, wordings=wordings), baseline)
    rule = RULES[model]
    told = [
        (row.gold, rule(row.question, row.context), rule(row.question, contexts[row.id]))
        for row in rows[:200]
        if row.id in contexts
    ]
    expected = ["no" if gold == "yes" else "yes" for gold, _, _ in told]
    assert score.value.value == pytest.approx(weighted_f1(expected, [after for _, _, after in told]))
    was_right = [(before, after) for gold, before, after in told if before == gold and after in ("yes", "no")]
    turned = sum(before != after for before, after in was_right)
    assert 0 < turned < len(was_right)
    assert score.followed == (turned, len(was_right))
    assert (score.n_scored, score.n_unreviewed, score.left_out) == (160, 80, {"no negation": 40})


def test_questions_from_answers_with_a_measured_judge(few: ItemSet, rows: list[Row]) -> None:
    """T8 and T12: the judge's errors on pairs of questions and conclusions correct the share that it finds similar."""
    rows = rows[:200]
    pairs = [(row.question, row.conclusion, "yes") for row in rows[:100]]
    pairs += [(row.question, rows[place - 7].conclusion, "no") for place, row in enumerate(rows[:80])]
    pairs += [(row.question, row.context, "no") for row in rows[80:100]]  # which it finds alike, wrongly
    judge = asked(
        new_item_set(
            "pairs", [Item(str(n), one, (), gold, (other,)) for n, (one, other, gold) in enumerate(pairs)],  # type: ignore[arg-type]
            "pairs",
        ),
        "judge",
        "word-overlap",
    )  # fmt: skip
    measured = task_score(judge)
    given = [by_overlap(one, other) for one, other, _ in pairs]
    exchanged = [by_overlap(other, one) for one, other, _ in pairs]
    gold = [one[2] for one in pairs]
    assert measured.value.value == pytest.approx(weighted_f1(gold, given))
    assert measured.variants["exchanged"].f1_weighted.value == pytest.approx(weighted_f1(gold, exchanged))
    table = Counter(zip(gold, given, strict=True))
    sensitivity, specificity = table["yes", "yes"] / 100, table["no", "no"] / 100

    run = asked(few, "question", "word-overlap")
    probes = judge_probes(run.task, few, run.probes.probes, run.results)
    said = Judgements("j", "word-overlap", results(probes, "word-overlap"), measured.reads, "pairs")
    score = task_score(run, judge=said)
    written = [row.conclusion.rsplit(". ", 1)[-1] for row in rows]  # its answer: the last sentence
    alike = [by_overlap(text, row.question) == "yes" for text, row in zip(written, rows, strict=True)]
    turned = [by_overlap(row.question, text) == "yes" for text, row in zip(written, rows, strict=True)]
    share = sum(alike) / 200
    assert 0 < share < 1
    assert score.value.value == pytest.approx(share)
    report = score.judged
    assert report is not None
    assert report.order_flips == (sum(one != other for one, other in zip(alike, turned, strict=True)), 200)
    assert (report.sensitivity, report.specificity) == (
        pytest.approx(sensitivity),
        pytest.approx(specificity),
    )
    assert 1 < sensitivity + specificity < 2
    corrected = (share - (1 - specificity)) / (sensitivity + specificity - 1)
    assert report.corrected is not None
    assert report.corrected.value == pytest.approx(min(max(corrected, 0), 1))


@pytest.mark.parametrize("judge", ["always-yes", "word-overlap"])
def test_conclusions_with_their_controls(judge: str, few: ItemSet, rows: list[Row]) -> None:
    rows = rows[:200]
    run = asked(few, "conclusion", "word-overlap")
    probes = judge_probes(run.task, few, run.probes.probes, run.results)
    score = task_score(run, judge=Judgements("j", judge, results(probes, judge)))

    def verdict(question: str, summary: str) -> str:
        share = 1.0 if judge == "always-yes" else overlap(question, summary)
        return "unknown" if share < 0.2 else "yes" if share >= 0.5 else "no"

    summaries = {
        "": [row.context.rsplit(". ", 1)[-1] for row in rows],  # its answer: the last sentence
        "reference": [row.conclusion for row in rows],
        "context": [row.context for row in rows],
        "empty": [""] * 200,
    }
    gold = [row.gold for row in rows]
    expected = {
        name: weighted_f1(gold, [verdict(row.question, text) for row, text in zip(rows, texts, strict=True)])
        for name, texts in summaries.items()
    }
    assert score.value.value == pytest.approx(expected.pop(""))
    assert score.judged is not None
    assert score.judged.controls == {name: pytest.approx(figure) for name, figure in expected.items()}
    assert (expected["empty"] == 0) == (judge == "word-overlap")
    read = Counter(verdict(row.question, text) for row, text in zip(rows, summaries[""], strict=True))
    assert score.labels == {name: read[name] for name in ("yes", "no", "unknown")}


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
