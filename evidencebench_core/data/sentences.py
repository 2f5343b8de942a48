"""Text into sentences: syntok, with the rules of biomedical prose on top.

Each rule was measured on the papers of the train set, split again; what made no difference is not here. It looks at the
words around a gap, and says ``False`` (no boundary), ``True`` (a boundary) or ``None`` (as syntok says).
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

from evidencebench_core.data.files import vocabulary

_LONGEST_BRACKET: Final = 80  # words; beyond that a bracket was left open by mistake
_CITATION: Final = r"(?:\[\d[\d,;–-]*\])+"
_ONLY_CITATION: Final = re.compile(_CITATION)
_SUPERSCRIPT: Final = r"\d{1,3}(?:[,–-]\d{1,3})*"
_CLOSERS: Final = "\"'”’»)]}"
_OPENING: Final = "\"'“‘(["
_CITED: Final = re.compile(rf"(?P<word>.*[a-zµα-ω)\]%”\"’][.!?])(?:{_CITATION}|{_SUPERSCRIPT})", re.DOTALL)
_INITIAL: Final = re.compile(r"(?:[A-Z]\.-?)+")
# A word in capitals or with a capital; brackets and quotes may open it.
_CAPITAL: Final = re.compile(r"[\"'“‘(\[]*[^\W\d_a-z]")
# "p53", "mRNA", "c-Myc", "α-Tubulin", "n-hexane": a name, so it can begin a sentence as it is written.
_LOWER_NAME: Final = re.compile(r"[\"'“‘(\[]*(?:[α-ω]|[a-z]{1,5}-?(?:[A-Z]|\d)|[a-z]-[a-z])")
_LOWER: Final = re.compile(r"[\"'“‘(\[]*[a-zß-öø-ÿ]")
_LIST_MARK: Final = re.compile(r"\(?(?:\d+(?:\.\d+)*|[A-Za-z]|[ivxIVX]+)[.)]*")
_CONTINUES: Final = re.compile(r"[.,;:!?)\]}%=<>≤≥±+/–—]")


def sentences_of(text: str) -> list[str]:
    """The sentences of one paragraph; joined by spaces they are its words."""
    words = text.split()
    if not words:
        return []
    general = _general_boundaries(" ".join(words))
    inside = inside_brackets(words)
    starts, offset = [0], 0
    for gap in range(1, len(words)):
        offset += len(words[gap - 1]) + 1
        if inside[gap]:
            continue
        verdict = _boundary_at(words, gap, starts[-1])
        if verdict or (verdict is None and offset in general):
            starts.append(gap)
    return [" ".join(words[a:b]) for a, b in zip(starts, [*starts[1:], len(words)], strict=True)]


def _general_boundaries(text: str) -> frozenset[int]:
    """Offsets at which a sentence begins by the general rules of English, German and Spanish."""
    from syntok import segmenter
    from syntok.tokenizer import Tokenizer

    tokens = Tokenizer(emit_hyphen_or_underscore_sep=True, replace_not_contraction=False).tokenize(text)
    return frozenset(sentence[0].offset for sentence in segmenter.segment(tokens) if sentence)


def _boundary_at(words: Sequence[str], gap: int, start: int) -> bool | None:
    """Whether a sentence that began at `start` ends before ``words[gap]``; ``None`` where no rule applies."""
    left, right = words[gap - 1], words[gap]
    if _ONLY_CITATION.fullmatch(left) and gap - 1 > start and _stops(words[gap - 2]):
        return _CAPITAL.match(right) is not None  # "... was shown. [12][13] Others ..."
    cited = _CITED.fullmatch(left)
    word = cited["word"] if cited else left
    if not _stops(word) or _CONTINUES.match(right) or (gap - start == 1 and _LIST_MARK.fullmatch(left)):
        return False
    if _ONLY_CITATION.fullmatch(right) and gap + 1 < len(words) and _CAPITAL.match(words[gap + 1]):
        return False
    if _LOWER.match(right) and not _LOWER_NAME.match(right):
        return False
    return _after_stop(word, right, cited is not None)


def _after_stop(word: str, right: str, cited: bool) -> bool | None:
    stem = word.rstrip(_CLOSERS)
    named = stem.lstrip(_OPENING)[:-1]
    bare = named.casefold()
    begins = right.lstrip(_OPENING).rstrip(",") in _abbreviations("openers")
    capital = _CAPITAL.match(right) is not None
    initials = _INITIAL.fullmatch(word) and _INITIAL.fullmatch(right)
    numbered = bare in _abbreviations("before_number") and any(map(str.isdigit, right))
    letter = len(named) == 1 and named.isupper()
    verdict: bool | None = None
    if not stem.endswith(".") or stem.endswith(".."):
        verdict = True if cited and capital else None
    elif bare in _abbreviations("never_last") or initials or numbered:
        verdict = False
    elif bare in _abbreviations("may_be_last") or "." in bare.strip("0123456789.") or letter:
        verdict = True if begins or (capital and bare in _abbreviations("dotted")) else None
    elif capital or _LOWER_NAME.match(right):
        verdict = True
    return verdict


@cache
def _abbreviations(name: str) -> frozenset[str]:
    return frozenset(vocabulary("abbreviations.toml")[name])


def _stops(word: str) -> bool:
    return word.rstrip(_CLOSERS)[-1:] in {".", "!", "?", "…"}


def inside_brackets(words: Sequence[str]) -> list[bool]:
    """For every word whether a bracket opened before it closes within it or after it."""
    inside = [False] * len(words)
    for opening, closing in (("(", ")"), ("[", "]")):
        opened: list[int] = []
        for index, word in enumerate(words):
            for character in word:
                if character == opening:
                    opened.append(index)
                elif character == closing and opened:
                    first = opened.pop()
                    if index - first <= _LONGEST_BRACKET:
                        inside[first + 1 : index + 1] = [True] * (index - first)
    return inside
