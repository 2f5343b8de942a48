"""Evidence Inference 2.0 as instances of the benchmark, without a model.

Doctors were asked of trials what became of an outcome under one intervention compared with another, and quoted the
text that says so (DeYoung et al. 2020). ``annotations/`` of its repository holds ``prompts_merged.csv`` (or
``prompts.csv``), ``v2_annotations.csv``, perhaps ``annotations_merged.csv``, and the articles as ``PMC<id>.nxml`` in
``xml_files`` (or ``xml``). The gold is sufficient, not complete: nobody quoted all that would do.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Final, TypeVar

from evidencebench_core.annotation.model import Annotation, MarkedAspect, annotated_instance
from evidencebench_core.data.files import file_content
from evidencebench_core.data.model import SUFFICIENT, Instance
from evidencebench_core.data.quotes import QuoteFinder, letters
from evidencebench_core.errors import DataError, EvidenceBenchError, PaperError, shown
from evidencebench_core.papers import Paper
from evidencebench_core.papers.blocks import clean_text, paper_of_blocks
from evidencebench_core.papers.jats import read_jats

MIN_ASPECTS: Final = 2
"""Outcomes of a comparison that a sentence covers; with fewer it is no instance."""

_Row = TypeVar("_Row")
_PROMPTS: Final = ("prompts_merged.csv", "prompts.csv")
_ANSWERS: Final = ("v2_annotations.csv", "annotations_merged.csv")
_ARTICLES: Final = ("xml_files", "xml")
_VERBS: Final = {  # by how a label begins, what an aspect says
    "significantly increase": "significantly increased",
    "significantly decrease": "significantly decreased",
    "no significant difference": "made no significant difference to",
}
_CLAIMS: Final = {  # by verb, what a hypothesis claims
    "significantly increased": "increases",
    "significantly decreased": "reduces",
    "made no significant difference to": "does not change",
}
_MOST_CLAIMS: Final = 3  # of one comparison, in other words
_TAG: Final = re.compile(r"<[^>]+>")
_MAX_BYTES: Final = 256 << 20
_REMEDY: Final = (
    "Give the folder `annotations` of github.com/jayded/evidence-inference, or one with the same files."
)
_LABEL: Final = re.compile(  # of a figure or table, at the end or the beginning of a quote
    r"(?<=[.)\]])\s*(?:Figs?\.?|Figures?|Tables?)\s*[\w ,&-]{0,20}\.?$|^(?:Fig\.?|Figure|Table)\s*\w{1,4}[.:]?\s*"
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
class DoctorAnswer:
    """One doctor's answer to a prompt with one quote for it; verified by a third person in both."""

    prompt: int
    doctor: str
    verb: str  # of `_VERBS`
    quote: str


@dataclass(frozen=True, slots=True)
class Trials:
    """The prompts that have an answer, by article, and lines that could not be read."""

    folder: Path
    prompts: Mapping[int, tuple[Prompt, ...]]  # by article
    answers: Mapping[int, tuple[DoctorAnswer, ...]]  # by prompt; at least one
    problems: tuple[str, ...]

    def article_file(self, article: int) -> bytes:
        """The article's JATS; `PaperError` where the folder lacks it."""
        for name in _ARTICLES:
            path = self.folder / name / f"PMC{article}.nxml"
            if path.exists():
                return file_content(path, _MAX_BYTES, "Name a folder of articles.")
        raise PaperError(f"PMC{article}", f"is not in {self.folder}", "Fetch the article's file.")


@dataclass(slots=True)
class TrialCounts:
    """What `trial_instances` met; whole once the last instance has been taken."""

    n_kept: int = 0
    n_prompts: int = 0
    n_quotes: int = 0
    n_quotes_found: int = 0
    n_other_answer: int = 0  # quotes for an answer that another doctor's outvotes: no gold
    quotes_elsewhere: Counter[str] = field(
        default_factory=Counter
    )  # not found in the text, by where they stand
    left_out: Counter[str] = field(default_factory=Counter)  # comparisons, by reason
    licences: Counter[str] = field(default_factory=Counter)  # of papers
    unread: list[str] = field(default_factory=list)  # papers, and why


def read_trials(folder: Path) -> Trials:
    """Read prompts and verified answers; lines that are wrong are named and left out, the others go on.

    `DataError` where the folder lacks a file, or a file a column.
    """
    problems: list[str] = []
    prompts = {
        prompt.id: prompt
        for name in reversed(_present(folder, _PROMPTS))
        for prompt in _rows(folder / name, _prompt, problems)
    }
    answers: dict[int, list[DoctorAnswer]] = {}
    for name in _present(folder, _ANSWERS):
        earlier = {answer for of_prompt in answers.values() for answer in of_prompt}  # of the file before
        for answer in _rows(folder / name, _answer, problems):
            if answer is None or answer in earlier:
                continue
            if answer.prompt not in prompts:
                problems.append(f"{name}: prompt {answer.prompt} is in no file of prompts; left out")
            else:
                answers.setdefault(answer.prompt, []).append(answer)
    if not answers:
        raise DataError(str(folder), "has no verified answer to a prompt", _REMEDY)
    by_article: dict[int, list[Prompt]] = {}
    for number in sorted(answers, key=lambda number: (prompts[number].article, number)):
        by_article.setdefault(prompts[number].article, []).append(prompts[number])
    return Trials(
        folder,
        {article: tuple(of_article) for article, of_article in by_article.items()},
        {number: tuple(of_prompt) for number, of_prompt in answers.items()},
        tuple(problems),
    )


def trial_instances(
    trials: Trials,
    name: str,
    counts: TrialCounts,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> Iterator[Instance]:
    """Instances, whose ids begin with ``name``: one a comparison with two covered outcomes or more.

    Every outcome is a result aspect, covered by the sentences that were quoted for the more frequent answer. The
    hypothesis stands in ``construction`` in other words, too: a ranker learns from all of them. Papers
    without an open licence are left out. ``report`` is called with papers done and papers in all.
    """
    for done, (article, prompts) in enumerate(trials.prompts.items()):
        report(done, len(trials.prompts))
        groups: dict[tuple[str, str], list[Prompt]] = {}
        for prompt in prompts:
            key = prompt.intervention.casefold(), prompt.comparator.casefold()
            groups.setdefault(key, []).append(prompt)
        counts.n_prompts += len(prompts)
        try:
            content = trials.article_file(article)
            paper = paper_of_blocks(read_jats(content, f"PMC{article}.nxml"), "jats")  # the user's own folder
        except EvidenceBenchError as error:
            counts.unread.append(str(error))
            counts.left_out["no full text"] += len(groups)
            continue
        counts.licences[paper.licence or "none"] += 1
        if not paper.licence:
            counts.left_out["no open licence"] += len(groups)
            continue
        finder = QuoteFinder(paper.sentences)
        quotes = [answer.quote for prompt in prompts for answer in trials.answers[prompt.id]]
        lost = [quote for quote in quotes if not sentences_of_quote(finder, quote)]
        counts.n_quotes += len(quotes)
        counts.n_quotes_found += len(quotes) - len(lost)
        counts.quotes_elsewhere.update(quote_places(lost, content))
        for number, group in enumerate(groups.values()):
            instance = _instance(paper, group, trials, finder, counts, f"{name}_{paper.paper_id}_{number}")
            if instance is None:
                counts.left_out[f"fewer than {MIN_ASPECTS} outcomes covered"] += 1
            else:
                counts.n_kept += 1
                yield instance
    report(len(trials.prompts), len(trials.prompts))


def _instance(
    paper: Paper,
    group: Sequence[Prompt],
    trials: Trials,
    finder: QuoteFinder,
    counts: TrialCounts,
    instance_id: str,
) -> Instance | None:
    """The raw instance of a comparison; ``None`` where too few of its outcomes are covered."""
    texts: dict[str, str] = {}  # an outcome that stands twice is one aspect
    claims: dict[str, str] = {}
    marks: dict[str, set[int]] = {}
    for prompt in group:
        answers = trials.answers[prompt.id]
        verb = Counter(answer.verb for answer in answers).most_common(1)[0][0]
        outcome = prompt.outcome.casefold()
        text = f"Compared with {prompt.comparator}, {prompt.intervention} {verb} {prompt.outcome}"
        texts.setdefault(outcome, text)
        claims.setdefault(outcome, f"{prompt.intervention} {_CLAIMS[verb]} {prompt.outcome}.")
        for answer in answers:
            sentences = sentences_of_quote(finder, answer.quote)
            if answer.verb == verb:
                marks.setdefault(outcome, set()).update(sentences)
            else:
                counts.n_other_answer += 1
    aspects = tuple(
        MarkedAspect(f"aspect_{number}", text, True, tuple(sorted(marks.get(outcome, ()))))
        for number, (outcome, text) in enumerate(texts.items())
    )
    covered = tuple(aspect for aspect in aspects if aspect.sentences)
    if len(covered) < MIN_ASPECTS:
        return None
    *outcomes, last = dict.fromkeys(prompt.outcome for prompt in group)
    listed = f"{', '.join(outcomes)} or {last}" if outcomes else last
    hypothesis = f"{group[0].intervention}, compared with {group[0].comparator}, changes {listed}"
    construction = {
        "version": 1,
        "profile": "evidence-inference",
        "review": {"title": "Evidence Inference", "licence": "MIT"},
        "paper_licence": paper.licence,
        "prompts": [prompt.id for prompt in group],
        "wordings": [
            *list(claims.values())[:_MOST_CLAIMS],
            f"{group[0].intervention} improves {group[0].outcome} compared with {group[0].comparator}.",
            f"{group[0].intervention} is associated with {last}.",
        ],
        "coverage": {"n_aspects": len(aspects), "n_covered": len(covered)},
        "gold": SUFFICIENT,
    }
    annotation = Annotation("", hypothesis, len(paper.sentences), covered, len(aspects))
    return annotated_instance(paper, annotation, instance_id, construction)


# -- quotes to sentences ----------------------------------------------------------------------------


def sentences_of_quote(finder: QuoteFinder, quote: str) -> tuple[int, ...]:
    """The sentences of a quote; the label of a figure that was copied with it is left out where it is in the way."""
    return finder.find(quote) or finder.find(_LABEL.sub("", quote))


def quote_places(quotes: Sequence[str], article: bytes) -> list[str]:
    """Where quotes stand that are in no pool: ``"in a table"``, ``"in a caption"`` or ``"nowhere"``."""
    if not quotes:
        return []
    text = article.decode("utf-8", "replace")
    parts = {
        place: letters(
            unescape(_TAG.sub("", " ".join(re.findall(f"<{tag}[ >].*?</{tag}>", text, re.DOTALL))))
        )
        for place, tag in (("in a table", "table-wrap"), ("in a caption", "fig"))
    }
    return [next((place for place in parts if letters(quote) in parts[place]), "nowhere") for quote in quotes]


# -- the files ----------------------------------------------------------------------------------------


def _present(folder: Path, names: tuple[str, ...]) -> list[str]:
    present = [name for name in names if (folder / name).is_file()]
    if not present:
        raise DataError(str(folder), f"has no {' or '.join(names)}", _REMEDY)
    return present


def _rows(path: Path, read: Callable[[Mapping[str, str]], _Row], problems: list[str]) -> Iterator[_Row]:
    text = file_content(path, _MAX_BYTES, _REMEDY).decode("utf-8-sig", errors="replace")
    rows = csv.DictReader(io.StringIO(text, newline=""))
    for row in rows:
        try:
            yield read(row)
        except KeyError as missing:
            raise DataError(str(path), f"has no column {shown(missing.args[0])}", _REMEDY) from missing
        except ValueError as wrong:
            problems.append(f"{path.name}, line {rows.line_num}: {shown(str(wrong), 120)}; left out")


def _prompt(row: Mapping[str, str]) -> Prompt:
    texts = [_text(row, name) for name in ("Outcome", "Intervention", "Comparator")]
    return Prompt(_number(row, "PromptID"), _number(row, "PMCID"), *texts)


def _answer(row: Mapping[str, str]) -> DoctorAnswer | None:
    """The answer of a row; ``None`` where it was not verified, or says that the prompt makes no sense."""
    is_valid = all(
        str(row[name]).strip().casefold() in ("true", "1") for name in ("Valid Label", "Valid Reasoning")
    )
    label = str(row["Label"]).strip().casefold()
    number, quote, doctor = _number(row, "PromptID"), str(row["Annotations"] or ""), str(row["UserID"])
    if not is_valid or label == "invalid prompt":
        return None
    for beginning, verb in _VERBS.items():
        if label.startswith(beginning):
            return DoctorAnswer(number, doctor, verb, quote)
    raise ValueError(f"the label is {label!r}")


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
