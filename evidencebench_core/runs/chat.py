"""Questions to a model whose answers are results as they are: to a reliability item, by a judge, of a stage."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.llm.answers import Message
from evidencebench_core.retrievers import Setting
from evidencebench_core.retrievers.table import RequestSettings
from evidencebench_core.runs.store import Result

if TYPE_CHECKING:
    from evidencebench_core.llm.client import LLM

MAX_TOKENS: Final = 4096
"""Of an answer, thoughts included: the same for all models."""

_KEPT: Final = (
    "text", "finish_reason", "refusal", "reasoning", "prompt_tokens", "completion_tokens", "seconds", "model", "key",
)  # fmt: skip


def request_settings(
    settings: Mapping[str, object] | None = None, max_tokens: int = MAX_TOKENS
) -> dict[str, Setting]:
    """All `RequestSettings` in canonical form, defaults filled in; `SettingError` for what cannot be set."""
    given = {"max_tokens": max_tokens, **(settings or {})}
    return RequestSettings.read("request", given).values()


def parameters_of(model: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a request with these `request_settings`, but the messages."""
    return {
        "model": model,
        "temperature": request["temperature"],
        "max_tokens": request["max_tokens"] or None,
        "reasoning_effort": request["reasoning_effort"],
        **json.loads(request["extra_body"] or "{}"),
    }


async def ask_model(llm: LLM, messages: Sequence[Message], parameters: Mapping[str, Any]) -> Result:
    """The result of one call, with `parameters_of` a model. It has of the `Answer`:

    ``text, finish_reason, refusal, reasoning, prompt_tokens, completion_tokens, seconds, model`` and ``key``, which
    names request and answer in the store. An answer may be empty.
    """
    answer = await llm.chat(messages, allow_empty=True, **parameters)
    return {name: getattr(answer, name) for name in _KEPT}
