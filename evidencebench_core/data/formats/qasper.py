"""QASPER: questions on papers, with the paragraphs that answer them (Dasigi et al. 2021).

A file is ``{paper id: QasperPaper}``. A question is an instance. An evidence paragraph, of any annotator, is an aspect
that its highlighted sentences cover, or all of its sentences where none is highlighted: the gold is sufficient.
"""

from collections.abc import Iterator, Mapping

from evidencebench_core.data.formats.base import Checked, Source, Text, checked
from evidencebench_core.data.formats.simple import simple_instance
from evidencebench_core.data.model import SUFFICIENT, Instance
from evidencebench_core.data.quotes import QuoteFinder, letters
from evidencebench_core.data.sentences import sentences_of

_Pool = list[tuple[str, str]]  # sentences with their types


class Answer(Checked):
    evidence: list[str]
    highlighted_evidence: list[str] | None = None


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


def instances(source: Source) -> Iterator[Instance]:
    """The questions that sentences answer; those that only a figure or a table does, or nothing, are left out."""
    for place, paper_id, value in source.file.records():
        paper = checked(QasperPaper, value, place)
        pool, paragraphs = _pool(paper)
        for question in paper.qas:
            evidence = _evidence(question, pool, paragraphs)
            if not evidence:
                source.left_out["questions without an answer in the text"] += 1
                continue
            record = {
                "hypothesis": question.question,
                "sentences": [sentence for sentence, _ in pool],
                "sentence_types": [kind for _, kind in pool],
                "evidence": evidence,
                "paper_id": paper_id,
                "construction": {"gold": SUFFICIENT},
            }
            yield simple_instance(record, f"{place}, question {question.question_id}", question.question_id)


def _pool(paper: QasperPaper) -> tuple[_Pool, dict[str, range]]:
    """The paper's sentences with their types, and where its paragraphs are among them, by their letters."""
    pool = [(paper.title, "section_name")]
    pool += [(sentence, "abstract") for sentence in sentences_of(paper.abstract)]
    paragraphs: dict[str, range] = {}
    for section in paper.full_text:
        pool.append((section.section_name or "", "section_name"))
        pool = [(text, kind) for text, kind in pool if text.strip()]
        for paragraph in section.paragraphs:
            start = len(pool)
            pool += [(sentence, "normal_paragraph") for sentence in sentences_of(paragraph)]
            paragraphs.setdefault(letters(paragraph), range(start, len(pool)))
    return pool, paragraphs


def _evidence(question: Question, pool: _Pool, paragraphs: Mapping[str, range]) -> list[list[int]]:
    answers = [annotated.answer for annotated in question.answers]
    keys = dict.fromkeys(letters(text) for answer in answers for text in answer.evidence)
    evidence = []
    for paragraph in filter(None, map(paragraphs.get, keys)):
        finder = QuoteFinder([pool[index][0] for index in paragraph])
        highlights = [text for answer in answers for text in answer.highlighted_evidence or ()]
        marked = {paragraph[index] for text in highlights for index in finder.find(text)}
        evidence.append(sorted(marked or paragraph))
    return evidence
