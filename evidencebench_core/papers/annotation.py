"""Gold marked by hand: an annotation is a value, and every edit gives a new one; complete it is an instance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final

from evidencebench_core.data import check_instance, inverse_of
from evidencebench_core.data.model import Aspect, EvidenceSet, Instance
from evidencebench_core.errors import PaperError, shown
from evidencebench_core.metrics import best_cover, optimal_cover
from evidencebench_core.papers.blocks import clean_text
from evidencebench_core.papers.paper import Paper

_LONGEST: Final = 2000  # characters of an aspect


@dataclass(frozen=True, slots=True)
class MarkedAspect:
    """A study aspect that an annotator wrote, and the sentences that cover it."""

    id: str  # "aspect_0" and on, as in the benchmark; never used again within an annotation
    text: str
    is_result: bool = False
    sentences: tuple[int, ...] = ()  # 0-based, ascending


@dataclass(frozen=True, slots=True)
class Annotation:
    """One annotator's marks in one paper."""

    annotator: str
    hypothesis: str
    n_sentences: int  # of the paper: no mark can lie beyond it
    aspects: tuple[MarkedAspect, ...] = ()  # in the annotator's order
    n_made: int = 0  # how many there ever were; the next one's id

    def aspect(self, aspect_id: str) -> MarkedAspect:
        """The aspect of this id; `PaperError` if there is none."""
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
    """With one aspect more, at the end, covered by nothing yet."""
    aspect = MarkedAspect(f"aspect_{annotation.n_made}", _words(text), is_result)
    return replace(annotation, aspects=(*annotation.aspects, aspect), n_made=annotation.n_made + 1)


def rename(annotation: Annotation, aspect_id: str, text: str) -> Annotation:
    """With an aspect that says something else."""
    words = _words(text)
    return _with_aspect(annotation, aspect_id, lambda aspect: replace(aspect, text=words))


def set_result(annotation: Annotation, aspect_id: str, is_result: bool) -> Annotation:
    """With an aspect that is a result aspect, or no longer one."""
    return _with_aspect(annotation, aspect_id, lambda aspect: replace(aspect, is_result=is_result))


def mark(annotation: Annotation, aspect_id: str, sentences: Iterable[int]) -> Annotation:
    """With sentences that cover an aspect, besides those that did."""
    added = _indices(annotation, sentences)
    return _with_aspect(
        annotation, aspect_id, lambda a: replace(a, sentences=_in_order({*a.sentences, *added}))
    )


def unmark(annotation: Annotation, aspect_id: str, sentences: Iterable[int]) -> Annotation:
    """With sentences that no longer cover an aspect."""
    gone = _indices(annotation, sentences)
    return _with_aspect(
        annotation, aspect_id, lambda a: replace(a, sentences=_in_order({*a.sentences} - gone))
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


def changed_parts(before: Annotation, after: Annotation) -> frozenset[tuple[str, str | int]]:
    """The differences, each as its kind and which one: the hypothesis, aspects, sentences, the aspects' order."""
    old, new = ({aspect.id: aspect for aspect in one.aspects} for one in (before, after))
    parts: set[tuple[str, str | int]] = set()
    if before.hypothesis != after.hypothesis:
        parts.add(("hypothesis", ""))
    for aspect_id in old.keys() | new.keys():
        a, b = old.get(aspect_id), new.get(aspect_id)
        if a is None or b is None or (a.text, a.is_result) != (b.text, b.is_result):
            parts.add(("aspect", aspect_id))
        marks = (frozenset(one.sentences if one else ()) for one in (a, b))
        parts |= {("sentence", index) for index in frozenset.symmetric_difference(*marks)}
    if [one for one in old if one in new] != [one for one in new if one in old]:
        parts.add(("order of the aspects", ""))
    return frozenset(parts)


def annotated_instance(
    paper: Paper | Instance,
    annotation: Annotation,
    instance_id: str,
    *,
    construction: Mapping[str, Any] | None = None,
    keep_uncovered: bool = False,
    pad: bool = False,
) -> dict[str, Any]:
    """The raw instance, as it would stand in a file of the benchmark.

    Its twelve keys come in the order of the released files, then ``aspect_texts``. Aspect ids are
    ``<instance_id>_aspect_0`` and on, in the annotator's order. The selections are computed: a smallest
    cover for the tasks at Optimal, a largest coverage with 10 and 5 sentences for the others.

    With ``construction``, which is written behind them, aspects keep the numbers that they were made with, gaps
    included (construction rule 28). ``keep_uncovered`` writes aspects that no sentence covers (rule 17), and
    ``pad`` fills the selections of 10 and 5 with the lowest unused sentences, as the release does (rule 30).
    """
    _check_complete(paper, annotation, instance_id, keep_uncovered)
    numbers = [
        aspect.id.removeprefix("aspect_") if construction is not None else number
        for number, aspect in enumerate(annotation.aspects)
    ]
    ids = {
        aspect.id: f"{instance_id}_aspect_{number}"
        for number, aspect in zip(numbers, annotation.aspects, strict=True)
    }
    n_pool = len(paper.sentences) if pad else 0
    results = [aspect for aspect in annotation.aspects if aspect.is_result]
    covering = {ids[aspect.id]: list(aspect.sentences) for aspect in annotation.aspects}
    raw: dict[str, Any] = {
        "hypothesis": annotation.hypothesis,
        "paper_as_candidate_pool": list(paper.sentences),
        "aspect_list_ids": list(ids.values()),
        "results_aspect_list_ids": [ids[aspect.id] for aspect in results] or None,
        "aspect2sentence_indices": covering,
        "sentence_index2aspects": inverse_of(covering, len(paper.sentences)),
        "evidence_retrieval_at_optimal_evaluation": _evaluation(annotation.aspects, ids, None),
        "evidence_retrieval_at_10_evaluation": _evaluation(annotation.aspects, ids, 10, n_pool),
        "results_evidence_retrieval_at_optimal_evaluation": _evaluation(results, ids, None),
        "results_evidence_retrieval_at_5_evaluation": _evaluation(results, ids, 5, n_pool),
        "sentence_types_in_candidate_pool": list(paper.sentence_types),
        "paper_id": paper.paper_id,
        "aspect_texts": {ids[aspect.id]: aspect.text for aspect in annotation.aspects},
    }
    if construction is not None:
        raw["construction"] = dict(construction)
    check_instance(instance_id, raw)
    return raw


def _with_aspect(
    annotation: Annotation, aspect_id: str, change: Callable[[MarkedAspect], MarkedAspect]
) -> Annotation:
    old = annotation.aspect(aspect_id)
    new = change(old)
    return replace(annotation, aspects=tuple(new if a == old else a for a in annotation.aspects))


def _in_order(indices: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(indices))


def _indices(annotation: Annotation, sentences: Iterable[int]) -> frozenset[int]:
    wanted = frozenset(sentences)
    wrong = [i for i in wanted if type(i) is not int or not 0 <= i < annotation.n_sentences]
    if wrong:
        problem = f"names sentence {shown(wrong[0])}, and the paper has 0 to {annotation.n_sentences - 1}"
        raise PaperError("mark", problem, "Mark sentences of the paper.")
    return wanted


def _words(text: str) -> str:
    words = clean_text(text)
    if not words:
        raise PaperError("aspect", "is empty", "Say in a few words what a reader should learn.")
    if len(words) > _LONGEST:
        raise PaperError("aspect", f"has {len(words):,} characters", f"Keep it to {_LONGEST:,}.")
    return words


def _check_complete(
    paper: Paper | Instance, annotation: Annotation, instance_id: str, keep_uncovered: bool
) -> None:
    place = f"annotation of {annotation.annotator or 'nobody'}"
    if not instance_id.strip():
        raise PaperError("instance id", "is empty", "Give the instance a name of its own.")
    if annotation.n_sentences != len(paper.sentences):
        made_on, own = annotation.n_sentences, len(paper.sentences)
        problem = f"was made on a paper of {made_on} sentences, and this one has {own}"
        raise PaperError(place, problem, "Open the paper it was made on.")
    if not annotation.hypothesis.strip():
        raise PaperError(place, "has no hypothesis", "Write the hypothesis that the aspects are about.")
    if not annotation.aspects:
        raise PaperError(place, "has no aspects", "Write at least one, and mark the sentences that cover it.")
    if annotation.uncovered and not (keep_uncovered and any(a.sentences for a in annotation.aspects)):
        texts = ", ".join(shown(aspect.text, 40) for aspect in annotation.uncovered)
        problem = f"has aspects that no sentence covers: {texts}"
        raise PaperError(place, problem, "Mark a sentence for each, or remove them.")


def _evaluation(
    aspects: Sequence[MarkedAspect], ids: dict[str, str], budget: int | None, n_pool: int = 0
) -> dict[str, Any] | None:
    if not aspects:  # there are no result aspects
        return None
    covers = [frozenset(aspect.sentences) for aspect in aspects]
    picks = optimal_cover(covers) if budget is None else best_cover(covers, budget)
    if budget is not None:
        unused = (index for index in range(n_pool) if index not in picks)
        picks = _in_order((*picks, *islice(unused, budget - len(picks))))
    evaluation: dict[str, Any] = {
        "one_selection_of_sentences": list(picks),
        "covered_aspects": [
            ids[a.id] for a, cover in zip(aspects, covers, strict=True) if not cover.isdisjoint(picks)
        ],
    }
    return evaluation if budget else {"optimal": len(picks), **evaluation}
