"""The section of every sentence, from headings as their authors wrote them: "2. MATERIALS AND METHODS", "D ISCUSSION".

The words of headings are in headings.toml.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Final, Literal, cast, get_args

from evidencebench_core.data.files import vocabulary
from evidencebench_core.data.model import SentenceType

ABSTRACT: Final = "Abstract"
SectionClass = Literal["abstract", "introduction", "methods", "results", "discussion", "conclusion", "other"]
SECTION_CLASSES: Final[tuple[SectionClass, ...]] = get_args(SectionClass)

_NUMBER: Final = re.compile(r"^(?:\d+(?:\.\d+)*[.):]?|[ivx]+[.):])\s+")
_MARK: Final = re.compile(r"^(?:[a-h][.)]?|[ivx]+|\W+)\s+")  # "A Introduction", "■ Methods"
BETWEEN: Final = re.compile(r"\s*(?:,|&|/|\band\b)\s*")
_BODY: Final = frozenset({"methods", "results", "discussion"})
_LONGEST: Final = 60  # characters of a main heading


@lru_cache(maxsize=1 << 14)  # papers have the same headings
def class_of_heading(heading: str) -> SectionClass | None:
    """The class of a main heading; ``None`` for any other heading.

    It is read in parts around "and", "&", "," and "/". Every part must be known, and the first main one decides:
    "Results and discussion" is results.
    """
    readings = readings_of(heading) if len(heading) <= _LONGEST else ()
    return next(filter(None, map(_class_of, readings)), None)


def section_titles(sentences: Sequence[str], types: Sequence[SentenceType]) -> tuple[str, ...]:
    """The title of the section of every sentence: ``"Abstract"``, else the heading above or its own, else ``""``."""
    titles: list[str] = []
    heading = ""
    for sentence, kind in zip(sentences, types, strict=True):
        if kind == "section_name":
            heading = sentence
        titles.append(ABSTRACT if kind == "abstract" else heading)
    return tuple(titles)


def section_classes(sentences: Sequence[str], types: Sequence[SentenceType]) -> tuple[SectionClass, ...]:
    """The part of the paper that each sentence stands in, in this order:

    1. ``abstract`` sentences are abstract, and so are a heading "Abstract", a "Summary" above all other main headings,
       and headings directly above abstract sentences that are not the paper's title block.
    2. Headings above all text (the title block) are other.
    3. A main heading (`class_of_heading`) and what follows it are of its class, up to the next one. "Background" below
       the methods, results or discussion is not a main heading.
    4. Text above the first main heading is introduction where methods, results or a discussion follow, else other.
    """
    headings = [index for index, kind in enumerate(types) if kind == "section_name"]
    opened = {index: class_of_heading(sentences[index]) for index in headings}
    in_abstract = _headings_of_abstract(types, headings)
    first: SectionClass = "introduction" if not _BODY.isdisjoint(opened.values()) else "other"
    classes: list[SectionClass] = ["abstract" if kind == "abstract" else first for kind in types]
    current: SectionClass | None = None
    for place, index in enumerate(headings):
        main, is_above_text = opened[index], index == place
        on_top = current is None and main is not None and sentences[index].strip().lower() == "summary"
        if index in in_abstract or main == "abstract" or on_top:
            classes[index] = "abstract"
        elif main and not (main == "introduction" and current in _BODY):
            classes[index] = current = main
            below = types[index + 1 :]
            classes[index + 1 :] = ["abstract" if kind == "abstract" else main for kind in below]
        elif is_above_text:
            classes[index] = "other"
    return tuple(classes)


def _headings_of_abstract(types: Sequence[SentenceType], headings: Sequence[int]) -> set[int]:
    """Headings that stand directly above abstract sentences, with text somewhere above them."""
    above = set[int]()
    for index in reversed(headings):
        if index + 1 < len(types) and (types[index + 1] == "abstract" or index + 1 in above):
            above.add(index)
    return {index for place, index in enumerate(headings) if index in above and index > place}


def readings_of(heading: str) -> tuple[str, ...]:
    """The words of a heading: without its number, then without any other mark before it."""
    text = unicodedata.normalize("NFKC", heading).lower().replace("’", "").replace("'", "")
    words = _NUMBER.sub("", " ".join(text.split())).strip(" .:;-–—*")
    unmarked = _MARK.sub("", words)
    return (words,) if unmarked == words else (words, unmarked)


def _class_of(words: str) -> SectionClass | None:
    first: SectionClass | None = None
    for part in BETWEEN.split(words):
        main = next((name for name in SECTION_CLASSES if heading_pattern(name).fullmatch(part)), None)
        if main is None and heading_pattern("back_matter").fullmatch(part):
            main = "other"
        if main is None and not heading_pattern("beside").fullmatch(part):
            spaced = vocabulary("headings.toml")["spaced"]
            return cast("SectionClass | None", spaced.get(words.replace(" ", "")))
        first = first or main
    return first


@cache
def heading_pattern(*names: str) -> re.Pattern[str]:
    words = vocabulary("headings.toml")
    return re.compile("|".join("|".join(words[name]) for name in names))
