"""A model's proposal for a paper: an annotation by ``model:NAME``, made as EvidenceBench was made (its appendix C).

One conversation a paper: the hypothesis if none is given, the study aspects, which of them are results, then for
every aspect a look at every window of sentences. All answers are stored, so what was cut short goes on where it was.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from evidencebench_core.annotation.marked import MarkedPaper, marked_paper
from evidencebench_core.annotation.model import MAX_ASPECT, MODEL, Annotation
from evidencebench_core.annotation.store import PROPOSALS
from evidencebench_core.data.store import Store
from evidencebench_core.errors import LLMAnswerError
from evidencebench_core.llm import Answer, Message, prompt
from evidencebench_core.llm.parse import after_thinking, read_answer
from evidencebench_core.llm.prompts import numbered
from evidencebench_core.runs import Fresh, Plan, chat_plan, chat_spec, parameters_of
from evidencebench_core.words import clipped_text, one_line

if TYPE_CHECKING:
    from evidencebench_core.llm import LLM

MAX_ASPECTS: Final = 60
MAX_WORDS: Final = 49
"""Of a hypothesis."""

T = TypeVar("T")

_PROMPTS: Final = tuple(
    f"annotate-{name}"
    for name in (
        "hypothesis", "aspects", "aspects-of-paper", "results", "sentences", "again", "sentences-again",
    )
)  # fmt: skip
_MAX_ANSWER: Final = 64_000  # characters of an answer that are read
_MAX_REASON: Final = 300
_REHEARSED_ASPECTS: Final = "ASPECTS:\n" + "\n".join(f"- aspect {number}" for number in range(10))
_HYPOTHESIS: Final = re.compile(r"hypothesis[ \t*_`]*:(.*)", re.IGNORECASE)
_BULLET: Final = re.compile(r"[ \t]*(?:[-*•–]|\(?\d{1,3}[.):])[ \t]*(\S.*)")
_MARKS: Final = " \t*_`\"'“”"


Window = tuple[int, int]
"""A window's first sentence, and the one after its last."""

_LENGTH: Final = 10
_STRIDE: Final = 5
_ECHOED: Final = 5  # words
_ENOUGH: Final = 3


@dataclass(frozen=True, slots=True)
class ProposalInput:
    """A paper of the store that a model is to annotate, and what is given for it."""

    paper: str  # its key in annotations
    summary: str = ""  # what a review says of it; without one the aspects come from the paper itself
    hypothesis: str = ""
    aspects: tuple[str, ...] = ()

    def unit(self) -> str:
        """The id of its conversation: another one where anything else is given."""
        given = json.dumps([self.summary, self.hypothesis, self.aspects])
        return f"{self.paper}/{hashlib.sha256(given.encode()).hexdigest()[:12]}"


def proposer(model: str) -> str:
    """The name of a model as an annotator."""
    return f"{MODEL}{model}"


def proposal_plan(
    store: Store,
    inputs: Iterable[ProposalInput],
    model: str,
    settings: Mapping[str, object] | None = None,
    llm: LLM | None = None,
    *,
    fresh: Fresh = False,
) -> Plan:
    """What is still to be asked for these papers; `Annotations.proposals` reads the answers as annotations."""
    conversations = {given.unit(): _Conversation(store, given) for given in inputs}
    spec = chat_spec(*PROPOSALS, "propose", model, _PROMPTS, settings)
    return chat_plan(store, spec, tuple(conversations), conversations.__getitem__, llm, fresh=fresh)


# -- the conversation -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Conversation:
    """The conversation about one paper; its result is what `Annotation.as_dict` gives."""

    store: Store
    given: ProposalInput

    async def answer(self, llm: LLM, model: str, request: Mapping[str, Any]) -> dict[str, Any]:
        marked = marked_paper(self.store, self.given.paper)
        return await _proposal(llm, self.given, marked, model, request)


async def _proposal(
    llm: LLM, given: ProposalInput, marked: MarkedPaper, model: str, settings: Mapping[str, Any]
) -> dict[str, Any]:
    talk = _Talk(llm, parameters_of(model, settings))
    sentences = marked.paper.sentences
    hypothesis = one_line(given.hypothesis or marked.hypothesis)
    if not hypothesis:
        front = given.summary or _front_text(marked)
        hypothesis = await talk.ask("hypothesis", _read_hypothesis, "HYPOTHESIS: x", summary=front)
    aspects = list(given.aspects)
    if not aspects:
        name = "aspects" if given.summary else "aspects-of-paper"
        fields = {"summary": given.summary, "hypothesis": hypothesis, "sentences": numbered(sentences)}
        aspects = await talk.ask(name, _read_aspects, _REHEARSED_ASPECTS, **fields)
    results = await talk.ask(
        "results", lambda text: _read_numbers(text, len(aspects)), "DECISION: []", aspects=numbered(aspects)
    )
    context = given.summary or " ".join(f"{text.rstrip('.')}." for text in aspects)
    looks = [
        talk.look(window, aspect, context, sentences)
        for window in windows(len(sentences))
        for aspect in aspects
    ]
    answers = await asyncio.gather(*looks)
    annotation = Annotation(proposer(model), hypothesis, len(sentences))
    reasons: dict[str, str] = {}
    unjudged = {}
    for number, text in enumerate(aspects):
        of_aspect = answers[number :: len(aspects)]
        annotation = annotation.add_aspect(text, number in results, covering_sentences(of_aspect))
        for answer in of_aspect:
            reasons |= {f"{number}:{index}": reason for index, reason in answer.reasons.items()}
        if lacking := unjudged_sentences(len(sentences), of_aspect):
            unjudged[f"aspect_{number}"] = list(lacking)
    source = "user" if given.aspects else "summary" if given.summary else "model"
    origin = {"model": model, "aspects": source, "reasons": reasons, "unjudged": unjudged}
    return replace(annotation, origin=origin).as_dict()


class _Talk:
    """Questions to one model; an answer that cannot be used is asked for once more, with the reason."""

    def __init__(self, llm: LLM, parameters: Mapping[str, Any]) -> None:
        self.llm, self.parameters = llm, parameters

    async def chat(self, messages: Sequence[Message], rehearsal: str, **others: Any) -> Answer:
        parameters = {**self.parameters, **others}
        return await self.llm.chat(messages, rehearsal=rehearsal, **parameters)

    async def ask(self, name: str, read: Callable[[str], T], rehearsal: str, **fields: str) -> T:
        """What is read of the answer to a prompt; `LLMAnswerError` where it cannot be used twice."""
        messages = prompt(f"annotate-{name}").messages(**fields)
        answer = await self.chat(messages, rehearsal)
        try:
            return read(_text(answer))
        except LLMAnswerError as error:
            again = prompt("annotate-again").messages(problem=error.problem)
            answer = await self.again(messages, answer, again, rehearsal)
            return read(_text(answer))

    async def look(self, window: Window, aspect: str, context: str, sentences: Sequence[str]) -> WindowAnswer:
        """Which sentences of a window cover an aspect."""
        shown = numbered(sentences[slice(*window)], first=window[0])
        messages = prompt("annotate-sentences").messages(summary=context, sentences=shown, aspect=aspect)
        answer = await self.chat(messages, "DECISION: []")
        kind, reading = _read_window(answer, window, sentences)
        if reading.sentences is None and kind != "refusal":
            again = prompt("annotate-sentences-again").messages(first=window[0], last=window[1] - 1)
            answer = await self.again(messages, answer, again, "DECISION: []")
            _, reading = _read_window(answer, window, sentences)
        return reading

    async def again(
        self, messages: Sequence[Message], answer: Answer, turns: Sequence[Message], rehearsal: str
    ) -> Answer:
        """For an answer that was cut off twice the room; for another one more turn."""
        most = self.parameters.get("max_tokens")
        if answer.finish_reason == "length" and most:
            return await self.chat(messages, rehearsal, max_tokens=2 * most)
        earlier = Message("assistant", answer.text[:_MAX_ANSWER] or "(no answer)")
        return await self.chat((*messages, earlier, *turns), rehearsal)


def _text(reply: Answer) -> str:
    return after_thinking(reply.text[:_MAX_ANSWER]) or ""


def _front_text(marked: MarkedPaper) -> str:
    """Title and abstract; without an abstract the first sentences."""
    paper = marked.paper
    abstract = [
        text for text, kind in zip(paper.sentences, paper.sentence_types, strict=True) if kind == "abstract"
    ]
    return " ".join((paper.sentences[0], *(abstract or paper.sentences[1:20])))


# -- reading answers ------------------------------------------------------------------------------


def _read_window(reply: Answer, window: Window, sentences: Sequence[str]) -> tuple[str, WindowAnswer]:
    """The kind of the answer, and what it says."""
    read = read_answer(
        reply.text[:_MAX_ANSWER],
        range(len(sentences)),
        refusal=reply.refusal,
        finish_reason=reply.finish_reason,
    )
    meant = frozenset[int]() if read.kind == "empty" else None
    if read.kind == "selection":
        meant = echoed_sentences(sentences, window, read.indices, read.reasons)
    reasons = {
        index: clipped_text(one_line(text), _MAX_REASON)
        for index, text in read.reasons.items()
        if meant and index in meant
    }
    return read.kind, WindowAnswer(window, meant, reasons)


def _read_hypothesis(text: str) -> str:
    lines = [match[1].strip(_MARKS) for match in _HYPOTHESIS.finditer(text)]
    if not lines or not lines[-1]:
        raise _unusable('no line begins with "HYPOTHESIS:"')
    hypothesis = one_line(lines[-1])
    if len(hypothesis.split()) > MAX_WORDS:
        raise _unusable(f"the hypothesis has more than {MAX_WORDS} words")
    if "?" in hypothesis:
        raise _unusable("the hypothesis is a question")
    return hypothesis


def _read_aspects(text: str) -> list[str]:
    """The items of the list below the last ``ASPECTS:``, each once."""
    _, head, listed = text.rpartition("ASPECTS:")
    aspects: dict[str, str] = {}
    for line in listed.splitlines() if head else ():
        match = _BULLET.match(line)
        if match:
            aspect = one_line(match[1].strip(_MARKS))
            aspects.setdefault(aspect.casefold().rstrip("."), aspect)
        elif aspects and line.strip():
            break
    if not aspects:
        raise _unusable('no list of aspects follows "ASPECTS:"')
    if len(aspects) > MAX_ASPECTS:
        raise _unusable(f"there are more than {MAX_ASPECTS} aspects")
    if any(len(aspect) > MAX_ASPECT or not any(map(str.isalpha, aspect)) for aspect in aspects.values()):
        raise _unusable(f"an aspect has no words, or more than {MAX_ASPECT:,} characters")
    return list(aspects.values())


def _read_numbers(text: str, n: int) -> frozenset[int]:
    found = read_answer(text, range(n))
    if found.kind not in ("selection", "empty"):
        raise _unusable(f"no line says DECISION: with a list of numbers from 0 to {n - 1}")
    return frozenset(found.indices)


def _unusable(problem: str) -> LLMAnswerError:
    return LLMAnswerError(
        "the model's answer", f"cannot be used: {problem}", "Ask again, or ask another model."
    )


# -- windows over a paper, as EvidenceBench shows it to a model ---------------------------------------------


def windows(n_sentences: int) -> tuple[Window, ...]:
    """The windows of a paper; every sentence but the first five is in exactly two (EvidenceBench, appendix C)."""
    return tuple((start, min(start + _LENGTH, n_sentences)) for start in range(0, n_sentences, _STRIDE))


@dataclass(frozen=True, slots=True)
class WindowAnswer:
    """What was answered about one aspect in one window."""

    window: Window
    sentences: frozenset[int] | None  # paper-wide; None where no answer could be read: that is not a no
    reasons: Mapping[int, str] = field(default_factory=dict)


def covering_sentences(answers: Iterable[WindowAnswer]) -> tuple[int, ...]:
    """The sentences that any window's answer names, ascending."""
    return tuple(sorted({index for answer in answers for index in answer.sentences or ()}))


def unjudged_sentences(n_sentences: int, answers: Iterable[WindowAnswer]) -> tuple[int, ...]:
    """The sentences that no answer is about: whether they cover the aspect is not known."""
    judged = {index for answer in answers if answer.sentences is not None for index in range(*answer.window)}
    return tuple(index for index in range(n_sentences) if index not in judged)


def echoed_sentences(
    sentences: Sequence[str], window: Window, chosen: Iterable[int], echoes: Mapping[int, str]
) -> frozenset[int] | None:
    """The sentences that an answer means, by the first words that it gives beside each chosen index.

    A model that counts within the window names other sentences than it quotes: words that begin exactly one other
    sentence of the window are taken for that one. Letters and digits are compared, case aside; three of five words
    suffice. Indices without words stay, those beyond the window do not. ``None`` where the words beside an index begin
    no sentence, or several, or nothing stays of what was chosen.
    """
    starts = {index: _words(sentences[index])[:_ECHOED] for index in range(*window)}
    meant = set[int]()
    for index in chosen:
        words = _words(echoes.get(index, ""))[:_ECHOED]
        others = [other for other, start in starts.items() if other != index and _begins(words, start)]
        if index in starts and (not words or _begins(words, starts[index])):
            meant.add(index)
        elif len(others) == 1:
            meant.add(others[0])
        elif index in starts:
            return None
    return frozenset(meant) or None


def _begins(words: Sequence[str], start: Sequence[str]) -> bool:
    same = sum(a == b for a, b in zip(words, start, strict=False))
    return bool(words) and bool(start) and same >= min(_ENOUGH, len(start))


def _words(text: str) -> list[str]:
    letters = ("".join(filter(str.isalnum, word)) for word in text.casefold().split())
    return [word for word in letters if word]
