"""The labels of answer sentences and citations as they are drawn: a sign, words and a tone, never a colour alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from evidencebench_core.answers.model import AnswerSentence

Tone = Literal["good", "half", "plain", "bad", "unknown"]


@dataclass(frozen=True, slots=True)
class Badge:
    sign: str
    words: str
    tone: Tone

    def __str__(self) -> str:
        return f"{self.sign} {self.words}"


UNCHECKED: Final = Badge("?", "not checked", "unknown")
NO_LABEL: Final = Badge("?", "no label", "unknown")
_SUPPORTS: Final = Badge("✓", "says so", "good")
_CONTRADICTS: Final = Badge("✕", "says the opposite", "bad")
BADGES: Final[Mapping[str, Badge]] = {
    "supports": _SUPPORTS, "contradicts": _CONTRADICTS,
    "neutral": Badge("○", "does not say so", "plain"), "not relevant": Badge("○", "is about something else", "plain"),
    "invalid citation": Badge("?", "there is no such document", "unknown"),
    "required": Badge("●", "required", "good"), "borderline": Badge("◐", "borderline", "half"),
    "unnecessary": Badge("○", "unnecessary", "plain"), "inappropriate": Badge("✕", "inappropriate", "bad"),
}  # fmt: skip
_WORST: Final[tuple[Tone, ...]] = ("bad", "plain", "half", "unknown", "good")


def badge(label: str | None) -> Badge:
    """The badge of a judge's or a person's label."""
    return NO_LABEL if label is None else BADGES[label]


def people_badges(sentence: AnswerSentence, document: str) -> list[Badge]:
    """The badges of all labels by people; a citation may be both supporting and neutral."""
    return list(dict.fromkeys(BADGES[relation] for relation in sentence.relations(document)))


def citation_badge(sentence: AnswerSentence, document: str) -> Badge:
    """One badge for people's labels of a citation: supporting if any is."""
    badges = people_badges(sentence, document)
    decisive = [badge for badge in (_SUPPORTS, _CONTRADICTS) if badge in badges]
    return next(iter([*decisive, *badges]), UNCHECKED)


def worst(badges: Iterable[Badge]) -> Badge | None:
    """The badge to look at first; ``None`` if there is none."""
    return min(badges, key=lambda badge: _WORST.index(badge.tone), default=None)
