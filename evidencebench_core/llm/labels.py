"""A model's words -> one label of a closed list.

The reader takes what the answer states ("Answer: yes"), else what it begins with, else the only label in it. "no" is a
label only where it stands for itself: not in "no evidence".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final, Literal, NamedTuple

from evidencebench_core.llm.parse import after_thinking, no_answer_reason, plain_text, without_marks

UNKNOWN: Final = "unknown"

NullReason = Literal["failed", "empty", "refusal", "cut_off", "ambiguous", "no_label"]


class LabelRead(NamedTuple):
    """The label of an answer, or the reason why there is none ("failed": no answer came)."""

    label: str | None
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
_LABEL_LINE: Final = re.compile(r"^[ \t#*_`]*LABEL[ \t*_`]*:[ \t*_`]*(.*)$", re.IGNORECASE | re.MULTILINE)
_AROUND: Final = " \t\r\n.;,!*_`\"'()[]{}<>“”‘’"
_LONGEST_LABEL: Final = 200


def read_label(
    text: str, labels: Sequence[str], *, refusal: str | None = None, finish_reason: str | None = None
) -> LabelRead:
    """The label, of some in lower case, that a raw answer gives.

    Where "unknown" is one of them, "not enough information" and its like count as unknown.
    """
    answer = after_thinking(plain_text(text))
    plain = "" if answer is None else _QUOTES.sub("", without_marks(answer).lower()).strip()
    patterns = _patterns(tuple(labels))
    if statements := patterns.stated.findall(plain):
        return LabelRead(statements[-1])
    if first := patterns.first.match(plain, _LEAD.match(plain).end()):  # type: ignore[union-attr]
        return LabelRead(first[1])
    words = set(patterns.alone.findall(plain))
    for choice in patterns.choice.finditer(plain):
        words.update(re.findall(patterns.words, choice[0]))
    if UNKNOWN in labels and _OTHER_WORDS.search(plain):
        words.add(UNKNOWN)
    if len(words) == 1:
        return LabelRead(words.pop())
    if words:
        return LabelRead(None, "ambiguous")
    return LabelRead(
        None, no_answer_reason(answer, refusal, finish_reason) or ("no_label" if plain else "empty")
    )


def stated_label(
    text: str, forms: Mapping[str, str], *, refusal: str | None = None, finish_reason: str | None = None
) -> LabelRead:
    """The label on the last line that begins with ``LABEL:``, else the whole answer if it is one label.

    ``forms`` has the label of every form in which it may be written, in lower case. Nothing is searched for within
    prose: what stands on the line is the label, or there is none.
    """
    answer = after_thinking(plain_text(text))
    lines = _LABEL_LINE.findall(answer or "")
    line = lines[-1] if lines else answer or ""
    words = " ".join(without_marks(line).casefold().strip(_AROUND).split())
    if len(line) <= _LONGEST_LABEL and words in forms:
        return LabelRead(forms[words])
    reason = no_answer_reason(answer, refusal, finish_reason)
    return LabelRead(None, reason or ("no_label" if (answer or "").strip() else "empty"))


class _Patterns(NamedTuple):
    words: str
    choice: re.Pattern[str]  # "yes or no", "yes/no": no label of it is meant
    stated: re.Pattern[str]
    first: re.Pattern[str]
    alone: re.Pattern[str]


@cache
def _patterns(labels: tuple[str, ...]) -> _Patterns:
    words = rf"\b(?:{'|'.join(map(re.escape, sorted(labels, key=len, reverse=True)))})\b"
    choice = rf"{words}(?:[ \t]*,[ \t]*{words})*[ \t]*(?:/|\||,?[ \t]*\bor\b)[ \t]*{words}"
    alone = rf"(?!{choice})(?!\bno\b(?!{_STOP}))({words})"
    opening = rf"(?!{choice})(?!\bno\b(?!{_STOP}|\s+(?:{_CLAUSE})\b))({words})"
    stated = rf"\b(?:answer|decision|conclusion)(?:[ \t]+(?:is|would be))?[\s:=(-]*{opening}"
    return _Patterns(words, *map(re.compile, (choice, stated, opening, alone)))
