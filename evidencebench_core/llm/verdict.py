"""The meaning of a server's refusal: try again, wait, leave a field out, give up this call, or give up the run."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from evidencebench_core.llm.replies import Failure

_AGAIN: Final = frozenset({408, 409, 423, 425})
_NEVER: Final = frozenset({501, 505})
_BILLED: Final = frozenset({504, 524})  # a gateway has lost patience with a model that may have answered
_TOO_LONG: Final = re.compile(
    r"context[_ ](?:length|size|window)|exceed_context|maximum context|too many (?:input )?tokens"
    r"|(?:prompt|input) is too long|too long for|input token count|reduce the length|token limit exceeded"
    r"|maximum (?:input |sequence )?length|request too large",
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
_FILTERED: Final = re.compile(
    r"content[_ ](?:filter|policy)|content management policy|ResponsibleAIPolicyViolation", re.I
)
_NEEDED: Final = frozenset({"model", "messages", "input", "dimensions", "stream"})
_PLAIN: Final = frozenset({"temperature", "seed"})  # said without quotes, they mean the field nevertheless


@dataclass(frozen=True, slots=True)
class Verdict:
    """How to go on after a refusal.

    ``wait``: the server wants fewer calls; ``filtered``: that is the answer.
    """

    action: Literal["again", "wait", "without", "filtered", "give_up", "end_run"]
    remedy: str = ""
    field: str = ""
    perhaps_billed: bool = False


def verdict(status: int, failure: Failure, sent: Collection[str]) -> Verdict:  # noqa: PLR0911, PLR0912 - a table
    """The verdict on a status of 300 or more, the server's words and the fields that were sent."""
    words = f"{failure.code} {failure.message}"
    if status == 429:
        if _NO_MONEY.search(words):
            return Verdict("end_run", "Check the account's plan and balance.")
        if not _TOO_LONG.search(words):
            return Verdict("wait", "Start again later: what is answered is kept.")
    if status in _AGAIN:
        return Verdict("again", "Wait a while, or lower the concurrency; then go on.")
    if status >= 500 and _NO_VECTORS.search(words):
        return Verdict("end_run", "Name a model that makes embeddings.")
    if status >= 500 and status not in _NEVER and not _TOO_LONG.search(words):
        return Verdict("again", "Check the server, then go on.", perhaps_billed=status in _BILLED)
    if status == 401:
        return Verdict("end_run", "Set OPENAI_API_KEY to a key of this server, or type one in the app.")
    if status == 402:
        return Verdict("end_run", "Check the account's plan and balance.")
    if status in (400, 403) and _FILTERED.search(words):
        return Verdict("filtered")
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
        for name in sorted(set(sent) - _NEEDED, key=len, reverse=True):
            quotes = "" if name in _PLAIN or "_" in name else "['\"`]"
            named = rf"(?<![A-Za-z_]){quotes}{re.escape(name)}{quotes}(?![A-Za-z_])"
            if re.split(r"[.\[]", failure.param)[0] == name or re.search(named, words):
                return Verdict("without", field=name)
    return Verdict("give_up", "See what the server says; other settings may help.")


class FieldsTaken:
    """The fields that a server takes, model by model, learnt from its refusals."""

    def __init__(self) -> None:
        self._not_taken: dict[str, tuple[str, ...]] = {}

    def leave_out(self, model: str, name: str) -> None:
        """Do not send this field to this model any more, or send it under its other name."""
        known = self._not_taken.get(model, ())
        if name not in known:
            self._not_taken[model] = (*known, name)

    def fitting(self, body: Mapping[str, Any], model: str) -> tuple[Mapping[str, Any], tuple[str, ...]]:
        """The request without what is not taken (itself, if all is), and the fields left out."""
        fitting, left_out = body, []
        for name in self._not_taken.get(model, ()):
            if name in fitting:
                value, fitting = fitting[name], {one: fitting[one] for one in fitting if one != name}
                if name == "max_tokens":
                    fitting = {**fitting, "max_completion_tokens": value}
                else:
                    left_out.append(name)
        return fitting, tuple(left_out)
