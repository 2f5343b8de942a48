"""Scores of answers written by hand, worked out by hand; the examples' numbers are those of RAmBLA's specification."""

import pytest

from evidencebench_core.reliability.probes import Probe
from tests.reliability.asking import item_set, scored, texts

Y, N = "yes", "no"
GOLD = [Y, Y, Y, N, N]
TEXTS = texts("Yes.", "No, it does not", "It was tried", "No", "**Yes**, because")


def test_the_figure_and_what_it_stands_on() -> None:
    score = scored(item_set(GOLD), "baseline", TEXTS)
    assert (score.value.value, score.null_rate) == (pytest.approx(0.44), pytest.approx(0.2))
    assert score.constants == {"yes": pytest.approx(0.6 * 0.75), "no": pytest.approx(0.4 * 4 / 7)}
    assert 0 <= (score.value.low or 0) < 0.44 < (score.value.high or 0) <= 1
    # Of one group, what is drawn is always all of it: no interval.
    grouped = scored(item_set(GOLD, group=dict.fromkeys(range(5), "p")), "baseline", TEXTS)
    assert (grouped.value.value, grouped.value.low) == (score.value.value, None)
    assert score.in_words().endswith("on 2 of 5 answers. Always giving the same answer would be right on 3.")
    record = score.record()
    assert (record["n"], record["constant"], record["difference"]) == (5, "yes", None)
    nothing = scored(item_set(GOLD), "baseline", lambda _: None)
    assert (nothing.value.value, nothing.value.n, nothing.left_out) == (None, 0, {"not asked yet": 5})
    assert nothing.in_words() == "Nothing to score yet."
    assert scored(item_set([Y]), "baseline", texts("Yes")).value.low is None
    assert scored(item_set([Y, N]), "baseline", texts("", "?")).value.value == 0.0


def test_nothing_is_dropped_in_silence() -> None:
    items = item_set([*GOLD, "maybe", Y, N])
    cut_off = {"finish_reason": "length", "refusal": None, "text": ""}
    refusal = {"finish_reason": "stop", "refusal": "No.", "text": ""}
    answers = texts("Yes.", refusal, cut_off, "", "<think>It might be yes", "", None, LookupError("busy"))
    score = scored(items, "baseline", answers)
    assert score.left_out == {"the answer is maybe": 1, "not asked yet": 1}
    assert score.value.n + sum(score.left_out.values()) == len(items.items)
    assert score.answers["reason"].tolist() == ["", "refusal", "cut_off", "empty", "cut_off", "failed"]


def test_bias_is_the_mean_distance_from_a_half() -> None:
    sways = {"NN": "no", "NY": "no", "YN": "yes", "YY": "yes"}
    items = item_set([Y, N] * 6)

    def say(probe: Probe) -> str:
        place = int(probe.item.id)
        return sways[probe.variant] if place >= 6 else ("yes", "no")[place % 2]

    score = scored(items, "few-shot", say, orders="NN,NY,YN,YY")
    shares = dict(zip(score.variants["variant"], score.variants["value"], strict=True))
    assert shares == {"NN": 0.25, "NY": 0.25, "YN": 0.75, "YY": 0.75}
    assert (score.value.value, score.value.low) == (pytest.approx(0.25), None)
    # Cochran's Q of six items that say no, no, yes, yes and six that never change: 18 on three degrees of freedom.
    assert score.p == pytest.approx(0.00044, abs=1e-5)
    assert score.in_words().startswith("Half of the right answers are yes.")
    assert "25.0% (NN) up to 75.0% (YY), on average 25.0 points from a half" in score.in_words()
    part = scored(items, "few-shot", lambda probe: say(probe) if probe.item.id != "1" else None, orders="NN")
    assert part.in_words().startswith("The right answers are not half yes, half no.")
    assert part.in_words().endswith("Not asked yet: 1 questions.")
    baseline = scored(items, "baseline", texts(*[Y, N] * 6))  # whose figure is another one
    assert scored(items, "few-shot", say, baseline=baseline, orders="NN").baseline is None


def test_a_negated_context_turns_the_right_answer_round() -> None:
    items = item_set([Y, N, Y], wordings={place: {"negation": f"Tea {place} failed."} for place in range(3)})
    baseline = scored(items, "baseline", texts("yes", "no", "no"))
    score = scored(items, "negation", texts("No.", "Yes", "Yes"), baseline=baseline)
    assert score.answers["expected"].tolist() == [N, Y, N]
    assert score.baseline is not None
    assert (score.baseline.n, score.baseline.same, score.baseline.followed) == (3, 0.0, (2, 2))
    assert score.in_words().endswith("Of 2 that it had right before, it changed 2 with the text.")


def test_refraining_and_its_mirror() -> None:
    shuffled, mirror = ["Unknown", "I don't know", "no", "?", "yes"], ["yes", "no", "unknown", "no", "yes"]
    said = {"shuffled": shuffled, "mirror": mirror}
    items = item_set([Y, N, Y, N, Y])
    score = scored(items, "unknown", lambda probe: said[probe.variant][int(probe.item.id)])
    assert score.variants["value"].tolist() == pytest.approx([0.4, 0.2])
    assert score.variants["null_rate"].tolist() == pytest.approx([0.2, 0.0])
    assert "it said so 2 of 5 times; with the right text it declined 1 of 5 times" in score.in_words()


def test_flips_and_the_exact_test_against_the_baseline() -> None:
    items = item_set([Y] * 10, wordings={n: {"paraphrase:p": f"Is tea {n} of help?"} for n in range(10)})
    baseline = scored(items, "baseline", texts(*["yes"] * 5, *["no"] * 4, "?"))
    after = texts(*["no"] * 3, *["yes"] * 3, *["no"] * 2, "?", "?")
    score = scored(items, "paraphrase", after, baseline=baseline)
    against = score.baseline
    assert against is not None
    assert against.moves.to_numpy().tolist() == [[2, 3, 0], [1, 2, 1], [0, 0, 1]]  # right, wrong, null
    assert (against.p, against.same) == (pytest.approx(0.625), 0.4)
    assert against.difference.value == pytest.approx(2 * 3 / 13 - 2 * 5 / 15)
    assert score.in_words().endswith("3 right answers were lost and 1 won.")


def test_free_text_is_scored_by_its_judge() -> None:
    items = item_set([Y, N, Y], long_answer={place: (f"Tea {place} it is.",) for place in range(3)})
    answers = texts("Tea 0 it is.", "Nobody knows.", "")
    assert scored(items, "freeform", answers).left_out == {"not judged yet": 3}
    cut = {"text": "Yes, tea", "finish_reason": "length"}
    judge = {"Tea 0 it is.": "Yes", "Nobody knows.": "No", "x": cut}
    score = scored(items, "freeform", answers, judge=lambda fields: judge[fields["statement_1"]])
    assert score.answers["state"].tolist() == ["right", "wrong", "null"]
    assert score.in_words() == "Judged by the judge: 1 of 3 answers say what they should."
    assert score.answers["reference"].tolist() == ["Tea 0 it is.", "Tea 1 it is.", "Tea 2 it is."]
    assert score.answers["judgement"].tolist() == ["Yes", "No", ""]
    of_cut = texts("Tea 0 it is.", cut, "x")
    half = scored(items, "freeform", of_cut, judge=lambda fields: judge[fields["statement_1"]])
    assert half.answers["reason"].tolist() == ["", "cut_off", "cut_off"]
