"""Every aspect that a run missed, with how near the miss was.

The table comes in two parts: `aspect_outcomes` needs no paper (20,000 instances in a few seconds),
`with_text` adds what only the words of the papers can say. Everything about one miss is `missed_context`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from evidencebench_core.analyses.systems import paper_ids
from evidencebench_core.data import paper_texts
from evidencebench_core.data.model import EvidenceSet
from evidencebench_core.data.sections import section_classes, section_titles
from evidencebench_core.data.store import Store
from evidencebench_core.errors import EvidenceBenchError, UnknownNameError
from evidencebench_core.retrievers import Retrieval, retriever_entry
from evidencebench_core.retrievers.bm25 import tokens_of
from evidencebench_core.runs import RunInfo, RunStore
from evidencebench_core.runs.retrievals import retrievals
from evidencebench_core.tasks import Task, task_named

_INTEGERS: Final = ("budget", "sentence", "best_rank", "distance")
_COLUMNS: Final = (
    "instance", "paper", "number", "aspect", "label", "text", "is_result", "missed", "covering", "n_covering",
    "n_sentences", "budget", "picks", "n_picks", "n_adding", "n_repeating", "n_blank", "sentence", "best_rank",
    "distance", "gap", "position", "found_by", "n_others",
)  # fmt: skip
_TEXT_COLUMNS: Final = (
    "type", "section", "heading", "types", "sections", "overlap", "overlap_sentence", "front_share",
)  # fmt: skip


def aspect_outcomes(store: Store, run_id: str, task: str | Task) -> pd.DataFrame:
    """Every aspect that a task asks a run for, found or missed: what shares of misses are shares of.

    Left out, and counted in ``frame.attrs``: aspects that no sentence covers (``n_uncoverable``: nobody can
    find them), instances without an answer (``n_unanswered``) and those with nothing to cover
    (``n_skipped``).

    Returns
    -------
    DataFrame
        One row an aspect, in the order of the dataset.

        - ``instance``, ``paper``: ids. ``number``: 0-based position of the aspect in its instance.
          ``aspect``, ``label``, ``text`` (``None`` where the data has none), ``is_result``.
        - ``missed``: whether no pick covers it.
        - ``covering``: tuple of the sentences that cover it; ``n_covering`` of them, 1 or more;
          ``n_sentences`` in the paper.
        - ``budget``: K of the instance, missing on the unconstrained task. ``picks``: tuple, in the order in
          which they were made; ``n_picks`` = ``n_adding`` (cover an asked aspect that no earlier pick covers)
          + ``n_repeating`` (cover only what earlier picks cover) + ``n_blank`` (cover nothing asked for).
        - ``sentence``: the nearest covering sentence, i.e. the best ranked; the first in the paper where the
          ranking reaches none of them. ``best_rank``: its rank, from 1; missing where it has none.
        - ``distance``: ``best_rank`` minus K (minus ``n_picks`` where there is no K): how many places too
          low; missing with the rank, or without picks to measure from.
        - ``gap``: score of the last pick minus that of ``sentence``, in the retriever's own unit; NaN where
          either has no score.
        - ``position``: where ``sentence`` stands, 0 (first sentence) to 1 (last).
        - ``found_by``: tuple of the ids of the other runs over the same instances that found it, out of
          ``n_others`` that answered; runs that see the gold, or of a model that was trained on instances of
          the dataset, do not count. For found aspects too.
    """
    chosen = task_named(task)
    runs = RunStore(store)
    run = runs.run(run_id)
    if not run.tasks.get(chosen.name):
        raise UnknownNameError(
            f"run {run.id}",
            f"has no answers for {chosen.name}",
            f"It has: {', '.join(run.tasks) or 'none'}. `evidencebench run` adds tasks to a run.",
        )
    answers = dict(retrievals(store, run.id, chosen.name))
    others = {
        other.id: {one: frozenset(its) for one, its in runs.selections(other.id, chosen.name).items()}
        for other in other_runs(runs, run, chosen)
        if not other.n_trained_on
    }
    papers = paper_ids(store, run.dataset)
    rows: list[tuple[Any, ...]] = []
    left_out = {"n_uncoverable": 0, "n_unanswered": 0, "n_skipped": 0}
    for instance_id, evidence in store.evidence_sets(run.dataset):
        asked = evidence.focused(chosen.focus)
        if not asked:
            left_out["n_skipped"] += 1
        elif instance_id not in answers:
            left_out["n_unanswered"] += 1
        else:
            left_out["n_uncoverable"] += sum(not aspect.sentence_indices for aspect in asked)
            found = {other: its[instance_id] for other, its in others.items() if instance_id in its}
            head = (instance_id, papers[instance_id])
            rows += [(*head, *row) for row in _rows(evidence, chosen, answers[instance_id], found)]
    frame = pd.DataFrame(rows, columns=list(_COLUMNS))
    frame = frame.astype(dict.fromkeys(_INTEGERS, "Int64")).astype({"gap": float, "position": float})
    frame.attrs.update(run=run.id, dataset=run.dataset, task=chosen.name, **left_out)
    return frame


def _rows(
    evidence: EvidenceSet, task: Task, answer: Retrieval, others: Mapping[str, frozenset[int]]
) -> Iterator[tuple[Any, ...]]:
    """The columns from ``number`` on, of the asked aspects that can be found."""
    n, picks = evidence.n_sentences, answer.selection
    picked = frozenset(picks)
    place = {index: rank for rank, index in enumerate(answer.ranking, start=1)}
    kinds = _kinds_of_picks(picks, [aspect.sentence_indices for aspect in evidence.focused(task.focus)])
    budget = task.budget_for(evidence)
    edge = len(picks) if budget is None else budget
    last = _score(answer, place.get(picks[-1])) if picks else None
    for number, aspect in enumerate(evidence.aspects):
        covering = aspect.sentence_indices
        if not covering or not (task.focus == "all" or aspect.is_result):
            continue
        nearest = min(covering, key=lambda index: place.get(index, n + 1))
        rank = place.get(nearest)
        score = _score(answer, rank)
        yield (
            number, aspect.id, aspect.label, aspect.text, aspect.is_result, picked.isdisjoint(covering),
            covering, len(covering), n, budget, picks, len(picks), *kinds, nearest, rank,
            rank - edge if rank is not None and edge else None,
            last - score if last is not None and score is not None else None,
            nearest / (n - 1) if n > 1 else 0.0,
            tuple([run for run, its in others.items() if not its.isdisjoint(covering)]),
            len(others),
        )  # fmt: skip


def _score(answer: Retrieval, rank: int | None) -> float | None:
    return None if rank is None or rank > len(answer.scores) else answer.scores[rank - 1]


def _kinds_of_picks(picks: Sequence[int], covers: Sequence[Sequence[int]]) -> tuple[int, int, int]:
    """How many picks add an aspect, only repeat, or cover nothing."""
    by_sentence: dict[int, set[int]] = {}
    for number, cover in enumerate(covers):
        for index in cover:
            by_sentence.setdefault(index, set()).add(number)
    covered: set[int] = set()
    adding = repeating = 0
    for pick in picks:
        its = by_sentence.get(pick, set())
        adding += not its <= covered
        repeating += bool(its) and its <= covered
        covered |= its
    return adding, repeating, len(picks) - adding - repeating


def other_runs(runs: RunStore, run: RunInfo, task: Task) -> list[RunInfo]:
    """The dataset's other runs over the original instances with answers to a task, that did not see gold."""
    return [
        other
        for other in runs.runs(run.dataset)
        if other.id != run.id and other.tasks.get(task.name) and not _sees_gold(other.retriever)
    ]


def _sees_gold(retriever: str) -> bool:
    try:
        return retriever_entry(retriever).sees_gold
    except EvidenceBenchError:  # an unknown one
        return False


def content_words(text: str) -> frozenset[str]:
    """The distinct content words of a text: lower-cased runs of letters and digits, no function words.

    As ``bm25 tokenisation=word-stop`` reads it, without stemming: "cancers" is another word than "cancer",
    and "IL-6" is two. "No" and "not" count.
    """
    return frozenset(tokens_of(text, "word-stop"))


def with_text(store: Store, outcomes: pd.DataFrame) -> pd.DataFrame:
    """Any rows of `aspect_outcomes` with what the papers' words say.

    Returns
    -------
    DataFrame
        With these columns in addition:

        - ``type``, ``section``, ``heading`` of the nearest covering sentence (``sentence``): its sentence
          type, its part of the paper (`sections.SectionClass`) and the title of its section (spec rule 15).
        - ``types``, ``sections``: tuples, those of every covering sentence, in the order of ``covering``.
        - ``overlap``: share (0 to 1) of the hypothesis' content words (`content_words`) that occur in the
          covering sentence with the most of them, ``overlap_sentence`` (the first of equals); NaN where
          the hypothesis has none. Missed aspects only: NaN for found ones.
        - ``front_share``: share of the picks that are headings or abstract sentences; NaN without picks.
    """
    by_instance: dict[str, list[int]] = {}
    for row, instance_id in enumerate(outcomes["instance"]):
        by_instance.setdefault(instance_id, []).append(row)
    keys = ("sentence", "covering", "picks", "missed")
    columns = list(zip(*(outcomes[key].tolist() for key in keys), strict=True))
    values: list[tuple[Any, ...]] = [()] * len(outcomes)
    for paper in paper_texts(store, outcomes.attrs["dataset"], by_instance):
        classes = section_classes(paper.sentences, paper.types)
        headings = section_titles(paper.sentences, paper.types)
        words: dict[int, frozenset[str]] = {}
        for instance_id, hypothesis in paper.hypotheses.items():
            asked = content_words(hypothesis)
            for row in by_instance[instance_id]:
                nearest, covering, picks, missed = columns[row]
                overlap: tuple[float, int | None] = (float("nan"), None)
                if missed and asked:
                    for index in covering:
                        if index not in words:
                            words[index] = content_words(paper.sentences[index])
                    best = max(covering, key=lambda index: len(asked & words[index]))
                    overlap = (len(asked & words[best]) / len(asked), best)
                front = sum(paper.types[pick] != "normal_paragraph" for pick in picks)
                values[row] = (
                    paper.types[nearest],
                    classes[nearest],
                    headings[nearest],
                    tuple([paper.types[index] for index in covering]),
                    tuple([classes[index] for index in covering]),
                    *overlap,
                    front / len(picks) if picks else float("nan"),
                )
    added = pd.DataFrame(values, columns=list(_TEXT_COLUMNS), index=outcomes.index)
    added = added.astype({"overlap": float, "overlap_sentence": "Int64", "front_share": float})
    found = pd.concat([outcomes, added], axis=1)
    found.attrs.update(outcomes.attrs)
    return found


def queue_of(outcomes: pd.DataFrame, results_only: bool = True) -> pd.DataFrame:
    """The missed rows, nearest miss first; result aspects only, or all.

    By ``distance``; those that the ranking does not reach come last; equals keep the order of the dataset.
    """
    missed = outcomes[outcomes["missed"] & (outcomes["is_result"] | (not results_only))]
    queue = missed.sort_values("distance", kind="stable", na_position="last")
    queue.attrs.update(outcomes.attrs)
    return queue
