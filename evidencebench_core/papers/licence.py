"""The licence under which an article may be used, as its JATS file states it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from evidencebench_core.papers.limits import DEFAULT_LIMITS, Limits
from evidencebench_core.papers.read import place_of
from evidencebench_core.papers.xml_tree import Element, xml_root

LICENCES: Final = (
    "public domain", "CC0", "CC BY", "CC BY-SA", "CC BY-NC", "CC BY-NC-SA", "CC BY-ND", "CC BY-NC-ND",
)  # fmt: skip
"""Those under which a paper can be kept, the strictest last; the last two allow no changed copy."""

_ADDRESS: Final = re.compile(
    r"creativecommons\.org/+(?:licen[cs]es/+(?P<by>by(?:-nc)?(?:-sa|-nd)?)\b|publicdomain/+(?P<free>zero|mark)\b)",
    re.I,
)


def article_licence(content: bytes, name: str = "", limits: Limits = DEFAULT_LIMITS) -> str:
    """One of `LICENCES`; ``""`` where the file names none of these by an address of creativecommons.org.

    The first address counts that stands in the licence of the article itself, or in its copyright statement, where
    some journals have it; not in those of a picture that it borrows. `PaperError` if the file is not well-formed XML.
    """
    place = place_of(name)
    limits.check_size(len(content), place)
    for element in xml_root(content, limits, place).walk("body", "back", "sub-article", "response"):
        if element.tag in {"license", "license_ref", "copyright-statement"}:
            for text in _texts(element):
                if found := _ADDRESS.search(text):
                    return _name(found)
    return ""


def licence_named(text: str) -> str:
    """One of `LICENCES` by its name in any common form ("cc-by 4.0"), or its address; ``""`` for anything else."""
    if found := _ADDRESS.search(text):
        return _name(found)
    words = re.sub(r"[\s_-]+", " ", text).strip().casefold()
    words = re.sub(r" \d(\.\d)?( (international|unported))?$", "", words)
    return {one.casefold().replace("-", " "): one for one in LICENCES}.get(words, "")


def strictest(licences: Iterable[str]) -> str:
    """The licence that a file of several papers takes; ``""`` where one has none."""
    return max(
        licences, key=lambda one: LICENCES.index(one) if one in LICENCES else len(LICENCES), default=""
    )


def allows_export(licence: str) -> bool:
    """Whether a changed copy of the paper, such as its sentences in a list, may be passed on."""
    return licence in LICENCES and not licence.endswith("-ND")


def _texts(licence: Element) -> Iterable[str]:
    for element in licence.walk():
        yield from element.attributes.values()
    yield licence.text()


def _name(address: re.Match[str]) -> str:
    if free := address["free"]:
        return "CC0" if free.casefold() == "zero" else "public domain"
    return f"CC {address['by'].upper()}"
