"""Citations in brackets, taken out of a text before it is split into sentences."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from evidencebench_core.llm.parse import index_list

_T = TypeVar("_T")

_BRACKET: Final = re.compile(r"\s*[\[［【]([^\[\]［］【】]{1,2000})[\]］】]")
_DOCUMENTS: Final = re.compile(
    r"\s*(?:PMIDs?\s*:?\s*)?\d{1,20}\s*(?:[,;]\s*(?:PMID\s*:?\s*)?\d{1,20}\s*)*", re.IGNORECASE
)
_MOST_UNKNOWN: Final = 5  # indices that are named
_MARK: Final = "\ue000"  # stands for a bracket while the text is split
_ONE_MASK: Final = re.compile(_MARK)
_MASK: Final = re.compile(f" ?{_MARK}")
_PARAGRAPH: Final = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*•]|\d{1,2}[.)])\s)")
_STOP: Final = re.compile(r"[.!?…][\"'”’»)}]*$")
_WORD: Final = re.compile(r"\s*\w+")
_LETTER_AT_END: Final = re.compile(  # "The patients had hepatitis C. Mortality fell."
    r"(?i:(?<=\bhepatitis [a-z]\.)|(?<=\bvitamin [a-z]\.)|(?<=\bgroup [a-z]\.)|(?<=\barm [a-z]\.)"
    r"|(?<=\btype [a-z]\.)|(?<=\binfluenza [a-z]\.)|(?<=\bclass [a-z]\.)) (?=[A-Z])"
)


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence without its citations (the claim that is put to a judge), and what it cites, each once.

    ``citations`` are documents' ids, or sentence indices. ``n_unknown`` counts indices that were not shown;
    ``unknown`` has the first of them.
    """

    text: str
    citations: tuple[Any, ...] = ()
    n_unknown: int = 0
    unknown: tuple[int, ...] = ()


def cited_sentences(text: str) -> tuple[CitedSentence, ...]:
    """The sentences of an answer that cites documents as ``[123]``, ``[123, 456]`` or ``[PMID: 123]``.

    A bracket behind a full stop belongs to the sentence before it, one at the very start to the first; where a
    paragraph begins with one and ends without, to the sentence behind it. Brackets with anything else in them are text.
    """
    pairs = _split(text, _document_ids)
    return tuple(CitedSentence(claim, tuple(dict.fromkeys(cited))) for claim, cited in pairs)


def index_sentences(text: str, shown_indices: Collection[int]) -> tuple[CitedSentence, ...]:
    """The sentences of an answer that cites sentence indices: ``[3, 5-7]``, ``[S12]``, ``[sentences 3 and 7]``.

    An index that was not shown is left out, and counted.
    """
    known = sorted(set(shown_indices))
    sentences = []
    for claim, ranges in _split(text, index_list):
        cited, unknown, n_unknown = dict[int, None](), list[int](), 0
        for numbers in ranges:
            inside = [name for name in known if name in numbers]
            cited |= dict.fromkeys(inside)
            n_unknown += len(numbers) - len(inside)
            unknown += itertools.islice((name for name in numbers if name not in known), _MOST_UNKNOWN)
        sentences.append(CitedSentence(claim, tuple(cited), n_unknown, tuple(unknown[:_MOST_UNKNOWN])))
    return tuple(sentences)


def without_citations(text: str) -> str:
    """The text of a sentence without its citations of documents."""
    return _MASK.sub("", _with_marks(text, _document_ids)[0]).strip()


def citations_in(text: str) -> tuple[str, ...]:
    """The documents that a sentence cites in brackets, each once."""
    _, brackets = _with_marks(text, _document_ids)
    return tuple(dict.fromkeys(itertools.chain.from_iterable(brackets)))


def document_id(text: str) -> str:
    """A document's id for comparison: trimmed, and without leading zeros if it is a number."""
    trimmed = text.strip()
    return (trimmed.lstrip("0") or "0") if trimmed.isdecimal() and trimmed.isascii() else trimmed


def _document_ids(inside: str) -> list[str] | None:
    return (
        [document_id(digits) for digits in re.findall(r"\d+", inside)]
        if _DOCUMENTS.fullmatch(inside)
        else None
    )


def _split(text: str, read: Callable[[str], Sequence[_T] | None]) -> list[tuple[str, list[_T]]]:
    """Each sentence without its brackets, and their contents."""
    from evidencebench_core.data.sentences import sentences_of

    paragraphs = [_with_marks(paragraph, read) for paragraph in _PARAGRAPH.split(text)]
    contents = itertools.chain.from_iterable(inside for _, inside in paragraphs)
    pairs: list[tuple[str, list[_T]]] = []
    for masked, _ in paragraphs:
        sentences = [part for sentence in sentences_of(masked) for part in _LETTER_AT_END.split(sentence)]
        for sentence in sentences:
            claim, cited = _MASK.sub("", sentence).strip(), list[_T]()
            for _ in _ONE_MASK.findall(sentence):
                cited.extend(next(contents))
            if claim:
                pairs.append((claim, cited))
            elif pairs:
                pairs[-1][1].extend(cited)
    return pairs


def _with_marks(text: str, read: Callable[[str], Sequence[_T] | None]) -> tuple[str, list[Sequence[_T]]]:
    """The text with a mark for each bracket that holds citations, and what they hold, in order.

    A mark behind a full stop is put before it, so that it is split as a part of the sentence that it closes; of
    brackets that stand in front of sentences behind the first word.
    """
    text = " ".join(_ONE_MASK.sub("", text).split())
    brackets = [(match, read(match[1])) for match in _BRACKET.finditer(text)]
    citing = [(match, cited) for match, cited in brackets if cited is not None]
    ends = (text[: citing[0][0].start()], text[citing[-1][0].end() :]) if citing else ("", "")
    is_in_front = not _WORD.search(ends[0]) and bool(_WORD.search(ends[1]))
    pieces, last = list[str](), 0
    for match, _ in citing:
        piece = text[last : match.start()]
        stop = _STOP.search(piece, max(0, len(piece) - 6))
        pieces += [piece[: stop.start()], stop[0]] if stop else [piece] if piece else []
        is_behind_stop = bool(pieces) and bool(_STOP.fullmatch(pieces[-1]))
        word = _WORD.match(text, match.end())
        last = match.end()
        if (
            is_in_front
            and word
            and (match[0][0] == " " or not match.start())
            and (is_behind_stop or not pieces)
        ):
            pieces.append(f"{' ' * bool(pieces)}{word[0].strip()} {_MARK}")
            last = word.end()
            continue
        pieces.insert(len(pieces) - is_behind_stop, f" {_MARK}")
        if text[last : last + 1].isalnum():  # "lowers B[11]and C"
            pieces.append(" ")
    return "".join((*pieces, text[last:])), [cited for _, cited in citing]
