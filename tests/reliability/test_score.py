"""Scores of runs made by hand, worked out by hand; the examples' numbers are those of RAmBLA's specification."""

from __future__ import annotations

import json

import numpy as np
import pytest

from evidencebench_core.errors import SettingError
from evidencebench_core.reliability.items import Item, new_item_set
from evidencebench_core.reliability.score import compare_scores, task_score
from evidencebench_core.reliability.tasks import ORDERS
from tests.conftest import real_file
from tests.reliability.scoring import answer, item_set, task_run

Y, N = "yes", "no"
GOLD = [Y, Y, Y, N, N]
TEXTS = ["Yes.", "No, it does not", "It was tried", "No", "**Yes**, because"]  # example 54


def test_54_every_figure_beside_the_one() -> None:
    score = task_score(task_run("baseline", item_set(GOLD), {"": TEXTS}, model="m", id="r"))
    assert score.value == score.f1_weighted
    assert score.value.value == pytest.approx(0.44)
    assert (score.f1_macro, score.f1_answered) == (pytest.approx(0.45), pytest.approx(0.5))
    assert (score.accuracy, score.coverage, score.null_rate) == (0.4, 0.8, pytest.approx(0.2))
    assert score.confusion == {"yes": {"yes": 1, "no": 1, "null": 1}, "no": {"yes": 1, "no": 1, "null": 0}}
    assert (score.labels, score.nulls) == ({"yes": 2, "no": 2}, {"no_label": 1})
    assert score.constants["always yes"] == pytest.approx(0.6 * 0.75)
    low, high = score.value.ci95 or (1, 0)
    assert 0 <= low < 0.44 < high <= 1
    assert score.readers == {"ours": pytest.approx(0.44), "official": pytest.approx(0.44)}
    document = score.as_dict()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert {
        "task", "items", "model", "n_items", "n_scored", "n_left_out", "labels", "nulls", "f1_weighted", "ci95",
        "f1_answered", "coverage", "accuracy", "confusion", "constants", "baseline", "readers_differ", "published",
    } <= set(document)  # fmt: skip
    assert score.frame()["state"].tolist() == ["right", "wrong", "null", "right", "wrong"]


def test_45_nothing_is_dropped_in_silence() -> None:
    items = item_set([*GOLD, "maybe", Y, N])
    texts = [*TEXTS, None, None, LookupError("the server was busy")]
    score = task_score(task_run("baseline", items, {"": texts}, left_out={"5": "the answer is maybe"}))
    assert (score.n_items, score.n_scored) == (8, 6)
    assert score.left_out == {"the answer is maybe": 1, "not asked yet": 1}
    assert score.n_scored + sum(score.left_out.values()) == score.n_items
    assert score.nulls == {"no_label": 1, "failed": 1}
    assert sum(score.labels.values()) + sum(score.nulls.values()) == score.n_probes == 6


def test_46_47_no_item_one_item_and_only_nulls() -> None:
    empty = task_score(task_run("few-shot", item_set(GOLD), {"NY": [None] * 5}))
    assert (empty.value.value, empty.coverage, empty.n_scored, empty.bias) == (None, None, 0, None)
    one = task_score(task_run("baseline", item_set([Y]), {"": ["Yes"]}))
    assert (one.value.value, one.value.ci95) == (1.0, None)
    nulls = task_score(task_run("baseline", item_set([Y, N]), {"": ["", "?"]}))
    assert (nulls.value.value, nulls.f1_answered, nulls.coverage) == (0.0, None, 0.0)
    assert nulls.variants[""].share_of_yes.value is None


def test_10_both_readers_and_the_official_one_as_published() -> None:
    texts = {"": ["Yes.The study", "No difference, so the answer is yes", "yes", "no", "Ja."]}
    ours = task_score(task_run("baseline", item_set(GOLD), texts))
    published = task_score(task_run("baseline", item_set(GOLD), texts, settings={"as_published": True}))
    assert (ours.readers_differ, published.readers_differ) == (2, 2)
    assert (ours.reader, published.reader) == ("ours", "official")
    assert ours.value.value == published.readers["ours"] != published.value.value
    assert published.value.value == published.readers["official"]
    assert published.nulls == {"no_label": 1, "other_language": 1}


def test_56_bias_signed_by_order_and_balanced_resamples() -> None:
    items = item_set([Y, N] * 6)
    sways = {"NN": "no", "NY": "no", "YN": "yes", "YY": "yes"}
    texts = {order: ["yes", "no"] * 3 + [text] * 6 for order, text in sways.items()}
    score = task_score(task_run("few-shot", items, texts))
    shares = [score.variants[order].share_of_yes.value for order in sways]
    assert shares == [0.25, 0.25, 0.75, 0.75]
    assert score.value.value == pytest.approx(0.25)
    assert score.bias is not None
    assert score.bias.signed.value == pytest.approx(0)
    assert score.bias.primacy.value == pytest.approx(0.5)
    assert score.bias.recency.value == pytest.approx(0)
    assert score.constants == {"always yes": 0.5, "always no": 0.5}
    document = score.as_dict()
    assert document["orders"]["NN"]["share"] == 0.25
    assert {"bias", "bias_ci95", "signed", "primacy_ci95"} <= set(document)
    one_class = task_score(task_run("few-shot", item_set([Y, Y]), {"NN": ["yes", "no"]}))
    assert one_class.value.value is None  # rule 46: a share says nothing then


def test_57_negation_against_the_expected_labels() -> None:
    items = item_set([Y, N, Y])
    baseline = task_score(task_run("baseline", items, {"": ["yes", "no", "no"]}, id="base"))
    run = task_run("negation", items, {"": ["No.", "Yes", "Yes"]}, expected={"": [N, Y, N]})
    score = task_score(run, baseline)
    assert score.value.value == pytest.approx(2 / 3)
    assert score.followed == (2, 2)
    assert score.baseline is not None
    assert (score.baseline.run, score.baseline.n, score.baseline.consistency) == ("base", 3, 0.0)


def test_58_refraining_and_its_mirror() -> None:
    items = item_set([Y, N, Y, N, Y])
    texts = {
        "shuffled": ["Unknown", "I don't know", "no", "?", "yes"],
        "mirror": ["yes", "no", "unknown", "no", "yes"],
    }
    expected = {"shuffled": ["unknown"] * 5, "mirror": [Y, N, Y, N, Y]}
    score = task_score(task_run("unknown", items, texts, expected=expected))
    wrong = score.variants["shuffled"]
    assert score.value.value == pytest.approx(0.4)
    assert wrong.shares == pytest.approx({"yes": 0.2, "no": 0.2, "unknown": 0.4, "null": 0.2})
    assert (wrong.other_words, wrong.null_rate) == (0.2, pytest.approx(0.2))
    assert score.refrain_gap is not None
    assert score.refrain_gap.value == pytest.approx(0.4 - 0.2)
    assert score.constants["always unknown"] == 1.0


def test_59_flips_consistency_and_the_exact_test() -> None:
    gold = [Y] * 10
    before = ["yes"] * 5 + ["no"] * 4 + ["?"]
    after = ["no"] * 3 + ["yes"] * 2 + ["yes"] + ["no"] * 2 + ["?", "?"]
    items = item_set(gold)
    baseline = task_score(task_run("baseline", items, {"": before}))
    paired = task_score(task_run("paraphrase", items, {"p": after}), baseline).baseline
    assert paired is not None
    assert paired.flips == {
        "right": {"right": 2, "wrong": 3, "null": 0},
        "wrong": {"right": 1, "wrong": 2, "null": 1},
        "null": {"right": 0, "wrong": 0, "null": 1},
    }
    assert paired.p_value == pytest.approx(0.625)
    assert (paired.consistency, paired.consistency_answered) == (0.4, 0.5)
    assert paired.difference.value == pytest.approx(2 * 3 / 13 - 2 * 5 / 15)
    assert paired.variants["p"].value == paired.difference.value


def test_49_items_without_a_wording_are_left_out_of_the_baseline_too() -> None:
    items = item_set(GOLD)
    baseline = task_score(task_run("baseline", items, {"": ["yes", "yes", "no", "no", "no"]}))
    run = task_run(
        "paraphrase", items, {"p": ["yes", "yes", "-", "no", "no"]}, left_out={"2": "no paraphrase"},
        details={"p": [{"reviewed": False}] * 5},
    )  # fmt: skip
    score = task_score(run, baseline)
    assert score.baseline is not None
    assert (score.baseline.n, score.baseline.other, score.baseline.difference.value) == (4, 1.0, 0.0)
    assert (score.left_out, score.n_unreviewed) == ({"no paraphrase": 1}, 4)


def test_the_headline_of_spelling_is_three_errors_and_variants_stand_beside() -> None:
    items = item_set([Y, N])
    texts = {"0": ["yes", "no"], "3": ["yes", "yes"], "50": ["?", "?"]}
    details = {name: [{"digits_changed": 1}, {"digits_changed": 0}] for name in texts}
    score = task_score(task_run("spelling", items, texts, details=details))
    assert (score.headline, score.n_probes) == (("3",), 2)
    assert score.value == score.variants["3"].f1_weighted
    assert [one.null_rate for one in score.variants.values()] == [0, 0, 1]
    assert {name: one.n for name, one in score.slices.items()} == {
        "a digit was changed": 1,
        "no digit was changed": 1,
    }


def test_clusters_widen_the_interval() -> None:
    gold, texts = [Y, N] * 40, ["yes", "no"] * 20 + ["no", "yes"] * 20
    alone = task_score(task_run("baseline", item_set(gold), {"": texts}))
    papers = item_set(gold, group={place: str(place // 20) for place in range(80)})
    clustered = task_score(task_run("baseline", papers, {"": texts}))
    assert alone.value.value == clustered.value.value
    widths = [high - low for low, high in (alone.value.ci95, clustered.value.ci95)]  # type: ignore[misc]
    assert widths[1] > 2 * widths[0]


def test_two_models_on_the_same_probes() -> None:
    items = item_set(GOLD * 4)
    good = task_score(task_run("baseline", items, {"": GOLD * 4}, model="good", id="a"))
    poor = task_score(task_run("baseline", items, {"": ["yes"] * 20}, model="poor", id="b"))
    paired = compare_scores(good, poor)
    assert (paired.run, paired.model, paired.n, paired.n_unpaired) == ("b", "poor", 20, 0)
    assert paired.difference.value == pytest.approx(1 - 0.45)
    assert paired.flips["wrong"]["right"] == 8
    assert paired.p_value == pytest.approx(2 / 2**8)
    other = task_score(task_run("paraphrase", items, {"": GOLD * 4}))
    with pytest.raises(SettingError, match="task is 'baseline' in a and 'paraphrase' in b"):
        compare_scores(good, other)
    elsewhere = task_score(task_run("baseline", item_set(GOLD), {"x": GOLD}))
    with pytest.raises(SettingError, match="in the same words"):
        compare_scores(good, elsewhere)


@pytest.mark.realdata
def test_36_the_constants_and_annotators_of_pubmedqa() -> None:
    raw = json.loads(real_file("pubmedqa/ori_pqal.json").read_text(encoding="utf-8"))
    items = new_item_set(
        "pubmedqa",
        [
            Item(
                name, one["QUESTION"], tuple(one["CONTEXTS"]), one["final_decision"],
                annotators={key: one[f"{key}_pred"] for key in ("reasoning_required", "reasoning_free")},
            )
            for name, one in raw.items()
        ],
    )  # fmt: skip
    maybe = {one.id: "the answer is maybe" for one in items.items if one.answer == "maybe"}
    score = task_score(task_run("baseline", items, {"": ["yes"] * 1000}, left_out=maybe))
    assert (score.n_scored, score.left_out) == (890, {"the answer is maybe": 110})
    assert score.value.value == score.constants["always yes"] == pytest.approx(0.4748, abs=5e-5)
    assert score.constants["always no"] == pytest.approx(0.2091, abs=5e-5)
    assert (score.f1_macro, score.accuracy) == (
        pytest.approx(0.3828, abs=5e-5),
        pytest.approx(0.6202, abs=5e-5),
    )
    assert score.annotators["reasoning_required"] == pytest.approx(0.8320, abs=5e-5)
    assert score.annotators["reasoning_free"] == pytest.approx(0.9571, abs=5e-5)


def test_all_short_tasks_of_890_items_have_an_interval() -> None:
    rng = np.random.default_rng(0)
    items = item_set([Y, N] * 445)

    def texts() -> list[str]:
        wrong = rng.random(890) < 0.2
        return [
            f"{'No' if (one.answer == Y) is flip else 'Yes'}, because the trial said so."
            if spread > 0.05
            else "?"
            for one, flip, spread in zip(items.items, wrong, rng.random(890), strict=True)
        ]

    baseline = task_score(task_run("baseline", items, {"": texts()}))
    for task, variants in {
        "knowledge": [""], "paraphrase": ["p"], "few-shot": ORDERS, "spelling": ["0", "1", "3", "10", "20", "50"],
        "negation": [""], "distraction": ["0", "1", "2"], "unknown": ["shuffled", "mirror"],
    }.items():  # fmt: skip
        score = task_score(task_run(task, items, {name: texts() for name in variants}), baseline)
        assert score.value.ci95 is not None


def test_reading_again_changes_nothing_and_order_does_not_matter() -> None:
    run = task_run("baseline", item_set(GOLD), {"": TEXTS})
    assert task_score(run).as_dict() == task_score(run).as_dict()
    turned = task_run("baseline", item_set(GOLD[::-1]), {"": TEXTS[::-1]})
    assert task_score(turned).value.value == pytest.approx(0.44)


def test_thoughts_that_never_end_and_refusals_are_told_apart() -> None:
    texts = [
        "<think>It might be yes", answer("", refusal="No."), answer("", finish_reason="length"), "", "Ja",
    ]  # fmt: skip
    score = task_score(task_run("baseline", item_set(GOLD), {"": texts}))
    assert score.nulls == {"cut_off": 2, "refusal": 1, "empty": 1, "other_language": 1}


@pytest.mark.parametrize(
    ("right_yes", "right_no", "figure", "low", "high"),
    [(468, 287, 0.848, 0.825, 0.871), (457, 280, 0.828, 0.802, 0.852)],
)
def test_43_the_interval_of_890_items(
    right_yes: int, right_no: int, figure: float, low: float, high: float
) -> None:
    """Both classes equally accurate, as the specification has it of 1,000 resamples."""
    texts = [Y] * right_yes + [N] * (552 - right_yes) + [N] * right_no + [Y] * (338 - right_no)
    value = task_score(task_run("baseline", item_set([Y] * 552 + [N] * 338), {"": texts})).value
    assert value.value == pytest.approx(figure, abs=2e-3)
    assert value.ci95 == pytest.approx((low, high), abs=3e-3)


def test_66_answers_at_random_are_near_a_half_in_every_order_whatever_the_order_of_items() -> None:
    rng = np.random.default_rng(1)
    gold = [Y, N] * 200
    texts = {order: [Y if one else N for one in rng.integers(0, 2, 400)] for order in ORDERS}
    score = task_score(task_run("few-shot", item_set(gold), texts))
    for one in score.variants.values():
        assert one.share_of_yes.value == pytest.approx(0.5, abs=4 * 0.5 / 20)
    places = rng.permutation(400)
    mixed = {order: [answers[place] for place in places] for order, answers in texts.items()}
    other = task_score(task_run("few-shot", item_set([gold[place] for place in places]), mixed))
    assert other.value.value == pytest.approx(score.value.value)
    assert other.f1_weighted.value == pytest.approx(score.f1_weighted.value)
    assert other.value.ci95 == pytest.approx(score.value.ci95, abs=0.01)
