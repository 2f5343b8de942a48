"""Which section of the paper a sentence stands in.

The files give a type to every sentence and no section; spec rule 15 says how one follows from
the other: all ``abstract`` sentences are one section, every ``section_name`` opens a new one and
is its first sentence, and text before the first heading is a section of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from evidencebench_core.data.model import SentenceType

__all__ = ["ABSTRACT", "section_titles"]

ABSTRACT = "Abstract"


def section_titles(sentences: Sequence[str], types: Sequence[SentenceType]) -> tuple[str, ...]:
    """The title of the section of every sentence.

    Parameters
    ----------
    sentences, types : sequences of equal length

    Returns
    -------
    tuple of str
        ``"Abstract"`` for abstract sentences wherever they stand, the last heading above for
        the others (a heading is in the section it opens), ``""`` before the first heading.
    """
    titles: list[str] = []
    heading = ""
    for sentence, kind in zip(sentences, types, strict=True):
        if kind == "section_name":
            heading = sentence
        titles.append(ABSTRACT if kind == "abstract" else heading)
    return tuple(titles)
