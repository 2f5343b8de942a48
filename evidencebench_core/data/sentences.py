"""Text into sentences: syntok, with the rules of biomedical prose on top.

Each rule was measured on the papers of the train set (put together again and split again) and on the cases of
``tests/data/test_sentences.py``; what made no difference there is not here. A rule looks at the words around
one gap between two words, and says ``False`` (no boundary), ``True`` (a boundary) or ``None`` (as syntok says).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

# Nothing ends with these: a number, a name or the other half follows.
_NEVER_LAST: Final = frozenset({
    "fig", "figs", "eq", "eqs", "eqn", "eqns", "ref", "refs", "tab", "suppl", "supp", "pp", "vol",
    "vols", "vs", "cf", "viz", "approx", "ca", "dr", "drs", "mr", "mrs", "ms", "prof", "st", "sect",
    "chap", "ch", "i.e", "e.g", "gr", "cad", "var", "subsp", "ser", "resp",
})  # fmt: skip
_BEFORE_NUMBER: Final = frozenset({"no", "nos", "p", "art", "ver", "vers", "al"})
# These may end a sentence; they do where a word follows that begins one.
_MAY_BE_LAST: Final = frozenset({
    "inc", "co", "ltd", "corp", "jr", "sp", "spp", "al", "dept", "univ", "int", "sci", "biol",
    "chem", "med",
})  # fmt: skip
# Letters with stops that are no name of anything, so a capital behind them begins a sentence.
_DOTTED: Final = frozenset(
    {"s.e.m", "s.d", "a.m", "p.m", "i.p", "i.v", "i.m", "s.c", "p.o", "b.i.d", "t.i.d"}
)
_OPENERS: Final = frozenset({
    "The", "A", "An", "In", "On", "At", "For", "From", "To", "By", "With", "We", "It", "They", "This",
    "These", "That", "Those", "There", "However", "Although", "After", "Before", "When", "While", "As",
    "All", "Both", "Each", "Most", "Some", "No", "Our", "Their", "Its", "If", "Because", "Since",
    "Thus", "Therefore", "Moreover", "Furthermore", "Additionally", "Overall", "Similarly", "Finally",
    "Here", "One", "Two", "Three", "Four", "During", "Between", "Among", "Data", "Results", "Patients",
    "Participants", "Animals", "Mice", "Rats", "Cells", "Women", "Men", "Children", "Samples",
    "Differences", "Weights", "Values", "Blood", "Only", "Other", "Others", "Such", "Using", "Based",
    "Compared", "Following", "Given", "Despite", "Under",
})  # fmt: skip
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
    """The sentences of one paragraph, in order.

    Joined by spaces they are the paragraph with each white space made one space. No sentence is empty;
    text without a word has none.
    """
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
    begins = right.lstrip(_OPENING).rstrip(",") in _OPENERS
    capital = _CAPITAL.match(right) is not None
    verdict: bool | None = None
    if not stem.endswith(".") or stem.endswith(".."):
        verdict = True if cited and capital else None
    elif (
        bare in _NEVER_LAST
        or (_INITIAL.fullmatch(word) and _INITIAL.fullmatch(right))
        or (bare in _BEFORE_NUMBER and any(map(str.isdigit, right)))
    ):
        verdict = False
    elif bare in _MAY_BE_LAST or "." in bare.strip("0123456789.") or (len(named) == 1 and named.isupper()):
        verdict = True if begins or (capital and bare in _DOTTED) else None
    elif capital or _LOWER_NAME.match(right):
        verdict = True
    return verdict


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
