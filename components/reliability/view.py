"""A set of questions with its runs, their cards and scores, as the page Reliability shows them."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from components.app import resources
from components.widgets.markdown import literal
from evidencebench_core.reliability.card import Card, model_card, run_score
from evidencebench_core.reliability.items import ItemSetInfo
from evidencebench_core.reliability.runs import ReliabilityRun, judge_runs
from evidencebench_core.reliability.score import Comparison, TaskScore


@dataclass(frozen=True)
class View:
    """A set with its runs."""

    info: ItemSetInfo
    runs: tuple[ReliabilityRun, ...]

    @property
    def models(self) -> list[str]:
        return list(dict.fromkeys(run.model for run in self.runs))

    @property
    def key(self) -> tuple[object, ...]:
        """Changes with every answer."""
        judges = [judge for run in self.runs if run.task.judge_prompt for judge in _judges(run)]
        return tuple(run.stamp for run in (*self.runs, *judges))

    def card(self, model: str) -> Card:
        """All tests of a model, scored."""
        with st.spinner(f"Scoring {literal(model)} …"):
            return _card(self.info.name, model, self.key)

    def score(self, run_id: str) -> TaskScore:
        return _score(run_id, self.key)


def _judges(run: ReliabilityRun) -> tuple[ReliabilityRun, ...]:
    return judge_runs(resources.store(), run.id)


@st.cache_resource(max_entries=32, show_spinner=False)
def _card(items: str, model: str, key: tuple[object, ...]) -> Card:
    return model_card(resources.store(), items, model)


@st.cache_resource(max_entries=32, show_spinner=False)
def _score(run_id: str, key: tuple[object, ...]) -> TaskScore:
    return run_score(resources.store(), run_id)


def title_of(score: TaskScore) -> str:
    """The test, with the settings that are not the defaults."""
    return f"{score.task.title} ({score.run.label})" if score.run.label else score.task.title


def points(comparison: Comparison | None) -> str | None:
    """``+13.8 (7.4 to 20.4)``."""
    return comparison.difference.text(unit="", sign=True) if comparison else None
