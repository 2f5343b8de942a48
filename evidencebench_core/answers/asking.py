"""Runs in which a model answers the hypotheses of a dataset, and those in which another one judges its citations."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final, cast

from evidencebench_core.answers.cited import (
    CitedAnswer,
    CitedScores,
    Pair,
    Support,
    cited_scores,
    read_cited_answer,
)
from evidencebench_core.answers.judging import KIND, judge_spec, read_judgement, support_fields
from evidencebench_core.answers.model import has_words
from evidencebench_core.data.model import Focus
from evidencebench_core.data.store import DatasetInfo, Store
from evidencebench_core.errors import SettingError, UnknownNameError
from evidencebench_core.llm.prompts import numbered
from evidencebench_core.runs import Fresh, Plan, Result, RunInfo, RunStore, prompt_plan

if TYPE_CHECKING:
    from evidencebench_core.llm import LLM

ASKED: Final = "cited-answer"


def answer_plan(  # noqa: PLR0913 - what is asked, and how
    store: Store,
    dataset: str,
    model: str,
    *,
    focus: Focus = "all",
    limit: int | None = None,
    llm: LLM | None = None,
    fresh: Fresh = False,
    request: Mapping[str, object] | None = None,
) -> Plan:
    """The run in which a model answers each hypothesis of a dataset from its paper, citing sentences.

    With the focus ``results`` it is asked for findings only, and instances without a result aspect are left out.
    """
    info, name = store.dataset(dataset), f"{ASKED}-results" if focus == "results" else ASKED
    spec = judge_spec(info.sha256, ASKED, name, model, request, focus=focus)
    ids: Sequence[str] = store.ids(dataset, limit)
    if focus == "results":
        ids = [instance_id for instance_id, gold in store.evidence_sets(dataset, ids) if gold.focused(focus)]

    def fields(instance_id: str) -> dict[str, str]:
        instance = store.get(dataset, instance_id)
        return {"hypothesis": instance.hypothesis, "sentences": numbered(instance.sentences)}

    return prompt_plan(store, spec, name, ids, fields, llm, fresh=fresh)


def answers_of(store: Store, run: RunInfo) -> dict[str, CitedAnswer]:
    """The answers of a run as they are read today, by instance id; a call that failed is one of outcome "failed"."""
    return _answers(store, dataset_of(store, run).name, run.id)


def _answers(store: Store, dataset: str, run_id: str) -> dict[str, CitedAnswer]:
    sizes = {instance_id: gold.n_sentences for instance_id, gold in store.evidence_sets(dataset)}
    results = RunStore(store).results(run_id)
    return {
        instance_id: answer_in(result, sizes[instance_id])
        for instance_id, result in results.items()
        if instance_id in sizes
    }


def answer_in(result: Result | str, n_sentences: int) -> CitedAnswer:
    """The answer in a stored result; one of outcome "failed" in the error of a call."""
    if isinstance(result, str):
        return CitedAnswer("failed")
    said = {name: result.get(name) for name in ("refusal", "finish_reason")}
    return read_cited_answer(result["text"], n_sentences, **said)


def dataset_of(store: Store, run: RunInfo) -> DatasetInfo:
    """The dataset whose hypotheses a run answers; `UnknownNameError` if it is not in the store any more."""
    for info in store.datasets():
        if info.sha256 == run.subject:
            return info
    problem = "answers a dataset that is not in the store"
    raise UnknownNameError(f"run {run.id}", problem, "Ingest it again.")


def cited_run(store: Store, run_id: str) -> RunInfo:
    """A run of answers to hypotheses, by its id or its beginning."""
    run = RunStore(store).run(run_id)
    if run.kind != KIND or run.settings.get("task") != ASKED:
        raise SettingError(f"run {run.id}", "is no run of `evidencebench answers ask`", "Name one that is.")
    return run


# -- judges of such answers -----------------------------------------------------------------------


def cited_judge_plan(
    store: Store,
    run_id: str,
    model: str,
    *,
    limit: int | None = None,
    llm: LLM | None = None,
    fresh: Fresh = False,
    request: Mapping[str, object] | None = None,
) -> Plan:
    """The run in which a judge says of every citation of a run's answers whether it supports its sentence."""
    run = cited_run(store, run_id)
    dataset = dataset_of(store, run).name
    spec = judge_spec(run.id, "citations", "citation-judge", model, request)
    answers = answers_of(store, run)
    pairs: dict[str, tuple[str, str, int]] = {}  # by unit the instance, the claim and the paper's sentence
    for instance_id in store.ids(dataset, limit):
        if instance_id in answers:
            for (u, s), unit in pair_units(instance_id, answers[instance_id]).items():
                pairs[unit] = instance_id, answers[instance_id].sentences[u].text, s

    @lru_cache(maxsize=64)  # the pairs of an instance follow each other
    def sentences_of(instance_id: str) -> tuple[str, ...]:
        return store.get(dataset, instance_id).sentences

    def fields(unit: str) -> dict[str, str]:
        instance_id, claim, s = pairs[unit]
        return support_fields(claim, sentences_of(instance_id)[s])

    return prompt_plan(store, spec, "citation-judge", tuple(pairs), fields, llm, fresh=fresh)


def pair_units(instance_id: str, answer: CitedAnswer) -> dict[Pair, str]:
    """The unit of each citation by a sentence with words: the sentence's wording is part of it."""
    units = {}
    for u, sentence in enumerate(answer.sentences):
        digest = hashlib.sha256(sentence.text.encode("utf-8", "replace")).hexdigest()[:8]
        for s in sentence.citations if has_words(sentence.text) else ():
            units[u, s] = f"{instance_id}#{u}-{s}-{digest}"
    return units


def pair_labels(
    store: Store, judge_run: str, answers: Mapping[str, CitedAnswer]
) -> dict[str, dict[Pair, Support | None]]:
    """A judge's labels of the pairs of each instance's answer; ``None``: no label could be read.

    A sentence without words is not put to a judge: its pairs have no label. Absent are calls that failed, and what
    the judge said of an answer that has been asked for again since.
    """
    results = RunStore(store).results(judge_run)
    labels: dict[str, dict[Pair, Support | None]] = {}
    for instance_id, answer in answers.items():
        units = pair_units(instance_id, answer)
        of_instance = labels.setdefault(instance_id, {})
        for u, sentence in enumerate(answer.sentences):
            for s in sentence.citations:
                result = results.get(units.get((u, s), ""))
                if (u, s) not in units:
                    of_instance[u, s] = None
                elif result is not None and not isinstance(result, str):
                    of_instance[u, s] = cast("Support | None", read_judgement(result))
    return labels


def cited_run_scores(
    store: Store, run_id: str, judge_run: str | None = None, *, limit: int | None = None
) -> CitedScores:
    """The scores of a run of answers, with the labels of ``judge_run``, else of the judge that said the most."""
    run = cited_run(store, run_id)
    dataset, answers = dataset_of(store, run), answers_of(store, run)
    judges = [judge for judge in RunStore(store).runs_of(KIND, run.id) if judge.n_answered]
    if judge_run is not None:
        named = RunStore(store).run(judge_run)
        if named.subject != run.id:
            known = ", ".join(judge.id for judge in judges) or "none yet"
            problem = f"judges no answers of run {run.id}"
            raise SettingError(f"run {named.id}", problem, f"Judges' runs of it: {known}.")
        judges = [named]
    judge = max(judges, key=lambda run: run.n_answered, default=None)
    gold = dict(store.evidence_sets(dataset.name, store.ids(dataset.name, limit)))
    papers = store.paper_ids(dataset.name)
    labels = pair_labels(store, judge.id, answers) if judge else None
    return cited_scores(gold, answers, papers, run.settings["focus"], labels)
