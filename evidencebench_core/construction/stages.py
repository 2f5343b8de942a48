"""Stages that ask once (S2 to S5, S7 to S9): what their prompts are filled with, and how answers are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from evidencebench_core.construction.state import BuildState, Stage, StageResult
from evidencebench_core.llm.conversation import Conversation

STAGE_VERSION: Final[Mapping[Stage, int]] = {}
PROMPTS: Final[Mapping[Stage, tuple[str, ...]]] = {}


def fields(stage: Stage, state: BuildState) -> Mapping[str, str]:
    """What the prompt of a stage is filled with."""
    raise NotImplementedError


def conversation(
    stage: Stage, state: BuildState, model: str, settings: Mapping[str, Any]
) -> Conversation[StageResult]:
    """The conversation of a stage about a build."""
    raise NotImplementedError
