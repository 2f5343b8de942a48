"""Runs in which a model judges the answers of a set, or lists their nuggets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, Literal

from evidencebench_core.answers.judging import (
    NUGGET_TOKENS,
    WING,
    SourceSetting,
    citation_question,
    correctness_question,
    joined_question,
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
from evidencebench_core.answers.model import (
    Answer,
    AnswerSentence,
    AnswerSet,
    Document,
    Question,
    has_words,
    unit_id,
)
from evidencebench_core.answers.nuggets import Nuggets, parsed_nuggets, written_out
from evidencebench_core.data.model import SentenceType
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.llm import ChatRequest, Conversation
from evidencebench_core.llm.labels import LabelRead
from evidencebench_core.retrievers.setting_specs import SettingSpec, canonical_settings
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

What = Literal["relevance", "citations", "correctness", "joined", "nuggets", "nugget-support"]
_PROMPTS: Final[Mapping[str, tuple[str, ...]]] = {
    "relevance": ("answer-relevance",),
    "citations": ("citation-judge",),
    "correctness": ("citation-judge",),
    "joined": ("citation-judge",),
    "nuggets": ("answer-nuggets",),
    "nugget-support": ("nugget-assign",),
}
_SETTINGS: Final[Mapping[str, Mapping[str, SettingSpec]]] = {
    "relevance": {
        "context": SettingSpec("sentence", str, "What the judge is shown.", ("sentence", "answer"))
    },
    "citations": {
        "source": SettingSpec(
            "document", str, "What of a document is shown.", ("document", "maxsim", "nuggets")
        ),
        "scale": SettingSpec("ternary", str, "The labels.", ("binary", "ternary", "four")),
    },
    "correctness": {
        "documents": SettingSpec(
            "cited", str, "Whose windows are shown.", ("cited", "supported", "retrieved")
        ),
        "top": SettingSpec(10, int, "Documents retrieved for a question.", minimum=1, maximum=1_000),
        "window": SettingSpec(3, int, "Sentences of a window.", minimum=1, maximum=1_000),
        "prefilter": SettingSpec(5, int, "Windows shown, the nearest; 0: all.", minimum=0, maximum=1_000),
    },
    "joined": {},
    "nuggets": {},
    "nugget-support": {},
}


@dataclass(frozen=True, slots=True)
class Claim:
    """The text judged under a unit's id, a sentence without its citations (of nuggets the answer), and by what."""

    unit: str
    text: str
    question: Question
    answer: Answer
    documents: tuple[Document, ...] = ()


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
        it; ``correctness``: whether any window of its documents does; ``joined``: whether its citations do together;
        ``nuggets``: those of every answer; ``nugget-support``: which gold nuggets an answer gives.
    settings : mapping, optional
        relevance: ``context`` (sentence, answer). citations: ``source`` (document, maxsim, nuggets), ``scale``
        (binary, ternary, four). correctness: ``documents`` (cited, supported, retrieved), ``top`` (documents
        retrieved), ``window`` (sentences), ``prefilter`` (windows that the judge is shown; 0: all).
    limit : int, optional
        Only the answers to the first so many questions.
    """
    own = judge_settings(what, settings or {})
    names, most = _prompts_of(what, own), NUGGET_TOKENS if what == "nuggets" else MAX_TOKENS
    spec = ChatRunSpec(WING, subject, {"task": what} | own | run_settings(model, names, request, most))
    sent = request_of(spec.settings)
    units = {
        one.unit: partial(_conversation, one, what, own, sent) for one in claims(answers, what, own, limit)
    }
    return chat_plan(store, spec, tuple(units), lambda unit: units[unit](), llm, fresh=fresh)


def judge_settings(what: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a kind of judgement, those not given by default; `SettingError` for one that it has not."""
    if what not in _SETTINGS:
        raise SettingError("judge", f"{shown(what)} is not known", f"Known: {', '.join(_SETTINGS)}.")
    own: dict[str, Any] = canonical_settings(f"judge {what}", _SETTINGS[what], given)
    if own.get("source") == "nuggets":
        own["scale"] = "four"
    if own.get("documents") != "retrieved":
        own.pop("top", None)
    return own


def label_reads(store: Store, run: ChatRunInfo, threshold: float | None = None) -> dict[str, LabelRead]:
    """The label of every unit of a judge's run about an answer set, as it is read today; failed units are absent.

    Of correctness: ``supports`` or not; of joined citations and nuggets nothing. ``threshold`` of a judge that gives
    scores, where not its own.
    """
    task, scale = run.settings["task"], run.settings.get("scale", "relevance")
    labels: dict[str, LabelRead] = {}
    for unit, result in ChatRuns(store).results(run.id).items():
        if isinstance(result, str) or task in ("joined", "nuggets", "nugget-support"):
            continue
        by_windows = task == "correctness"
        read = read_correctness(result, threshold) if by_windows else read_judgement(result, scale, threshold)
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


def claims(
    answers: AnswerSet, what: What, own: Mapping[str, Any], limit: int | None = None
) -> Iterator[Claim]:
    """The texts to judge of a set, or of the answers to its first questions; a text without words is not."""
    questions = set(list(answers.questions)[:limit])
    retrieved = cache(lambda name: retrieved_documents(answers, name, own["top"]))
    for (name, system), answer in answers.answers.items():
        if name not in questions:
            continue
        question = answers.questions[name]
        if what in ("nuggets", "nugget-support"):
            if has_words(answer.text) and (what == "nuggets" or question.nuggets):
                yield Claim(answer.id, answer.text, question, answer)
            continue
        for sentence in answer.sentences:
            unit, claim = unit_id(name, system, sentence.id), sentence.claim
            if not has_words(claim):
                continue
            if what == "citations":
                for one in documents_of(answers, sentence):
                    yield Claim(unit_id(name, system, sentence.id, one.id), claim, question, answer, (one,))
                continue
            used: Sequence[Document] = ()
            if what == "joined" and not (used := documents_of(answers, sentence)):
                continue
            if what == "correctness":
                which = own["documents"]
                used = retrieved(name) if which == "retrieved" else documents_of(answers, sentence, which)
            yield Claim(unit, claim, question, answer, tuple(used))


def _conversation(
    one: Claim, what: What, own: Mapping[str, Any], request: ChatRequest
) -> Conversation[Result]:
    asking = one.question.text
    if what == "nuggets":
        return nugget_request(request, asking, one.text)
    if what == "nugget-support":
        gold = [written_out(nugget)[0] for nugget in one.question.nuggets or ()]
        return support_question(request, asking, one.text, gold)
    if what == "relevance":
        return relevance_question(
            request, asking, one.text, one.answer.text if own["context"] == "answer" else None
        )
    if what == "correctness":
        used = [sentences_in(document) for document in one.documents]
        return correctness_question(request, one.text, used, own["window"], own["prefilter"])
    if what == "joined":
        sources = [source_text("document", "", of.title, sentences_in(of)) for of in one.documents]
        return joined_question(request, one.text, sources)
    by_nuggets = own["source"] == "nuggets"
    source = source_of(one, "document" if by_nuggets else own["source"])
    return (
        nuggets_question(request, one.text, source)
        if by_nuggets
        else citation_question(request, one.text, source, own["scale"])
    )


def n_unchecked(answers: AnswerSet) -> int:
    """Citations that no judge can be asked about: of documents without text, or by sentences without words."""
    every = sum(
        len(sentence.citations) for answer in answers.answers.values() for sentence in answer.sentences
    )
    return every - sum(1 for _ in claims(answers, "citations", {}))


def source_of(one: Claim, setting: SourceSetting) -> str:
    """The part of a cited document that the judge reads."""
    (document,) = one.documents
    return source_text(setting, one.text, document.title, sentences_in(document))


def documents_of(answers: AnswerSet, sentence: AnswerSentence, which: str = "cited") -> list[Document]:
    """The documents with text that a sentence cites, all or those that people said support it (``supported``)."""
    cited = [answers.documents[one] for one in sentence.citations if answers.has_text(one)]
    return [one for one in cited if which == "cited" or "supporting" in sentence.relations(one.id)]


def retrieved_documents(answers: AnswerSet, question_id: str, top: int) -> list[Document]:
    """The documents of a set that BM25 ranks highest for a question, whoever cites them; none for a blank question."""
    from evidencebench_core.retrievers import Query, make_retriever

    known = [one for one in answers.documents.values() if answers.has_text(one.id)]
    asking = answers.questions[question_id].text
    if not known or not has_words(asking):
        return []
    texts = tuple(" ".join((one.title, one.text, *one.sentences)) for one in known)
    kind: SentenceType = "abstract"
    query = Query(asking, texts, (kind,) * len(texts), ("",) * len(texts), budget=top)
    return [known[place] for place in make_retriever("bm25").retrieve(query).selection]


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
