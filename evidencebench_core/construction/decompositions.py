"""Two decompositions of the same summaries, matched aspect by aspect, and the marks that follow (rule 52)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from evidencebench_core.analyses.missed_text import content_words
from evidencebench_core.construction.measure import Share, shares
from evidencebench_core.construction.quality import paper_of
from evidencebench_core.construction.state import AspectDraft, BuildState
from evidencebench_core.errors import DataError, shown

LEAST_F1: Final = 0.5
"""Of content words, from which two aspects match unless a person says otherwise."""

_REMEDY: Final = "Give the file that --against wrote with --out; blank is an aspect without a match."
_NOTHING: Final = Share(None, None)


@dataclass(frozen=True, slots=True)
class DecompositionFigures:
    """How alike two decompositions are; made by `decomposition_figures`.

    Attributes
    ----------
    n_builds, n_other : int
        Compared, and with another summary or without aspects in one of the two.
    n_first, n_second, n_matched : int
        Aspects.
    aspects : Share
        F1 of matched aspects, over all builds.
    marks : Share
        F1 of the sentences that cover matched aspects, pair by pair, where both were looked for in the same text.
    evidence : Share
        F1 of the sentences that cover any aspect, where all of both were looked for.
    """

    n_builds: int
    n_other: int
    n_first: int
    n_second: int
    n_matched: int
    aspects: Share = _NOTHING
    marks: Share = _NOTHING
    evidence: Share = _NOTHING

    def as_dict(self) -> dict[str, Any]:
        counts = ("n_builds", "n_other", "n_first", "n_second", "n_matched")
        named = {name: getattr(self, name).as_dict() for name in ("aspects", "marks", "evidence")}
        return {name: getattr(self, name) for name in counts} | named


Pairs = Mapping[int, int]
"""By the number of an aspect of the first decomposition its match in the second."""


def decomposition_figures(
    both: Iterable[tuple[BuildState, BuildState]],
    pairs: Mapping[str, Pairs] | None = None,
    n_resamples: int = 10_000,
) -> DecompositionFigures:
    """Figures of builds decomposed twice.

    Parameters
    ----------
    both : iterable of (BuildState, BuildState)
        Builds of the same id.
    pairs : mapping of str to mapping of int to int, optional
        By build what a person matched; without it `matched_aspects` does.
    """
    rows: list[tuple[str, tuple[tuple[float, float], ...]]] = []
    n_other = n_first = n_second = n_matched = 0
    for one, other in both:
        if not is_comparable(one, other):
            n_other += 1
            continue
        matched = matched_aspects(one, other) if pairs is None else pairs.get(one.id, {})
        n_first, n_second = n_first + len(one.aspects), n_second + len(other.aspects)
        n_matched += len(matched)
        total = len(one.aspects) + len(other.aspects)
        rows.append((paper_of(one), ((2 * len(matched), total), *_of_marks(one, other, matched))))
    found = shares(rows, n_resamples) or [_NOTHING] * 3
    return DecompositionFigures(len(rows), n_other, n_first, n_second, n_matched, *found)


def is_comparable(one: BuildState, other: BuildState) -> bool:
    """Whether both have aspects of one summary."""
    return one.summary.split() == other.summary.split() and bool(one.aspects) and bool(other.aspects)


def matched_aspects(one: BuildState, other: BuildState) -> dict[int, int]:
    """Pairs one to one with the largest sum of `word_f1`, each of at least `LEAST_F1`."""
    from scipy.optimize import linear_sum_assignment

    f1 = np.array([[word_f1(a.text, b.text) for b in other.aspects] for a in one.aspects])
    worth = np.where(f1 >= LEAST_F1, f1, 0.0)
    chosen = zip(*linear_sum_assignment(-worth), strict=True)
    return {one.aspects[i].number: other.aspects[j].number for i, j in chosen if worth[i, j]}


def word_f1(a: str, b: str) -> float:
    """Of the content words of two texts; 0 where neither has any."""
    left, right = content_words(a), content_words(b)
    return 2 * len(left & right) / max(1, len(left) + len(right))


def _of_marks(one: BuildState, other: BuildState, matched: Pairs) -> tuple[tuple[float, float], ...]:
    """Twice what is shared, and the sum of both: of matched aspects, and of all evidence."""
    if one.pool is None or other.pool is None or one.pool.sha256 != other.pool.sha256:
        return (0, 0), (0, 0)
    first, second = one.covers(), other.covers()
    looked_for = [(first[a], second[b]) for a, b in matched.items() if a in first and b in second]
    marks = 2 * sum(len(a & b) for a, b in looked_for), sum(len(a) + len(b) for a, b in looked_for)
    if len(first) < len(one.aspects) or len(second) < len(other.aspects):
        return marks, (0, 0)
    of_both = [frozenset[int]().union(*covers.values()) for covers in (first, second)]
    return marks, (2 * len(of_both[0] & of_both[1]), sum(map(len, of_both)))


# -- what a person says ---------------------------------------------------------------------------


def pair_rows(both: Iterable[tuple[BuildState, BuildState]]) -> Iterator[dict[str, str]]:
    """All aspects of either, the matches side by side: ``build, a, aspect_a, b, aspect_b``."""
    for one, other in both:
        if is_comparable(one, other):
            matched, right = matched_aspects(one, other), {of.number: of for of in other.aspects}
            for of in one.aspects:
                yield _row(one.id, of, right.get(matched.get(of.number, -1)))
            for number in sorted(right.keys() - set(matched.values())):
                yield _row(one.id, None, right[number])


def _row(build: str, a: AspectDraft | None, b: AspectDraft | None) -> dict[str, str]:
    numbers = ("" if of is None else str(of.number) for of in (a, b))
    texts = ("" if of is None else of.text for of in (a, b))
    return {"build": build, **dict(zip(("a", "b", "aspect_a", "aspect_b"), (*numbers, *texts), strict=True))}


def pairs_of(
    rows: Iterable[Mapping[str, str]], both: Iterable[tuple[BuildState, BuildState]]
) -> dict[str, dict[int, int]]:
    """By build what a person matched; `DataError`, with the row, for a number that is none or is used twice."""
    known = {
        one.id: ({of.number for of in one.aspects}, {of.number for of in other.aspects})
        for one, other in both
    }
    found: dict[str, dict[int, int]] = {}
    for place, row in enumerate(rows, start=2):
        if not {"build", "a", "b"} <= row.keys():
            raise DataError(f"row {place}", "has not the columns build, a and b", _REMEDY)
        said = row["a"].strip(), row["b"].strip()
        if not all(said) or row["build"] not in known:
            continue
        of_build = found.setdefault(row["build"], {})
        numbers = [int(one) if one.isdecimal() and one.isascii() else -1 for one in said]
        is_known = all(number in there for number, there in zip(numbers, known[row["build"]], strict=True))
        if not is_known or numbers[0] in of_build or numbers[1] in of_build.values():
            problem = f"matches {shown(said[0])} with {shown(said[1])} of {shown(row['build'])}"
            raise DataError(f"row {place}", problem, "Name numbers of its aspects, each once.")
        of_build[numbers[0]] = numbers[1]
    return found
