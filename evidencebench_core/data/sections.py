"""The vocabulary of headings, and from it the section of every sentence.

Headings are as their authors wrote them: "2. MATERIALS AND METHODS", "Subjects and methods", "D ISCUSSION".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, Literal, get_args

from evidencebench_core.data.model import SentenceType

ABSTRACT: Final = "Abstract"

SectionClass = Literal["abstract", "introduction", "methods", "results", "discussion", "conclusion", "other"]
SECTION_CLASSES: Final[tuple[SectionClass, ...]] = get_args(SectionClass)

PaperPart = Literal["abstract", "body", "references", "back matter"]

# Headings are compared in lower case, without number, punctuation and apostrophes.
_INTERESTS: Final = (
    r"(potential |disclosure of potential |declaration of |disclosure of )?(conflicts?|competing|declaration)( of)?"
    r" interests?"
)
_BACK_MATTER: Final = (
    r"acknowledge?ments?|key ?words?|abbreviations|funding|financial support|" + _INTERESTS + r"|disclosures?"
    r"|(authors? )?contributions?|availability of data|supplementary (materials?|data|information)"
)
# What a main heading, or a part of it beside "and", may say.
_MAIN_WORDS: Final[Mapping[SectionClass, str]] = {
    "abstract": r"abstract",
    "introduction": r"introduction|background|rationale",
    "methods": r"(statistical |laboratory )?methods?|methodology|(experimental )?procedures?"
    r"|experimental( section| part)?",
    "results": r"results?|findings|observations",
    "discussion": r"(general )?discussion|comments?",
    "conclusion": r"(overall |general )?conclusions?|concluding remarks|summary",
    "other": _BACK_MATTER + r"|references|bibliography|ethics( statement)?|appendix( \w)?"
    r"|(what this paper adds|what is already known|key points|key messages)( .*)?",
}
_MAIN: Final = {name: re.compile(words) for name, words in _MAIN_WORDS.items()}
# What may stand beside a main word and does not decide: "Subjects and methods".
_BESIDE: Final = re.compile(
    r"materi[ae]ls?|patients?|subjects?|participants?|animals?|cases|samples?|data|study (population|design)"
    r"|design|setting|reagents|chemicals|limitations?|recommendations?|perspectives?|future \w+|implications?"
)
# Set with stray spaces: "D ISCUSSION", "R E F E R E N C E S".
_SPACED: Final[Mapping[str, SectionClass]] = {
    **dict.fromkeys(("introduction", "background"), "introduction"),
    **dict.fromkeys(("methods", "materialsandmethods"), "methods"),
    **dict.fromkeys(("conclusion", "conclusions"), "conclusion"),
    **dict.fromkeys(("acknowledgements", "acknowledgments", "references"), "other"),
    "abstract": "abstract", "results": "results", "discussion": "discussion",
}  # fmt: skip
_REFERENCES: Final = re.compile(
    r"(list of )?(references?|bibliography|literature( cited)?|works cited|cited literature)( list)?"
    r"( (and|&) (recommended reading|notes))?|r ?e ?f ?e ?r ?e ?n ?c ?e ?s"
)
# Back matter by names that the classes of the benchmark's headings do not have.
_PAPERS_BACK_MATTER: Final = re.compile(
    _BACK_MATTER + r"|abbreviations? used|abbreviation|funding (sources?|information)|grant support"
    r"|(grant|financial) disclosures?|(conflicts? of interests?|competing interests?) (statement|disclosure)"
    r"|declarations?|authors? (information|details|notes)|pre-publication history|credit .* statement"
    r"|data (availability|sharing)( statement)?|availability( of data)?( and materials?)?"
    r"|(supplement\w*|supporting|additional|electronic supplementary) (materials?|data|information|files?)"
    r"|footnotes?|notes?|(figures?|tables?) (legends?|captions?)|legends? (to|of|for) \w+|tables?"
    r"|consent (for publication|to publish)|publishers note|open access"
)
# Labels of structured abstracts that open no section of a paper.
_LABELS: Final = re.compile(
    r"(study )?(design|population|settings?|participants|patients|subjects|interventions?|exposures?)"
    r"|(main |primary )?outcomes?( measures?| and measures)?|measurements?( and main results)?|main results"
    r"|data sources?|study selection|data (extraction|collection)( and synthesis)?|significance|impact"
    r"|interpretation|importance|relevance|limitations?|objectives?|aims?|purpose|context|hypothesis|question"
    r"|(trial )?registration|design and setting|setting and participants|design, setting,? and participants"
    r"|(main )?findings|principal findings|evidence|rationale|clinical relevance|conclusions? and relevance"
    r"|conclusions?/significance|methodology/principal findings"
)
CAPTION: Final = re.compile(
    r"(?:(?:supplementa(?:ry|l)|supp?l?\.|online|extended data|additional)\s+)?"
    r"(?:(?P<tables>table|tab\.|box)|(?P<figures>figures?|figs?\.?|scheme|chart|plate|graph))"
    r"\s*(?:[a-z]?\d+[a-z]?|[ivx]+)\b(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
"""A line or paragraph that begins like a caption, "Table 1" or "Fig. 2"."""

_ASIDE: Final = re.compile(
    r"(?:key\s?-?words?\b|index terms|mesh terms|subject (?:terms|headings)|abbreviations?\s*(?:[:.—–-]|used\b|$)|"
    r"(?:jel|pacs)\b|(?:article|trial) (?:history|info|registration)|©|doi\b|https?:)",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"^(?:\d+(?:\.\d+)*[.):]?|[ivx]+[.):])\s+")
_MARK: Final = re.compile(r"^(?:[a-h][.)]?|[ivx]+|\W+)\s+")  # "A Introduction", "■ Methods"
_BETWEEN: Final = re.compile(r"\s*(?:,|&|/|\band\b)\s*")
_BODY: Final = frozenset({"methods", "results", "discussion"})
_LONGEST: Final = 60  # characters of a main heading
_LONGEST_BACK_MATTER: Final = 90


@lru_cache(maxsize=1 << 14)  # papers have the same headings
def class_of_heading(heading: str) -> SectionClass | None:
    """The class of a main heading; ``None`` for every other heading, which opens no section of its own.

    It is read in parts around "and", "&", "," and "/". Every part must be known, and the first main one decides:
    "Results and discussion" is results.
    """
    if len(heading) > _LONGEST:
        return None
    return next((section_class for words in _readings(heading) if (section_class := _class_of(words))), None)


def part_of_heading(heading: str) -> PaperPart:
    """The part of a paper that a heading opens, by its words alone; a section of the text is "body"."""
    if len(heading) > _LONGEST_BACK_MATTER:
        return "body"
    for words in _readings(heading):
        if _REFERENCES.fullmatch(words):
            return "references"
        parts = _BETWEEN.split(words)
        if _PAPERS_BACK_MATTER.fullmatch(words) or (
            _PAPERS_BACK_MATTER.fullmatch(parts[0])
            and all(_PAPERS_BACK_MATTER.fullmatch(part) or _BESIDE.fullmatch(part) for part in parts)
        ):
            return "back matter"
    return "abstract" if class_of_heading(heading) == "abstract" else "body"


def is_label(heading: str) -> bool:
    """Whether a heading could be a label of a structured abstract ("Methods", "Main outcome measures:")."""
    words = heading.strip(" .:").lower()
    return class_of_heading(heading) not in {None, "other"} or _LABELS.fullmatch(words) is not None


def is_aside(text: str) -> bool:
    """Whether a paragraph begins like key words, abbreviations, an article's history or the like."""
    return _ASIDE.match(text) is not None


def section_titles(sentences: Sequence[str], types: Sequence[SentenceType]) -> tuple[str, ...]:
    """The title of the section of every sentence: ``"Abstract"``, else the last heading above, else ``""``.

    A heading is in the section it opens.
    """
    titles: list[str] = []
    heading = ""
    for sentence, kind in zip(sentences, types, strict=True):
        if kind == "section_name":
            heading = sentence
        titles.append(ABSTRACT if kind == "abstract" else heading)
    return tuple(titles)


def section_classes(sentences: Sequence[str], types: Sequence[SentenceType]) -> tuple[SectionClass, ...]:
    """The part of the paper that each sentence stands in.

    In this order:

    1. ``abstract`` sentences are abstract, and so are a heading "Abstract", a "Summary" above all other main headings,
       and headings directly above abstract sentences that are not the paper's title block.
    2. Headings above all text (the title block) are other.
    3. A main heading (`class_of_heading`) and what follows it are of its class, up to the next one. "Background" below
       the methods, results or discussion is no main heading.
    4. Text above the first main heading is introduction where methods, results or a discussion follow, else other.
    """
    opened = {
        index: class_of_heading(sentences[index])
        for index, kind in enumerate(types)
        if kind == "section_name"
    }
    in_abstract = _headings_of_abstract(types)
    first: SectionClass = "introduction" if not _BODY.isdisjoint(opened.values()) else "other"
    classes: list[SectionClass] = []
    current: SectionClass | None = None
    only_headings = True
    for index, kind in enumerate(types):
        if kind != "section_name":
            only_headings = False
            classes.append("abstract" if kind == "abstract" else current or first)
            continue
        main = opened[index]
        on_top = current is None and main is not None and sentences[index].strip().lower() == "summary"
        if index in in_abstract or main == "abstract" or on_top:
            classes.append("abstract")
        elif main and not (main == "introduction" and current in _BODY):
            classes.append(main)
            current = main
        else:
            classes.append("other" if only_headings else current or first)
    return tuple(classes)


def _headings_of_abstract(types: Sequence[SentenceType]) -> set[int]:
    """Headings that stand directly above abstract sentences, with text somewhere above them."""
    first_text = next((i for i, kind in enumerate(types) if kind != "section_name"), len(types))
    headings: set[int] = set()
    follows_abstract = False
    for index in range(len(types) - 1, first_text, -1):
        if types[index] != "section_name":
            follows_abstract = types[index] == "abstract"
        elif follows_abstract:
            headings.add(index)
    return headings


def _readings(heading: str) -> tuple[str, ...]:
    """The words of a heading: without its number, then without any other mark before it."""
    text = unicodedata.normalize("NFKC", heading).lower().replace("’", "").replace("'", "")
    words = _NUMBER.sub("", " ".join(text.split())).strip(" .:;-–—*")
    unmarked = _MARK.sub("", words)
    return (words,) if unmarked == words else (words, unmarked)


def _class_of(words: str) -> SectionClass | None:
    first: SectionClass | None = None
    for part in _BETWEEN.split(words):
        main = next((name for name, known in _MAIN.items() if known.fullmatch(part)), None)
        if main is None and not _BESIDE.fullmatch(part):
            return _SPACED.get(words.replace(" ", ""))
        first = first or main
    return first
