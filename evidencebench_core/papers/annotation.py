"""Gold marked by hand: an annotation is a value, and every edit gives a new one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from evidencebench_core.data.model import Aspect, EvidenceSet
from evidencebench_core.errors import PaperError, shown
from evidencebench_core.metrics import optimal_cover
from evidencebench_core.papers.draft import clean_text

__all__ = [
    "Annotation",
    "MarkedAspect",
    "add_aspect",
    "mark",
    "move",
    "remove_aspect",
    "rename",
    "set_hypothesis",
    "set_result",
    "unmark",
]

_LONGEST: Final = 2000  # characters of an aspect


@dataclass(frozen=True, slots=True)
class MarkedAspect:
    """A study aspect that an annotator wrote, and the sentences that cover it.

    Attributes
    ----------
    id : str
        ``"aspect_0"`` and on, as in the benchmark; never used again within an annotation.
    text : str
    is_result : bool
    sentences : tuple of int
        0-based indices, ascending; empty until something is marked.
    """

    id: str
    text: str
    is_result: bool = False
    sentences: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Annotation:
    """What one annotator marked in one paper.

    Attributes
    ----------
    annotator : str
    hypothesis : str
    n_sentences : int
        Of the paper: no mark can lie beyond it.
    aspects : tuple of MarkedAspect
        In the annotator's order.
    n_made : int
        How many aspects there ever were; the next one's id.
    """

    annotator: str
    hypothesis: str
    n_sentences: int
    aspects: tuple[MarkedAspect, ...] = ()
    n_made: int = 0

    def aspect(self, aspect_id: str) -> MarkedAspect:
        """The aspect of this id.

        Raises
        ------
        PaperError
            If there is none.
        """
        found = next((aspect for aspect in self.aspects if aspect.id == aspect_id), None)
        if found is None:
            known = ", ".join(aspect.id for aspect in self.aspects) or "none yet"
            raise PaperError(f"aspect {shown(aspect_id)}", "is not in the annotation", f"There are: {known}.")
        return found

    @property
    def uncovered(self) -> tuple[MarkedAspect, ...]:
        """The aspects that no sentence covers yet."""
        return tuple(aspect for aspect in self.aspects if not aspect.sentences)

    def evidence(self) -> EvidenceSet:
        """The gold as marked so far, so that the reader, scores and agreement take it.

        Optimal K counts the aspects that are covered; it is 0 while nothing is.
        """
        results = [frozenset(aspect.sentences) for aspect in self.aspects if aspect.is_result]
        return EvidenceSet(
            n_sentences=self.n_sentences,
            aspects=tuple(
                Aspect(aspect.id, aspect.sentences, aspect.is_result, f"A{number}", aspect.text)
                for number, aspect in enumerate(self.aspects, start=1)
            ),
            optimal=len(optimal_cover([frozenset(aspect.sentences) for aspect in self.aspects])),
            results_optimal=len(optimal_cover(results)) if results else None,
        )

    def as_dict(self) -> dict[str, Any]:
        """The annotation as JSON has it, without who and on what; `from_dict` turns it back."""
        return {
            "n_sentences": self.n_sentences,
            "n_made": self.n_made,
            "aspects": [
                {"id": a.id, "text": a.text, "is_result": a.is_result, "sentence_indices": list(a.sentences)}
                for a in self.aspects
            ],
        }

    @classmethod
    def from_dict(cls, annotator: str, hypothesis: str, raw: Mapping[str, Any]) -> Annotation:
        """An annotation that `as_dict` wrote."""
        aspects = tuple(
            MarkedAspect(a["id"], a["text"], a["is_result"], tuple(a["sentence_indices"]))
            for a in raw["aspects"]
        )
        return cls(annotator, hypothesis, raw["n_sentences"], aspects, raw["n_made"])


def set_hypothesis(annotation: Annotation, hypothesis: str) -> Annotation:
    """With another hypothesis; white space around it goes."""
    return replace(annotation, hypothesis=hypothesis.strip())


def add_aspect(annotation: Annotation, text: str, is_result: bool = False) -> Annotation:
    """With one aspect more, at the end, covered by nothing yet.

    Raises
    ------
    PaperError
        For an aspect without words, or a very long one.
    """
    aspect = MarkedAspect(f"aspect_{annotation.n_made}", _words(text), is_result)
    return replace(annotation, aspects=(*annotation.aspects, aspect), n_made=annotation.n_made + 1)


def rename(annotation: Annotation, aspect_id: str, text: str) -> Annotation:
    """With an aspect that says something else."""
    words = _words(text)
    return _changed(annotation, aspect_id, lambda aspect: replace(aspect, text=words))


def set_result(annotation: Annotation, aspect_id: str, is_result: bool) -> Annotation:
    """With an aspect that is a result aspect, or no longer one."""
    return _changed(annotation, aspect_id, lambda aspect: replace(aspect, is_result=is_result))


def mark(annotation: Annotation, aspect_id: str, sentences: Iterable[int]) -> Annotation:
    """With sentences that cover an aspect, besides those that did.

    Raises
    ------
    PaperError
        If the paper has no such sentence, or the annotation no such aspect.
    """
    added = _indices(annotation, sentences)
    return _changed(
        annotation, aspect_id, lambda a: replace(a, sentences=tuple(sorted({*a.sentences, *added})))
    )


def unmark(annotation: Annotation, aspect_id: str, sentences: Iterable[int]) -> Annotation:
    """With sentences that no longer cover an aspect."""
    gone = _indices(annotation, sentences)
    return _changed(
        annotation, aspect_id, lambda a: replace(a, sentences=tuple(i for i in a.sentences if i not in gone))
    )


def remove_aspect(annotation: Annotation, aspect_id: str) -> Annotation:
    """Without an aspect."""
    gone = annotation.aspect(aspect_id)
    return replace(annotation, aspects=tuple(aspect for aspect in annotation.aspects if aspect != gone))


def move(annotation: Annotation, aspect_id: str, position: int) -> Annotation:
    """With an aspect at another place of the list, 0 for the first; beyond the ends is at the end."""
    moved = annotation.aspect(aspect_id)
    others = [aspect for aspect in annotation.aspects if aspect != moved]
    others.insert(max(0, position), moved)
    return replace(annotation, aspects=tuple(others))


def _changed(
    annotation: Annotation, aspect_id: str, change: Callable[[MarkedAspect], MarkedAspect]
) -> Annotation:
    old = annotation.aspect(aspect_id)
    new = change(old)
    return replace(
        annotation, aspects=tuple(new if aspect == old else aspect for aspect in annotation.aspects)
    )


def _indices(annotation: Annotation, sentences: Iterable[int]) -> frozenset[int]:
    wanted = frozenset(sentences)
    wrong = [i for i in wanted if type(i) is not int or not 0 <= i < annotation.n_sentences]
    if wrong:
        raise PaperError(
            "mark",
            f"names sentence {shown(wrong[0])}, and the paper has 0 to {annotation.n_sentences - 1}",
            "Mark sentences of the paper.",
        )
    return wanted


def _words(text: str) -> str:
    words = clean_text(text)
    if not words:
        raise PaperError("aspect", "is empty", "Say in a few words what a reader should learn.")
    if len(words) > _LONGEST:
        raise PaperError("aspect", f"has {len(words):,} characters", f"Keep it to {_LONGEST:,}.")
    return words
