"""A model as a judge of answers: its questions about a set or a run, and how its labels are read."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from evidencebench_core.answers.asking import KIND, answers_of, dataset_of
from evidencebench_core.answers.cited import CitedAnswer, Pair
from evidencebench_core.answers.model import RELEVANCES, SUPPORT, Answer, AnswerSet, has_words, unit_id
from evidencebench_core.answers.model import Question as AskedQuestion
from evidencebench_core.answers.store import ANSWER_SETS, Mark, stored_answers
from evidencebench_core.answers.units import Labels, units_frame
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, UnknownNameError, did_you_mean, shown
from evidencebench_core.llm.parse import after_thinking
from evidencebench_core.runs import (
    JUDGEMENTS,
    Fresh,
    Plan,
    Question,
    Result,
    RunInfo,
    RunStore,
    chat_plan,
    chat_run,
    chat_spec,
    judge_run,
)
from evidencebench_core.runs.labels import Labels as LabelWords
from evidencebench_core.runs.labels import label_of, read_label

if TYPE_CHECKING:
    from evidencebench_core.llm import LLM

MARK: Final = "LABEL"  # precedes a judge's label
SUPPORT_WORDS: Final = {
    f"{stem}{end}": f"{stem}s" for stem in ("support", "contradict") for end in ("", "s", "ing", "ed")
} | {"neutral": "neutral"}
"""The words that state a label of support."""
NUGGETS: Final = ("support", "partial", "none")
_MOST_NUGGETS: Final = 10  # in one question
_FACT: Final = re.compile(r"^[ \t*_`-]*(?:\d{1,3}[.)][ \t]*)?([a-z]+)[*_` \t]*:[ \t]*\S", re.MULTILINE)
_NUGGET: Final = re.compile(r"^[ \t*_`-]*(\d{1,3})[ \t*_`]*:(.*)$", re.MULTILINE)


class Judging(NamedTuple):
    """A task of a judge: its prompts, and the words that state a label."""

    prompts: tuple[str, ...]
    labels: LabelWords


JUDGES: Final[Mapping[str, Judging]] = {
    "relevance": Judging(("answer-relevance",), RELEVANCES),
    "citations": Judging(("citation-judge",), SUPPORT_WORDS),
    "correctness": Judging(("citation-judge",), SUPPORT_WORDS),
    "nuggets": Judging(("nugget-assign", "answer-nuggets"), NUGGETS),
}
"""By task; it is about sentences, citations, sentences with all that they cite, or facts."""


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
    """The run in which a model judges the answers of a set or a run, those to its first ``limit`` questions.

    ``relevance``: how much an answer needs each sentence. ``citations``: whether a document supports the sentence
    that cites it; ``correctness``: whether all that it cites do together. ``nuggets``: which gold nuggets the answer
    gives, and which of its own facts are among them. Of a run there is ``citations`` alone. Documents and sentences
    without text are not put to a judge.
    """
    if task not in JUDGES:
        remedy = f"{did_you_mean(task, JUDGES)}Known: {', '.join(JUDGES)}."
        raise SettingError(f"judge {shown(task)}", "is not known", remedy)
    if is_answer_set(store, name):
        subject = ANSWER_SETS.named(store, name).sha256
        questions = dict(judgements(stored_answers(store, name), task, limit))
    elif task == "citations":
        run = chat_run(store, name, KIND)
        subject, questions = run.id, dict(run_judgements(store, run, limit))
    else:
        problem = f"cannot be judged by {task}"
        raise SettingError(f"run {name}", problem, "Of a run of `answers ask` the citations are judged.")
    spec = chat_spec(JUDGEMENTS, subject, task, model, JUDGES[task].prompts, request)
    return chat_plan(store, spec, tuple(questions), questions.__getitem__, llm, fresh=fresh)


def is_answer_set(store: Store, name: str) -> bool:
    """Whether this is the name of a set of answers, and not of a run; `UnknownNameError` where it is of neither."""
    names = [info.name for info in ANSWER_SETS.all(store)]
    if name in names:
        return True
    try:
        RunStore(store).run(name)
    except UnknownNameError as error:
        remedy = f"{error.remedy} Sets of answers: {', '.join(names) or 'none'}."
        raise UnknownNameError(error.place, error.problem, remedy) from error
    return False


def judgements(answers: AnswerSet, task: str, limit: int | None = None) -> Iterator[tuple[str, Question]]:
    """The questions to a judge about a set, by unit."""
    wanted = list(answers.question)[:limit]
    if task == "nuggets":
        for answer in answers.answers:
            if answer.question_id in wanted:
                yield from _nugget_questions(answers.question[answer.question_id], answer)
        return
    units = units_frame(answers)
    units = units[(units["kind"] == task) & units["has_text"] & units["question"].isin(wanted)]
    rows: Iterable[Any] = units.itertuples()
    for row in rows:
        if task == "relevance":
            fields = {"question": answers.question[row.question].question, "sentence": row.claim}
            yield row.unit, Question("answer-relevance", fields)
        else:
            sources = [answers.document[name].whole for name in row.documents]
            yield row.unit, support_question(row.claim, "\n\n".join(sources))


def _nugget_questions(question: AskedQuestion, answer: Answer) -> Iterator[tuple[str, Question]]:
    """Which gold nuggets the answer gives, several at a time; and which of its facts are among them."""
    text = answer.text or " ".join(sentence.text for sentence in answer.sentences)
    if not question.nuggets or not has_words(text):
        return
    key, fields = (question.question_id, answer.system), {"question": question.question, "answer": text}
    for start in range(0, len(question.nuggets), _MOST_NUGGETS):
        nuggets = question.nuggets[start : start + _MOST_NUGGETS]
        unit = unit_id(*key, f"nuggets from {start + 1} of {len(nuggets)}")
        yield unit, Question("nugget-assign", {**fields, "nuggets": _nugget_list(nuggets)})
    facts = {**fields, "nuggets": _nugget_list(question.nuggets)}
    yield unit_id(*key, "facts"), Question("answer-nuggets", facts)


def _nugget_list(nuggets: tuple[str, ...]) -> str:
    return "\n".join(f"{n}: {' '.join(nugget.split())}" for n, nugget in enumerate(nuggets, 1))


def support_question(claim: str, source: str) -> Question:
    """Does the source support the claim?"""
    labels = "\n".join(f"- {label}: {meaning}." for label, meaning in SUPPORT.items())
    return Question("citation-judge", {"sentence": claim, "document": source, "labels": labels})


def run_judgements(store: Store, run: RunInfo, limit: int | None = None) -> Iterator[tuple[str, Question]]:
    """The questions to a judge about the citations in a run's answers, by unit."""
    dataset, answers = dataset_of(store, run).name, answers_of(store, run)
    for instance_id in store.ids(dataset, limit):
        units = pair_units(instance_id, answers[instance_id]) if instance_id in answers else {}
        sentences = store.get(dataset, instance_id).sentences if units else ()
        for (u, s), unit in units.items():
            yield unit, support_question(answers[instance_id].sentences[u].text, sentences[s])


def pair_units(instance_id: str, answer: CitedAnswer) -> dict[Pair, str]:
    """The unit of each citation, which depends on the wording of the citing sentence."""
    units = {}
    for u, sentence in enumerate(answer.sentences):
        digest = hashlib.sha256(sentence.text.encode("utf-8", "replace")).hexdigest()[:8]
        for s in sentence.citations:
            units[u, s] = f"{instance_id}#{u}-{s}-{digest}"
    return units


# -- labels -----------------------------------------------------------------------------------------


def judge_labels(
    store: Store, run: RunInfo, decisions: Mapping[str, Mark] | None = None
) -> dict[str, str | None]:
    """Labels by unit, ``None`` where the judgement has none; ``decisions`` of people replace them.

    Calls that failed are absent, and so are decisions about units that were not judged.
    """
    labels: dict[str, str | None] = {}
    for unit, result in RunStore(store).results(run.id).items():
        if isinstance(result, str):
            continue
        if run.settings["task"] == "nuggets":
            labels |= _nugget_labels(unit, result)
        else:
            labels[unit] = label_of(result, JUDGES[run.settings["task"]].labels, MARK)[0]
    return labels | {unit: mark.label for unit, mark in (decisions or {}).items() if unit in labels}


def unread_judgements(store: Store, run: RunInfo) -> Counter[str]:
    """The last words of judgements without a readable label, with their counts."""
    results = RunStore(store).results(run.id)
    labels = judge_labels(store, run)
    unread = [results[unit] for unit, label in labels.items() if label is None and unit in results]
    texts = [str(result["text"]) for result in unread if not isinstance(result, str)]
    return Counter(" ".join(text.split())[-60:] for text in texts)


def _nugget_labels(unit: str, result: Result) -> dict[str, str | None]:
    """The judge's label of each gold nugget, or of each fact of the answer."""
    answer_unit, _, place = unit.rpartition("/")
    is_cut = result.get("finish_reason") == "length"
    text = "" if is_cut else (after_thinking(str(result["text"])) or "").lower()
    if place == "facts":
        words = _FACT.findall(re.split(r"\bfacts[ \t*_`]*:", text)[-1])
        return {f"{answer_unit}/fact {n}": read_label(word, NUGGETS) for n, word in enumerate(words, 1)}
    first, n = (int(word) for word in place.split() if word.isdecimal())
    stated = {int(number): read_label(words, NUGGETS) for number, words in _NUGGET.findall(text)}
    return {f"{answer_unit}/nugget {first + place}": stated.get(place + 1) for place in range(n)}


def labels_by_task(
    store: Store, subject: str, model: str, decisions: Mapping[str, Mark] | None = None
) -> Labels:
    """One model's labels of a set, by task, from the run with the most answers."""
    runs = {task: judge_run(store, subject, model, task) for task in JUDGES}
    return {task: judge_labels(store, run, decisions) for task, run in runs.items() if run}


def pair_labels(
    store: Store, judge: RunInfo, answers: Mapping[str, CitedAnswer]
) -> dict[str, dict[Pair, str | None]]:
    """A judge's labels of the pairs of each instance's answer; ``None``: no label could be read.

    Absent are calls that failed, and what the judge said of an answer that has been asked for again since.
    """
    judged = judge_labels(store, judge)
    labels: dict[str, dict[Pair, str | None]] = {}
    for instance_id, answer in answers.items():
        units = pair_units(instance_id, answer)
        labels[instance_id] = {pair: judged[unit] for pair, unit in units.items() if unit in judged}
    return labels
