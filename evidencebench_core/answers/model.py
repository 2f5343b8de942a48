"""Answers of systems to questions, with the documents that they cite and people's labels of both."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from evidencebench_core.answers.brackets import citations_in, cited_sentences, document_id, without_citations

Relevance = Literal["required", "borderline", "unnecessary", "inappropriate"]
Relation = Literal["supports", "contradicts", "neutral", "not relevant", "invalid citation"]
RELEVANCES: Final[tuple[Relevance, ...]] = get_args(Relevance)
SUPPORT: Final[Mapping[str, str]] = {
    "supports": "the source says what the claim says",
    "contradicts": "the source says the opposite of the claim",
    "neutral": "neither: the source says nothing on the claim, or too little",
}
"""The labels that a judge can give a citation, and their meanings."""
SETTINGS: Final = {"supported_required": "S+R", "required": "R", "required_and_borderline": "R+B"}
"""Which sentences were clustered, and the paper's name for it."""
_RELATIONS: Final = {
    "support": "supports", "contradict": "contradicts", "not": "not relevant", "irrelevant": "not relevant",
    "invalid": "invalid citation",
}  # fmt: skip


def has_words(text: str) -> bool:
    """Whether there is anything to judge in a text."""
    return any(map(str.isalnum, text))


def unit_id(*parts: str) -> str:
    """The id of a judge's label: question/system/sentence, and /document for a citation."""
    return "/".join(part.replace("%", "%25").replace("/", "%2F") for part in parts)


def _lower_case(value: object) -> object:
    return " ".join(value.lower().split()) if isinstance(value, str) else value


def _relation(value: object) -> object:
    """``supporting`` and ``Supported`` are ``supports``."""
    plain = str(_lower_case(value))
    return next((name for stem, name in _RELATIONS.items() if plain.startswith(stem)), plain)


Id = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
DocumentId = Annotated[Id, AfterValidator(document_id)]
Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", coerce_numbers_to_str=True)


class Assessment(_Row):
    """A person's label of one excerpt of a cited document; ``excerpt`` is empty where nothing was copied out."""

    document: DocumentId
    relation: Annotated[Relation, BeforeValidator(_relation)]
    excerpt: Text = ""


class AnswerSentence(_Row):
    """A sentence of an answer."""

    id: Id = ""  # unique in the answer; from "1" where the file has none
    text: str  # as in the file, its citations still in it; without them where the sentences were split here
    citations: tuple[DocumentId, ...] = ()  # each once; if the file has none, those in brackets or assessed
    relevance: Annotated[Relevance | None, BeforeValidator(_lower_case)] = None  # None: nobody judged it
    assessments: tuple[Assessment, ...] = ()  # any number for one citation, with different relations too

    @model_validator(mode="before")
    @classmethod
    def _with_citations(cls, raw: Any) -> Any:
        if not isinstance(raw, dict):
            return raw
        assessments = raw.get("assessments") or []
        citations = raw.get("citations")
        if citations is None and isinstance(raw.get("text"), str) and isinstance(assessments, list | tuple):
            assessed = [given.get("document") for given in assessments if isinstance(given, dict)]
            citations = [*citations_in(raw["text"]), *assessed]
        return {**raw, "assessments": assessments, "citations": citations}

    @model_validator(mode="after")
    def _assessed_are_cited(self) -> AnswerSentence:
        object.__setattr__(self, "citations", tuple(dict.fromkeys(self.citations)))
        for assessment in self.assessments:
            if assessment.document not in self.citations:
                raise ValueError(
                    f"an assessment is of {assessment.document!r}, which the sentence does not cite"
                )
        return self

    @property
    def claim(self) -> str:
        """The text that a judge reads: without its citations."""
        return without_citations(self.text)

    def relations(self, document: str) -> tuple[Relation, ...]:
        """People's labels of a citation, in the order of the file."""
        return tuple(given.relation for given in self.assessments if given.document == document)


class Answer(_Row):
    """One system's answer to one question, split into sentences where the file has none."""

    question_id: Id
    system: Id
    text: Text = Field("", alias="answer")
    sentences: tuple[AnswerSentence, ...] = ()
    accurate: bool | None = None

    @model_validator(mode="before")
    @classmethod
    def _split(cls, raw: Any) -> Any:
        if not isinstance(raw, dict):
            return raw
        sentences = raw.get("sentences")
        if sentences is None and isinstance(raw.get("answer"), str):
            split = cited_sentences(raw["answer"])
            sentences = [{"text": sentence.text, "citations": sentence.citations} for sentence in split]
        if isinstance(sentences, list | tuple):
            sentences = [
                {**given, "id": str(number)} if isinstance(given, dict) and given.get("id") is None else given
                for number, given in enumerate(sentences, start=1)
            ]
        return {**raw, "sentences": sentences}

    @model_validator(mode="after")
    def _ids_once(self) -> Answer:
        if len({sentence.id for sentence in self.sentences}) < len(self.sentences):
            raise ValueError("two sentences have one id")
        return self


class Question(_Row):
    """A question with the gold nuggets and the answer of an expert, where there are any."""

    question_id: Id
    question: Text = ""
    nuggets: tuple[str, ...] = ()
    reference: Text = ""


class Document(_Row):
    """A document that answers may cite."""

    document_id: DocumentId
    title: Text = ""
    text: Text = ""
    sentences: tuple[str, ...] = ()

    @property
    def whole(self) -> str:
        """Title and text, as shown to a judge."""
        return " ".join(filter(None, (self.title.strip(), self.text.strip() or " ".join(self.sentences))))


class Clusters(_Row):
    """The answer sentences of one question in clusters that say the same; ``"M1-2"``: system M1, sentence 2.

    ``name`` is that of the embedding: "ST", "SimCSE".
    """

    question_id: Id
    setting: Literal["supported_required", "required", "required_and_borderline"]
    name: str = "clusters"
    clusters: Mapping[str, tuple[str, ...]]

    @property
    def metric(self) -> str:
        """``recall R+B (ST)``."""
        return f"recall {SETTINGS[self.setting]} ({self.name})"


class AnswerSet(_Row):
    """A file of answers, or several read together."""

    questions: tuple[Question, ...] = ()
    answers: tuple[Answer, ...] = ()
    documents: tuple[Document, ...] = ()
    clusters: tuple[Clusters, ...] = ()

    @cached_property
    def question(self) -> Mapping[str, Question]:
        """By id, in the order of the file; a question that only answers refer to has no text."""
        return {question.question_id: question for question in self.questions}

    @cached_property
    def answer(self) -> Mapping[tuple[str, str], Answer]:
        """By question id and system."""
        return {(answer.question_id, answer.system): answer for answer in self.answers}

    @cached_property
    def document(self) -> Mapping[str, Document]:
        """By id; those with words."""
        return {document.document_id: document for document in self.documents if has_words(document.whole)}

    @property
    def systems(self) -> tuple[str, ...]:
        """In the order of the file."""
        return tuple(dict.fromkeys(answer.system for answer in self.answers))
