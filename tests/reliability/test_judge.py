"""Judges: what they are asked, what their labels come to, and what is known of their errors."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evidencebench_core.errors import SettingError
from evidencebench_core.reliability.judge import Judgements, judge_probes
from evidencebench_core.reliability.score import TaskRun, compare_scores, task_score
from tests.reliability.scoring import answer, item_set, task_run

Y, N = "yes", "no"
REFERENCES = {place: (f"Tea {place} helps.",) for place in range(6)}


def freeform(texts: list[object], **more: object) -> TaskRun:
    items = item_set([Y, N] * (len(texts) // 2), long_answer=REFERENCES)
    return task_run("freeform", items, {"": texts}, model="m", id="r", **more)  # type: ignore[arg-type]


def judged(run: TaskRun, say: dict[str, str], **more: object) -> Judgements:
    """A judge that says of each of its probes what ``say`` has for its control, or id."""
    probes = judge_probes(run.task, run.items, run.probes.probes, run.results)
    results = {one.id: answer(say.get(one.id, say.get(one.variant, "yes"))) for one in probes}
    return Judgements("j", "judge", results, **more)  # type: ignore[arg-type]


def test_58_judged_accuracy() -> None:
    run = freeform(["It helps."] * 4)
    baseline = task_score(task_run("baseline", run.items, {"": ["yes"] * 4}))
    judge = judged(run, {"0": "Yes", "1": "no, they differ", "2": "", "3": "Yes."})
    score = task_score(run, baseline, judge)
    assert (score.baseline, score.followed, score.before) == (None, None, {})  # other labels: nothing to pair
    assert (score.figure, score.value.value, score.constants) == ("judged_accuracy", 0.5, {})
    assert score.nulls == {"empty": 1}
    assert score.judged is not None
    assert (score.judged.judge, score.judged.n_judged, score.judged.is_model_under_test) == (
        "judge",
        4,
        False,
    )


def test_what_is_sent_to_a_judge() -> None:
    texts = [
        "It helps.", "<think>Let me see.</think> It does.", LookupError("busy"), "", answer("", refusal="No."), None,
    ]  # fmt: skip
    run = freeform(texts)
    probes = judge_probes(run.task, run.items, run.probes.probes, run.results)
    by_id = {one.id: dict(one.fields) for one in probes}
    assert by_id["0"] == {"statement_1": "It helps.", "statement_2": "Tea 0 helps."}
    assert by_id["1"]["statement_1"] == "It does."
    assert by_id["exchanged 0"] == {"statement_1": "Tea 0 helps.", "statement_2": "It helps."}
    assert by_id["shuffled 0"]["statement_2"] != "Tea 0 helps."
    assert set(by_id) == {f"{control}{one}" for control in ("", "exchanged ", "shuffled ") for one in "01"}
    assert len(judge_probes(run.task, run.items, run.probes.probes, run.results, with_controls=False)) == 2
    score = task_score(run, judge=judged(run, {}))
    assert score.value.value == pytest.approx(2 / 5)  # what could not be sent is not similar
    assert score.left_out == {"not asked yet": 1}
    assert score.judged is not None
    assert score.judged.not_sent == {"failed": 1, "empty": 1, "refusal": 1}


def test_without_a_judge_nothing_is_scored() -> None:
    score = task_score(freeform(["It helps."] * 2))
    assert (score.value.value, score.left_out, score.judged) == (None, {"not judged yet": 2}, None)


def test_33_controls_and_errors_of_a_judge() -> None:
    run = freeform(["It helps."] * 6)
    # 20 pairs that are alike, 19 judged so; 20 that are not, 16 judged so: Se 0.95, Sp 0.8
    pairs = item_set([Y] * 20 + [N] * 20)
    marks = [Y] * 19 + [N] + [N] * 16 + [Y] * 4
    errors = task_score(task_run("judge", pairs, {"given": marks, "exchanged": marks}))
    say = {"5": "no", "exchanged 4": "no", "shuffled": "no", "shuffled 0": "yes"}
    report = task_score(run, judge=judged(run, say, pairs=errors.reads, pairs_of="tea pairs")).judged
    assert report is not None
    assert report.order_flips == (2, 6)
    assert report.shuffled is not None
    assert report.shuffled.value == pytest.approx(1 / 6)
    assert (report.sensitivity, report.specificity, report.pairs_of) == (0.95, 0.8, "tea pairs")
    assert report.corrected is not None
    assert report.corrected.value == pytest.approx((5 / 6 - 0.2) / 0.75)
    low, high = report.corrected.ci95 or (1, 0)
    assert 0 <= low < (5 / 6 - 0.2) / 0.75 <= high <= 1


def test_a_judge_no_better_than_chance_corrects_nothing() -> None:
    run = freeform(["It helps."] * 6)
    errors = task_score(task_run("judge", item_set([Y, Y, N, N]), {"given": [Y, N, Y, N]}))
    report = task_score(run, judge=judged(run, {}, pairs=errors.reads)).judged
    assert report is not None
    assert report.corrected is not None
    assert report.corrected.value is None


def test_a_further_reference_counts_apart() -> None:
    items = item_set([Y, N], long_answer={0: ("Tea helps.", "It does."), 1: ("Tea harms.", "It does harm.")})
    run = task_run("question", items, {"": ["Does it?"] * 2})
    report = task_score(
        run, judge=judged(run, {"0": "no", "1": "no", "reference-2 1": "yes", "reference-2": "no"})
    )
    assert report.value.value == 0
    assert report.judged is not None
    assert report.judged.any_reference == 0.5


def test_29_conclusions_against_gold_with_their_controls() -> None:
    items = item_set([Y, N, Y, N], long_answer=REFERENCES)
    run = task_run(
        "conclusion", items, {"": ["Tea helps.", "Tea harms.", "Tea is tea.", LookupError("busy")]}
    )
    say = {"0": "yes", "1": "yes", "2": "unknown", "reference": "yes", "context": "no", "empty": "unknown"}
    score = task_score(run, judge=judged(run, say))
    assert score.figure == "judged_f1"
    assert score.value.value == pytest.approx(0.25)  # yes: TP 1, FP 1, FN 1, F1 1/2; no: 0
    assert score.confusion["yes"] == {"yes": 1, "no": 0, "unknown": 1, "null": 0}
    assert score.judged is not None
    assert score.judged.controls == {
        "reference": pytest.approx(1 / 3),
        "context": pytest.approx(1 / 3),
        "empty": 0.0,
    }
    probes = {one.id: one for one in judge_probes(run.task, items, run.probes.probes, run.results)}
    assert dict(probes["empty 0"].fields) == {"question": "Does tea 0 help?", "summary": ""}
    assert probes["reference 3"].fields["summary"] == "Tea 3 helps."


def test_two_models_are_judged_by_one_judge() -> None:
    run = freeform(["It helps."] * 4)
    one, other = (task_score(run, judge=judged(run, {"0": label})) for label in ("yes", "no"))
    assert compare_scores(one, other).difference.value == pytest.approx(0.25)
    elsewhere = task_score(run, judge=replace(judged(run, {}), model="another"))
    with pytest.raises(SettingError, match="Have both judged by one model"):
        compare_scores(one, elsewhere)
    with pytest.raises(SettingError, match="the answers of m are not judged yet"):
        compare_scores(one, task_score(run))
