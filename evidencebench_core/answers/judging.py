"""The questions to a judge about an answer, and how its label is read (bioace spec rules 22, 27 to 33)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal

import numpy as np

from evidencebench_core.answers.agreement import LABELS, Form
from evidencebench_core.answers.matching import Support, similarities
from evidencebench_core.answers.nuggets import parsed_nuggets
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.llm import ChatRequest, Conversation, prompt
from evidencebench_core.llm.labels import LabelRead, stated_label
from evidencebench_core.llm.parse import after_thinking, plain_text
from evidencebench_core.llm.prompts import prompt_version
from evidencebench_core.runs import MAX_TOKENS, Result, asked, request_settings, request_with

SourceSetting = Literal["document", "maxsim"]

_FORMS: Final = {
    "support": ("support", "supports", "supporting", "supported"),
    "contradict": ("contradict", "contradicts", "contradicting", "contradicted"),
}
WING: Final = "answers"  # of the runs
NUGGET_TOKENS: Final = 1_024
MOST_GOLD: Final = 10  # gold nuggets that a judge is shown at once
_ASSIGNED: Final[Mapping[str, Support]] = {"support": "support", "partial": "partial", "none": "none"}


def forms_of(scale: Form) -> Mapping[str, str]:
    """The label of every form in which it may be written."""
    labels = LABELS[scale]
    forms = {label: label for label in labels}
    for stem, words in _FORMS.items():
        forms |= {word: label for label in labels if label.startswith(stem) for word in words}
    return forms


def read_judgement(result: Result, scale: Form, threshold: float | None = None) -> LabelRead:
    """The label in the stored answer of a judge; of one that gives scores, by its threshold or another."""
    if (score := result.get("score")) is not None:
        yes, no = ("supports", "neutral") if scale == "ternary" else ("attributable", "not attributable")
        if score >= (result["threshold"] if threshold is None else threshold):
            return LabelRead(yes, "stated")
        against = scale == "ternary" and result.get("contradiction", 0.0) >= 0.5
        return LabelRead("contradicts" if against else no, "stated")
    said = {name: result.get(name) for name in ("refusal", "finish_reason")}
    return stated_label(result["text"], forms_of(scale), **said)


# -- what is asked --------------------------------------------------------------------------------


def citation_question(
    request: ChatRequest, claim: str, source: str, scale: Form = "ternary"
) -> Conversation[Result]:
    """Does the source support the claim? On the scale ``four`` as on the others."""
    return asked(citation_request(request, claim, source, scale))


def citation_request(request: ChatRequest, claim: str, source: str, scale: Form = "ternary") -> ChatRequest:
    """The request of `citation_question`."""
    labels = "\n".join(f"- {label}: {meaning}." for label, meaning in LABELS[scale].items())
    messages = prompt("citation-judge").messages(sentence=claim, document=source, labels=labels)
    return replace(request, messages=messages)


def nuggets_question(request: ChatRequest, claim: str, source: str) -> Conversation[Result]:
    """Does the source support the claim, by the nuggets of both? The label is one of four."""
    both = []
    for name, fields in (
        ("answer-nuggets", {"question": "What does this sentence state?", "answer": claim}),
        ("document-nuggets", {"document": source}),
    ):
        result = yield from asked(replace(request, messages=prompt(name).messages(**fields)), name)
        both.append(result)
    listed = ["\n".join(parsed_nuggets(one["text"]).nuggets) or "(no fact)" for one in both]
    messages = prompt("citation-judge-nuggets").messages(nuggets=listed[0], document_nuggets=listed[1])
    judged = yield from asked(replace(request, messages=messages), "judge")
    return {**judged, "nuggets": [one["text"] for one in both]}


def relevance_question(
    request: ChatRequest, question: str, claim: str, answer: str | None = None
) -> Conversation[Result]:
    """How much does an answer need the sentence? With ``answer`` the judge sees all of it."""
    asking = prompt("answer-relevance" if answer is None else "answer-relevance-context")
    return asked(
        replace(request, messages=asking.messages(question=question, sentence=claim, answer=answer or ""))
    )


def nugget_request(request: ChatRequest, question: str, answer: str) -> Conversation[Result]:
    """The nuggets of an answer; `parsed_nuggets` reads them."""
    return asked(
        replace(request, messages=prompt("answer-nuggets").messages(question=question, answer=answer))
    )


def support_question(
    request: ChatRequest, question: str, answer: str, gold: Sequence[str]
) -> Conversation[Result]:
    """Which gold nuggets does the answer give? At most ten are shown at once; `read_support` reads the results."""
    parts = []
    for start in range(0, len(gold), MOST_GOLD):
        shown_gold = "\n".join(
            f"{n}: {' '.join(one.split())}" for n, one in enumerate(gold[start : start + MOST_GOLD], 1)
        )
        messages = prompt("nugget-assign").messages(question=question, answer=answer, nuggets=shown_gold)
        part = yield from asked(replace(request, messages=messages), f"nuggets from {start + 1}")
        parts.append(part)
    return {"parts": parts, "n": len(gold)}


def read_support(result: Result) -> tuple[Support | None, ...]:
    """Of each gold nugget what the judge said; ``None`` where it said nothing that can be read."""
    read: list[Support | None] = []
    for part in result["parts"]:
        here: list[Support | None] = [None] * min(MOST_GOLD, result["n"] - len(read))
        for line in (after_thinking(plain_text(part["text"])) or "").splitlines():
            number, colon, word = line.strip(" \t*_`-").partition(":")
            said = word.strip(" \t*_`.").casefold()
            if colon and number.isascii() and number.isdecimal() and said in _ASSIGNED and len(number) < 4:
                place = int(number) - 1
                if 0 <= place < len(here):
                    here[place] = _ASSIGNED[said]
        read += here
    return tuple(read)


# -- correctness ----------------------------------------------------------------------------------


def windows(n: int, k: int = 3) -> tuple[range, ...]:
    """Windows of k consecutive of n sentences, each one on; of fewer than k sentences one with all."""
    if k < 1:
        raise SettingError("window", f"is {shown(k)}", "Give the number of sentences, 1 or more.")
    return tuple(range(start, start + k) for start in range(n - k + 1)) or ((range(n),) if n else ())


def window_texts(documents: Sequence[Sequence[str]], k: int = 3) -> list[str]:
    """The windows of all documents as texts, each once."""
    texts = (
        " ".join(sentences[i] for i in one) for sentences in documents for one in windows(len(sentences), k)
    )
    return list(dict.fromkeys(texts))


def nearest(claim: str, texts: Sequence[str], most: int, model: str = "minilm") -> list[int]:
    """The places of the texts most similar to a claim, the best first, ties in order."""
    cosines = similarities([claim], texts, model)[0]
    return [int(place) for place in np.argsort(-cosines, kind="stable")[:most]]


def correctness_question(
    request: ChatRequest, claim: str, documents: Sequence[Sequence[str]], k: int = 3, prefilter: int = 5
) -> Conversation[Result]:
    """Does any window of any document support the claim? Only the ``prefilter`` nearest are put to the judge."""
    texts = window_texts(documents, k)
    chosen = nearest(claim, texts, prefilter) if 0 < prefilter < len(texts) else list(range(len(texts)))
    parts = []
    for place in chosen:
        part = yield from citation_question(request, claim, texts[place])
        parts.append({**part, "window": texts[place]})
        if read_judgement(part, "ternary").label == "supports":
            break  # the others cannot change it
    return {"parts": parts, "n_windows": len(texts)}


def read_correctness(result: Result, threshold: float | None = None) -> LabelRead | None:
    """Supports if any window does, else the first that could not be read, else neutral; ``None``: nothing to check."""
    reads = [read_judgement(part, "ternary", threshold) for part in result["parts"]]
    if not reads:
        return None
    best = next((one for one in reads if one.label == "supports"), None)
    return best or next((one for one in reads if one.label is None), LabelRead("neutral", "stated"))


def joined_question(request: ChatRequest, claim: str, sources: Sequence[str]) -> Conversation[Result]:
    """Do the sources support the claim together, and is each needed? ALCE's questions (Gao et al., EMNLP 2023)."""
    asking = [("whole", 0, "\n\n".join(sources))]
    parts = list[dict[str, Any]]()
    for role, place, source in asking:
        part = yield from citation_question(request, claim, source)
        parts.append({**part, "role": role, "place": place})
        supports = read_judgement(part, "ternary").label == "supports"
        if role == "whole" and supports and len(sources) > 1:
            asking += [("alone", n, one) for n, one in enumerate(sources)]
        if role == "alone" and not supports:
            asking.append(("rest", place, "\n\n".join((*sources[:place], *sources[place + 1 :]))))
    return {"parts": parts, "n": len(sources)}


def read_joined(result: Result) -> tuple[bool, int]:
    """Whether the sources support the claim together, and how many of them are precise.

    One is if it supports the claim alone, or if the others do not without it; none where all together do not.
    """
    said = {
        (part["role"], part["place"]): read_judgement(part, "ternary").label == "supports"
        for part in result["parts"]
    }
    if not said["whole", 0] or result["n"] == 1:
        return said["whole", 0], int(said["whole", 0])
    return True, sum(said["alone", n] or not said["rest", n] for n in range(result["n"]))


# -- sources --------------------------------------------------------------------------------------


def source_text(setting: SourceSetting, claim: str, title: str, sentences: Sequence[str]) -> str:
    """The part of a document that the judge reads (rule 31); empty if there is none.

    ``document``: title and abstract. ``maxsim``: the one sentence nearest to the claim, the title only where there
    is nothing else.
    """
    if setting == "document":
        return " ".join(filter(None, (title.strip(), " ".join(sentences)))).strip()
    if setting != "maxsim":
        raise SettingError("setting", f"is {shown(setting)}", "Choices are: document, maxsim, nuggets.")
    return sentences[nearest(claim, sentences, 1)[0]] if sentences else title.strip()


def run_settings(
    model: str, prompts: Sequence[str], request: Mapping[str, object] | None, max_tokens: int = MAX_TOKENS
) -> dict[str, Any]:
    """The identity of the requests of a run: model, versions of prompts, `runs.REQUEST_SETTINGS`."""
    versions = {name: prompt_version(name) for name in prompts}
    return {"model": model, "prompts": versions, "request": request_settings(request, max_tokens)}


def request_of(settings: Mapping[str, Any]) -> ChatRequest:
    """The request of a run without its messages."""
    return request_with(settings["model"], settings["request"], ())
