"""The part of a paper that a heading opens, and lines that are no heading: captions, labels, asides."""

import re
from typing import Final, Literal

from evidencebench_core.data.sections import BETWEEN, class_of_heading, heading_pattern, readings_of

PaperPart = Literal["abstract", "body", "references", "back matter"]
_LONGEST_BACK_MATTER: Final = 90  # characters

CAPTION: Final = re.compile(
    r"(?:(?:supplementa(?:ry|l)|supp?l?\.|online|extended data|additional)\s+)?"
    r"(?:(?P<tables>table|tab\.|box)|(?P<figures>figures?|figs?\.?|scheme|chart|plate|graph))"
    r"\s*(?:[a-z]?\d+[a-z]?|[ivx]+|[a-h](?=[:.]))\b(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
"""A line or paragraph that begins like a caption, "Table 1" or "Fig. 2"."""


def part_of_heading(heading: str) -> PaperPart:
    """The part of a paper that a heading opens, by its words alone; a section of the text is "body"."""
    if len(heading) > _LONGEST_BACK_MATTER:
        return "body"
    for words in readings_of(heading):
        if heading_pattern("reference_lists").fullmatch(words):
            return "references"
        back_matter = heading_pattern("back_matter", "papers_back_matter")
        known = heading_pattern("back_matter", "papers_back_matter", "beside")
        parts = BETWEEN.split(words)
        is_list = back_matter.fullmatch(parts[0]) and all(map(known.fullmatch, parts))
        if is_list or back_matter.fullmatch(words):
            return "back matter"
    return "abstract" if class_of_heading(heading) == "abstract" else "body"


def is_label(heading: str) -> bool:
    """Whether a heading could be a label of a structured abstract ("Methods", "Main outcome measures:")."""
    words = heading.strip(" .:").lower()
    return class_of_heading(heading) not in {None, "other"} or bool(
        heading_pattern("labels").fullmatch(words)
    )


def is_aside(text: str) -> bool:
    """Whether a paragraph starts like key words, abbreviations, an article history or the like."""
    return heading_pattern("aside").match(text) is not None
