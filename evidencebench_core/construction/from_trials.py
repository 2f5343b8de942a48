"""Evidence Inference as instances of the benchmark, without a model (construction rules 109 and 110)."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from evidencebench_core.construction.funnel import LEAST_ASPECTS, Funnel
from evidencebench_core.construction.spans import QuoteFinder
from evidencebench_core.construction.state import Pool
from evidencebench_core.construction.trials import Label, Prompt, TrialAnswer, Trials
from evidencebench_core.data.model import SUFFICIENT
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.papers.annotation import Annotation, MarkedAspect, annotated_instance
from evidencebench_core.papers.licence import article_licence
from evidencebench_core.papers.paper import Paper
from evidencebench_core.papers.read import read_paper

_SAID: Final[Mapping[Label, str]] = {
    "significantly increased": "significantly increased",
    "significantly decreased": "significantly decreased",
    "no significant difference": "made no significant difference to",
}
_LONGEST_HYPOTHESIS: Final = 49  # words (rule 7)


@dataclass(slots=True)
class TrialTally:
    """Counts of what `trial_instances` met; whole once the last instance has been taken."""

    instances: Funnel = field(default_factory=Funnel)  # groups of prompts on one comparison
    n_prompts: int = 0
    n_quotes: int = 0
    n_found: int = 0  # quotes that are in the text
    sentences: Counter[int] = field(default_factory=Counter)  # quotes that are found by their sentences
    n_labels_differ: int = 0  # prompts on whose label the doctors differ; the first most frequent one counts
    n_long: int = 0  # hypotheses of 50 words and more
    licences: Counter[str] = field(default_factory=Counter)  # of papers; "" for none
    unread: list[str] = field(default_factory=list)  # papers that could not be read, and why
    quoted: dict[int, dict[str, frozenset[int]]] = field(
        default_factory=dict
    )  # sentences, by prompt and doctor
    labels: dict[int, dict[str, str]] = field(default_factory=dict)  # the same of the answers' labels
    article_of: dict[int, int] = field(default_factory=dict)  # of the prompts in these


def trial_instances(
    trials: Trials,
    name: str,
    tally: TrialTally,
    report: Callable[[int, int], None] = lambda done, total: None,
    **writing: bool,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Raw instances by id: one for each comparison in a paper of which two outcomes or more are covered.

    Every outcome is a result aspect, and is covered by the sentences that either doctor quoted. The gold is
    sufficient, not complete, and says so. Papers without an open licence are left out.

    Parameters
    ----------
    trials : Trials
    name : str
        Begins the instances' ids.
    tally : TrialTally
        Counts what was met and left out.
    report : callable
        Called with papers done and papers in all; an exception that it raises ends the work.
    **writing
        ``keep_uncovered`` and ``pad`` of `annotated_instance`.
    """
    by_article: dict[int, list[Prompt]] = {}
    for prompt in trials.prompts.values():
        by_article.setdefault(prompt.article, []).append(prompt)
    for done, (article, prompts) in enumerate(by_article.items()):
        report(done, len(by_article))
        groups = _groups(prompts)
        tally.n_prompts += len(prompts)
        try:
            content = trials.article_file(article)
            licence = article_licence(content, f"PMC{article}.nxml")
            paper = read_paper(content, f"PMC{article}.nxml")
        except EvidenceBenchError as error:
            tally.unread.append(str(error))
            tally.instances.dropped["no_full_text"] += len(groups)
            continue
        tally.licences[licence] += 1
        if not licence:
            tally.instances.dropped["licence"] += len(groups)
            continue
        finder = QuoteFinder(paper.sentences)
        for prompt in prompts:
            _tally_quotes(tally, prompt, trials.answers[prompt.id], finder)
        for number, group in enumerate(groups):
            instance_id = f"{name}_{paper.paper_id}_{number}"
            raw = _instance(paper, licence, group, trials, tally, instance_id, writing)
            if raw is None:
                tally.instances.dropped["too_few_aspects"] += 1
            else:
                tally.instances.n_kept += 1
                yield instance_id, raw
    report(len(by_article), len(by_article))


def aspect_text(prompt: Prompt, label: Label) -> str:
    """A prompt with its answer as a study aspect, by template (rule 109)."""
    return f"Compared with {prompt.comparator}, {prompt.intervention} {_SAID[label]} {prompt.outcome}"


def comparison_hypothesis(group: Sequence[Prompt]) -> str:
    """``I, compared with C, changes O1, O2 or O3`` of prompts with one I and C."""
    *outcomes, last = dict.fromkeys(prompt.outcome for prompt in group)
    named = f"{', '.join(outcomes)} or {last}" if outcomes else last
    return f"{group[0].intervention}, compared with {group[0].comparator}, changes {named}"


def pool_sha256(paper: Paper | Pool) -> str:
    """The identity of a candidate pool (rule S6): sentences and types, so that a corrected reader gives another one."""
    pool = [list(paper.sentences), list(paper.sentence_types)]
    text = json.dumps(pool, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _groups(prompts: Sequence[Prompt]) -> list[list[Prompt]]:
    """The prompts of a paper by comparison, in the order of their numbers."""
    groups: dict[tuple[str, str], list[Prompt]] = {}
    for prompt in prompts:
        key = prompt.intervention.casefold(), prompt.comparator.casefold()
        groups.setdefault(key, []).append(prompt)
    return list(groups.values())


def _tally_quotes(
    tally: TrialTally, prompt: Prompt, answers: Sequence[TrialAnswer], finder: QuoteFinder
) -> None:
    by_doctor: dict[str, frozenset[int]] = {}
    for answer in answers:
        found = finder.find(answer.quote)
        tally.n_quotes += 1
        tally.n_found += bool(found)
        tally.sentences[len(found)] += bool(found)
        by_doctor[answer.doctor] = by_doctor.get(answer.doctor, frozenset()) | set(found)
    tally.quoted[prompt.id] = by_doctor
    tally.labels[prompt.id] = {answer.doctor: answer.label for answer in answers}
    tally.article_of[prompt.id] = prompt.article
    tally.n_labels_differ += len({answer.label for answer in answers}) > 1


def _instance(
    paper: Paper,
    licence: str,
    group: Sequence[Prompt],
    trials: Trials,
    tally: TrialTally,
    instance_id: str,
    writing: Mapping[str, bool],
) -> dict[str, Any] | None:
    """The raw instance of a comparison; ``None`` where too few of its outcomes are covered."""
    texts: dict[str, str] = {}  # an outcome that stands twice is one aspect
    marks: dict[str, frozenset[int]] = {}
    for prompt in group:
        outcome = prompt.outcome.casefold()
        label = Counter(answer.label for answer in trials.answers[prompt.id]).most_common(1)[0][0]
        texts.setdefault(outcome, aspect_text(prompt, label))
        quoted = tally.quoted[prompt.id].values()
        marks[outcome] = marks.get(outcome, frozenset()).union(*quoted)
    aspects = [
        MarkedAspect(f"aspect_{number}", texts[outcome], True, tuple(sorted(marks[outcome])))
        for number, outcome in enumerate(texts)
    ]
    covered = [aspect for aspect in aspects if aspect.sentences]
    if len(covered) < LEAST_ASPECTS:
        return None
    hypothesis = comparison_hypothesis(group)
    tally.n_long += len(hypothesis.split()) > _LONGEST_HYPOTHESIS
    written = aspects if writing.get("keep_uncovered") else covered
    annotation = Annotation("", hypothesis, len(paper.sentences), tuple(written), len(aspects))
    summary = ". ".join(texts.values()) + "."
    construction = {
        "version": 1,
        "profile": "evidence-inference",
        "pool_sha256": pool_sha256(paper),
        "review": {"title": "Evidence Inference", "licence": "MIT"},
        "paper_licence": licence,
        "summary": {
            "sha256": hashlib.sha256(summary.encode()).hexdigest(),
            "source": "user",
            "text": summary,
        },
        "prompts": [prompt.id for prompt in group],
        "outcomes": [prompt.outcome for prompt in group],
        "coverage": {
            "n_aspects": len(aspects),
            "n_covered": len(covered),
            "dropped": [
                {"number": number, "text": aspect.text}
                for number, aspect in enumerate(aspects)
                if not aspect.sentences
            ],
        },
        "gold": SUFFICIENT,
    }
    return annotated_instance(paper, annotation, instance_id, construction=construction, **writing)
