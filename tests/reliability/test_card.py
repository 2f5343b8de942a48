"""Scores of runs in the store, a model's card, two models task by task; the answers are given by rule."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from evidencebench_core.data import open_store
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, UnknownNameError
from evidencebench_core.llm import Answer
from evidencebench_core.metrics import confusion, weighted_f1
from evidencebench_core.reliability import card as card_module
from evidencebench_core.reliability.card import compare_models, compare_runs, model_card, run_score
from evidencebench_core.reliability.items import Item, ItemSet, add_items
from evidencebench_core.reliability.probes import Probe
from evidencebench_core.reliability.runs import judge_plan, reliability_run, run_plan, run_probes
from evidencebench_core.reliability.score import task_score
from evidencebench_core.runs import ChatPlan, ChatRuns

Rule = Callable[[Probe], str]


def always_yes(_: Probe) -> str:
    return "Yes."


def reader(probe: Probe) -> str:
    """Is always right, but cannot read a text with more than three errors."""
    if probe.details.get("errors", 0) > 3:
        return "I am not sure."
    return f"{probe.expected}."


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = open_store(tmp_path / "store.sqlite")
    items = [
        Item(
            f"i{place}",
            f"Does herb {place} help?",
            (f"Herb {place} was given to {place + 20} people for many weeks. It {verb}.",),
            "no" if verb == "failed" else "yes",
            (f"Herb {place} {verb}.",),
            wordings={"paraphrase:given": f"Is herb {place} of help?"},
        )
        for place, verb in enumerate(["worked", "failed", "worked"] * 8)
    ]
    add_items(store, "herbs", [*items, Item("m", "Does it?", ("It may.",), "maybe")])
    return store


def finish(store: Store, plan: ChatPlan, say: Callable[[str], str]) -> str:
    """The run with an answer to everything that is missing."""
    plan.create()
    results = {}
    for unit in plan.missing:
        conversation = plan.conversations(unit)
        next(conversation)
        with pytest.raises(StopIteration) as done:
            conversation.send([Answer(say(unit), "stop")])
        results[unit] = done.value.value
    ChatRuns(store).add(plan.run_id, results)
    return plan.run_id


def asked(store: Store, task: str, model: str, rule: Rule, items: str = "herbs", **more: Any) -> str:
    plan = run_plan(store, items, task, model, **more)
    plan.create()
    probes = {one.id: one for one in run_probes(store, reliability_run(store, plan.run_id)).probes}
    return finish(store, plan, lambda unit: rule(probes[unit]))


def test_a_run_finds_its_baseline_and_only_its_own(store: Store) -> None:
    asked(store, "baseline", "other", always_yes)
    spelling = asked(store, "spelling", "good", reader)
    assert run_score(store, spelling).baseline is None
    baseline = asked(store, "baseline", "good", reader)
    score = run_score(store, spelling[:8])
    assert score.baseline is not None
    assert (score.baseline.run, score.baseline.n) == (baseline, 24)
    assert (score.items, score.left_out) == ("herbs", {"the answer is maybe": 1})
    assert score.variants["3"].f1_weighted.value == 1.0
    assert score.variants["50"].null_rate == 1.0
    assert score.baseline.variants["50"].value == -1.0
    with pytest.raises(UnknownNameError):
        run_score(store, "ffff")


def test_the_card_of_a_model(store: Store) -> None:
    for task in ("baseline", "paraphrase", "spelling", "unknown", "few-shot"):
        asked(store, task, "yes", always_yes)
    for seed in (1, 2):
        asked(store, "spelling", "yes", always_yes, settings={"seed": seed})
    asked(store, "distraction", "yes", always_yes, settings={"near": True})
    asked(store, "baseline", "other", reader)
    card = model_card(store, "herbs", "yes")
    assert [row.task.name for row in card.rows] == [
        "baseline", "paraphrase", "few-shot", "spelling", "distraction", "unknown",
    ]  # fmt: skip
    rows = {row.task.name: row for row in card.rows}
    expected = weighted_f1(confusion(["yes"] * 16 + ["no"] * 8, ["yes"] * 24, ("yes", "no")))
    assert rows["baseline"].score.value.value == pytest.approx(float(expected))
    assert rows["few-shot"].score.value.value == 0.5  # sways nowhere: it always says yes
    assert rows["unknown"].score.value.value == 0.0
    assert rows["distraction"].differs == {"near": True}
    assert rows["spelling"].score.settings["seed"] == 0
    assert rows["spelling"].seeds is not None
    assert (rows["spelling"].seeds.n, rows["spelling"].seeds.sd) == (3, 0.0)
    assert rows["paraphrase"].p_holm == 1.0
    document = card.as_dict()
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_a_judge_is_found_with_its_own_answers_to_pairs(store: Store) -> None:
    free = asked(store, "freeform", "good", lambda one: f"It {one.fields['context'].split()[-1]}")
    assert run_score(store, free).left_out["not judged yet"] == 24
    first, second = (judge_plan(store, free, name) for name in ("good", "judge"))
    for plan, label in ((first, "yes"), (second, "no")):
        finish(store, plan, lambda _, label=label: label)  # type: ignore[misc]
    pairs = [
        Item(f"p{place}", f"Herb {place}.", (), label, (f"That herb {place}.",))
        for place, label in enumerate(["yes", "no"] * 4)
    ]
    add_items(store, "pairs", pairs, "pairs")
    asked(store, "judge", "judge", lambda one: one.gold or "", "pairs")
    score = run_score(store, free)
    assert score.judged is not None
    assert (score.judged.judge, score.value.value, score.judged.pairs_of) == ("judge", 0.0, "pairs")
    assert (score.judged.sensitivity, score.judged.specificity) == (1.0, 1.0)
    by_first = run_score(store, first.run_id)
    assert by_first.judged is not None
    assert (by_first.run, by_first.value.value, by_first.judged.is_model_under_test) == (free, 1.0, True)


def test_two_models_task_by_task(store: Store) -> None:
    runs = {
        (task, model): asked(store, task, model, rule)
        for task in ("baseline", "paraphrase", "unknown")
        for model, rule in (("good", reader), ("yes", always_yes))
    }
    rows = compare_models(store, "herbs", "good", "yes")
    assert [row.task.name for row in rows] == ["baseline", "paraphrase", "unknown"]
    assert [row.value_a for row in rows] == [1.0, 1.0, 1.0]
    assert rows[0].paired is not None
    assert rows[0].paired.p_value == pytest.approx(2 / 2**8)
    assert rows[0].p_holm == pytest.approx(2 * 2 / 2**8)
    pair = compare_runs(store, runs["baseline", "good"], runs["baseline", "yes"])
    assert pair == rows[0].paired
    for model, judges in {"good": ["x", "y"], "yes": ["y", "z"], "third": ["z"]}.items():
        free = asked(store, "freeform", model, always_yes)
        for judge in judges:
            finish(store, judge_plan(store, free, judge), lambda _: "yes")
    (*_, judged) = [
        row for row in compare_models(store, "herbs", "good", "yes") if row.task.name == "freeform"
    ]
    assert judged.paired is not None
    (other,) = compare_models(store, "herbs", "good", "third")
    assert (other.paired, other.p_holm) == (None, None)
    assert "Have both judged by one model" in other.problem
    with pytest.raises(SettingError, match="no task was asked of both"):
        compare_models(store, "herbs", "good", "nobody")


@pytest.mark.realdata
def test_every_short_task_of_pubmedqa_is_read_and_scored_once(
    tmp_path: Path, pubmedqa: ItemSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    score = Mock(wraps=task_score)
    monkeypatch.setattr(card_module, "task_score", score)
    store = open_store(tmp_path / "store.sqlite")
    add_items(store, "pubmedqa", pubmedqa.items)
    for task in ("baseline", "few-shot", "spelling", "distraction", "unknown"):
        asked(store, task, "yes", always_yes, "pubmedqa", as_published=task in ("distraction", "few-shot"))
    card = model_card(store, "pubmedqa", "yes")
    published = model_card(store, "pubmedqa", "yes", as_published=True)
    assert card.rows[0].score.value.value == pytest.approx(0.4748, abs=5e-5)
    assert published.rows[0].score.value.value == 0.5
    assert [row.score.n_scored for row in published.rows] == [676, 890]
    assert score.call_count == 5  # a baseline stands behind four tasks, and is scored as one
