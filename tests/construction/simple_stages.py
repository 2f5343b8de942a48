"""Stages whose prompts name them and whose answers are JSON: the real ones are tested where they are written."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from evidencebench_core.construction import BuildState, Stage, StageResult, stages
from evidencebench_core.llm import Message
from evidencebench_core.llm.conversation import Conversation
from evidencebench_core.runs import asked, request_with
from tests.construction.test_align import Look
from tests.llm.server import Step, reply

NAMES: tuple[Stage, ...] = ("boundary", "suitability", "motive", "hypothesis", "aspects", "leak", "results")
WORDS = {"blood": (3, 7, 19), "weight": (22,), "sleep": ()}  # by aspect the sentences that hold its word


def install(put: Callable[[Any, str, Any], object] = setattr) -> None:
    put(stages, "STAGE_VERSION", dict.fromkeys(NAMES, 1))
    put(stages, "PROMPTS", dict.fromkeys(NAMES, ()))
    put(stages, "fields", fields)
    put(stages, "conversation", conversation)


def fields(stage: Stage, state: BuildState) -> Mapping[str, str]:
    aspects = "\n".join(one.text for one in state.drafted)
    by_stage = {
        "boundary": " ".join(state.input.paragraph),
        "motive": f"{state.summary} {state.input.context_before}",
        "hypothesis": f"{state.question} {state.summary}",
        "leak": f"{state.summary} {aspects}",
        "results": aspects,
    }
    return {"text": by_stage.get(stage, state.summary)}


def conversation(
    stage: Stage, state: BuildState, model: str, settings: Mapping[str, Any]
) -> Conversation[StageResult]:
    text = f"STAGE {stage} {fields(stage, state)['text']}"
    said = yield from asked(request_with(model, settings, (Message("user", text),)), stage)
    try:
        return {"outcome": "done", **said, **json.loads(said["text"])}
    except ValueError:
        return {"outcome": "failed", **said}


def good(sent: Mapping[str, Any]) -> Step:
    return reply(answer(sent))


def answer(sent: Mapping[str, Any]) -> str:
    text = sent["messages"][-1]["content"]
    if not text.startswith("STAGE "):
        return Look(dict(sent)).answer()
    stage = text.split()[1]
    answers: dict[str, Any] = {
        "boundary": {"summary": f"Tea lowers blood pressure and weight, in {text.split()[-2]}."},
        "motive": {"question": "Is tea good?"},
        "hypothesis": {"hypothesis": "Tea is good."},
        "aspects": {"aspects": [{"text": f"It is about {word}"} for word in WORDS]},
        "leak": {"leaked": []},
        "results": {"results": [0, 1]},
    }
    return json.dumps(answers.get(stage, {}))
