"""QASPER: questions on papers, with the paragraphs that answer them (Dasigi et al. 2021).

A file is ``{paper id: {"title", "abstract", "full_text": [{"section_name", "paragraphs"}], "qas": [{"question",
"question_id", "answers": [{"answer": {"evidence", "highlighted_evidence", "unanswerable"}}]}]}}``. A question is an
instance. An evidence paragraph, of any annotator, is an aspect that its highlighted sentences cover, or all of its
sentences where none is highlighted: the gold is sufficient, not complete.
"""

from __future__ import annotations

from collections.abc import Iterator

from evidencebench_core.data.formats.base import Checked, Source, Text, checked
from evidencebench_core.data.formats.simple import simple_instance
from evidencebench_core.data.model import SUFFICIENT, Instance, SentenceType
from evidencebench_core.data.quotes import QuoteFinder, letters
from evidencebench_core.data.sentences import sentences_of


class Answer(Checked):
    evidence: list[str]
    highlighted_evidence: list[str] | None = None
    unanswerable: bool = False


class AnnotatedAnswer(Checked):
    answer: Answer


class Question(Checked):
    question: Text
    question_id: Text
    answers: list[AnnotatedAnswer]


class Section(Checked):
    section_name: str | None
    paragraphs: list[str]


class QasperPaper(Checked):
    title: str
    abstract: str
    full_text: list[Section]
    qas: list[Question]


class _Pool:
    """A paper's sentences, and where its paragraphs are among them."""

    def __init__(self, paper: QasperPaper) -> None:
        self.sentences: list[str] = []
        self.types: list[SentenceType] = []
        self.paragraphs: dict[str, range] = {}  # by their letters
        self._add([paper.title], "section_name")
        self._add(sentences_of(paper.abstract), "abstract")
        for section in paper.full_text:
            self._add([section.section_name or ""], "section_name")
            for paragraph in section.paragraphs:
                start = len(self.sentences)
                self._add(sentences_of(paragraph), "normal_paragraph")
                self.paragraphs.setdefault(letters(paragraph), range(start, len(self.sentences)))

    def _add(self, sentences: list[str], kind: SentenceType) -> None:
        written = [sentence for sentence in sentences if sentence.strip()]
        self.sentences += written
        self.types += [kind] * len(written)


def instances(source: Source) -> Iterator[Instance]:
    """The questions that sentences answer; those that only a figure or a table does, or nothing, are left out."""
    for place, paper_id, value in source.file.records():
        paper = checked(QasperPaper, value, place)
        pool = _Pool(paper)
        for question in paper.qas:
            evidence = _evidence(question, pool, source)
            if evidence:
                record = {
                    "hypothesis": question.question,
                    "sentences": pool.sentences,
                    "sentence_types": pool.types,
                    "evidence": evidence,
                    "paper_id": paper_id,
                    "construction": {"gold": SUFFICIENT},
                }
                yield simple_instance(
                    record, f"{place}, question {question.question_id}", question.question_id
                )


def _evidence(question: Question, pool: _Pool, source: Source) -> list[list[int]]:
    """The sentences of each evidence paragraph; none is counted by its reason."""
    answers = [annotated.answer for annotated in question.answers]
    texts = list(dict.fromkeys(text for answer in answers for text in answer.evidence))
    highlights = [text for answer in answers for text in answer.highlighted_evidence or ()]
    evidence = []
    for key in dict.fromkeys(map(letters, texts)):
        paragraph = pool.paragraphs.get(key, range(0))
        finder = QuoteFinder([pool.sentences[index] for index in paragraph])
        marked = {paragraph[index] for text in highlights for index in finder.find(text)}
        if paragraph:
            evidence.append(sorted(marked or paragraph))
    if not evidence:
        reason = "questions answered by no paragraph of the paper"
        if all(answer.unanswerable for answer in answers):
            reason = "questions without an answer"
        elif any(text.startswith("FLOAT SELECTED") for text in texts):
            reason = "questions answered by figures or tables alone"
        source.left_out[reason] += 1
    return evidence
