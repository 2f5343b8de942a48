"""The nuggets of the answers of a set against the gold nuggets of their questions (spec rules 12 to 21)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.answers.matching import (
    THRESHOLD,
    Assignment,
    Match,
    Matcher,
    NuggetScore,
    Support,
    judged_recall,
    matches,
    mean_nugget_scores,
    nugget_score,
    similarities,
    threshold_curve,
)
from evidencebench_core.answers.model import AnswerSet
from evidencebench_core.answers.nuggets import Nuggets, once, written_out
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.stats import Mixture, Threshold, best_threshold, fitted_mixture

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class NuggetMatrix:
    """One answer's nuggets against the gold ones, as they are matched: by index, and by their cosines."""

    predicted: tuple[str, ...]
    gold: tuple[str, ...]
    similarity: NDArray[np.float64]
    p: NDArray[np.float64]  # what the threshold is of: the cosines themselves where there is no mixture


@dataclass(frozen=True, slots=True)
class NuggetScores:
    """The answers of a set, scored by their nuggets.

    Attributes
    ----------
    scores, found : mapping from (question, system)
        Of each answer whose nuggets are known: the score, and its matches.
    matrices : mapping from (question, system)
        Only where the question has gold nuggets.
    missing : tuple of (question, system)
        Answers whose nuggets nobody has listed, or not so that they could be read.
    mixture : Mixture or None
    n_triples, n_unfit : int
        Gold nuggets, and those that are no triples and stay as they are.
    n_cut_off, n_duplicates : int
        Lists of a model that were cut off by the limit of tokens; nuggets that it listed twice.
    """

    scores: Mapping[Key, NuggetScore]
    found: Mapping[Key, tuple[Match, ...]]
    matrices: Mapping[Key, NuggetMatrix]
    missing: tuple[Key, ...]
    mixture: Mixture | None
    n_triples: int
    n_unfit: int
    n_cut_off: int
    n_duplicates: int

    def at(self, threshold: float) -> NuggetScores:
        """The same nuggets matched greedily at another threshold."""
        found = {key: matches(one.p, one.similarity, threshold) for key, one in self.matrices.items()}
        scores = {
            key: nugget_score(found.get(key, ()), one.n_predicted, one.n_gold)
            for key, one in self.scores.items()
        }
        return replace(self, scores=scores, found=found)

    def means(self, system: str | None = None) -> dict[str, Any]:
        """Unweighted means over the questions, of one system or of all answers."""
        return mean_nugget_scores(one for key, one in self.scores.items() if system in (None, key[1]))

    def curve(self, system: str | None = None) -> list[dict[str, float | None]]:
        """Recall, precision and similarity over the threshold."""
        return threshold_curve([
            (matches(one.p, one.similarity, threshold=0.0), len(one.predicted), len(one.gold))
            for key, one in self.matrices.items()
            if system in (None, key[1])
        ])  # fmt: skip

    def as_dict(self) -> dict[str, Any]:
        """JSON-able."""
        systems = dict.fromkeys(system for _, system in self.scores)
        return {
            "means": self.means(),
            "systems": {system: self.means(system) for system in systems},
            "n_missing": len(self.missing),
            "n_triples": self.n_triples,
            "n_unfit": self.n_unfit,
            "n_cut_off": self.n_cut_off,
            "n_duplicates": self.n_duplicates,
            "mixture": self.mixture and self.mixture.as_dict(),
            "curve": self.curve(),
        }


def nugget_scores(  # noqa: PLR0913 - what is matched, and how
    answers: AnswerSet,
    listed: Mapping[str, Nuggets] | None = None,
    *,
    matcher: Matcher = "cosine",
    threshold: float = THRESHOLD,
    assignment: Assignment = "greedy",
    guard: bool = True,
    mixture: Mixture | None = None,
    triples: bool = False,
    model: str = "minilm",
) -> NuggetScores:
    """Match the nuggets of every answer with the gold ones of its question.

    Parameters
    ----------
    listed : mapping from answer id, optional
        What a model listed; nuggets that the file brings go first.
    matcher : {"cosine", "mixture"}
        What the threshold is of: the cosine, or the probability that a cosine is one of a match.
    mixture : Mixture, optional
        A frozen one, such as of a set for training; without it one is fitted on the cosines of all questions.
    guard : bool
        Keep that probability from falling where the cosine rises.
    triples : bool
        Gold nuggets are triples on both sides, so they are not written out as sentences.
    """
    if matcher not in ("cosine", "mixture"):
        raise SettingError("matcher", f"is {shown(matcher)}", "Choices are: cosine, mixture.")
    gold = {name: _gold_nuggets(question.nuggets, triples) for name, question in answers.questions.items()}
    predicted = _predicted_nuggets(answers, listed or {})
    cosines = {
        key: similarities(nuggets, [text for text, _ in gold[key[0]]], model)
        for key, nuggets in predicted.items()
        if gold[key[0]]
    }
    if matcher == "mixture" and mixture is None:
        values = np.concatenate([np.empty(0), *(one.ravel() for one in cosines.values())])
        groups = [key[0] for key, one in cosines.items() for _ in range(one.size)]
        mixture = fitted_mixture(values, groups)
    matrices, found = dict[Key, NuggetMatrix](), dict[Key, tuple[Match, ...]]()
    for key, similarity in cosines.items():
        p = similarity if matcher == "cosine" or mixture is None else mixture.posterior(similarity, guard)
        matrices[key] = NuggetMatrix(predicted[key], tuple(text for text, _ in gold[key[0]]), similarity, p)
        found[key] = matches(p, similarity, threshold, assignment)
    ids = {answer.id for answer in answers.answers.values() if answer.nuggets is None}
    used = [one for name, one in (listed or {}).items() if name in ids]
    every = [fits for nuggets in gold.values() for _, fits in nuggets]
    has_gold = {name: question.nuggets is not None for name, question in answers.questions.items()}
    return NuggetScores(
        scores={
            key: nugget_score(
                found.get(key, ()), len(nuggets), len(gold[key[0]]) if has_gold[key[0]] else None
            )
            for key, nuggets in predicted.items()
        },
        found=found,
        matrices=matrices,
        missing=tuple(key for key in answers.answers if key not in predicted),
        mixture=mixture if matcher == "mixture" else None,
        n_triples=len(every),
        n_unfit=every.count(False),
        n_cut_off=sum(one.is_cut_off for one in used),
        n_duplicates=sum(one.n_duplicates for one in used),
    )


def nugget_texts(answers: AnswerSet, listed: Mapping[str, Nuggets] | None = None) -> tuple[str, ...]:
    """The texts that `nugget_scores` compares, each once."""
    gold = {
        name: [text for text, _ in _gold_nuggets(one.nuggets, False)]
        for name, one in answers.questions.items()
    }
    predicted = {key: of for key, of in _predicted_nuggets(answers, listed or {}).items() if gold[key[0]]}
    return tuple(dict.fromkeys(chain(*gold.values(), *predicted.values())))


def _predicted_nuggets(answers: AnswerSet, listed: Mapping[str, Nuggets]) -> dict[Key, tuple[str, ...]]:
    """The nuggets of each answer where they are known: of the file, else of a run."""
    predicted: dict[Key, tuple[str, ...]] = {}
    for key, answer in answers.answers.items():
        if answer.nuggets is not None:
            predicted[key] = once(one for one in answer.nuggets if one.strip())[0]
        elif not answer.text.strip():
            predicted[key] = ()
        elif (read := listed.get(answer.id)) is not None and read.outcome in ("nuggets", "none"):
            predicted[key] = read.nuggets
    return predicted


def _gold_nuggets(nuggets: Sequence[str] | None, triples: bool) -> list[tuple[str, bool]]:
    """The gold nuggets of a question as they are matched, and whether each was a triple."""
    return [(one, True) if triples else written_out(one) for one in nuggets or () if one.strip()]


def marked_threshold(
    pairs: Sequence[tuple[str, str, bool]],
    mixture: Mixture | None = None,
    *,
    guard: bool = True,
    model: str = "minilm",
) -> Threshold | None:
    """The threshold that agrees best with what a person said of pairs: predicted, gold, whether they are the same."""
    cosines = np.array([similarities([predicted], [gold], model)[0, 0] for predicted, gold, _ in pairs])
    p = cosines if mixture is None else mixture.posterior(cosines, guard)
    return best_threshold(p, [same for *_, same in pairs]) if pairs else None


def support_scores(
    answers: AnswerSet, said: Mapping[str, Sequence[Support | None]]
) -> dict[str, dict[str, Any]]:
    """Recall of gold nuggets by a judge, by system: mean over questions, half credit for partial support and strict.

    ``said`` has, by answer id, what the judge said of each gold nugget; answers without any are left out.
    """
    systems: dict[str, dict[str, list[float]]] = {}
    for (_, system), answer in answers.answers.items():
        for name, strict in (("recall", False), ("strict", True)):
            recall = judged_recall(said.get(answer.id, ()), strict)
            if recall is not None:
                systems.setdefault(system, {"recall": [], "strict": []})[name].append(recall)
    return {
        system: {"n": len(of["recall"])} | {name: float(np.mean(values)) for name, values in of.items()}
        for system, of in systems.items()
    }
