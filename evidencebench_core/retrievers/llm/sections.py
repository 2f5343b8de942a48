"""How a paper is cut for reading section by section (spec rules 15 and 16). Indices only, no text."""

from __future__ import annotations

from collections.abc import Sequence

from evidencebench_core.data.model import SentenceType

# The four slices of a section that is too long, in fortieths of its length.
_FORTIETHS = ((0, 13), (9, 22), (18, 31), (27, 40))


def section_indices(types: Sequence[SentenceType]) -> tuple[tuple[int, ...], ...]:
    """The sections of a paper, each as the 0-based indices of its sentences, ascending.

    All ``abstract`` sentences, wherever they stand, are the first section; then every ``section_name``
    opens one and is its first sentence. Text before the first heading is a section of its own. Empty
    ones are left out, so a paper without sentences has none; a heading without text is a section of one.
    """
    abstract: list[int] = []
    sections: list[list[int]] = [[]]
    for index, kind in enumerate(types):
        if kind == "abstract":
            abstract.append(index)
            continue
        if kind == "section_name":
            sections.append([])
        sections[-1].append(index)
    return tuple(tuple(section) for section in (abstract, *sections) if section)


def overlapping_slices(indices: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Four slices of a section of n sentences: [0, .325n) [.225n, .55n) [.45n, .775n) [.675n, n).

    Bounds are rounded down, by whole-number arithmetic (``.55 * 180`` is 99.00000000000001). Slices that
    are empty, or the same as one before, are left out: sections of fewer than four sentences have those.
    """
    n = len(indices)
    slices = (tuple(indices[low * n // 40 : high * n // 40]) for low, high in _FORTIETHS)
    return tuple(dict.fromkeys(one for one in slices if one))
