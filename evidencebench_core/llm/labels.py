"""A model's words -> one label of a closed list: what it states, else its first word, else the only label in it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple

from evidencebench_core.llm.parse import after_thinking, no_answer_reason

UNKNOWN: Final = "unknown"

NullReason = Literal["failed", "empty", "refusal", "cut_off", "ambiguous", "no_label"]


class LabelRead(NamedTuple):
    """The label of an answer, or the reason why there is none ("failed": no answer came)."""

    label: str | None
    reason: NullReason | None = None


_MARKS: Final = re.compile(
    r"[*_`\"'“”‘’()\[\]{}]|</?\w{1,20}>|^[ \t]*(?:[-+•#]+|\d{1,3}[.)])[ \t]", re.MULTILINE
)
_NO: Final = r"no(?![ \t]*[\w-]|\.\s*\d)"  # neither "no evidence" nor "no. 5"
_NO_INFORMATION: Final = re.compile(
    r"\bnot (?:\w+ ){0,3}(?:enough|sufficient) information|\binsufficient information"
    r"|\bcan ?not be (?:determined|answered)|\bi (?:do not|dont) know|\bnot relevant\b"
)
_LABEL_LINE: Final = re.compile(r"^[ \t#*_`]*LABEL[ \t*_`]*:(.*)$", re.IGNORECASE | re.MULTILINE)


def read_label(
    text: str, labels: Sequence[str], *, refusal: str | None = None, finish_reason: str | None = None
) -> LabelRead:
    """The label, of some in lower case, that a raw answer gives.

    Where "unknown" is one of them, "not enough information" and its like count as unknown.
    """
    answer = after_thinking(text)
    plain = _MARKS.sub("", (answer or "").lower()).strip()
    words = "|".join(map(re.escape, labels))
    choice = rf"\b(?:{words})(?:, ?(?:{words}))*,? ?(?:/|\bor\b) ?(?:{words})\b"  # no label of it is meant
    rest = re.sub(choice, "", plain)
    label = rf"\b({'|'.join(_NO if name == 'no' else re.escape(name) for name in labels)})\b"
    if statements := re.findall(rf"\b(?:answer|decision|conclusion)(?: is)?[ :=]*{label}", rest):
        return LabelRead(statements[-1])
    if first := re.match(rf"\W*{label}", rest):
        return LabelRead(first[1])
    found = set(re.findall(label, rest))
    if UNKNOWN in labels and _NO_INFORMATION.search(rest):
        found.add(UNKNOWN)
    if len(found) == 1:
        return LabelRead(found.pop())
    if found or rest != plain:
        return LabelRead(None, "ambiguous")
    return LabelRead(None, _null_reason(answer, refusal, finish_reason))


def stated_label(
    text: str, forms: Mapping[str, str], *, refusal: str | None = None, finish_reason: str | None = None
) -> LabelRead:
    """The label on the last line that begins with ``LABEL:``, else the whole answer if it is one label.

    ``forms`` has the label of every form in which it may be written, in lower case. Nothing is searched for within
    prose: what stands on the line is the label, or there is none.
    """
    answer = after_thinking(text)
    lines = _LABEL_LINE.findall(answer or "") or [answer or ""]
    label = forms.get(_MARKS.sub("", lines[-1].casefold()).strip(" \t\r\n.;,!"))
    return LabelRead(label, None if label else _null_reason(answer, refusal, finish_reason))


def _null_reason(answer: str | None, refusal: str | None, finish_reason: str | None) -> NullReason:
    why = no_answer_reason(answer, refusal, finish_reason)
    return why or ("no_label" if answer and answer.strip() else "empty")
