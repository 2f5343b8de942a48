"""A set of questions with its runs, their cards and scores, as the page Reliability shows them."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from components import resources
from components.markdown import literal
from evidencebench_core.reliability.card import Card, model_card, run_score
from evidencebench_core.reliability.items import ItemSetInfo
from evidencebench_core.reliability.runs import settings_label, task_of
from evidencebench_core.reliability.score import Comparison, TaskScore
from evidencebench_core.runs import RunInfo, judge_runs
from evidencebench_core.words import enumerated


@dataclass(frozen=True)
class View:
    """A set with its runs."""

    info: ItemSetInfo
    runs: tuple[RunInfo, ...]

    @property
    def models(self) -> list[str]:
        return list(dict.fromkeys(run.settings["model"] for run in self.runs))

    @property
    def key(self) -> tuple[object, ...]:
        """Changes with every answer."""
        judges = [judge for run in self.runs if task_of(run).judge for judge in _judges(run)]
        return tuple((run.id, run.stamp) for run in (*self.runs, *judges))

    def card(self, model: str) -> Card:
        """All tests of a model, scored."""
        with st.spinner(f"Scoring {literal(model)} …"):
            return _card(self.info.name, model, self.key)

    def score(self, run_id: str) -> TaskScore:
        return _score(run_id, self.key)


def _judges(run: RunInfo) -> tuple[RunInfo, ...]:
    return judge_runs(resources.store(), run.id)


@resources.cached(entries=32)
def _card(items: str, model: str, key: tuple[object, ...]) -> Card:
    return model_card(resources.store(), items, model)


@resources.cached(entries=32)
def _score(run_id: str, key: tuple[object, ...]) -> TaskScore:
    return run_score(resources.store(), run_id)


def title_of(score: TaskScore) -> str:
    """The test, with the settings that are not the defaults."""
    return (
        f"{score.task.title} ({settings_label(score.run)})" if settings_label(score.run) else score.task.title
    )


def points(comparison: Comparison | None) -> str | None:
    """``+13.8 (7.4 to 20.4)``."""
    return comparison.difference.text(unit="", sign=True) if comparison else None


def headline(card: Card) -> str:
    """A card in a sentence: that nobody can read the model, that it says the same to all, or where it loses most."""
    scored = [score for score in card.scores if not score.headline.empty]
    if not scored:
        return f"{card.model} has given no answer that can be scored."
    if unread := [title_of(score) for score in scored if (score.null_rate or 0) > 0.5]:
        return f"{card.model}: most answers to {enumerated(unread)} hold no label that can be read."
    labels = {label for score in scored if not score.judge for label in score.headline["label"].dropna()}
    if len(labels) == 1:
        return f"{card.model} answers “{labels.pop()}” to every question."
    first = scored[0]
    text = f"{card.model}, {title_of(first)}: {first.task.figure.title} {first.value.text()}."
    losses = {title_of(score): score.baseline for score in scored if score.baseline}
    worst = min(losses, key=lambda title: losses[title].difference.value or 0, default="")
    if worst and (losses[worst].difference.value or 0) < 0:
        text += f" It loses most in {worst}: {points(losses[worst])} points."
    return text
