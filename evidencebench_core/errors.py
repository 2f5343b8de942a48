"""Every error this package raises on purpose.

Whoever catches ``EvidenceBenchError`` catches them all; the message is meant for the user as it is.
"""

import re
from collections.abc import Iterable


def shown(value: object, limit: int = 60) -> str:
    """A value as it may stand in a one-line message: ``repr``, cut to ``limit`` characters."""
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """``"Did you mean 'bm25'? "`` for a message, or nothing where no known name is near."""
    from difflib import get_close_matches

    near = get_close_matches(name, known, 1, cutoff)
    return f"Did you mean {shown(near[0])}? " if near else ""


class EvidenceBenchError(Exception):
    """Something the user can act on: where it happened, what is wrong (with the value found), what to do about it.

    Place and problem make a sentence: "run 'x'" and "is not in the store".
    """

    def __init__(self, place: str, problem: str, remedy: str) -> None:
        self.place, self.problem, self.remedy = place, problem, remedy
        super().__init__(place, problem, remedy)

    def __str__(self) -> str:
        line = " ".join(f"{self.place} {self.problem.rstrip('.')}. {self.remedy}".split())
        is_word = re.match("[a-z]+ ", line)  # a file or an id keeps its letters
        return line[0].upper() + line[1:] if is_word else line


class DataError(EvidenceBenchError):
    """A dataset file, or something in it, is wrong, or it could not be fetched whole."""


class InstanceError(DataError):
    """One instance breaks the format's promises; ``place`` is ``"<instance id>.<field>"``."""


class StoreError(EvidenceBenchError):
    """The SQLite store cannot do what was asked, and is as it was before; or its file was damaged."""


class UnknownNameError(StoreError):
    """No dataset, instance or run of that name."""


class SettingError(EvidenceBenchError):
    """Unknown task, retriever or setting, or a value it cannot take."""


class SelectionError(EvidenceBenchError):
    """A selection names sentences that the paper does not have, or not by integers."""


class RetrieverError(EvidenceBenchError):
    """A retriever could not be loaded, or could not answer a query."""


class PaperError(EvidenceBenchError):
    """A reader's own paper: no such file format, too large, hostile, without text, not open access, ..."""


class LLMError(EvidenceBenchError):
    """A language model's server gave no usable answer; keys are struck out of the message.

    ``stops_run`` says whether every further call would fail the same way, so that a run should end with this reason.
    Without it only the instance in hand has failed.
    """

    def __init__(self, place: str, problem: str, remedy: str, stops_run: bool = False) -> None:
        super().__init__(place, problem, remedy)
        self.stops_run = stops_run


class LLMUnreachableError(LLMError):
    """Busy, broken or silent servers, after all attempts or at the end of the time for a call."""


class LLMRejectedError(LLMError):
    """The server refuses the request, and would again: wrong key, unknown model, prompt too long."""


class LLMAnswerError(LLMError):
    """A reply that is no answer of a language model: not JSON, no choices, endless."""


class LLMCancelledError(LLMError):
    """The call was given up because the work it belongs to was cancelled."""


class BudgetReachedError(LLMError):
    """The next call would go beyond the cap in calls, tokens or money; nothing was sent."""
