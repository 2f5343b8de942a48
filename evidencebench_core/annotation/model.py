"""An annotation: who marked what in a paper. A value; every edit gives a new one, and a complete one is an instance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from pydantic import TypeAdapter

from evidencebench_core.data.model import Aspect, EvidenceSet, Instance, evidence_set
from evidencebench_core.errors import PaperError, shown
from evidencebench_core.papers.blocks import clean_text
from evidencebench_core.papers.paper import Paper

GOLD: Final = "gold"
"""The annotator who marked what a dataset has as gold."""
CONSENSUS: Final = "consensus"
"""The annotator whose annotation two others agreed on."""
MODEL: Final = "model:"
"""How the name of a model as an annotator begins; its annotation is a proposal."""

MAX_ASPECT: Final = 2000  # characters
_MAX_NAME: Final = 200


def check_person(name: str) -> str:
    """The name of a person who may mark, cleaned; `PaperError` for none, or one that is reserved."""
    clean = clean_text(name)
    if not clean:
        raise PaperError("annotator", "has no name", "Say who marks: initials will do.")
    if len(clean) > _MAX_NAME:
        raise PaperError("annotator", f"has a name of {len(clean):,} characters", f"Keep it to {_MAX_NAME}.")
    if clean == GOLD or clean.startswith(MODEL):
        raise PaperError(f"annotator {shown(clean)}", "is no person's name", "Say another name.")
    return clean


@dataclass(frozen=True, slots=True)
class MarkedAspect:
    """A study aspect as an annotator wrote it, and the sentences that cover it."""

    id: str  # "aspect_0" and on; never used again within an annotation
    text: str
    is_result: bool = False
    sentences: tuple[int, ...] = ()  # 0-based, ascending
    source: str = ""  # what it said in the annotation that it was taken from
    note: str = ""  # to the other annotators


@dataclass(frozen=True, slots=True)
class Annotation:
    """One annotator's marks in one paper.

    ``decisions`` are the keys of what others had and this annotator has decided on (`Difference.key`); ``origin``
    says how a proposal was made.
    """

    annotator: str
    hypothesis: str
    n_sentences: int  # of the paper: no mark can lie beyond it
    aspects: tuple[MarkedAspect, ...] = ()  # in the annotator's order
    n_made: int = 0  # how many aspects there ever were: the number of the next
    decisions: frozenset[str] = frozenset()
    origin: Mapping[str, Any] = field(default_factory=dict)

    def aspect(self, aspect_id: str) -> MarkedAspect:
        """The aspect of this id; `PaperError` if there is none."""
        for aspect in self.aspects:
            if aspect.id == aspect_id:
                return aspect
        known = ", ".join(aspect.id for aspect in self.aspects) or "none yet"
        raise PaperError(f"aspect {shown(aspect_id)}", "is not in the annotation", f"There are: {known}.")

    @property
    def uncovered(self) -> tuple[MarkedAspect, ...]:
        """The aspects that no sentence covers yet."""
        return tuple(aspect for aspect in self.aspects if not aspect.sentences)

    @property
    def evidence_sentences(self) -> frozenset[int]:
        """The sentences that cover any aspect."""
        return frozenset(index for aspect in self.aspects for index in aspect.sentences)

    def evidence(self, prefix: str = "") -> EvidenceSet:
        """The marks as gold, for the reader, scores and agreement. Optimal K counts the covered aspects."""
        aspects = [
            Aspect(f"{prefix}{aspect.id}", aspect.sentences, aspect.is_result, f"A{number}", aspect.text)
            for number, aspect in enumerate(self.aspects, start=1)
        ]
        return evidence_set(self.n_sentences, aspects)

    # -- edits, each gives a new annotation ---------------------------------------------------------

    def set_hypothesis(self, hypothesis: str) -> Annotation:
        return replace(self, hypothesis=clean_text(hypothesis))

    def add_aspect(
        self, text: str, is_result: bool = False, sentences: Iterable[int] = (), source: str = ""
    ) -> Annotation:
        """One aspect more, at the end."""
        marks = tuple(sorted(self._indices(sentences)))
        aspect = MarkedAspect(f"aspect_{self.n_made}", _aspect_text(text), is_result, marks, source)
        return replace(self, aspects=(*self.aspects, aspect), n_made=self.n_made + 1)

    def rename_aspect(self, aspect_id: str, text: str) -> Annotation:
        return self._with(replace(self.aspect(aspect_id), text=_aspect_text(text)))

    def set_note(self, aspect_id: str, note: str) -> Annotation:
        return self._with(replace(self.aspect(aspect_id), note=clean_text(note)[:MAX_ASPECT]))

    def set_result(self, aspect_id: str, is_result: bool) -> Annotation:
        return self._with(replace(self.aspect(aspect_id), is_result=is_result))

    def mark(self, aspect_id: str, sentences: Iterable[int]) -> Annotation:
        """Sentences that cover an aspect, besides those that did."""
        aspect = self.aspect(aspect_id)
        marks = self._indices(sentences).union(aspect.sentences)
        return self._with(replace(aspect, sentences=tuple(sorted(marks))))

    def unmark(self, aspect_id: str, sentences: Iterable[int]) -> Annotation:
        """Sentences that no longer cover an aspect."""
        aspect = self.aspect(aspect_id)
        marks = frozenset(aspect.sentences) - self._indices(sentences)
        return self._with(replace(aspect, sentences=tuple(sorted(marks))))

    def remove_aspect(self, aspect_id: str) -> Annotation:
        gone = self.aspect(aspect_id)
        return replace(self, aspects=tuple(aspect for aspect in self.aspects if aspect != gone))

    def decide(self, keys: Iterable[str]) -> Annotation:
        """With more differences that its annotator has decided on."""
        return replace(self, decisions=self.decisions.union(keys))

    def without_marks(self, annotator: str) -> Annotation:
        """The same aspects for another annotator to begin with, covered by nothing."""
        aspects = tuple(replace(aspect, sentences=(), note="") for aspect in self.aspects)
        return Annotation(annotator, self.hypothesis, self.n_sentences, aspects, self.n_made)

    def _with(self, new: MarkedAspect) -> Annotation:
        return replace(self, aspects=tuple(new if old.id == new.id else old for old in self.aspects))

    def _indices(self, sentences: Iterable[int]) -> frozenset[int]:
        indices = frozenset(sentences)
        for index in indices:
            if type(index) is not int or not 0 <= index < self.n_sentences:
                problem = f"names sentence {shown(index)}, and the paper has 0 to {self.n_sentences - 1}"
                raise PaperError("mark", problem, "Mark sentences of the paper.")
        return indices

    # -- JSON ---------------------------------------------------------------------------------------

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it; `from_dict` turns it back."""
        raw: dict[str, Any] = _JSON.dump_python(self, mode="json")
        return raw

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> Annotation:
        return _JSON.validate_python(raw)


_JSON: Final = TypeAdapter(Annotation)


def gold_annotation(instance: Instance) -> Annotation:
    """The gold of an instance as an annotation; an aspect without a text is called by its label ("A1")."""
    aspects = tuple(
        MarkedAspect(
            f"aspect_{number}", aspect.text or aspect.label, aspect.is_result, aspect.sentence_indices
        )
        for number, aspect in enumerate(instance.evidence.aspects)
    )
    return Annotation(GOLD, instance.hypothesis, len(instance.sentences), aspects, len(aspects))


def annotated_instance(
    paper: Paper | Instance,
    annotation: Annotation,
    instance_id: str,
    construction: Mapping[str, Any] | None = None,
) -> Instance:
    """The instance that an annotation makes of its paper; `PaperError` where it is not complete.

    Aspects keep their numbers, gaps included.
    """
    _check_complete(paper, annotation)
    return Instance(
        id=instance_id,
        hypothesis=annotation.hypothesis,
        paper_id=paper.paper_id,
        sentences=paper.sentences,
        sentence_types=paper.sentence_types,
        sections=paper.sections,
        evidence=annotation.evidence(f"{instance_id}_"),
        synthetic=isinstance(paper, Instance) and paper.synthetic,  # whoever marks it
        construction=dict(construction or {}),
    )


def _check_complete(paper: Paper | Instance, annotation: Annotation) -> None:
    place = f"annotation of {annotation.annotator or 'nobody'}"
    if annotation.n_sentences != len(paper.sentences):
        lengths = f"a paper of {annotation.n_sentences} sentences, and this one has {len(paper.sentences)}"
        raise PaperError(place, f"was made on {lengths}", "Open the paper it was made on.")
    if not annotation.hypothesis.strip():
        raise PaperError(place, "has no hypothesis", "Write the hypothesis that the aspects are about.")
    if not annotation.aspects:
        raise PaperError(place, "has no aspects", "Write at least one, and mark the sentences that cover it.")
    if annotation.uncovered:
        texts = ", ".join(shown(aspect.text, 40) for aspect in annotation.uncovered)
        problem = f"has aspects that no sentence covers: {texts}"
        raise PaperError(place, problem, "Mark a sentence for each, or remove them.")


def _aspect_text(text: str) -> str:
    clean = clean_text(text)
    if not clean:
        raise PaperError("aspect", "is empty", "Say in a few words what a reader should learn.")
    if len(clean) > MAX_ASPECT:
        raise PaperError("aspect", f"has {len(clean):,} characters", f"Keep it to {MAX_ASPECT:,}.")
    return clean
