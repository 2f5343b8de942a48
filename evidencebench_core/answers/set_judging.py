"""Runs in which a model judges the answers of a set, or lists their nuggets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

from evidencebench_core.answers.judging import (
    NUGGET_TOKENS,
    WING,
    citation_question,
    correctness_question,
    nugget_request,
    nuggets_question,
    read_correctness,
    read_judgement,
    read_support,
    relevance_question,
    request_of,
    run_settings,
    source_text,
    support_question,
)
from evidencebench_core.answers.matching import Support
from evidencebench_core.answers.model import Answer, AnswerSentence, AnswerSet, Document, has_words, unit_id
from evidencebench_core.answers.nuggets import Nuggets, parsed_nuggets, written_out
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, did_you_mean, shown
from evidencebench_core.llm import ChatRequest, Conversation
from evidencebench_core.llm.labels import LabelRead
from evidencebench_core.runs import (
    MAX_TOKENS,
    ChatPlan,
    ChatRunInfo,
    ChatRuns,
    ChatRunSpec,
    Result,
    chat_plan,
)

if TYPE_CHECKING:
    from evidencebench_core.llm import LLM

What = Literal["relevance", "citations", "correctness", "nuggets", "nugget-support"]
_Units = dict[str, Callable[[], Conversation[Result]]]

_PROMPTS: Final[Mapping[str, tuple[str, ...]]] = {
    "relevance": ("answer-relevance",),
    "citations": ("citation-judge",),
    "correctness": ("citation-judge",),
    "nuggets": ("answer-nuggets",),
    "nugget-support": ("nugget-assign",),
}
_DEFAULTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "relevance": {"context": "sentence"},
    "citations": {"source": "document", "scale": "ternary"},
    "correctness": {"documents": "cited", "window": 3, "prefilter": 5},
    "nuggets": {},
    "nugget-support": {},
}
_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "context": ("sentence", "answer"),
    "source": ("document", "maxsim", "nuggets"),
    "scale": ("binary", "ternary", "four"),
    "documents": ("cited", "supported"),
}


def set_judge_plan(  # noqa: PLR0913 - what is asked, and how
    store: Store,
    subject: str,
    answers: AnswerSet,
    what: What,
    model: str,
    *,
    settings: Mapping[str, Any] | None = None,
    limit: int | None = None,
    llm: LLM | None = None,
    fresh: bool = False,
    request: Mapping[str, object] | None = None,
) -> ChatPlan:
    """The run in which a model judges the answers of a set, or lists their nuggets.

    Parameters
    ----------
    subject : str
        The set's digest.
    what : str
        ``relevance``: of every sentence; ``citations``: whether a document with text supports the sentence that cites
        it; ``correctness``: whether any window of its documents does; ``nuggets``: those of every answer;
        ``nugget-support``: which gold nuggets an answer gives.
    settings : mapping, optional
        relevance: ``context`` (sentence, answer). citations: ``source`` (document, maxsim, nuggets), ``scale``
        (binary, ternary, four). correctness: ``documents`` (cited, supported), ``window``, ``prefilter`` (0: all).
    limit : int, optional
        Only the answers to the first so many questions.
    """
    own = judge_settings(what, settings or {})
    names, most = _prompts_of(what, own), NUGGET_TOKENS if what == "nuggets" else MAX_TOKENS
    spec = ChatRunSpec(WING, subject, {"task": what} | own | run_settings(model, names, request, most))
    questions = set(list(answers.questions)[:limit])
    sent, units = request_of(spec.settings), _Units()
    for answer in answers.answers.values():
        if answer.question_id in questions:
            units |= _units(answers, answer, what, own, sent)
    return chat_plan(store, spec, tuple(units), lambda unit: units[unit](), llm, fresh=fresh)


def judge_settings(what: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a kind of judgement, those not given by default; `SettingError` for one that it has not."""
    if what not in _DEFAULTS:
        raise SettingError("judge", f"{shown(what)} is not known", f"Known: {', '.join(_DEFAULTS)}.")
    own = dict(_DEFAULTS[what])
    for name, value in given.items():
        place = f"judge {what}"
        if name not in own:
            known = ", ".join(own) or "none"
            raise SettingError(
                place, f"has no setting {shown(name)}", f"{did_you_mean(name, own)}Settings: {known}."
            )
        if name in _CHOICES:
            if value not in _CHOICES[name]:
                raise SettingError(
                    f"{place}, {name}", f"is {shown(value)}", f"Choices are: {', '.join(_CHOICES[name])}."
                )
            own[name] = value
        else:
            number = int(value) if str(value).isascii() and str(value).isdecimal() else -1
            if number < (name == "window") or number > 1_000:
                raise SettingError(
                    f"{place}, {name}", f"is {shown(value)}", "Give a whole number up to 1000."
                )
            own[name] = number
    if own.get("source") == "nuggets":
        own["scale"] = "four"
    return own


def judged(store: Store, run: ChatRunInfo) -> dict[str, LabelRead]:
    """The label of every unit of a judge's run about an answer set, as it is read today; failed units are absent.

    Of correctness: ``supports`` or not; of nuggets nothing, for they are no labels.
    """
    task, scale = run.settings["task"], run.settings.get("scale", "relevance")
    labels: dict[str, LabelRead] = {}
    for unit, result in ChatRuns(store).results(run.id).items():
        if isinstance(result, str) or task in ("nuggets", "nugget-support"):
            continue
        read = read_correctness(result) if task == "correctness" else read_judgement(result, scale)
        if read is not None:
            labels[unit] = read
    return labels


def listed_nuggets(store: Store, run: ChatRunInfo) -> dict[str, Nuggets]:
    """By answer id the nuggets that a run of ``nuggets`` lists; failed calls are absent."""
    return {
        unit: parsed_nuggets(one["text"], one["finish_reason"], one["refusal"])
        for unit, one in ChatRuns(store).results(run.id).items()
        if not isinstance(one, str)
    }


def said_support(store: Store, run: ChatRunInfo) -> dict[str, tuple[Support | None, ...]]:
    """By answer id what a run of ``nugget-support`` says of each gold nugget; failed calls are absent."""
    results = ChatRuns(store).results(run.id)
    return {unit: read_support(one) for unit, one in results.items() if not isinstance(one, str)}


def judge_run(store: Store, subject: str, run_id: str, *tasks: What) -> ChatRunInfo:
    """A run of judgements about an answer set, by its id or its beginning, of one of these kinds."""
    run = ChatRuns(store).run(run_id)
    if run.subject != subject or run.settings.get("task") not in tasks:
        known = ", ".join(
            one.id for one in ChatRuns(store).runs(WING, subject) if one.settings["task"] in tasks
        )
        problem = f"is no run of {' or '.join(tasks)} about this set"
        raise SettingError(f"run {run.id}", problem, f"There is: {known or 'none yet'}.")
    return run


def _units(
    answers: AnswerSet, answer: Answer, what: What, own: Mapping[str, Any], request: ChatRequest
) -> _Units:
    """What is asked of one answer, by unit id; a text without words is not put to a judge."""
    question = answers.questions[answer.question_id]
    if what in ("nuggets", "nugget-support"):
        gold = [written_out(one)[0] for one in question.nuggets or ()]
        if not has_words(answer.text) or (what == "nugget-support" and not gold):
            return {}
        if what == "nuggets":
            return {answer.id: partial(nugget_request, request, question.text, answer.text)}
        return {answer.id: partial(support_question, request, question.text, answer.text, gold)}
    units = _Units()
    for sentence in answer.sentences:
        key, claim = (answer.question_id, answer.system, sentence.id), sentence.claim
        if not has_words(claim):
            continue
        if what == "relevance":
            whole = answer.text if own["context"] == "answer" else None
            units[unit_id(*key)] = partial(relevance_question, request, question.text, claim, whole)
        elif what == "correctness":
            used = [sentences_in(one) for one in documents_of(answers, sentence, own["documents"])]
            how = (own["window"], own["prefilter"])
            units[unit_id(*key)] = partial(correctness_question, request, claim, used, *how)
        else:
            for one in documents_of(answers, sentence):
                units[unit_id(*key, one.id)] = partial(_citation, request, claim, one, own)
    return units


def _citation(
    request: ChatRequest, claim: str, document: Document, own: Mapping[str, Any]
) -> Conversation[Result]:
    sentences = sentences_in(document)
    if own["source"] == "nuggets":
        return nuggets_question(request, claim, source_text("document", claim, document.title, sentences))
    return citation_question(
        request, claim, source_text(own["source"], claim, document.title, sentences), own["scale"]
    )


def documents_of(answers: AnswerSet, sentence: AnswerSentence, which: str = "cited") -> list[Document]:
    """The documents with text that a sentence cites, all or those that people said support it (``supported``)."""
    cited = [answers.documents[one] for one in sentence.citations if answers.has_text(one)]
    return [one for one in cited if which == "cited" or "supporting" in sentence.relations(one.id)]


def sentences_in(document: Document) -> Sequence[str]:
    """The sentences of a document: the file's, else split here."""
    from evidencebench_core.papers.sentences import sentences_of

    return document.sentences or tuple(
        one for part in document.text.splitlines() for one in sentences_of(part)
    )


def _prompts_of(what: What, own: Mapping[str, Any]) -> tuple[str, ...]:
    if own.get("source") == "nuggets":
        return "answer-nuggets", "document-nuggets", "citation-judge-nuggets"
    return ("answer-relevance-context",) if own.get("context") == "answer" else _PROMPTS[what]
