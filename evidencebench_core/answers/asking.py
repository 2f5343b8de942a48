"""Runs in which a model answers a dataset's hypotheses from the papers; and the abstracts as a baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from evidencebench_core.answers.brackets import CitedSentence
from evidencebench_core.answers.cited import CitedAnswer, read_cited_answer
from evidencebench_core.data.model import Focus
from evidencebench_core.data.store import DatasetInfo, Store
from evidencebench_core.errors import UnknownNameError
from evidencebench_core.llm.prompts import numbered
from evidencebench_core.runs import Fresh, Plan, Question, Result, RunInfo, RunStore, chat_plan, chat_spec

if TYPE_CHECKING:
    from evidencebench_core.llm import LLM

KIND: Final = "answers"  # of the runs
ASKED: Final = "cited-answer"


def answer_question(hypothesis: str, sentences: Sequence[str], focus: Focus) -> Question:
    """What does the paper say about the hypothesis or, with the focus ``results``, what does it find?"""
    name = f"{ASKED}-results" if focus == "results" else ASKED
    return Question(name, {"hypothesis": hypothesis, "sentences": numbered(sentences)})


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
    ids: Sequence[str] = store.ids(dataset, limit)
    if focus == "results":
        ids = [instance_id for instance_id, gold in store.evidence_sets(dataset, ids) if gold.focused(focus)]

    def question(instance_id: str) -> Question:
        instance = store.get(dataset, instance_id)
        return answer_question(instance.hypothesis, instance.sentences, focus)

    prompts = [f"{ASKED}-results" if focus == "results" else ASKED]
    subject = store.dataset(dataset).sha256
    spec = chat_spec(KIND, subject, ASKED, model, prompts, request, {"focus": focus})
    return chat_plan(store, spec, ids, question, llm, fresh=fresh)


def answers_of(store: Store, run: RunInfo) -> dict[str, CitedAnswer]:
    """The answers of a run by instance id; a call that failed has the outcome "failed"."""
    dataset = dataset_of(store, run).name
    sizes = {instance_id: gold.n_sentences for instance_id, gold in store.evidence_sets(dataset)}
    results = RunStore(store).results(run.id)
    return {unit: answer_in(result, sizes[unit]) for unit, result in results.items() if unit in sizes}


def answer_in(result: Result | str, n_sentences: int) -> CitedAnswer:
    """The answer in a stored result; with the outcome "failed" if that is the error of a call."""
    if isinstance(result, str):
        return CitedAnswer("failed")
    return read_cited_answer(
        result["text"], n_sentences, refusal=result.get("refusal"), finish_reason=result.get("finish_reason")
    )


def abstract_answers(store: Store, dataset: str) -> dict[str, CitedAnswer]:
    """The paper's abstract as the answer to each hypothesis, each of its sentences citing itself: the baseline."""
    answers = {}
    for instance in store.iter(dataset):
        types = enumerate(instance.sentence_types)
        places = [index for index, kind in types if kind == "abstract"]
        sentences = tuple(CitedSentence(instance.sentences[index], (index,)) for index in places)
        answers[instance.id] = CitedAnswer("answer" if sentences else "empty", sentences)
    return answers


def dataset_of(store: Store, run: RunInfo) -> DatasetInfo:
    """The dataset whose hypotheses a run answers; `UnknownNameError` if it is no longer in the store."""
    for info in store.datasets():
        if info.sha256 == run.subject:
            return info
    problem = "answers a dataset that is not in the store"
    raise UnknownNameError(f"run {run.id}", problem, "Ingest it again.")
