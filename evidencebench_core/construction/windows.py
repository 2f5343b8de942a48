"""Windows over a paper, what one model's looks say of each sentence, and when an aspect is judged (rules 11 to 15)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from evidencebench_core.errors import SettingError

Merge = Literal["any", "all", "majority"]
Window = tuple[int, int]
"""A window's first sentence, and the one after its last."""

LENGTH: Final = 10
STRIDE: Final = 5


def windows(
    n_sentences: int, length: int = LENGTH, stride: int = STRIDE, *, head: bool = False
) -> tuple[Window, ...]:
    """The windows of a paper of so many sentences, from its first on.

    With the paper's length and stride every sentence but the first five is looked at exactly twice; ``head`` adds a
    second look at these. `SettingError` for a length outside 2 to 60, or a stride outside 1 to the length.
    """
    if not 2 <= length <= 60:
        raise SettingError("window length", f"is {length}", "Give 2 to 60 sentences.")
    if not 1 <= stride <= length:
        raise SettingError("window stride", f"is {stride}", f"Give 1 to {length} sentences.")
    first = [(start, min(start + length, n_sentences)) for start in range(0, n_sentences, stride)]
    return tuple(first + ([(0, min(stride, n_sentences))] if head and n_sentences else []))


def looks_due(index: int, length: int = LENGTH, stride: int = STRIDE) -> int:
    """How many of `windows` (without ``head``) have a sentence (0-based)."""
    return index // stride - max(0, (index - length) // stride + 1) + 1


@dataclass(frozen=True, slots=True)
class WindowLook:
    """One window's answer for one aspect."""

    window: Window
    yes: frozenset[int] = frozenset()  # paper-wide indices that cover the aspect
    failed: bool = False  # no answer, or one that could not be read: a missing look, never a no
    n_unknown: int = 0  # indices that the window does not show


def look_of(window: Window, chosen: Iterable[int]) -> WindowLook:
    """The look of an answer's indices; those outside the window are dropped and counted.

    An answer of such indices alone has failed; an empty one is a look that says no.
    """
    named = frozenset(chosen)
    known = frozenset(index for index in named if window[0] <= index < window[1])
    return WindowLook(window, known, bool(named) and not known, len(named - known))


@dataclass(frozen=True, slots=True)
class AspectLooks:
    """All looks for one aspect in a paper.

    A window that is looked at again is there once: the caller keeps the newest.
    """

    n_sentences: int
    looks: tuple[WindowLook, ...]
    length: int = LENGTH
    stride: int = STRIDE

    @property
    def seen(self) -> tuple[int, ...]:
        """How many looks each sentence has."""
        counts = [0] * self.n_sentences
        for look in self.looks:
            if not look.failed:
                for index in range(*look.window):
                    counts[index] += 1
        return tuple(counts)

    @property
    def missing(self) -> int:
        """Looks due to a sentence that are not there; what ``looks.missing`` of the file says."""
        due = [looks_due(index, self.length, self.stride) for index in range(self.n_sentences)]
        return sum(max(0, wanted - had) for wanted, had in zip(due, self.seen, strict=True))

    @property
    def unjudged(self) -> tuple[int, ...]:
        """The sentences without a look; the aspect is judged where there is none."""
        return tuple(index for index, had in enumerate(self.seen) if not had)

    @property
    def is_judged(self) -> bool:
        return not self.unjudged

    @property
    def is_doubly_judged(self) -> bool:
        """Whether every sentence has all the looks that are due to it."""
        return not self.missing

    @property
    def is_greedy(self) -> bool:
        """Whether more than half of some window was chosen."""
        return any(2 * len(look.yes) > look.window[1] - look.window[0] for look in self.looks)

    def covering(self, merge: Merge = "any") -> tuple[int, ...]:
        """The sentences that cover the aspect, ascending: by any of their looks, all, or more than half of them."""
        yes = [0] * self.n_sentences
        for look in self.looks:
            for index in look.yes:
                yes[index] += not look.failed
        least = [1 if merge == "any" else n if merge == "all" else n // 2 + 1 for n in self.seen]
        return tuple(index for index, n in enumerate(self.seen) if n and yes[index] >= least[index])

    def repeats(self) -> tuple[tuple[bool, bool], ...]:
        """Of every sentence that was looked at twice or more: what the earliest and the latest look say (rule 49)."""
        said: dict[int, list[bool]] = {}
        for look in sorted(self.looks, key=lambda look: look.window):
            if not look.failed:
                for index in range(*look.window):
                    said.setdefault(index, []).append(index in look.yes)
        return tuple((one[0], one[-1]) for _, one in sorted(said.items()) if len(one) > 1)


def covers_of(looks: Sequence[AspectLooks], merge: Merge = "any") -> tuple[frozenset[int], ...]:
    """The covers of an instance; `SettingError` where an aspect is not judged, since a missing look is not a no."""
    for number, aspect in enumerate(looks):
        if not aspect.is_judged:
            first = aspect.unjudged[0]
            problem = f"has {len(aspect.unjudged)} sentences without a look, the first is {first}"
            raise SettingError(f"aspect {number}", problem, "Run the alignment again: it goes on.")
    return tuple(frozenset(aspect.covering(merge)) for aspect in looks)
