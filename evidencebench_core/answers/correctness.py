"""How many sentences of an answer a document bears out, or its citations together (spec rules 27 to 29, 37)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evidencebench_core.answers.judging import read_correctness, read_joined
from evidencebench_core.answers.model import AnswerSet, has_words, unit_id
from evidencebench_core.answers.set_judging import claims
from evidencebench_core.data.store import Store
from evidencebench_core.llm.labels import LabelRead
from evidencebench_core.runs import ChatRunInfo, ChatRuns
from evidencebench_core.stats import bootstrap_interval

Said = Mapping[str, LabelRead | None]
"""By sentence what a judge said; ``None``: there was nothing to check it with."""


@dataclass(frozen=True, slots=True)
class Correctness:
    """Of one system.

    Attributes
    ----------
    mean, ci95 : float or None
        Mean over answers of correct / all sentences, and its bootstrap interval over questions.
    share : float or None
        Correct of all sentences of these answers.
    n_answers, n_sentences, n_correct : int
    n_unchecked, n_unread : int
        Sentences with nothing to check them with, and without a label: neither is correct.
    n_missing : int
        Answers without sentences, or of which a sentence is still to be judged: they have no share.
    """

    mean: float | None
    ci95: tuple[float, float] | None
    share: float | None
    n_answers: int
    n_sentences: int
    n_correct: int
    n_unchecked: int
    n_unread: int
    n_missing: int


def said_in(store: Store, run: ChatRunInfo, threshold: float | None = None) -> dict[str, LabelRead | None]:
    """The labels of a run of ``correctness`` by sentence; failed calls are absent."""
    results = ChatRuns(store).results(run.id)
    return {
        unit: read_correctness(one, threshold) for unit, one in results.items() if not isinstance(one, str)
    }


def correctness(answers: AnswerSet, said: Said, seed: int = 0) -> dict[str, Correctness]:
    """The figures of every system, of its answers in the set; each occurrence of a sentence counts."""
    return {system: _of_system(answers, said, system, seed) for system in answers.systems}


def _of_system(answers: AnswerSet, said: Said, system: str, seed: int) -> Correctness:
    shares, counts = (
        list[float](),
        dict.fromkeys(("sentences", "correct", "unchecked", "unread", "missing"), 0),
    )
    for key, answer in answers.answers.items():
        if key[1] != system:
            continue
        units = [(one, unit_id(*key, one.id)) for one in answer.sentences]
        if not units or any(has_words(one.claim) and unit not in said for one, unit in units):
            counts["missing"] += 1
            continue
        reads = [said[unit] for _, unit in units if unit in said]
        labels = [read.label for read in reads if read is not None]
        n_correct = labels.count("supports")
        shares.append(n_correct / len(units))
        counts["sentences"] += len(units)
        counts["correct"] += n_correct
        counts["unchecked"] += reads.count(None)
        counts["unread"] += labels.count(None)
    return Correctness(
        float(np.mean(shares)) if shares else None,
        bootstrap_interval(shares, np.random.default_rng(seed)),
        counts["correct"] / counts["sentences"] if counts["sentences"] else None,
        len(shares),
        **{f"n_{name}": n for name, n in counts.items()},
    )


def joined_scores(answers: AnswerSet, store: Store, run: ChatRunInfo) -> dict[str, dict[str, Any]]:
    """ALCE's citation recall and precision of each system, from a run of ``joined``: means over answers, with n.

    Recall: sentences whose citations support them together / sentences; one without a citation is not supported.
    Precision: citations with text that are needed for that / citations with text; undefined without any. An answer of
    which a sentence is still to be judged, or that has none, has neither.
    """
    results = ChatRuns(store).results(run.id)
    asked: dict[str, list[str]] = {}
    for one in claims(answers, "joined", {}):
        asked.setdefault(one.answer.id, []).append(one.unit)
    shares: dict[str, dict[str, list[float]]] = {
        system: {"recall": [], "precision": []} for system in answers.systems
    }
    for answer in answers.answers.values():
        found = [results.get(unit) for unit in asked.get(answer.id, ())]
        known = [one for one in found if one is not None and not isinstance(one, str)]
        if not answer.sentences or len(known) < len(found):
            continue
        reads = [(*read_joined(one), one["n"]) for one in known]
        shares[answer.system]["recall"].append(sum(one for one, *_ in reads) / len(answer.sentences))
        if n := sum(n for *_, n in reads):
            shares[answer.system]["precision"].append(sum(one for _, one, _ in reads) / n)
    return {
        system: {name: float(np.mean(values)) if values else None for name, values in of.items()}
        | {f"n_{name}": len(values) for name, values in of.items()}
        for system, of in shares.items()
    }
