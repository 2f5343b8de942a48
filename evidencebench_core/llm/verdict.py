"""The meaning of a server's refusal: try again, leave a field out, give up this call, or give up the run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from evidencebench_core.llm.replies import Failure

_AGAIN: Final = frozenset({408, 409, 423, 425, 429})
_NEVER: Final = frozenset({501, 505})
_TOO_LONG: Final = re.compile(
    r"context[_ ](?:length|size|window)|exceed_context|maximum context|too many (?:input )?tokens"
    r"|(?:prompt|input) is too long|too long for|input token count|reduce the length|token limit exceeded"
    r"|maximum (?:input |sequence )?length",
    re.IGNORECASE,
)
_NO_MONEY: Final = re.compile(
    r"insufficient_quota|insufficient[ _]balance|billing|exceeded your current quota|payment", re.I
)
_NO_SUCH_MODEL: Final = re.compile(
    r"model[_ ]not[_ ]found|no such model|model .{0,80}(?:does not exist|not found)|unknown model"
    r"|server is pinned to",  # transformers serve MODEL
    re.IGNORECASE,
)
_NO_VECTORS: Final = re.compile(
    r"(?:created|started?) with .{0,20}embedding|not support .{0,20}embedding", re.I
)
_OPTIONAL: Final = (
    "temperature",
    "seed",
    "max_tokens",
    "max_completion_tokens",
    "stream_options",
    "encoding_format",
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """How to go on after a refusal."""

    action: Literal["again", "without", "give_up", "end_run"]
    remedy: str
    field: str = ""


def verdict(status: int, failure: Failure, sent: frozenset[str]) -> Verdict:  # noqa: PLR0911, PLR0912 - a table
    """The verdict on a status of 300 or more and the server's words."""
    words = f"{failure.code} {failure.message}"
    if status == 429 and _NO_MONEY.search(words):
        return Verdict("end_run", "Check the account's plan and balance.")
    if status in _AGAIN:
        return Verdict("again", "Wait a while, or lower the concurrency; then go on.")
    if status >= 500 and _NO_VECTORS.search(words):
        return Verdict("end_run", "Name a model that makes embeddings.")
    if status >= 500 and status not in _NEVER and not _TOO_LONG.search(words):
        return Verdict("again", "Check the server, then go on.")
    if status == 401:
        return Verdict("end_run", "Set OPENAI_API_KEY to a key of this server, or type one in the app.")
    if status == 402:
        return Verdict("end_run", "Check the account's plan and balance.")
    if status == 403:
        return Verdict("end_run", "Check what the key is allowed to do, and the model's name.")
    if status == 413 or _TOO_LONG.search(words):
        return Verdict(
            "give_up", "Take a strategy that reads the paper by sections, or a model that reads more."
        )
    if status == 404 or _NO_SUCH_MODEL.search(words):
        return Verdict(
            "end_run", "Check the model's name and the address (OPENAI_BASE_URL, usually ending in /v1)."
        )
    if status < 400:
        return Verdict("end_run", "Set OPENAI_BASE_URL to the address that it leads to.")
    if status in (400, 422):
        for name in _OPTIONAL:
            named = failure.param == name or re.search(rf"(?<![A-Za-z_]){name}(?![A-Za-z_])", words)
            if name in sent and named:
                return Verdict("without", "", name)
    return Verdict("give_up", "See what the server says; other settings may help.")
