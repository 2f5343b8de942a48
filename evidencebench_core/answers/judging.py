"""A model as a judge of answers: what it is asked of a set, and how its labels are read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.answers.model import AnswerSet, has_words, unit_id
from evidencebench_core.answers.store import Mark, answer_set_info, stored_answers
from evidencebench_core.answers.units import RELEVANCES, SUPPORT, Labels
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, did_you_mean, shown
from evidencebench_core.llm import prompt
from evidencebench_core.llm.parse import after_thinking
from evidencebench_core.runs import (
    Fresh,
    Plan,
    Result,
    RunInfo,
    RunSpec,
    RunStore,
    prompt_plan,
    request_settings,
)

if TYPE_CHECKING:
    from evidencebench_core.llm import LLM

KIND: Final = "answers"  # of the runs
JUDGES: Final[Mapping[str, str]] = {
    "relevance": "answer-relevance",
    "citations": "citation-judge",
    "correctness": "citation-judge",
    "nuggets": "nugget-assign",
}
"""What is judged, and the prompt: of a sentence; of a citation; of a sentence by all it cites; of a gold nugget."""
MEANINGS: Final[Mapping[str, str]] = {
    "supports": "the source says what the claim says",
    "contradicts": "the source says the opposite of the claim",
    "neutral": "neither: the source says nothing on the claim, or too little",
}
NUGGETS: Final = ("support", "partial", "none")
_MOST_NUGGETS: Final = 10  # that a judge is shown at once
_FORMS: Final[Mapping[str, str]] = {
    form: label
    for label, stem in (("supports", "support"), ("contradicts", "contradict"))
    for form in (stem, f"{stem}s", f"{stem}ing", f"{stem}ed")
} | {label: label for label in (*SUPPORT, *RELEVANCES)}
_LABEL_LINE: Final = re.compile(r"^[ \t#*_`]*label[ \t*_`]*:(.*)$", re.MULTILINE)
_AROUND: Final = " \t\r\n*_`\"'.;,!()[]<>"


@dataclass(frozen=True, slots=True)
class Judgement:
    """One question to a judge: its unit, and what the prompt is filled with."""

    unit: str
    fields: Mapping[str, str]


def judge_plan(  # noqa: PLR0913 - what is judged, and how it is asked
    store: Store,
    name: str,
    task: str,
    model: str,
    *,
    limit: int | None = None,
    llm: LLM | None = None,
    fresh: Fresh = False,
    request: Mapping[str, object] | None = None,
) -> Plan:
    """The run in which a model judges the answers of a set, those to its first ``limit`` questions.

    ``relevance``: how much an answer needs each sentence. ``citations``: whether a document supports the sentence
    that cites it; ``correctness``: whether all that it cites do together. ``nuggets``: which gold nuggets the answer
    gives. Documents and sentences without text are not put to a judge.
    """
    prompt_name = JUDGES.get(task)
    if prompt_name is None:
        remedy = f"{did_you_mean(task, JUDGES)}Known: {', '.join(JUDGES)}."
        raise SettingError("judge", f"{shown(task)} is not known", remedy)
    asked_of = judgements(stored_answers(store, name), task, limit)
    fields = {judgement.unit: judgement.fields for judgement in asked_of}
    spec = judge_spec(answer_set_info(store, name).sha256, task, prompt_name, model, request)
    return prompt_plan(store, spec, prompt_name, tuple(fields), fields.__getitem__, llm, fresh=fresh)


def judge_spec(
    subject: str, task: str, prompt_name: str, model: str, request: Mapping[str, object] | None, **more: Any
) -> RunSpec:
    """The identity of a run about an answer set, a dataset or a run of answers."""
    versions = {prompt_name: prompt(prompt_name).version}
    settings = {"task": task, "model": model, "prompts": versions, "request": request_settings(request)}
    return RunSpec(KIND, subject, settings | more)


def judgements(answers: AnswerSet, task: str, limit: int | None = None) -> Iterator[Judgement]:
    """What a judge is asked about a set."""
    wanted = set(list(answers.question)[:limit])
    for answer in answers.answers:
        key = (answer.question_id, answer.system)
        if answer.question_id not in wanted:
            continue
        question = answers.question[answer.question_id]
        if task == "nuggets":
            for start in range(0, len(question.nuggets) if has_words(answer.text) else 0, _MOST_NUGGETS):
                some = question.nuggets[start : start + _MOST_NUGGETS]
                listed = "\n".join(f"{n}: {' '.join(nugget.split())}" for n, nugget in enumerate(some, 1))
                fields = {"question": question.question, "answer": answer.text, "nuggets": listed}
                yield Judgement(unit_id(*key, f"nuggets from {start + 1} of {len(some)}"), fields)
            continue
        for sentence in answer.sentences:
            claim, documents = (
                sentence.claim,
                [name for name in sentence.citations if name in answers.document],
            )
            if not has_words(claim):
                continue
            unit = (*key, sentence.id)
            if task == "relevance":
                yield Judgement(unit_id(*unit), {"question": question.question, "sentence": claim})
            elif task == "citations":
                for document in documents:
                    source = answers.document[document].whole
                    yield Judgement(unit_id(*unit, document), support_fields(claim, source))
            elif documents:
                sources = "\n\n".join(answers.document[document].whole for document in documents)
                yield Judgement(unit_id(*unit), support_fields(claim, sources))


def support_fields(claim: str, source: str) -> dict[str, str]:
    """What the citation judge is asked: does the source support the claim?"""
    labels = "\n".join(f"- {label}: {meaning}." for label, meaning in MEANINGS.items())
    return {"sentence": claim, "document": source, "labels": labels}


# -- labels -----------------------------------------------------------------------------------------


def read_judgement(result: Result) -> str | None:
    """The label behind the last ``LABEL:`` of a judge's answer, else the whole answer if it is one; else ``None``."""
    answer = (after_thinking(result["text"]) or "").casefold()
    lines = _LABEL_LINE.findall(answer) or [answer]
    return _FORMS.get(lines[-1].strip(_AROUND))


def judge_labels(
    store: Store, run: RunInfo, decisions: Mapping[str, Mark] | None = None
) -> dict[str, str | None]:
    """Label by unit, ``None`` where the judgement has none; ``decisions`` of people take their place.

    Calls that failed are absent, and so are decisions about units that were not judged.
    """
    labels: dict[str, str | None] = {}
    for unit, result in RunStore(store).results(run.id).items():
        if isinstance(result, str):
            continue
        if run.settings["task"] == "nuggets":
            labels |= _nugget_labels(unit, result)
        else:
            labels[unit] = read_judgement(result)
    for unit, mark in (decisions or {}).items():
        if unit in labels:
            labels[unit] = mark.label
    return labels


def _nugget_labels(unit: str, result: Result) -> dict[str, str | None]:
    """Of each gold nugget what the judge said."""
    answer_unit, _, place = unit.rpartition("/")
    first, n = (int(word) for word in place.split() if word.isdecimal())
    labels: dict[str, str | None] = {
        f"{answer_unit}/nugget {number}": None for number in range(first, first + n)
    }
    for line in (after_thinking(result["text"]) or "").splitlines():
        number, _, word = line.strip(" \t*_`-").partition(":")
        label = word.strip(" \t*_`.").casefold()
        if number.isascii() and number.isdecimal() and len(number) < 4 and label in NUGGETS:
            named = f"{answer_unit}/nugget {first + int(number) - 1}"
            if named in labels:
                labels[named] = label
    return labels


def judge_runs(store: Store, subject: str) -> tuple[RunInfo, ...]:
    """The judges' runs about an answer set or a run of answers, oldest first."""
    return RunStore(store).runs_of(KIND, subject)


def labels_by_task(
    store: Store, subject: str, model: str, decisions: Mapping[str, Mark] | None = None
) -> Labels:
    """All that one model said of a set; of each kind of judgement the run with the most answers counts."""
    labels = {}
    for run in sorted(judge_runs(store, subject), key=lambda run: (run.n_answered, run.created_at)):
        if run.settings["model"] == model and run.n_answered:
            labels[run.settings["task"]] = judge_labels(store, run, decisions)
    return labels
