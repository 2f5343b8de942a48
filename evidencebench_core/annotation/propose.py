"""A model's proposal for a paper: an annotation by ``model:NAME``, made as EvidenceBench was made (its appendix C).

One conversation a paper: the hypothesis if none is given, the study aspects, which of them are results, then for
every aspect a look at every window of sentences. All answers are stored, so what was cut short goes on where it was.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from evidencebench_core.annotation.marked import MarkedPaper, marked_paper
from evidencebench_core.annotation.model import MAX_ASPECT, MODEL, Annotation
from evidencebench_core.annotation.store import PROPOSALS
from evidencebench_core.data.primitives import digest
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
        return f"{self.paper}/{digest([self.summary, self.hypothesis, self.aspects])[:12]}"


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
        given = self.given
        marked = marked_paper(self.store, given.paper)
        chat = _Chat(llm, parameters_of(model, request))
        sentences = marked.paper.sentences
        hypothesis = one_line(given.hypothesis or marked.hypothesis)
        if not hypothesis:
            front = given.summary or _front_text(marked)
            messages = prompt("annotate-hypothesis").messages(summary=front)
            hypothesis = await chat.ask(messages, _read_hypothesis, "HYPOTHESIS: x")
        aspects = list(given.aspects)
        if not aspects:
            asking = prompt("annotate-aspects" if given.summary else "annotate-aspects-of-paper")
            fields = {"summary": given.summary, "hypothesis": hypothesis, "sentences": numbered(sentences)}
            aspects = await chat.ask(asking.messages(**fields), _read_aspects, _REHEARSED_ASPECTS)
        messages = prompt("annotate-results").messages(aspects=numbered(aspects))
        results = await chat.ask(messages, lambda answer: _read_numbers(answer, len(aspects)), "DECISION: []")
        context = given.summary or " ".join(f"{text.rstrip('.')}." for text in aspects)
        looks = [
            _look(chat, window, aspect, context, sentences)
            for window in windows(len(sentences))
            for aspect in aspects
        ]
        answers = await asyncio.gather(*looks)
        annotation = Annotation(proposer(model), hypothesis, len(sentences))
        reasons: dict[str, str] = {}
        unread = []
        for number, text in enumerate(aspects):
            of_aspect = [answer for answer in answers[number :: len(aspects)] if answer is not None]
            annotation = annotation.add_aspect(text, number in results, set().union(*of_aspect))
            for answer in of_aspect:
                reasons |= {f"{number}:{index}": reason for index, reason in answer.items() if reason}
            if len(of_aspect) < len(windows(len(sentences))):
                unread.append(f"aspect_{number}")
        source = "user" if given.aspects else "summary" if given.summary else "model"
        origin = {"model": model, "aspects": source, "reasons": reasons, "unread": unread}
        return replace(annotation, origin=origin).as_dict()


@dataclass(frozen=True, slots=True)
class _Chat:
    """How a model is asked."""

    llm: LLM
    parameters: Mapping[str, Any]

    async def ask(
        self,
        messages: Sequence[Message],
        read: Callable[[Answer], T],
        rehearsal: str,
        again: Sequence[Message] = (),
    ) -> T:
        """What is read of an answer; `LLMAnswerError` where it cannot be used twice.

        An answer that was cut off is asked for with twice the room, another by one more turn.
        """
        parameters = dict(self.parameters)
        answer = await self.llm.chat(messages, rehearsal=rehearsal, **parameters)
        try:
            return read(answer)
        except LLMAnswerError as error:
            turns = again or prompt("annotate-again").messages(problem=error.problem)
        if answer.finish_reason == "length" and parameters.get("max_tokens"):
            parameters["max_tokens"] *= 2
        else:
            messages = (*messages, Message("assistant", answer.text[:_MAX_ANSWER] or "(no answer)"), *turns)
        return read(await self.llm.chat(messages, rehearsal=rehearsal, **parameters))


async def _look(
    chat: _Chat, window: Window, aspect: str, context: str, sentences: Sequence[str]
) -> dict[int, str] | None:
    """The sentences of a window that cover an aspect, each with a reason or ``""``; ``None`` without an answer."""
    shown = numbered(sentences[slice(*window)], first=window[0])
    messages = prompt("annotate-sentences").messages(summary=context, sentences=shown, aspect=aspect)
    again = prompt("annotate-sentences-again").messages(first=window[0], last=window[1] - 1)
    try:
        return await chat.ask(
            messages, lambda answer: _read_window(answer, window, sentences), "DECISION: []", again
        )
    except LLMAnswerError:
        return None


def _front_text(marked: MarkedPaper) -> str:
    """Title and abstract; without an abstract the first sentences."""
    paper = marked.paper
    abstract = [
        text for text, kind in zip(paper.sentences, paper.sentence_types, strict=True) if kind == "abstract"
    ]
    return " ".join((paper.sentences[0], *(abstract or paper.sentences[1:20])))


# -- reading answers ------------------------------------------------------------------------------


def _text_after_thinking(answer: Answer) -> str:
    return after_thinking(answer.text[:_MAX_ANSWER]) or ""


def _read_window(answer: Answer, window: Window, sentences: Sequence[str]) -> dict[int, str] | None:
    """What an answer names; ``None`` where the model refused: it is not asked again."""
    read = read_answer(
        answer.text[:_MAX_ANSWER],
        range(len(sentences)),
        refusal=answer.refusal,
        finish_reason=answer.finish_reason,
    )
    if read.kind in ("empty", "refusal"):
        return {} if read.kind == "empty" else None
    meant = read.kind == "selection" and echoed_sentences(sentences, window, read.indices, read.reasons)
    if not meant:
        raise _unusable("no sentences of the window are named")
    return {index: clipped_text(one_line(read.reasons.get(index, "")), _MAX_REASON) for index in meant}


def _read_hypothesis(answer: Answer) -> str:
    lines = [match[1].strip(_MARKS) for match in _HYPOTHESIS.finditer(_text_after_thinking(answer))]
    if not lines or not lines[-1]:
        raise _unusable('no line begins with "HYPOTHESIS:"')
    hypothesis = one_line(lines[-1])
    if len(hypothesis.split()) > MAX_WORDS:
        raise _unusable(f"the hypothesis has more than {MAX_WORDS} words")
    if "?" in hypothesis:
        raise _unusable("the hypothesis is a question")
    return hypothesis


def _read_aspects(answer: Answer) -> list[str]:
    """The items of the list below the last ``ASPECTS:``, each once."""
    _, head, listed = _text_after_thinking(answer).rpartition("ASPECTS:")
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


def _read_numbers(answer: Answer, n: int) -> frozenset[int]:
    numbers = read_answer(_text_after_thinking(answer), range(n))
    if numbers.kind not in ("selection", "empty"):
        raise _unusable(f"No line says DECISION: with a list of numbers from 0 to {n - 1}")
    return frozenset(numbers.indices)


def _unusable(problem: str) -> LLMAnswerError:
    return LLMAnswerError(
        "the model's answer", f"cannot be used: {problem}", "Ask again, or ask another model."
    )


# -- windows over a paper, as EvidenceBench shows it to a model ---------------------------------------------


def windows(n_sentences: int) -> tuple[Window, ...]:
    """The windows of a paper; every sentence but the first five is in exactly two (EvidenceBench, appendix C)."""
    return tuple((start, min(start + _LENGTH, n_sentences)) for start in range(0, n_sentences, _STRIDE))


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
