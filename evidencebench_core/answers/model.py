"""Answers of systems to questions, with the documents they cite and what people said of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from evidencebench_core.answers.brackets import without_citations

Relevance = Literal["required", "borderline", "unnecessary", "inappropriate"]
Relation = Literal["supporting", "contradicting", "neutral", "not relevant", "invalid citation"]
Precedence = Literal["support-first", "contradict-first"]
Setting = Literal["supported_required", "required", "required_and_borderline"]

RELEVANCES: Final[tuple[Relevance, ...]] = ("required", "borderline", "unnecessary", "inappropriate")
RELATIONS: Final[tuple[Relation, ...]] = (
    "supporting", "contradicting", "neutral", "not relevant", "invalid citation",
)  # fmt: skip
SETTINGS: Final[Mapping[Setting, str]] = {
    "supported_required": "S+R", "required": "R", "required_and_borderline": "R+B",
}  # fmt: skip
"""Which sentences were clustered, and what the paper calls that."""


def has_words(text: str) -> bool:
    """Whether there is anything to judge in a text."""
    return any(map(str.isalnum, text))


def unit_id(*parts: str) -> str:
    """The id of a judge's label: question/system/sentence, and /document for a citation."""
    return "/".join(part.replace("%", "%25").replace("/", "%2F") for part in parts)


def unit_parts(unit: str) -> tuple[str, ...]:
    """The parts of a `unit_id`."""
    return tuple(part.replace("%2F", "/").replace("%25", "%") for part in unit.split("/"))


@dataclass(frozen=True, slots=True)
class Assessment:
    """A person's label of one excerpt of a cited document; ``excerpt`` is empty where nothing was copied out."""

    document: str
    relation: Relation
    excerpt: str = ""


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence of an answer.

    Attributes
    ----------
    id : str
        Unique in the answer; from "1" where the file has none.
    text : str
        As in the file, its citations still in it; without them where the sentences were split here.
    citations : tuple of str
        Normal document ids, each once.
    relevance : str or None
        ``None`` where nobody judged it.
    assessments : tuple of Assessment
        Any number for one citation, with different relations too.
    """

    id: str
    text: str
    citations: tuple[str, ...] = ()
    relevance: Relevance | None = None
    assessments: tuple[Assessment, ...] = ()

    @property
    def claim(self) -> str:
        """The text that a judge reads: without its citations; a sentence without words is not."""
        return without_citations(self.text)

    def relations(self, document: str) -> tuple[Relation, ...]:
        """People's labels of a citation, in the order of the file."""
        return tuple(one.relation for one in self.assessments if one.document == document)


@dataclass(frozen=True, slots=True)
class Answer:
    """One system's answer to one question; ``nuggets`` is ``None`` where none were made, empty where it has none."""

    question_id: str
    system: str
    text: str
    sentences: tuple[AnswerSentence, ...] = ()
    accurate: bool | None = None
    nuggets: tuple[str, ...] | None = None

    @property
    def id(self) -> str:
        """Unique in its set: the keys of runs over answers begin with it."""
        return unit_id(self.question_id, self.system)


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the gold nuggets and the answer of an expert; ``nuggets`` is ``None`` where none were made."""

    id: str
    text: str = ""
    nuggets: tuple[str, ...] | None = None
    reference: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A document that answers may cite; ``sentences`` are empty where the file has its text unsplit."""

    id: str
    title: str = ""
    text: str = ""
    sentences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Clusters:
    """The answer sentences of one question in clusters that say the same; ``"M1-2"``: system M1, sentence 2."""

    question_id: str
    setting: Setting
    name: str  # of the embedding: "ST", "SimCSE"
    clusters: tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True)
class AnswerSet:
    """A file of answers, or several read together.

    Attributes
    ----------
    questions, documents : mapping from id
        Questions in the order of the file; one that only answers name has no text.
    answers : mapping from (question id, system)
    clusters : tuple of Clusters
    """

    questions: Mapping[str, Question]
    answers: Mapping[tuple[str, str], Answer]
    documents: Mapping[str, Document] = field(default_factory=dict)
    clusters: tuple[Clusters, ...] = ()

    @property
    def systems(self) -> tuple[str, ...]:
        """In the order of the file."""
        return tuple(dict.fromkeys(system for _, system in self.answers))

    def has_text(self, document: str) -> bool:
        """Whether there is anything to read of a document; else a citation of it is not checked by a judge."""
        found = self.documents.get(document)
        return found is not None and any(map(has_words, (found.title, found.text, *found.sentences)))
