"""A model's words -> one label of a closed list.

The reader takes what the answer states ("Answer: yes"), else what it begins with, else the only label in it. "no" is a
label only where it stands for itself: not in "no evidence".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from evidencebench_core.llm.parse import (
    LONGEST,
    after_thinking,
    no_answer_reason,
    plain_text,
    without_marks,
)

UNKNOWN: Final = "unknown"

LabelRule = Literal["stated", "first", "only", "other words"]
NullReason = Literal[
    "failed", "empty", "refusal", "cut_off", "ambiguous", "other_language", "no_label"
]  # "failed": no answer came, so there was nothing to read


@dataclass(frozen=True, slots=True)
class LabelRead:
    """The label of an answer with the rule that took it, or the reason why there is none."""

    label: str | None
    rule: LabelRule | None = None
    reason: NullReason | None = None


_QUOTES: Final = re.compile(r"[\"'`“”„‘«»\[\]{}_]|^[ \t>]*(?:#+|[-+•–—]|\(?\d{1,3}[.)])[ \t]+", re.MULTILINE)
_LEAD: Final = re.compile(r"[\s().,:;=-]*")
_STOP: Final = r"[ \t]*(?:[,;:!?…—–()\n]|\.(?!\s*\d)|-+(?![a-z])|$)"
_CLAUSE: Final = (  # words that open a clause behind a "no"
    r"the|this|these|those|thats?|its?|theres?|they|he|she|we|i|you|because|since|as|based|according|in|from|given|due"
    r"|although|however|while|but|for|patients|our"
)
_OTHER_WORDS: Final = re.compile(
    r"\b(?:not|does ?n.?t|is ?n.?t|do ?n.?t)(?: \w+){0,3}? (?:enough|sufficient) information"
    r"|\binsufficient information|\b(?:can ?not|can.?t) be (?:determined|answered)"
    r"|\bi (?:do not|don.?t) know|\bnot relevant\b"
)
_FOREIGN: Final = re.compile(
    r"(?:ja|jawohl|nein|oui|non|sí|si|sì|sim|não|nao|nee|nej|tak|nie|да|нет|是|是的|否|不是|不|はい|いいえ|نعم|لا)"
    r"\s*(?:[.,;:!。]|$)"
)


def read_label(
    text: str, labels: Sequence[str], *, refusal: str | None = None, finish_reason: str | None = None
) -> LabelRead:
    """The label that an answer gives.

    Parameters
    ----------
    text : str
        The raw answer, thoughts included.
    labels : sequence of str
        In lower case. Where "unknown" is one of them, "not enough information" and its like count as unknown, with
        the rule "other words".
    refusal, finish_reason : str, optional
        As the server says them; they tell why there is no label.
    """
    answer = after_thinking(plain_text(text[-LONGEST:]))
    plain = "" if answer is None else _QUOTES.sub("", without_marks(answer).lower()).strip()
    patterns = _patterns(tuple(labels))
    if stated := patterns.stated.findall(plain):
        return LabelRead(stated[-1], "stated")
    if first := patterns.first.match(plain, _LEAD.match(plain).end()):  # type: ignore[union-attr]
        return LabelRead(first[1], "first")
    words = set(patterns.alone.findall(plain))
    for choice in patterns.choice.finditer(plain):
        words.update(re.findall(patterns.words, choice[0]))
    in_other_words = UNKNOWN in labels and bool(_OTHER_WORDS.search(plain))
    if len(words) > 1 or (in_other_words and words - {UNKNOWN}):
        return LabelRead(None, reason="ambiguous")
    if words or in_other_words:
        return LabelRead(min(words, default=UNKNOWN), "only" if words else "other words")
    why: NullReason | None = no_answer_reason(answer, refusal, finish_reason)
    if why is None:
        why = "empty" if not plain else "other_language" if _FOREIGN.match(plain) else "no_label"
    return LabelRead(None, reason=why)


_STATED: Final = re.compile(r"^[ \t#*_`]*LABEL[ \t*_`]*:[ \t*_`]*(.*)$", re.IGNORECASE | re.MULTILINE)
_AROUND: Final = " \t\r\n.;,!*_`\"'()[]{}<>“”‘’"


def stated_label(
    text: str, forms: Mapping[str, str], *, refusal: str | None = None, finish_reason: str | None = None
) -> LabelRead:
    """The label on the last line that begins with ``LABEL:``, else the whole answer if it is one label.

    ``forms`` has the label of every form in which it may be written, in lower case. Nothing is searched for within
    prose: what stands on the line is the label, or there is none.
    """
    answer = after_thinking(plain_text(text[-LONGEST:]))
    lines = [] if answer is None else _STATED.findall(answer)
    said = lines[-1] if lines else answer or ""
    words = " ".join(without_marks(said[:200]).casefold().strip(_AROUND).split()) if len(said) <= 200 else ""
    if label := forms.get(words):
        return LabelRead(label, "stated" if lines else "only")
    why: NullReason | None = no_answer_reason(answer, refusal, finish_reason)
    return LabelRead(None, reason=why or ("no_label" if (answer or "").strip() else "empty"))


def _words(labels: tuple[str, ...]) -> str:
    return rf"\b(?:{'|'.join(map(re.escape, sorted(labels, key=len, reverse=True)))})\b"


@dataclass(frozen=True, slots=True)
class _Patterns:
    words: str
    choice: re.Pattern[str]  # "yes or no", "yes/no": no label of it is meant
    stated: re.Pattern[str]
    first: re.Pattern[str]
    alone: re.Pattern[str]


@cache
def _patterns(labels: tuple[str, ...]) -> _Patterns:
    words = _words(labels)
    choice = rf"{words}(?:[ \t]*,[ \t]*{words})*[ \t]*(?:/|\||,?[ \t]*\bor\b)[ \t]*{words}"
    alone = rf"(?!{choice})(?!\bno\b(?!{_STOP}))({words})"
    opening = rf"(?!{choice})(?!\bno\b(?!{_STOP}|\s+(?:{_CLAUSE})\b))({words})"
    return _Patterns(
        words,
        re.compile(choice),
        re.compile(rf"\b(?:answer|decision|conclusion)(?:[ \t]+(?:is|would be))?[\s:=(-]*{opening}"),
        re.compile(opening),
        re.compile(alone),
    )
