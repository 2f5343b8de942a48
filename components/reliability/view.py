"""A set of questions with its runs, their cards and scores, as the page Reliability shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from components import resources
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
    def cache_key(self) -> object:
        """Changes with every answer."""
        judged = [run for run in self.runs if task_of(run).judge]
        judges = [judge for run in judged for judge in judge_runs(resources.store(), run.id)]
        return self.info.name, [(run.id, run.stamp) for run in (*self.runs, *judges)]

    @resources.cached(entries=32, spinner="Scoring …")
    def card(self, model: str) -> Card:
        """All tests of a model, scored."""
        return model_card(resources.store(), self.info.name, model)

    @resources.cached(entries=32)
    def score(self, run_id: str) -> TaskScore:
        """The score of one test, with every answer."""
        return run_score(resources.store(), run_id)


def title_of(score: TaskScore) -> str:
    """The test, with the settings that are not the defaults."""
    settings = settings_label(score.run)
    return f"{score.task.title} ({settings})" if settings else score.task.title


def reasons_text(left_out: Mapping[str, int]) -> str:
    """Why items have no part in a figure, and how many."""
    return ", ".join(f"{reason} ({n:,})" for reason, n in left_out.items())


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
    losses = {title_of(score): score.baseline.difference for score in scored if score.baseline}
    worst = min(losses, key=lambda title: losses[title].value or 0, default="")
    if worst and (losses[worst].value or 0) < 0:
        text += f" It loses most in {worst}: {losses[worst].text(unit='', sign=True)} points."
    return text
