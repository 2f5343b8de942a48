"""The features in plain words, and the reasons for a pick that they give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, cast

from evidencebench_core.retrievers.base import Retrieval
from evidencebench_core.retrievers.ranker.explanation import PickExplanation, explanations_in
from evidencebench_core.retrievers.ranker.features import TABLE

Unit = Literal["flag", "count", "deviation", "cosine", "share", "rank", "place", "number"]
"""``place`` is a number of sentences or a share of the abstract, -1 outside of it; ``rank`` 0 for the first."""

_MOST: Final = 3
_LEAST: Final = 0.05  # of the largest contribution; what adds less is no reason


@dataclass(frozen=True, slots=True)
class Wording:
    """A feature in words."""

    label: str  # its name for people
    unit: Unit  # how its value is written, see `value_text`
    topic: str  # of several features of one topic only the one with the highest ``sharp`` is said
    sharp: int
    says: tuple[tuple[float, str], ...]  # of a sentence with at least so much; the last that applies counts

    def phrase(self, value: float) -> str:
        """The words for a sentence with this value; empty where there are none."""
        return next((words for least, words in reversed(self.says) if value >= least), "")


def _wording(row: Mapping[str, str]) -> Wording:
    says = [part.split(":", 1) for part in row["says"].split(";") if part]
    return Wording(
        row["label"],
        cast("Unit", row["unit"]),
        row["topic"],
        int(row["sharp"] or 0),
        tuple((float(least), words.strip()) for least, words in says),
    )


WORDINGS: Final = MappingProxyType({row["name"]: _wording(row) for row in TABLE})
"""By the names of `FEATURES`; a cell ``says`` of the table is ``least: words; ...``."""


class GroupWording(NamedTuple):
    """A group of features in words: ``label`` names it, ``reason`` says that it counted for a sentence."""

    label: str
    reason: str


GROUP_WORDINGS: Final[Mapping[str, GroupWording]] = MappingProxyType(
    {
        "words shared": GroupWording("Words shared with the hypothesis", "shares words with the hypothesis"),
        "meaning shared": GroupWording(
            "Meaning shared with the hypothesis", "close to the hypothesis in meaning"
        ),
        "what it says": GroupWording("What it says (embedding)", "says what evidence often says"),
        "neighbours": GroupWording(
            "The sentences around it", "stands among sentences that bear on the hypothesis"
        ),
        "centrality": GroupWording("How central it is to the paper", "says what the paper is about"),
        "place": GroupWording("Where it stands", "stands where evidence often stands"),
        "kind of text": GroupWording(
            "Which part of the paper it is", "is in a part that often holds evidence"
        ),
        "surface": GroupWording(
            "Length and figures", "is as long and as full of figures as evidence often is"
        ),
        "cue words": GroupWording("Words that tell its purpose", "is worded as evidence often is"),
    }
)
"""By the names of `GROUP_OF`."""


def value_text(name: str, value: float) -> str:
    """A feature's value for people; one that is not known here as a plain number."""
    unit: str = WORDINGS[name].unit if name in WORDINGS else "number"
    if unit == "place":
        unit = "outside" if value < 0 else "share" if name == "place in abstract" else "count"
    text = {
        "flag": "yes" if value >= 0.5 else "no",
        "count": f"{value:,.0f}",
        "deviation": f"{value:+.1f} SD",
        "share": f"{100 * value:.0f}%",
        "rank": "first" if value <= 0 else f"top {max(100 * value, 1):.0f}%",
        "outside": "not in it",
    }.get(unit, f"{value:.2f}")
    return text.replace("-", "\N{MINUS SIGN}")


def reasons(explanation: PickExplanation) -> tuple[str, ...]:
    """Up to three reasons in plain words, as parts of a sentence, the weightiest first.

    A feature is a reason if it added to the score and its value bears the words out: that a sentence cites
    nobody may have helped it, but is not why one would read it. Of the features of one topic the one that
    says most is named. Where no feature is left, the group that added most is; if none added anything, there
    is no reason.
    """
    by_topic: dict[str, tuple[int, str]] = {}
    most = max((abs(one.adds) for one in explanation.features), default=0.0)
    for name, value, adds in explanation.features:
        wording = WORDINGS.get(name)
        if wording is None or adds <= _LEAST * most or not (phrase := wording.phrase(value)):
            continue
        if wording.topic not in by_topic or wording.sharp > by_topic[wording.topic][0]:
            by_topic[wording.topic] = (wording.sharp, phrase)
    if by_topic:
        return tuple(phrase for _, phrase in by_topic.values())[:_MOST]
    group, adds = max(explanation.groups.items(), key=lambda item: item[1], default=("", 0.0))
    return (GROUP_WORDINGS[group].reason,) if adds > 0 and group in GROUP_WORDINGS else ()


def cue_reasons(explanation: PickExplanation) -> tuple[str, ...]:
    """Of the `reasons` those on what the sentence does (it gives exact figures, makes a comparison), for any reader."""
    about = (one for one in explanation.features if one.name in WORDINGS)
    cues = [one for one in about if WORDINGS[one.name].topic.startswith(("cue:", "figures"))]
    return reasons(replace(explanation, features=tuple(cues), groups={}))


def why_texts(retrieval: Retrieval) -> dict[int, str]:
    """One plain sentence a pick, by sentence index; none for a pick without reasons.

    >>> why_texts(Retrieval((), (), (), 0.0))
    {}
    """
    joined = {index: "; ".join(reasons(one)) for index, one in explanations_in(retrieval).items()}
    return {index: f"{text[0].upper()}{text[1:]}." for index, text in joined.items() if text}


def coverage_line(explanation: PickExplanation, number: int) -> str:
    """How the selection came to a sentence as its ``number``-th pick (from 1), as a sentence.

    >>> coverage_line(PickExplanation(4, 1.9, 7, 0.01, 0.38, {}, ()), 3)
    'Chosen for coverage: rank 7 by score alone, 38% already said by earlier picks.'
    """
    head = f"rank {explanation.place} by score alone"
    percent = round(100 * min(max(explanation.repeated, 0.0), 1.0))
    repeated = "nothing of it" if percent == 0 else "all of it" if percent == 100 else f"{percent}%"
    tail = "" if number == 1 else f", {repeated} already said by earlier picks"
    if explanation.place > number:
        return f"Chosen for coverage: {head}{tail}."
    return f"{head[0].upper()}{head[1:]}{tail}."
