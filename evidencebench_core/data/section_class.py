"""Which part of a paper a sentence stands in: abstract, introduction, methods, results, ...

The files have headings as their authors wrote them ("2. MATERIALS AND METHODS", "Subjects and
methods", "HPV typing"), often none above the introduction, and some in fonts that nobody can read.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal, get_args

from evidencebench_core.data.model import SentenceType

__all__ = ["SECTION_CLASSES", "SectionClass", "class_of_heading", "section_classes"]

SectionClass = Literal["abstract", "introduction", "methods", "results", "discussion", "conclusion", "other"]
SECTION_CLASSES: Final[tuple[SectionClass, ...]] = get_args(SectionClass)

# What a main heading, or a part of it beside "and", may say; in lower case, without its number.
_MAIN: Final[Mapping[SectionClass, str]] = {
    "abstract": r"abstract",
    "introduction": r"introduction|background|rationale",
    "methods": r"(statistical |laboratory )?methods?|methodology|(experimental )?procedures?"
    r"|experimental( section| part)?",
    "results": r"results?|findings|observations",
    "discussion": r"(general )?discussion|comments?",
    "conclusion": r"(overall |general )?conclusions?|concluding remarks|summary",
    "other": r"acknowledge?ments?|references|bibliography|key ?words|abbreviations|funding|financial support"
    r"|(potential |disclosure of potential |declaration of |disclosure of )?(conflicts?|competing|declaration)"
    r"( of)? interests?|declaration of interests?|disclosures?|(authors? )?contributions?|authors contributions?"
    r"|availability of data|ethics( statement)?|supplementary (materials?|data|information)|appendix( \w)?"
    r"|(what this paper adds|what is already known|key points|key messages)( .*)?",
}
# What may stand beside a main word and does not decide: "Subjects and methods".
_BESIDE: Final = (
    r"materi[ae]ls?|patients?|subjects?|participants?|animals?|cases|samples?|data|study (population|design)"
    r"|design|setting|reagents|chemicals|limitations?|recommendations?|perspectives?|future \w+|implications?"
)
_MAIN_PATTERNS: Final[Mapping[SectionClass, re.Pattern[str]]] = MappingProxyType(
    {name: re.compile(pattern) for name, pattern in _MAIN.items()}
)
_BESIDE_PATTERN: Final = re.compile(_BESIDE)
_SPACED: Final[Mapping[str, SectionClass]] = {
    "abstract": "abstract",
    "introduction": "introduction",
    "background": "introduction",
    "methods": "methods",
    "materialsandmethods": "methods",
    "results": "results",
    "discussion": "discussion",
    "conclusion": "conclusion",
    "conclusions": "conclusion",
    "acknowledgements": "other",
    "acknowledgments": "other",
    "references": "other",
}
_NUMBER: Final = re.compile(r"^(?:\d+(?:\.\d+)*[.):]?|[ivx]+[.):])\s+")
_BETWEEN: Final = re.compile(r"\s*(?:,|&|/|\band\b)\s*")
_BODY: Final = frozenset({"methods", "results", "discussion"})
_LONGEST: Final = 60  # characters of a main heading


def class_of_heading(heading: str) -> SectionClass | None:
    """The class of a main heading; ``None`` for every other heading, which opens no part of its own.

    The heading is read in lower case, without its number and punctuation, in parts around "and", "&", ","
    and "/". Every part must be known, and the first main one decides: "Results and discussion" is results.
    A few are known with stray spaces as well ("D ISCUSSION").
    """
    if len(heading) > _LONGEST:
        return None
    text = unicodedata.normalize("NFKC", heading).lower().replace("’", "").replace("'", "")
    text = _NUMBER.sub("", " ".join(text.split())).strip(" .:;-")
    found: SectionClass | None = None
    for part in _BETWEEN.split(text):
        main = next((name for name, known in _MAIN_PATTERNS.items() if known.fullmatch(part)), None)
        if main is None and not _BESIDE_PATTERN.fullmatch(part):
            return _SPACED.get(text.replace(" ", ""))
        found = found or main
    return found


def section_classes(sentences: Sequence[str], types: Sequence[SentenceType]) -> tuple[SectionClass, ...]:
    """The part of the paper that each sentence stands in.

    In this order:

    1. ``abstract`` sentences are abstract, and so are a heading "Abstract", a "Summary" above all other
       main headings, and headings directly above abstract sentences that are not the paper's title block.
    2. Headings above all text (the title block) are other.
    3. A main heading (`class_of_heading`) and what follows it, with the headings below it, are of its
       class, up to the next main heading. "Background" below the methods, results or discussion is no
       main heading.
    4. Text above the first main heading is introduction, if methods, results or a discussion follow;
       in a paper without any main heading that we can read it is other.

    Parameters
    ----------
    sentences, types : sequences of equal length
    """
    kinds = list(zip(sentences, types, strict=True))
    opened = [class_of_heading(text) if kind == "section_name" else None for text, kind in kinds]
    in_abstract = _headings_of_abstract(types)
    first: SectionClass = "introduction" if not _BODY.isdisjoint(opened) else "other"
    classes: list[SectionClass] = []
    current: SectionClass | None = None
    only_headings = True
    for index, (text, kind) in enumerate(kinds):
        main = opened[index]
        on_top = current is None and main is not None and text.strip().lower() == "summary"
        if kind == "abstract" or index in in_abstract or main == "abstract" or on_top:
            classes.append("abstract")
        elif main and not (main == "introduction" and current in _BODY):
            classes.append(main)
            current = main
        elif kind == "section_name" and only_headings:
            classes.append("other")
        else:
            classes.append(current or first)
        only_headings = only_headings and kind == "section_name"
    return tuple(classes)


def _headings_of_abstract(types: Sequence[SentenceType]) -> set[int]:
    """Headings that stand directly above abstract sentences, with text somewhere above them."""
    found: set[int] = set()
    follows_abstract = False
    for index in range(len(types) - 1, -1, -1):
        if types[index] != "section_name":
            follows_abstract = types[index] == "abstract"
        elif follows_abstract:
            found.add(index)
    first_text = next((i for i, kind in enumerate(types) if kind != "section_name"), len(types))
    return {index for index in found if index > first_text}
