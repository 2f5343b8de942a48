"""The labels of answer sentences and citations as they are drawn: a sign, words and a tone, never a colour alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from evidencebench_core.answers.agreement import one_relation
from evidencebench_core.answers.model import AnswerSentence, Relation

Tone = Literal["good", "half", "plain", "bad", "unknown"]


@dataclass(frozen=True, slots=True)
class Look:
    """How a label is drawn."""

    sign: str
    words: str
    tone: Tone

    def __str__(self) -> str:
        return f"{self.sign} {self.words}"


_SAYS_SO: Final = Look("✓", "says so", "good")
_OPPOSITE: Final = Look("✕", "says the opposite", "bad")
_NOT_SO: Final = Look("○", "does not say so", "plain")
UNCHECKED: Final = Look("?", "not checked", "unknown")
NO_LABEL: Final = Look("?", "no label", "unknown")

CITATIONS: Final[Mapping[str, Look]] = {
    **dict.fromkeys(("supporting", "supports", "attributable"), _SAYS_SO),
    **dict.fromkeys(("contradicting", "contradicts"), _OPPOSITE),
    **dict.fromkeys(("neutral", "not attributable"), _NOT_SO),
    "not relevant": Look("○", "is about something else", "plain"),
    "invalid citation": Look("?", "there is no such document", "unknown"),
}
RELEVANCE: Final[Mapping[str, Look]] = {
    "required": Look("●", "required", "good"),
    "borderline": Look("◐", "borderline", "half"),
    "unnecessary": Look("○", "unnecessary", "plain"),
    "inappropriate": Look("✕", "inappropriate", "bad"),
}
_WORST: Final[tuple[Tone, ...]] = ("bad", "plain", "half", "unknown", "good")


def look_of(label: str | None) -> Look:
    """Of a judge's label, on any scale."""
    return NO_LABEL if label is None else CITATIONS.get(label) or RELEVANCE[label]


def citation_look(relations: Iterable[Relation]) -> Look:
    """Of all that people said of a citation, one label: supporting if any."""
    label = one_relation(tuple(relations))
    return UNCHECKED if label is None else CITATIONS[label]


def said_text(sentence: AnswerSentence, document: str) -> str:
    """Every relation that people named of a citation, in words: one may be supporting and neutral."""
    looks = dict.fromkeys(CITATIONS[one] for one in sentence.relations(document))
    return ", ".join(map(str, looks)) or str(UNCHECKED)


def worst(looks: Iterable[Look]) -> Look | None:
    """The one to look at first; ``None`` of none."""
    return min(looks, key=lambda look: _WORST.index(look.tone), default=None)
