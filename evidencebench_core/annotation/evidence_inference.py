"""Evidence Inference 2.0 as instances of the benchmark, without a model.

Doctors were asked of trials what became of an outcome under one intervention compared with another, and quoted the
text that says so (DeYoung et al. 2020). ``annotations/`` of its repository holds ``prompts_merged.csv`` (or
``prompts.csv``), ``v2_annotations.csv``, perhaps ``annotations_merged.csv``, and the articles as ``PMC<id>.nxml`` in
``xml_files`` (or ``xml``). The gold is sufficient, not complete: nobody quoted all that would do.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pandas as pd

from evidencebench_core.annotation.model import Annotation, MarkedAspect, annotated_instance
from evidencebench_core.data.files import file_content
from evidencebench_core.data.model import SUFFICIENT, Instance
from evidencebench_core.data.quotes import QuoteFinder
from evidencebench_core.errors import DataError, EvidenceBenchError, PaperError
from evidencebench_core.papers import Paper
from evidencebench_core.papers.blocks import clean_text, paper_of_blocks
from evidencebench_core.papers.jats import read_jats
from evidencebench_core.words import one_line

_MIN_ASPECTS: Final = 2  # outcomes of a comparison that a sentence covers; with fewer it is no instance
_PROMPTS: Final = ("prompts_merged.csv", "prompts.csv")
_ANSWERS: Final = ("v2_annotations.csv", "annotations_merged.csv")
_ARTICLES: Final = ("xml_files", "xml")
_TEXTS: Final = ["Outcome", "Intervention", "Comparator"]
_IS_VALID: Final = ["Valid Label", "Valid Reasoning"]
_ANSWER: Final = ["PromptID", "UserID", "Label", "Annotations"]
_VERBS: Final = {  # by how a label begins: the verb of an aspect, and of a hypothesis
    "significantly increase": ("significantly increased", "increases"),
    "significantly decrease": ("significantly decreased", "reduces"),
    "no significant difference": ("made no significant difference to", "does not change"),
}
_MOST_CLAIMS: Final = 3  # of one comparison, in other words
_MAX_BYTES: Final = 256 << 20
_REMEDY: Final = (
    "Give the folder `annotations` of github.com/jayded/evidence-inference, or one with the same files."
)
_CAPTION: Final = re.compile(  # the label of a figure or table, at the end or the beginning of a quote
    r"(?<=[.)\]])\s*(?:Figs?\.?|Figures?|Tables?)\s*[\w ,&-]{0,20}\.?$|^(?:Fig\.?|Figure|Table)\s*\w{1,4}[.:]?\s*"
)


@dataclass
class TrialCounts:
    """What `trial_instances` met; whole once the last instance has been taken."""

    n_kept: int = 0
    n_prompts: int = 0
    n_quotes: int = 0
    n_quotes_found: int = 0
    n_other_answer: int = 0  # quotes for an answer that another doctor's outvotes: no gold
    left_out: Counter[str] = field(default_factory=Counter)  # comparisons, prompts and answers, by reason
    licences: Counter[str] = field(default_factory=Counter)  # of papers
    unread: list[str] = field(default_factory=list)  # papers, and why


def read_trials(folder: Path, counts: TrialCounts) -> pd.DataFrame:
    """The verified answers to prompts, a row a quote; lines that cannot be used are counted, the others go on.

    `DataError` where the folder lacks a file, or a file a column.

    Returns
    -------
    DataFrame
        ``PMCID`` and ``PromptID`` (numbers), ascending; ``Outcome``, ``Intervention``, ``Comparator``; ``answer`` (a
        key of `_VERBS`), ``verdict``: the most frequent one for the prompt; ``Annotations``, the quote.
    """
    prompts = pd.concat(_tables(folder, _PROMPTS, ["PromptID", "PMCID", *_TEXTS]))
    prompts[_TEXTS] = prompts[_TEXTS].map(lambda text: clean_text(text).strip(" ."))
    is_number = prompts[["PromptID", "PMCID"]].map(lambda text: bool(re.fullmatch(r"[0-9]{1,11}", text)))
    is_text = prompts[_TEXTS].map(lambda text: 0 < len(text) <= 2000)
    is_usable = is_number.all(axis=1) & is_text.all(axis=1)
    answers = pd.DataFrame(columns=_ANSWER)
    for table in _tables(folder, _ANSWERS, [*_ANSWER, *_IS_VALID]):
        is_valid = table[_IS_VALID].map(lambda text: text.strip().casefold() in ("true", "1")).all(axis=1)
        is_new = ~pd.MultiIndex.from_frame(table[_ANSWER]).isin(pd.MultiIndex.from_frame(answers))
        answers = pd.concat([answers, table.loc[is_valid & is_new, _ANSWER]])
    label = answers["Label"].str.strip().str.casefold()
    answer = label.str.extract(f"^({'|'.join(_VERBS)})", expand=False)
    is_asked = answers["PromptID"].isin(prompts.loc[is_usable, "PromptID"])
    counts.left_out += Counter(
        {
            "prompts without numbers and texts": int((~is_usable).sum()),
            "answers with an unknown label": int((answer.isna() & (label != "invalid prompt")).sum()),
            "answers to no prompt": int((~is_asked & answer.notna()).sum()),
        }
    )
    prompts = prompts[is_usable].drop_duplicates("PromptID")
    trials = answers.assign(answer=answer).dropna(subset="answer").merge(prompts, on="PromptID")
    if trials.empty:
        raise DataError(str(folder), "has no verified answer to a prompt", _REMEDY)
    of_prompts = trials.groupby("PromptID")["answer"]
    trials["verdict"] = of_prompts.transform(lambda of_prompt: Counter(of_prompt).most_common(1)[0][0])
    trials = trials.astype({"PMCID": int, "PromptID": int})
    return trials.sort_values(["PMCID", "PromptID"], kind="stable", ignore_index=True)


def _tables(folder: Path, names: Sequence[str], columns: list[str]) -> list[pd.DataFrame]:
    """Those of these files that are there, all cells as texts."""
    tables = []
    for path in (folder / name for name in names):
        if path.is_file():
            content = file_content(path, _MAX_BYTES, _REMEDY).decode("utf-8-sig", errors="replace")
            try:
                table = pd.read_csv(io.StringIO(content), usecols=columns, dtype=str, keep_default_na=False)
                tables.append(table)
            except ValueError as error:
                raise DataError(str(path), f"is not as expected: {one_line(str(error))}", _REMEDY) from error
    if not tables:
        raise DataError(str(folder), f"has no {' or '.join(names)}", _REMEDY)
    return tables


def trial_instances(
    folder: Path,
    name: str,
    counts: TrialCounts,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> Iterator[Instance]:
    """Instances, whose ids begin with ``name``: one a comparison with two covered outcomes or more.

    Every outcome is a result aspect, covered by the sentences that were quoted for the more frequent answer. The
    hypothesis stands in ``construction`` in other words, too: a ranker learns from all of them. Papers
    without an open licence are left out. ``report`` is called with papers done and papers in all.
    """
    trials = read_trials(folder, counts)
    comparison = [trials[text].str.casefold() for text in ("Intervention", "Comparator")]
    n_articles = trials["PMCID"].nunique()
    counts.n_prompts = trials["PromptID"].nunique()
    for done, (article, of_article) in enumerate(trials.groupby("PMCID")):
        report(done, n_articles)
        groups = of_article.groupby(comparison, sort=False)
        try:
            paper = _paper(folder, f"PMC{article}")
        except EvidenceBenchError as error:
            counts.unread.append(str(error))
            counts.left_out["no full text"] += len(groups)
            continue
        counts.licences[paper.licence or "none"] += 1
        if not paper.licence:
            counts.left_out["no open licence"] += len(groups)
            continue
        finder = QuoteFinder(paper.sentences)
        sentences = of_article["Annotations"].map(
            lambda quote, finder=finder: sentences_of_quote(finder, quote)
        )
        counts.n_quotes += len(sentences)
        counts.n_quotes_found += int(sentences.astype(bool).sum())
        for number, (_, group) in enumerate(groups):
            is_gold = group["answer"] == group["verdict"]
            counts.n_other_answer += int((~is_gold).sum())
            marked = group.assign(sentences=sentences[group.index].where(is_gold, ()))
            instance = _instance(paper, marked, f"{name}_{paper.paper_id}_{number}")
            if instance is None:
                counts.left_out[f"fewer than {_MIN_ASPECTS} outcomes covered"] += 1
            else:
                counts.n_kept += 1
                yield instance
    report(n_articles, n_articles)


def _paper(folder: Path, name: str) -> Paper:
    """The article; `PaperError` where the folder lacks it."""
    for path in (folder / articles / f"{name}.nxml" for articles in _ARTICLES):
        if path.exists():
            content = file_content(path, _MAX_BYTES, "Name a folder of articles.")
            return paper_of_blocks(read_jats(content, path.name), "jats")  # the user's own folder
    raise PaperError(name, f"is not in {folder}", "Fetch the article's file.")


def _instance(paper: Paper, group: pd.DataFrame, instance_id: str) -> Instance | None:
    """The instance of a comparison; ``None`` where too few of its outcomes are covered."""
    aspects, claims = [], []
    outcomes = group.groupby(group["Outcome"].str.casefold(), sort=False)  # each once
    for number, (_, of_outcome) in enumerate(outcomes):
        prompt = of_outcome.iloc[0]
        verb, claim = _VERBS[prompt["verdict"]]
        text = f"Compared with {prompt['Comparator']}, {prompt['Intervention']} {verb} {prompt['Outcome']}"
        sentences = tuple(sorted(set().union(*of_outcome["sentences"])))
        aspects.append(MarkedAspect(f"aspect_{number}", text, True, sentences))
        claims.append(f"{prompt['Intervention']} {claim} {prompt['Outcome']}.")
    covered = tuple(aspect for aspect in aspects if aspect.sentences)
    if len(covered) < _MIN_ASPECTS:
        return None
    first = group.iloc[0]
    *others, last = group["Outcome"].unique()
    listed = f"{', '.join(others)} or {last}" if others else last
    hypothesis = f"{first['Intervention']}, compared with {first['Comparator']}, changes {listed}"
    construction = {
        "version": 1,
        "profile": "evidence-inference",
        "review": {"title": "Evidence Inference", "licence": "MIT"},
        "paper_licence": paper.licence,
        "prompts": group["PromptID"].unique().tolist(),
        "wordings": [
            *claims[:_MOST_CLAIMS],
            f"{first['Intervention']} improves {first['Outcome']} compared with {first['Comparator']}.",
            f"{first['Intervention']} is associated with {last}.",
        ],
        "coverage": {"n_aspects": len(aspects), "n_covered": len(covered)},
        "gold": SUFFICIENT,
    }
    annotation = Annotation("", hypothesis, len(paper.sentences), covered, len(aspects))
    return annotated_instance(paper, annotation, instance_id, construction)


def sentences_of_quote(finder: QuoteFinder, quote: str) -> tuple[int, ...]:
    """The sentences of a quote; the label of a figure that was copied with it is left out where it is in the way."""
    return finder.find(quote) or finder.find(_CAPTION.sub("", quote))
