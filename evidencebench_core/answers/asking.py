"""Runs in which a model answers the hypotheses of a dataset, and those in which another one judges its citations."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from evidencebench_core.answers.brackets import CitedSentence
from evidencebench_core.answers.cited import (
    CitedAnswer,
    CitedScores,
    Stated,
    cited_scores,
    read_cited_answer,
)
from evidencebench_core.answers.judging import (
    WING,
    citation_question,
    nearest,
    read_judgement,
    request_of,
    run_settings,
)
from evidencebench_core.answers.model import has_words
from evidencebench_core.data.model import Focus, Instance
from evidencebench_core.data.store import DatasetInfo, Store
from evidencebench_core.errors import SettingError, UnknownNameError
from evidencebench_core.llm import Conversation, prompt
from evidencebench_core.llm.prompts import numbered
from evidencebench_core.metrics.cited import Pair, Support, Unjudged
from evidencebench_core.runs import ChatPlan, ChatRunInfo, ChatRuns, ChatRunSpec, Result, asked, chat_plan
from evidencebench_core.stats import PairedComparison, compare_paired, holm

if TYPE_CHECKING:
    from evidencebench_core.llm import LLM

ASKED: Final = "cited-answer"
_COMPARED: Final = (
    "cited_recall", "grounded_recall", "evidence_precision", "support_rate", "sound_precision", "grounded_f",
)  # fmt: skip
_NEAREST: Final = 3  # gold sentences, for a stated recall that is not too dear

# -- answers to hypotheses ------------------------------------------------------------------------


def answer_plan(  # noqa: PLR0913 - what is asked, and how
    store: Store,
    dataset: str,
    model: str,
    *,
    focus: Focus = "all",
    limit: int | None = None,
    llm: LLM | None = None,
    fresh: bool = False,
    retry_lost: bool = False,
    request: Mapping[str, object] | None = None,
) -> ChatPlan:
    """The run in which a model answers each hypothesis of a dataset from its paper, citing sentences.

    Parameters
    ----------
    focus : {"all", "results"}
        With ``results`` it is asked for findings only, and instances without a result aspect are left out.
    retry_lost : bool
        Ask again where there was no answer that could be read.
    request : mapping, optional
        What differs from the defaults of `runs.REQUEST_SETTINGS`.
    """
    info, name = store.dataset(dataset), f"{ASKED}-results" if focus == "results" else ASKED
    spec = ChatRunSpec(
        WING, info.sha256, {"task": ASKED, "focus": focus} | run_settings(model, (name,), request)
    )
    ids: Sequence[str] = store.ids(dataset, limit)
    if focus == "results":
        ids = [one for one, gold in store.evidence_sets(dataset, ids) if gold.focused(focus)]
    lost = (
        {one for one, read in _read(store, dataset, spec.id).items() if not read.is_scored}
        if retry_lost
        else ()
    )
    sent, asking = request_of(spec.settings), prompt(name)

    def conversation(instance_id: str) -> Conversation[Result]:
        instance = store.get(dataset, instance_id)
        messages = asking.messages(hypothesis=instance.hypothesis, sentences=numbered(instance.sentences))
        return asked(replace(sent, messages=messages), "answer")

    return chat_plan(store, spec, ids, conversation, llm, fresh=fresh, again=lost)


def answers_of(store: Store, run: ChatRunInfo) -> dict[str, CitedAnswer]:
    """The answers of a run as they are read today, by instance id; a call that failed is one of outcome "failed"."""
    return _read(store, dataset_of(store, run).name, run.id)


def _read(store: Store, dataset: str, run_id: str) -> dict[str, CitedAnswer]:
    gold = store.gold(dataset)
    sizes = dict(zip(gold.ids, gold.n_sentences.tolist(), strict=True))
    results = ChatRuns(store).results(run_id).items()
    return {one: _answer(result, sizes[one]) for one, result in results if one in sizes}


def answer_in(store: Store, run: ChatRunInfo, instance_id: str, n_sentences: int) -> CitedAnswer | None:
    """The answer to one instance; ``None`` where the model was not asked."""
    result = ChatRuns(store).results_between(run.id, instance_id, instance_id).get(instance_id)
    return None if result is None else _answer(result, n_sentences)


def _answer(result: Result | str, n_sentences: int) -> CitedAnswer:
    if isinstance(result, str):
        return CitedAnswer("failed")
    said = {name: result.get(name) for name in ("refusal", "finish_reason")}
    return read_cited_answer(result["text"], n_sentences, **said)


def dataset_of(store: Store, run: ChatRunInfo) -> DatasetInfo:
    """The dataset whose hypotheses a run answers; `UnknownNameError` if it is not in the store any more."""
    found = next((one for one in store.datasets() if one.sha256 == run.subject), None)
    if found is None:
        raise UnknownNameError(
            f"run {run.id}", "answers a dataset that is not in the store", "Ingest it again."
        )
    return found


# -- judges of such answers -----------------------------------------------------------------------


def cited_judge_plan(  # noqa: PLR0913 - what is asked, and how
    store: Store,
    run_id: str,
    model: str,
    *,
    window: int = 0,
    stated: Stated = "none",
    limit: int | None = None,
    llm: LLM | None = None,
    fresh: bool = False,
    request: Mapping[str, object] | None = None,
) -> ChatPlan:
    """The run in which a judge says of every citation of a run's answers whether it supports its sentence.

    Parameters
    ----------
    window : int
        How many neighbours on each side the judge is shown with the cited sentence.
    stated : {"none", "nearest", "all"}
        For the stated recall every answer sentence is judged, too, with the three gold sentences nearest to it by
        cosine, or with all, cited or not.
    limit : int, optional
        Only the answers to the first so many instances.
    """
    run = cited_run(store, run_id)
    dataset, focus = dataset_of(store, run), run.settings["focus"]
    own = {"task": "citations", "scale": "ternary", "window": window}
    spec = ChatRunSpec(WING, run.id, own | run_settings(model, ("citation-judge",), request))
    answers, ids = answers_of(store, run), list[str]()
    for instance in store.get_many(
        dataset.name, [one for one in store.ids(dataset.name, limit) if one in answers]
    ):
        for u, sentence in enumerate(answers[instance.id].sentences):
            if has_words(sentence.text):
                ids += [
                    pair_unit(instance.id, u, s, sentence.text)
                    for s in (*sentence.citations, *_stated_pairs(stated, sentence.text, instance, focus))
                ]
    sent = request_of(spec.settings)

    @lru_cache(maxsize=64)  # the pairs of an instance follow each other
    def sentences_of(instance_id: str) -> tuple[str, ...]:
        return store.get(dataset.name, instance_id).sentences

    def conversation(unit: str) -> Conversation[Result]:
        instance_id, (u, s) = _pair_of(unit)
        source = " ".join(sentences_of(instance_id)[max(0, s - window) : s + window + 1])
        return citation_question(sent, answers[instance_id].sentences[u].text, source)

    return chat_plan(store, spec, ids, conversation, llm, fresh=fresh)


def pair_labels(
    store: Store, judge_run: str, answers: Mapping[str, CitedAnswer]
) -> dict[str, dict[Pair, Support | None]]:
    """A judge's labels of the pairs of each instance's answer; ``None``: no label could be read.

    Absent are calls that failed, and what the judge said of an answer that has been asked for again since.
    """
    return _labels(ChatRuns(store).results(judge_run), answers)


def labels_in(
    store: Store, judge_run: str, instance_id: str, answer: CitedAnswer
) -> dict[Pair, Support | None]:
    """The labels of one instance's answer."""
    results = ChatRuns(store).results_between(judge_run, f"{instance_id}#", f"{instance_id}#\U0010ffff")
    return _labels(results, {instance_id: answer}).get(instance_id, {})


def _labels(
    results: Mapping[str, Result | str], answers: Mapping[str, CitedAnswer]
) -> dict[str, dict[Pair, Support | None]]:
    labels: dict[str, dict[Pair, Support | None]] = {}
    for unit, result in results.items():
        name, (u, s) = _pair_of(unit)
        if name not in answers:
            continue
        own, sentences = labels.setdefault(name, {}), answers[name].sentences[u : u + 1]
        if not isinstance(result, str) and any(unit == pair_unit(name, u, s, one.text) for one in sentences):
            label: Any = read_judgement(result, "ternary").label
            own[u, s] = label
    return labels


def cited_run_scores(
    store: Store,
    run_id: str,
    judge_run: str | None = None,
    *,
    limit: int | None = None,
    unjudged: Unjudged = "count",
    seed: int = 0,
) -> CitedScores:
    """The scores of a run of answers, with a judge's labels where a judge's run is named."""
    run = cited_run(store, run_id)
    dataset, focus = dataset_of(store, run), run.settings["focus"]
    gold = dict(store.evidence_sets(dataset.name, store.ids(dataset.name, limit)))
    every = store.gold(dataset.name)
    papers = dict(zip(every.ids, every.paper_ids, strict=True))
    answers = answers_of(store, run)
    judged = None
    if judge_run is not None:
        judge = judge_of(store, run, judge_run)
        judged = pair_labels(store, judge.id, answers)
        for one, answer in answers.items():  # a sentence without words is not put to a judge
            for u, sentence in enumerate(answer.sentences):
                if not has_words(sentence.text):
                    judged.setdefault(one, {}).update(dict.fromkeys([(u, s) for s in sentence.citations]))
    return cited_scores(
        gold,
        answers,
        papers,
        focus,
        judged,
        stated=_stated_setting(store.get_many(dataset.name, list(gold)), answers, judged, focus),
        unjudged=unjudged,
        seed=seed,
    )


def compare_cited_runs(
    store: Store, a: tuple[str, str | None], b: tuple[str, str | None], limit: int | None = None
) -> dict[str, tuple[PairedComparison, float | None]]:
    """Two runs over one dataset, each with its judge's run or none, instance by instance where both are defined.

    By measure the comparison, papers drawn together, and its p-value by Holm over the measures.

    Raises
    ------
    SettingError
        If they answer different datasets, or one was asked for findings only.
    """
    runs = [cited_run(store, run) for run, _ in (a, b)]
    first, second = runs
    if (first.subject, first.settings["focus"]) != (second.subject, second.settings["focus"]):
        problem = f"answers another dataset, or with another focus, than run {first.id}"
        raise SettingError(f"run {second.id}", problem, "Compare runs over one dataset with one focus.")
    scores = [cited_run_scores(store, run, judge, limit=limit).per_instance for run, judge in (a, b)]
    gold = store.gold(dataset_of(store, first).name)
    papers, found = dict(zip(gold.ids, gold.paper_ids, strict=True)), dict[str, PairedComparison]()
    for name in _COMPARED:
        one, other = ({i: getattr(score, name) for i, score in of.items()} for of in scores)
        both = [i for i, value in one.items() if value is not None and other.get(i) is not None]
        if both:
            left, right = ([of[i] for i in both] for of in (one, other))
            rng, clusters = np.random.default_rng(0), [papers[i] for i in both]
            found[name] = compare_paired(left, right, rng, clusters=clusters)
    adjusted = holm([of.p_value for of in found.values()])
    return {name: (of, p) for (name, of), p in zip(found.items(), adjusted, strict=True)}


def abstract_scores(store: Store, run_id: str, limit: int | None = None) -> CitedScores:
    """The scores of the papers' abstracts as answers, each sentence citing itself, on the instances that a run has.

    An answer that is no better has told a reader nothing new.
    """
    run = cited_run(store, run_id)
    dataset = dataset_of(store, run).name
    answered = {one for one, read in answers_of(store, run).items() if read.is_scored}
    ids = [one for one in store.ids(dataset, limit) if one in answered]
    answers, papers = dict[str, CitedAnswer](), dict[str, str]()
    for instance in store.get_many(dataset, ids):
        of_abstract = [i for i, kind in enumerate(instance.sentence_types) if kind == "abstract"]
        sentences = tuple(CitedSentence(instance.sentences[i], (i,)) for i in of_abstract)
        answers[instance.id], papers[instance.id] = CitedAnswer("answer", sentences), instance.paper_id
    return cited_scores(dict(store.evidence_sets(dataset, ids)), answers, papers, run.settings["focus"])


def judge_of(store: Store, run: ChatRunInfo, judge_run: str) -> ChatRunInfo:
    """A judge's run about a run, by its id or its beginning."""
    judge = ChatRuns(store).run(judge_run)
    if judge.subject != run.id:
        every = ", ".join(one.id for one in ChatRuns(store).runs(WING, run.id)) or "none yet"
        raise SettingError(
            f"run {judge.id}", f"judges no answers of run {run.id}", f"Judges' runs of it: {every}."
        )
    return judge


def _stated_setting(
    instances: Iterable[Instance],
    answers: Mapping[str, CitedAnswer],
    judged: Mapping[str, Mapping[Pair, Any]] | None,
    focus: Focus,
) -> Stated:
    """With which gold sentences every answer sentence was judged."""
    if judged is None:
        return "none"
    every = [
        (
            one,
            sentence.text,
            frozenset(s for v, s in judged.get(one.id, {}) if v == u),
            frozenset(sentence.citations),
        )
        for one in instances
        if one.id in answers
        for u, sentence in enumerate(answers[one.id].sentences)
        if has_words(sentence.text)
    ]
    gold = {one.id: frozenset().union(*one.evidence.covers(focus)) for one, *_ in every}
    if all(labels >= gold[one.id] for one, _, labels, _ in every):
        return "all"
    if all(labels <= cited for *_, labels, cited in every):
        return "none"  # without a look at what is nearest
    near = (labels.issuperset(_stated_pairs("nearest", text, one, focus)) for one, text, labels, _ in every)
    return "nearest" if all(near) else "none"


def _stated_pairs(stated: Stated, text: str, instance: Instance, focus: Focus) -> list[int]:
    """The gold sentences that an answer sentence is judged with, cited or not."""
    gold = sorted(frozenset().union(*instance.evidence.covers(focus)))
    if stated != "nearest" or len(gold) <= _NEAREST:
        return [] if stated == "none" else gold
    return [gold[place] for place in nearest(text, [instance.sentences[s] for s in gold], _NEAREST)]


# -- parts ----------------------------------------------------------------------------------------


def pair_unit(instance_id: str, u: int, s: int, claim: str) -> str:
    """The id of a citation: sentence u of an answer, by its wording, and the paper's sentence s."""
    return f"{instance_id}#{u}-{s}-{hashlib.sha256(claim.encode('utf-8', 'replace')).hexdigest()[:8]}"


def _pair_of(unit: str) -> tuple[str, Pair]:
    instance_id, _, pair = unit.rpartition("#")
    u, s, _ = pair.split("-")
    return instance_id, (int(u), int(s))


def cited_run(store: Store, run_id: str) -> ChatRunInfo:
    """A run of answers to hypotheses, by its id or its beginning."""
    run = ChatRuns(store).run(run_id)
    if run.wing != WING or run.settings.get("task") != ASKED:
        raise SettingError(f"run {run.id}", "is no run of `evidencebench answers ask`", "Name one that is.")
    return run
