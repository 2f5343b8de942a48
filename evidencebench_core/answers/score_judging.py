"""Judges that give a score and are asked nothing: cosine, inference, a file of scores (spec rules 29, 31, 36).

What they give is kept as a judge's run, so that all that is computed from a run is computed from theirs too; the
threshold is applied as they are read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.answers.agreement import human_units
from evidencebench_core.answers.judging import WING, window_texts
from evidencebench_core.answers.matching import pair_cosines
from evidencebench_core.answers.model import AnswerSet, Precedence
from evidencebench_core.answers.set_judging import Claim, claims, judge_settings, sentences_in, source_of
from evidencebench_core.data.store import Store
from evidencebench_core.data.strict_json import json_value
from evidencebench_core.errors import DataError, SettingError, shown
from evidencebench_core.llm.request import json_bytes
from evidencebench_core.runs import ChatRunInfo, ChatRuns, ChatRunSpec, Result
from evidencebench_core.stats import best_threshold

By = Literal["cosine", "nli", "scores"]
MODELS: Final[Mapping[str, str]] = {"cosine": "minilm", "nli": "FacebookAI/roberta-large-mnli"}
"""The model of the scores unless another is named."""
_THRESHOLDS: Final = {"nli": 0.5, "simcse": 0.75}
_AT_ONCE: Final = 32  # claims

_Floats = NDArray[np.float64]


def score_judge(  # noqa: PLR0913 - what is judged, and how
    store: Store,
    subject: str,
    answers: AnswerSet,
    what: Literal["citations", "correctness"],
    by: By,
    *,
    model: str | None = None,
    threshold: float | None = None,
    settings: Mapping[str, Any] | None = None,
    scores: Mapping[str, float] | None = None,
    limit: int | None = None,
) -> tuple[str, int, Iterator[int]]:
    """Judge a set by scores: the run's id, how many units are to be scored, and what scores them as it is iterated.

    Parameters
    ----------
    subject : str
        The set's digest.
    what : {"citations", "correctness"}
    by : {"cosine", "nli", "scores"}
        The cosine of source and claim; the probability that the source entails the claim (citations are then judged
        on the scale ``ternary``: contradicted from a probability of 0.5); or ``scores``, of citations only.
    model : str, optional
        An embedding model, a model of inference, or what gave the scores.
    threshold : float, optional
        Supports from here on. 0.5 for ``nli`` and the authors' 0.75 for ``simcse`` unless given.
    settings : mapping, optional
        As of `set_judge_plan`, without ``scale`` and ``prefilter``.
    scores : mapping from unit to float, optional
        Units without one are not judged.
    limit : int, optional
        Only the answers to the first so many questions.

    Returns
    -------
    (str, int, iterator of int)
        The iterator gives the number of units that are kept, again and again; a run that was stopped goes on.
    """
    model = model or MODELS.get(by, by)
    if threshold is None:
        threshold = _THRESHOLDS.get(by, _THRESHOLDS.get(model))
    if threshold is None:
        remedy = "Give one; `answers agree --threshold best` finds that of people's labels."
        raise SettingError(
            "threshold", f"is not given, and {by} by {shown(model)} has none of its own", remedy
        )
    if not isfinite(threshold):
        raise SettingError("threshold", f"is {threshold}", "Give a number.")
    own = judge_settings(what, settings or {})
    if what == "correctness" and by == "scores":
        raise SettingError(
            "judge correctness", "has windows, of which a file has no scores", "Judge citations."
        )
    if own.get("source") == "nuggets":
        raise SettingError(
            "judge citations, source", "is nuggets, which need a model", "Say document or maxsim."
        )
    own = {name: value for name, value in own.items() if name != "prefilter"}
    own |= {"scale": "ternary" if by == "nli" else "binary"} if what == "citations" else {}
    digest = (
        {}
        if scores is None
        else {"scores": hashlib.sha256(json_bytes(dict(sorted(scores.items())))).hexdigest()}
    )
    identity = {"task": what, "by": by, "model": model, "threshold": threshold}
    spec = ChatRunSpec(WING, subject, identity | own | digest)
    ChatRuns(store).create(spec)
    done = ChatRuns(store).done(spec.id)
    every = (one for one in claims(answers, what, own, limit) if one.unit not in done)
    wanted = [one for one in every if scores is None or one.unit in scores]

    def scoring() -> Iterator[int]:
        for start in range(0, len(wanted), _AT_ONCE):
            some = wanted[start : start + _AT_ONCE]
            results = _results(some, spec.settings, scores)
            ChatRuns(store).add(spec.id, dict(zip((one.unit for one in some), results, strict=True)))
            yield start + len(some)

    return spec.id, len(wanted), scoring()


def file_scores(path: Path) -> dict[str, float]:
    """The scores of a file ``{unit: number}``, units being question/system/sentence/document.

    Raises
    ------
    DataError
        With the unit and the value of what is no number.
    """
    remedy = 'Give an object such as {"q1/M1/1/12345678": 0.83}; ids with a / have %2F in its place.'
    value = json_value(path, remedy)
    if not isinstance(value, dict) or not value:
        raise DataError(str(path), f"holds {shown(value)}, not an object of scores", remedy)
    for unit, score in value.items():
        if isinstance(score, bool) or not isinstance(score, int | float) or not isfinite(score):
            raise DataError(f"{path}, {shown(unit)}", f"is {shown(score)}, not a number", remedy)
    return {unit: float(score) for unit, score in value.items()}


def scores_in(store: Store, run: ChatRunInfo) -> dict[str, float]:
    """The scores of a run of `score_judge` about citations by unit; `SettingError` if its judge gives none."""
    results = ChatRuns(store).results(run.id)
    scores = {
        unit: one["score"] for unit, one in results.items() if not isinstance(one, str) and "score" in one
    }
    if not scores:
        raise SettingError(
            f"run {run.id}", "has labels and no scores of citations", "Leave out the threshold."
        )
    return scores


def labels_by_best_threshold(
    answers: AnswerSet, scores: Mapping[str, float], precedence: Precedence = "support-first"
) -> tuple[dict[str, str | None], dict[str, float]]:
    """The label of each scored citation by the threshold of the best F1 of *attributable* on the other questions.

    Returns
    -------
    (mapping from unit to label, mapping from question to its threshold)

    Raises
    ------
    SettingError
        If people labelled citations of fewer than two questions, or the others of one hold no supporting citation.
    """
    human = human_units(answers, "binary", precedence)
    units = [unit for unit in human.labels if unit in scores]
    values = np.array([scores[unit] for unit in units])
    truth = np.array([human.labels[unit] == "attributable" for unit in units], dtype=bool)
    questions = np.array([human.groups[unit][0] for unit in units], dtype=object)
    thresholds = dict[str, float]()
    for question in dict.fromkeys(questions.tolist()):
        others = questions != question
        if (best := best_threshold(values[others], truth[others])) is None:
            problem = (
                f"cannot be chosen for {question}: people call no citation of the other questions supporting"
            )
            raise SettingError("threshold", problem, "Give one.")
        thresholds[question] = best.value
    names = ("not attributable", "attributable")
    labels: dict[str, str | None] = {
        unit: names[score >= thresholds[question]]
        for unit, score, question in zip(units, values.tolist(), questions.tolist(), strict=True)
    }
    return labels, thresholds


def _results(
    some: Sequence[Claim], own: Mapping[str, Any], scores: Mapping[str, float] | None
) -> list[Result]:
    """The results of claims; of several windows that of the highest score is kept."""
    if scores is not None:
        return [_result(own, scores[one.unit]) for one in some]
    if own["task"] == "citations":
        sources = [[source_of(one, own["source"])] for one in some]
    else:
        sources = [window_texts([sentences_in(of) for of in one.documents], own["window"]) for one in some]
    pairs = [(text, one.text) for one, texts in zip(some, sources, strict=True) for text in texts]
    support, against = _pair_scores(pairs, own)
    results, start = list[Result](), 0
    for texts in sources:
        found = slice(start, start + len(texts))
        best = [] if not texts else [int(np.argmax(support[found]))]
        parts = [
            _result(own, support[found][at], None if against is None else against[found][at])
            | {"window": texts[at]}
            for at in best
        ]
        results.append(
            {"parts": parts, "n_windows": len(texts)} if own["task"] == "correctness" else parts[0]
        )
        start += len(texts)
    return results


def _pair_scores(pairs: Sequence[tuple[str, str]], own: Mapping[str, Any]) -> tuple[_Floats, _Floats | None]:
    """Of each (source, claim) how much the one supports the other, and contradicts it."""
    if own["by"] == "cosine":
        return pair_cosines(pairs, own["model"]), None
    from evidencebench_core.retrievers.nli import nli_logits

    logits = nli_logits(own["model"], pairs)
    shares = np.exp(logits - logits.max(axis=1, initial=-np.inf, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return shares[:, 0], shares[:, 2]


def _result(own: Mapping[str, Any], score: float, against: float | None = None) -> dict[str, Any]:
    said = f"{own['by']} {score:.3f}" + ("" if against is None else f", contradiction {against:.3f}")
    result = {"text": said, "finish_reason": "stop", "score": float(score), "threshold": own["threshold"]}
    return result if against is None else result | {"contradiction": float(against)}
