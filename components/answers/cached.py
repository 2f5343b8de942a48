"""Answers and what is computed of them, cached (see `components.app.resources`)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

import numpy as np
import pandas as pd
import streamlit as st

from components.app import resources
from components.app.resources import Keys
from evidencebench_core.answers.agreement import JudgeAgreement, human_units
from evidencebench_core.answers.agreement import judge_agreement as agreement_of
from evidencebench_core.answers.correctness import Correctness, correctness, said_in
from evidencebench_core.answers.differences import system_differences
from evidencebench_core.answers.disagreements import LabelPair, label_pairs
from evidencebench_core.answers.judged import judge_labels as labels_of_judge
from evidencebench_core.answers.judged import scale_of, tokens_of
from evidencebench_core.answers.judging import nearest
from evidencebench_core.answers.matching import Matcher
from evidencebench_core.answers.model import AnswerSet, Precedence
from evidencebench_core.answers.nugget_scores import NuggetMatrix, NuggetScores
from evidencebench_core.answers.nugget_scores import nugget_scores as scores_by_nuggets
from evidencebench_core.answers.nugget_scores import nugget_texts as texts_of_nuggets
from evidencebench_core.answers.nuggets import Nuggets
from evidencebench_core.answers.set_judging import listed_nuggets as nuggets_of_run
from evidencebench_core.answers.set_judging import said_support
from evidencebench_core.answers.store import AnswerSetInfo, stored_answers
from evidencebench_core.answers.systems import SystemScores, judged_labels, ranking
from evidencebench_core.answers.systems import system_scores as scores_of_systems
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.runs import ChatRunInfo
from evidencebench_core.stats import RankCorrelation

Corrections = tuple[tuple[str, str], ...]  # units of a judge, and what a person says instead
_KEYS: Final[Keys] = {
    AnswerSetInfo: lambda info: info.sha256,
    ChatRunInfo: lambda run: (run.id, run.n_answered, run.n_failed),
}


@st.cache_resource(max_entries=4, show_spinner="Reading the answers …", hash_funcs=_KEYS)
def answer_set(info: AnswerSetInfo) -> AnswerSet:
    """A set of answers with its documents and labels."""
    return stored_answers(resources.store(), info.name)


@st.cache_resource(max_entries=8, show_spinner="Scoring the systems …", hash_funcs=_KEYS)
def system_scores(info: AnswerSetInfo, official: bool = False) -> SystemScores:
    """The systems of a set by the labels of people, with intervals; ``official``: a share of nothing is 0."""
    return scores_of_systems(answer_set(info), official=official, rng=np.random.default_rng(0))


@st.cache_resource(max_entries=16, show_spinner="Reading the judgements …", hash_funcs=_KEYS)
def judge_labels(
    run: ChatRunInfo, corrections: Corrections = (), threshold: float | None = None
) -> Mapping[str, str | None]:
    """A judge's labels by unit, with people's corrections; of one that gives scores by another threshold."""
    return MappingProxyType(labels_of_judge(resources.store(), run, corrections, threshold))


@st.cache_resource(max_entries=16, show_spinner="Comparing the labels …", hash_funcs=_KEYS)
def judge_agreement(
    info: AnswerSetInfo,
    run: ChatRunInfo,
    corrections: Corrections = (),
    precedence: Precedence = "support-first",
    unparsed: Literal["wrong", "leave_out"] = "wrong",
    threshold: float | None = None,
) -> JudgeAgreement:
    """A judge's labels against those of people, as far as both are there."""
    answers, labels = answer_set(info), judge_labels(run, corrections, threshold)
    rng = np.random.default_rng(0)
    return agreement_of(answers, labels, scale_of(run), precedence=precedence, unparsed=unparsed, rng=rng)


@st.cache_resource(max_entries=16, show_spinner="Scoring the systems …", hash_funcs=_KEYS)
def judged_scores(info: AnswerSetInfo, run: ChatRunInfo, corrections: Corrections = ()) -> SystemScores:
    """The systems of a set by a judge's labels, with intervals."""
    answers, labels = answer_set(info), judge_labels(run, corrections)
    judged = judged_labels(answers, **{run.settings["task"]: labels})
    return scores_of_systems(answers, judged, rng=np.random.default_rng(0))


def scores_by(info: AnswerSetInfo, run: ChatRunInfo | None, corrections: Corrections = ()) -> SystemScores:
    """The systems of a set by the labels of people, or of a judge."""
    return system_scores(info) if run is None else judged_scores(info, run, corrections)


@st.cache_resource(max_entries=16, show_spinner="Comparing the systems …", hash_funcs=_KEYS)
def differences_of_systems(
    info: AnswerSetInfo, metric: str, run: ChatRunInfo | None = None, corrections: Corrections = ()
) -> pd.DataFrame:
    """Every pair of systems by a metric, from people's labels or a judge's."""
    return system_differences(scores_by(info, run, corrections), metric, np.random.default_rng(0))


@st.cache_resource(max_entries=64, show_spinner="Ranking the systems …", hash_funcs=_KEYS)
def rank_correlation(
    info: AnswerSetInfo, metric: str, other: str, run: ChatRunInfo | None, corrections: Corrections = ()
) -> RankCorrelation:
    """The systems by a metric from people's labels against another metric from people's labels, or a judge's."""
    scores = system_scores(info), scores_by(info, run, corrections)
    return ranking(*scores, metric, other, np.random.default_rng(0), 2_000)


@st.cache_resource(max_entries=16, show_spinner="Comparing the labels …", hash_funcs=_KEYS)
def judged_pairs(
    info: AnswerSetInfo, run: ChatRunInfo, corrections: Corrections = ()
) -> tuple[LabelPair, ...]:
    """Unit by unit what people and a judge said, the worst disagreement first."""
    form = scale_of(run)
    return label_pairs(human_units(answer_set(info), form), judge_labels(run, corrections), form)


@st.cache_resource(max_entries=16, show_spinner="Reading the judgements …", hash_funcs=_KEYS)
def judged_correctness(info: AnswerSetInfo, run: ChatRunInfo) -> Mapping[str, Correctness]:
    """By system the share of sentences that a judge found correct."""
    return MappingProxyType(correctness(answer_set(info), said_in(resources.store(), run)))


@st.cache_resource(max_entries=16, show_spinner="Adding up the calls …", hash_funcs=_KEYS)
def judge_tokens(run: ChatRunInfo) -> tuple[int, int]:
    """Tokens of the prompts and of the answers of a judge's run."""
    return tokens_of(resources.store(), run)


@st.cache_resource(max_entries=512, show_spinner=False)
def closest_sentence(claim: str, sentences: tuple[str, ...]) -> int | None:
    """The place of the sentence that is most similar to a claim; ``None`` where no encoder is at hand."""
    try:
        return nearest(claim, sentences, 1)[0]
    except EvidenceBenchError:
        return None


@st.cache_resource(max_entries=8, show_spinner="Reading the nuggets …", hash_funcs=_KEYS)
def listed_nuggets(run: ChatRunInfo) -> Mapping[str, Nuggets]:
    """By answer id the nuggets that a run lists."""
    return MappingProxyType(nuggets_of_run(resources.store(), run))


@st.cache_resource(max_entries=8, show_spinner="Reading the judgements …", hash_funcs=_KEYS)
def nugget_support(run: ChatRunInfo) -> Mapping[str, tuple[str | None, ...]]:
    """By answer id what a judge said of each of the expert's nuggets."""
    return MappingProxyType(said_support(resources.store(), run))


@st.cache_resource(max_entries=128, show_spinner="Comparing the nuggets …", hash_funcs=_KEYS)
def nugget_matrix(
    info: AnswerSetInfo, question_id: str, system: str, run: ChatRunInfo | None = None
) -> NuggetMatrix | None:
    """The nuggets of an answer, its own or those that a run lists, against the gold ones, by their cosines."""
    answers, key = answer_set(info), (question_id, system)
    one = AnswerSet({question_id: answers.questions[question_id]}, {key: answers.answers[key]})
    return scores_by_nuggets(one, listed_nuggets(run) if run else None).matrices.get(key)


@st.cache_resource(max_entries=4, show_spinner=False, hash_funcs=_KEYS)
def nugget_texts(info: AnswerSetInfo, run: ChatRunInfo | None = None) -> tuple[str, ...]:
    """The texts of a set's nuggets, each once."""
    return texts_of_nuggets(answer_set(info), listed_nuggets(run) if run else None)


@st.cache_resource(max_entries=4, show_spinner="Comparing the nuggets of all answers …", hash_funcs=_KEYS)
def nugget_scores(info: AnswerSetInfo, matcher: Matcher, run: ChatRunInfo | None = None) -> NuggetScores:
    """Every answer of a set by its nuggets, its own or those that a run lists; matched at any threshold (`at`)."""
    listed = listed_nuggets(run) if run else None
    return scores_by_nuggets(answer_set(info), listed, matcher=matcher, threshold=0.0)


@st.cache_resource(max_entries=4, show_spinner="Drawing the thresholds …", hash_funcs=_KEYS)
def nugget_curve(info: AnswerSetInfo, matcher: Matcher, run: ChatRunInfo | None = None) -> pd.DataFrame:
    """Recall, precision and similarity of all answers over the threshold."""
    return pd.DataFrame(nugget_scores(info, matcher, run).curve())
