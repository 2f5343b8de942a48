"""Citations in brackets, taken out of a text before it is split into sentences (spec rules 7 to 9)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar

from evidencebench_core.errors import SettingError, shown
from evidencebench_core.llm.parse import index_list

Bracket = Literal["before", "trec"]

_T = TypeVar("_T")

_BRACKET: Final = re.compile(r"\s*[\[［【]([^\[\]［］【】]{1,2000})[\]］】]")
_DOCUMENTS: Final = re.compile(
    r"\s*(?:PMIDs?\s*:?\s*)?\d{1,20}\s*(?:[,;]\s*(?:PMID\s*:?\s*)?\d{1,20}\s*)*", re.IGNORECASE
)
_WITHIN, _BEHIND = "\ue000", "\ue001"  # stand for a bracket while the text is split
_ONE_MASK: Final = re.compile(f"[{_WITHIN}{_BEHIND}]")
_MASK: Final = re.compile(f" ?[{_WITHIN}{_BEHIND}]")
_LEADING: Final = re.compile(f"(?:{_MASK.pattern})*")
_PARAGRAPH: Final = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*•]|\d{1,2}[.)])\s)")
_STOP: Final = re.compile(r"[.!?…][\"'”’»)}]*$")
_TREC_MOST: Final = 3  # citations of a sentence that count in TREC BioGen 2024


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence without its citations (the claim that is put to a judge), and what it cites, each once.

    ``citations`` are documents' ids, or sentence indices. ``n_unknown`` counts indices that were not shown.
    """

    text: str
    citations: tuple[Any, ...] = ()
    n_unknown: int = 0


def cited_sentences(text: str, bracket: Bracket = "before") -> tuple[CitedSentence, ...]:
    """The sentences of an answer that cites documents as ``[123]``, ``[123, 456]`` or ``[PMID: 123]``.

    A bracket behind a full stop belongs to the sentence before it, one at the very start to the first. With
    ``bracket="trec"`` both are dropped, and so is all but the first three citations of a sentence. Brackets with
    anything else in them are text.
    """
    if bracket not in ("before", "trec"):
        raise SettingError("bracket", f"is {shown(bracket)}", "Choices are: before, trec.")
    pairs = _split(text, _document_ids, within=bracket == "trec")
    most = _TREC_MOST if bracket == "trec" else None
    return tuple(CitedSentence(claim, tuple(dict.fromkeys(cited))[:most]) for claim, cited in pairs)


def index_sentences(text: str, shown_indices: Collection[int]) -> tuple[CitedSentence, ...]:
    """The sentences of an answer that cites sentence indices: ``[3, 5-7]``, ``[S12]``, ``[sentences 3 and 7]``.

    An index that was not shown is dropped and counted.
    """
    known = frozenset(shown_indices)
    sentences = []
    for claim, ranges in _split(text, index_list):
        cited, n_unknown = dict[int, None](), 0
        for numbers in ranges:
            fewer = numbers if len(numbers) < 10_000 else sorted(known)
            inside = [one for one in fewer if one in known and one in numbers]
            cited |= dict.fromkeys(inside)
            n_unknown += len(numbers) - len(inside)
        sentences.append(CitedSentence(claim, tuple(cited), n_unknown))
    return tuple(sentences)


def without_citations(text: str) -> str:
    """The text of a sentence without its brackets of documents; nothing else is cut."""
    return _MASK.sub("", _masked(text, _document_ids)[0]).strip()


def citations_in(text: str) -> tuple[str, ...]:
    """The documents that a sentence cites in brackets, each once."""
    _, found = _masked(text, _document_ids)
    return tuple(dict.fromkeys(one for cited in found for one in cited))


def document_id(text: str) -> str:
    """A document's id as it is compared: trimmed, and without the leading zeros of all-digit ids."""
    trimmed = text.strip()
    return (trimmed.lstrip("0") or "0") if trimmed.isdecimal() and trimmed.isascii() else trimmed


def _document_ids(inside: str) -> list[str] | None:
    return [document_id(one) for one in re.findall(r"\d+", inside)] if _DOCUMENTS.fullmatch(inside) else None


def _split(
    text: str, read: Callable[[str], Sequence[_T] | None], within: bool = False
) -> list[tuple[str, list[_T]]]:
    """Each sentence without its brackets, and what is in them; ``within`` leaves out those outside a sentence."""
    from evidencebench_core.papers.sentences import sentences_of

    masked, found = zip(*(_masked(one, read) for one in _PARAGRAPH.split(text)), strict=True)
    every = itertools.chain.from_iterable(found)
    pairs: list[tuple[str, list[_T]]] = []
    for sentence in itertools.chain.from_iterable(map(sentences_of, masked)):
        leading = 0 if pairs else len(_LEADING.match(sentence)[0].replace(" ", ""))  # type: ignore[index]
        claim, cited = _MASK.sub("", sentence).strip(), list[_T]()
        for number, mark in enumerate(_ONE_MASK.findall(sentence)):
            inside = next(every)
            if not within or (mark == _WITHIN and number >= leading):
                cited.extend(inside)
        if claim:
            pairs.append((claim, cited))
        elif pairs:
            pairs[-1][1].extend(cited)
    return pairs


def _masked(text: str, read: Callable[[str], Sequence[_T] | None]) -> tuple[str, list[Sequence[_T]]]:
    """The text with a mark for each bracket that holds citations, and what they hold, in order.

    A mark behind a full stop is put before it, so that it is split as a part of the sentence that it closes.
    """
    text = " ".join(_ONE_MASK.sub("", text).split())
    pieces, found, last = list[str](), list[Sequence[_T]](), 0
    for match in _BRACKET.finditer(text):
        if (cited := read(match[1])) is None:
            continue
        piece = text[last : match.start()]
        stop = _STOP.search(piece, max(0, len(piece) - 6))
        pieces += [piece[: stop.start()], stop[0]] if stop else [piece] if piece else []
        if pieces and _STOP.fullmatch(pieces[-1]):
            pieces.insert(-1, f" {_BEHIND}")
        else:
            pieces.append(f" {_WITHIN}")
        found.append(cited)
        last = match.end()
        if text[last : last + 1].isalnum():  # "lowers B[11]and C"
            pieces.append(" ")
    return "".join((*pieces, text[last:])), found
