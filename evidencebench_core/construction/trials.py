"""Evidence Inference: doctors' prompts on trials and the text that they quoted, read from its folder (rules 106-108).

``annotations/`` of its repository holds ``prompts_merged.csv`` (or ``prompts.csv``), ``v2_annotations.csv`` and, where
the user has it, ``annotations_merged.csv``, and the articles as ``PMC<id>.nxml`` in ``xml_files`` (or ``xml``).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, TypeVar

from evidencebench_core.data.files import file_content
from evidencebench_core.errors import DataError, PaperError, shown
from evidencebench_core.papers.blocks import clean_text

Label = Literal["significantly increased", "significantly decreased", "no significant difference"]

_Row = TypeVar("_Row")

_PROMPTS: Final = ("prompts_merged.csv", "prompts.csv")
_ANSWERS: Final = ("v2_annotations.csv", "annotations_merged.csv")
_ARTICLES: Final = ("xml_files", "xml")
_LABELS: Final[Mapping[str, Label]] = {
    "significantly increased": "significantly increased",
    "significantly increase": "significantly increased",
    "significantly decreased": "significantly decreased",
    "significantly decrease": "significantly decreased",
    "no significant difference": "no significant difference",
}
_TRUE: Final = frozenset({"true", "1"})
_MOST_BYTES: Final = 256 << 20
_GIVE: Final = (
    "Give the folder `annotations` of github.com/jayded/evidence-inference, or one with the same files."
)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A question: what became of an outcome under one intervention, compared with another."""

    id: int
    article: int  # the number of its PMC id
    outcome: str
    intervention: str
    comparator: str


@dataclass(frozen=True, slots=True)
class TrialAnswer:
    """One doctor's answer to a prompt with one quote for it; verified by a third person in both."""

    prompt: int
    doctor: str
    label: Label
    quote: str


@dataclass(frozen=True, slots=True)
class Trials:
    """The prompts that have an answer, in order, and what was not read."""

    folder: Path
    prompts: Mapping[int, Prompt]
    answers: Mapping[int, tuple[TrialAnswer, ...]]  # by prompt; at least one
    n_rows: int  # of answers, those that were not verified too
    problems: tuple[str, ...]  # lines that could not be read, each with its place

    @property
    def articles(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(prompt.article for prompt in self.prompts.values()))

    def article_file(self, article: int) -> bytes:
        """The article's JATS; `PaperError` where the folder lacks it."""
        for name in _ARTICLES:
            path = self.folder / name / f"PMC{article}.nxml"
            if path.exists():
                return file_content(path, _MOST_BYTES, "Name a folder of articles.")
        raise PaperError(f"PMC{article}", f"is not in {self.folder}", "Fetch the article's file.")


def read_trials(folder: Path) -> Trials:
    """Read the prompts and the answers that a third person verified; lines that are wrong are named, the others go on.

    `DataError` where the folder lacks a file, or a file a column.
    """
    problems: list[str] = []
    prompts = {
        prompt.id: prompt
        for name in reversed(_present(folder, _PROMPTS))
        for prompt in _rows(folder / name, _prompt, problems)
    }
    answers: dict[int, list[TrialAnswer]] = {}
    n_rows = 0
    for name in _present(folder, _ANSWERS):
        before = {answer for of_prompt in answers.values() for answer in of_prompt}  # of the file before
        for answer in _rows(folder / name, _answer, problems):
            n_rows += 1
            if answer is None or answer in before:
                continue
            if answer.prompt not in prompts:
                problems.append(f"{name}: prompt {answer.prompt} is in no file of prompts; left out")
                continue
            answers.setdefault(answer.prompt, []).append(answer)
    if not answers:
        raise DataError(str(folder), "has no verified answer to a prompt", _GIVE)
    order = sorted(answers, key=lambda one: (prompts[one].article, one))
    return Trials(
        folder,
        MappingProxyType({one: prompts[one] for one in order}),
        MappingProxyType({one: tuple(answers[one]) for one in order}),
        n_rows,
        tuple(problems),
    )


def _present(folder: Path, names: tuple[str, ...]) -> list[str]:
    found = [name for name in names if (folder / name).is_file()]
    if not found:
        raise DataError(str(folder), f"has no {' or '.join(names)}", _GIVE)
    return found


def _rows(path: Path, read: Callable[[Mapping[str, str]], _Row], problems: list[str]) -> Iterator[_Row]:
    text = file_content(path, _MOST_BYTES, _GIVE).decode("utf-8-sig", errors="replace")
    lines = csv.DictReader(io.StringIO(text, newline=""))
    while True:
        try:
            row = next(lines, None)
            if row is None:
                return
            yield read(row)
        except KeyError as missing:
            raise DataError(str(path), f"has no column {shown(missing.args[0])}", _GIVE) from missing
        except (ValueError, csv.Error) as wrong:
            problems.append(f"{path.name}, line {lines.line_num}: {shown(str(wrong), 120)}; left out")


def _prompt(row: Mapping[str, str]) -> Prompt:
    texts = [_text(row, name) for name in ("Outcome", "Intervention", "Comparator")]
    return Prompt(_number(row, "PromptID"), _number(row, "PMCID"), *texts)


def _answer(row: Mapping[str, str]) -> TrialAnswer | None:
    """The answer of a row; ``None`` where it was not verified, or says that the prompt makes no sense."""
    valid = [str(row[name]).strip().casefold() in _TRUE for name in ("Valid Label", "Valid Reasoning")]
    said = str(row["Label"]).strip().casefold()
    prompt, quote, doctor = _number(row, "PromptID"), str(row["Annotations"] or ""), str(row["UserID"])
    if not all(valid) or said == "invalid prompt":
        return None
    if said not in _LABELS:
        raise ValueError(f"the label is {said!r}")
    return TrialAnswer(prompt, doctor, _LABELS[said], quote)


def _text(row: Mapping[str, str], name: str) -> str:
    text = clean_text(row[name] or "").strip(" .")
    if not text or len(text) > 2000:
        raise ValueError(f"{name} has {len(text)} characters")
    return text


def _number(row: Mapping[str, str], name: str) -> int:
    text = (row[name] or "").strip()
    if not (text.isascii() and text.isdigit() and len(text) < 12):
        raise ValueError(f"{name} is {text[:40]!r}")
    return int(text)
