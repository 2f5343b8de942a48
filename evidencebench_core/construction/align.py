"""Alignment: which sentences of a paper cover a study aspect, window by window, by a model (rules 9 to 14).

One call is one aspect in one window. An answer that cannot be read is asked for once more in the same conversation;
a refusal is not. What then is still no answer is a missing look, never a no.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from evidencebench_core.construction.echo import echo_check, echo_lines
from evidencebench_core.construction.state import PROFILES, Profile, window_looks
from evidencebench_core.construction.windows import AspectLooks, Window, windows
from evidencebench_core.data.model import Instance
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError
from evidencebench_core.llm import Ask, ChatRequest, Message, prompt
from evidencebench_core.llm.parse import read_answer
from evidencebench_core.llm.prompts import numbered
from evidencebench_core.llm.request import Reply
from evidencebench_core.runs import (
    ChatPlan,
    ChatRuns,
    ChatRunSpec,
    Result,
    chat_plan,
    request_settings,
    request_with,
)

if TYPE_CHECKING:
    from evidencebench_core.llm import LLM

MAX_TOKENS: Final = 400
_ALIGN: Final = "construct-align"
_REPEAT: Final = "construct-repeat"
_VERSION: Final = 2  # of how an answer is asked for and read
_AT_HAND: Final = 64  # papers
_LONGEST: Final = 20_000  # characters of an answer that are kept beside what was read


@dataclass(frozen=True, slots=True)
class AlignedAspect:
    """An aspect to align, and the sentences that the dataset has for it."""

    key: str  # of text, summary and paper: what a kept look is for
    instance_id: str
    paper_id: str
    number: int  # its place in the instance, from 0
    text: str
    summary: str
    n_sentences: int
    gold: frozenset[int]


@dataclass(frozen=True, slots=True)
class Alignment:
    """A run of a model over the aspects of a dataset; made by `alignment`.

    ``swapped`` is the seed with which every outcome was exchanged for one of another paper, so that each mark is
    wrong (rule 108); ``None`` for the aspects as they are.
    """

    store: Store
    dataset: str
    aspects: tuple[AlignedAspect, ...]
    spec: ChatRunSpec

    @property
    def head(self) -> bool:
        return bool(self.spec.settings["profile"] == "careful")

    def units(self) -> Iterator[tuple[str, AlignedAspect, Window]]:
        """Calls in the order that shares most of a prompt: by paper, by window, then by aspect (rule 66)."""
        by_instance: dict[str, list[AlignedAspect]] = {}
        for aspect in self.aspects:
            by_instance.setdefault(aspect.instance_id, []).append(aspect)
        for aspects in by_instance.values():
            for window in windows(aspects[0].n_sentences, head=self.head):
                for aspect in aspects:
                    yield look_unit(aspect.key, window), aspect, window

    def plan(self, llm: LLM | None = None, *, fresh: bool = False, retry_lost: bool = False) -> ChatPlan:
        """The calls that are still to be made; with ``retry_lost`` those too whose answers were no look."""
        units = {name: (aspect, window) for name, aspect, window in self.units()}
        lost = [name for name, look in self._kept().items() if look["failed"]] if retry_lost else []

        @lru_cache(maxsize=_AT_HAND)
        def instance(instance_id: str) -> Instance:
            return self.store.get(self.dataset, instance_id)

        def conversation(name: str) -> Generator[Sequence[Ask], Sequence[Reply], Result]:
            aspect, window = units[name]
            sentences = instance(aspect.instance_id).sentences
            return window_look(self.spec.settings, aspect.text, aspect.summary, sentences, window)

        return chat_plan(
            self.store, self.spec, tuple(units), conversation, llm, fresh=fresh, again=frozenset(lost)
        )

    def looks(self) -> dict[AlignedAspect, AspectLooks]:
        """The looks so far, by aspect; windows without an answer are absent."""
        kept = self._kept()
        found: dict[AlignedAspect, dict[Window, Result]] = {aspect: {} for aspect in self.aspects}
        for name, aspect, window in self.units():
            if name in kept:
                found[aspect][window] = kept[name]
        return {
            aspect: AspectLooks(aspect.n_sentences, tuple(window_looks(of))) for aspect, of in found.items()
        }

    def outcomes(self) -> list[Result]:
        """The results behind `looks`."""
        kept = self._kept()
        return [kept[name] for name, _, _ in self.units() if name in kept]

    def _kept(self) -> dict[str, Result]:
        results = ChatRuns(self.store).results(self.spec.id)
        return {name: one for name, one in results.items() if not isinstance(one, str)}


def alignment(
    store: Store,
    dataset: str,
    model: str,
    profile: Profile = "paper",
    settings: Mapping[str, object] | None = None,
    *,
    swapped: int | None = None,
    limit: int | None = None,
) -> Alignment:
    """A model's run over the aspects of a dataset, or of its first so many instances.

    Raises
    ------
    SettingError
        If the model or the profile is not known, or the aspects have no texts, as in the released files.
    """
    if profile not in PROFILES:
        raise SettingError("profile", f"is {profile!r}", f"Choices are: {', '.join(PROFILES)}.")
    if not model.strip():
        raise SettingError("model", "is not named", "Say --model NAME.")
    info = store.dataset(dataset)
    instances = list(store.iter(dataset, limit))
    aspects = [one for instance in instances for one in _aspects(instance)]
    if not aspects:
        problem = "has no texts of study aspects: the released files have ids alone"
        raise SettingError(f"dataset {dataset}", problem, "Take one that says what its aspects are.")
    if swapped is not None:
        aspects = _with_swapped_outcomes(instances, aspects, swapped)
    spec = alignment_spec(info.sha256, model, profile, settings, swapped=swapped)
    return Alignment(store, dataset, tuple(aspects), spec)


def alignment_spec(
    subject: str,
    model: str,
    profile: Profile,
    settings: Mapping[str, object] | None = None,
    **more: object,
) -> ChatRunSpec:
    """The chat run of a model's looks about a dataset or a construction."""
    asked_for = {
        "stage": "alignment",
        "stage_version": _VERSION,
        "profile": profile,
        "prompts": [prompt(name).version for name in (_ALIGN, _REPEAT)],
        "model": model,
        **request_settings(settings, MAX_TOKENS),
        **more,
    }
    return ChatRunSpec("construction", subject, asked_for)


def look_unit(key: str, window: Window) -> str:
    """The id of what is asked about an aspect, by its `aspect_key`, in a window."""
    return f"{key}/{window[0]}-{window[1]}"


def aspect_key(*parts: object) -> str:
    """The key of a kept look: text and summary of an aspect, and the paper."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def window_look(
    settings: Mapping[str, Any], aspect: str, summary: str, sentences: Sequence[str], window: Window
) -> Generator[Sequence[Ask], Sequence[Reply], Result]:
    """The conversation about one aspect in one window.

    Its result: ``kind`` as `read_answer` has it, or ``"echo"`` where words and indices differ; ``failed``; ``yes``
    (paper-wide indices), ``n_unknown``, ``n_mended``, ``n_without`` first words, ``text``, ``keys`` of the kept
    answers, ``prompt_tokens``, ``completion_tokens`` and ``seconds`` of all calls (``None``: not said).
    """
    first, last = window[0], window[1] - 1
    shown = numbered(sentences[first : last + 1], first=first)
    messages = prompt(_ALIGN).messages(summary=summary, sentences=shown, aspect=aspect)
    request = replace(request_with(settings["model"], settings, messages), may_be_empty=True)
    answers = []
    for attempt in range(2):
        step = f"sentences {first} to {last}" + (", asked again" if attempt else "")
        (answer,) = yield [Ask(step, request, "DECISION: []")]
        answers.append(answer)
        read = _read(answer, sentences, window, settings["profile"])
        if not read["failed"] or read["kind"] == "refusal":
            break
        request = _asked_again(request, answer.text, read["kind"], window)
    sums = {
        name: None if None in counts else sum(counts)
        for name in ("prompt_tokens", "completion_tokens", "seconds")
        for counts in [[getattr(answer, name) for answer in answers]]
    }
    said = {"text": answers[-1].text[:_LONGEST], "keys": [answer.key for answer in answers]}
    return read | sums | said


def _read(answer: Any, sentences: Sequence[str], window: Window, profile: Profile) -> dict[str, Any]:
    found = read_answer(
        answer.text,
        range(len(sentences)),
        refusal=answer.refusal,
        finish_reason=answer.finish_reason,
        thoughts=answer.reasoning,
    )
    check = echo_check(sentences, window, found.indices, echo_lines(answer.text))
    kind: str = found.kind
    if kind == "selection" and (check.failed or (profile == "careful" and check.n_without)):
        kind = "echo"
    elif kind == "selection" and not check.chosen:
        kind = "unknown"
    failed = kind not in ("selection", "empty")
    return {
        "kind": kind,
        "failed": failed,
        "yes": [] if failed else list(check.chosen),
        "n_unknown": found.n_unknown + check.n_unknown,
        "n_mended": 0 if failed else check.n_mended,
        "n_without": 0 if failed else check.n_without,
    }


def _asked_again(request: ChatRequest, said: str, kind: str, window: Window) -> ChatRequest:
    """For an answer that was cut off twice the room; for another the contract, and the range of the window."""
    if kind == "cut_off":
        return replace(request, max_tokens=request.max_tokens and 2 * request.max_tokens)
    told = prompt(_REPEAT).messages(first=window[0], last=window[1] - 1)
    turns = (Message("assistant", said[:_LONGEST] or "(no answer)"), *told)
    return replace(request, messages=(*request.messages, *turns))


def _aspects(instance: Instance) -> list[AlignedAspect]:
    texts = [aspect.text for aspect in instance.evidence.aspects]
    said = instance.construction.get("summary")
    own = said.get("text") if isinstance(said, Mapping) else None
    summary = own if isinstance(own, str) and own.strip() else " ".join(f"{text}." for text in texts if text)
    pool = [list(instance.sentences), list(instance.sentence_types)]
    return [
        AlignedAspect(
            aspect_key(text, summary, pool),
            instance.id,
            instance.paper_id,
            number,
            text,
            summary,
            len(instance.sentences),
            frozenset(aspect.sentence_indices),
        )
        for number, (aspect, text) in enumerate(zip(instance.evidence.aspects, texts, strict=True))
        if text
    ]


def _with_swapped_outcomes(
    instances: Sequence[Instance], aspects: Sequence[AlignedAspect], seed: int
) -> list[AlignedAspect]:
    """The aspects, their outcomes exchanged for outcomes of other papers; so is the summary (rule 108)."""
    outcomes = {instance.id: _outcomes(instance) for instance in instances}
    if not all(outcomes.values()):
        problem = "does not say which part of an aspect is its outcome"
        raise SettingError("swap", problem, "Take a dataset made from Evidence Inference.")
    paper_of = {instance.id: instance.paper_id for instance in instances}
    pool = [(paper_of[name], one) for name, of in outcomes.items() for one in of.values()]
    if len(set(paper_of.values())) < 2:
        raise SettingError("swap", "has one paper alone", "Take more instances.")
    rng = np.random.default_rng(seed)
    texts: list[str] = []
    for aspect in aspects:
        others = [one for paper, one in pool if paper != aspect.paper_id]
        outcome = outcomes[aspect.instance_id][aspect.text]
        texts.append(aspect.text.removesuffix(outcome) + others[int(rng.integers(len(others)))])
    summaries: dict[str, str] = {}
    for aspect, text in zip(aspects, texts, strict=True):
        summaries[aspect.instance_id] = f"{summaries.get(aspect.instance_id, '')} {text}.".strip()
    return [
        replace(
            aspect,
            key=aspect_key(aspect.key, text, summaries[aspect.instance_id]),
            text=text,
            summary=summaries[aspect.instance_id],
        )
        for aspect, text in zip(aspects, texts, strict=True)
    ]


def _outcomes(instance: Instance) -> Mapping[str, str]:
    """By the text of an aspect the outcome with which it ends; empty where the instance does not say."""
    said = instance.construction.get("outcomes")
    named = [one for one in said if isinstance(one, str) and one] if isinstance(said, list) else []
    found = {
        aspect.text: max((one for one in named if aspect.text.endswith(one)), key=len, default="")
        for aspect in instance.evidence.aspects
        if aspect.text
    }
    return MappingProxyType(found if found and all(found.values()) else {})
