"""A build, which is an instance in the making: what goes in, what its stages came to, and what that makes of it.

Nothing here asks or stores: `pipeline` reads what is stored into a `BuildState`, which says what is due next.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from evidencebench_core.construction.funnel import LEAST_ASPECTS, LEAST_COVERAGE, DropReason, coverage_drop
from evidencebench_core.construction.windows import (
    LENGTH,
    STRIDE,
    AspectLooks,
    Merge,
    Window,
    WindowLook,
    windows,
)
from evidencebench_core.data.model import SentenceType
from evidencebench_core.errors import SettingError, shown

Profile = Literal["paper", "careful"]
PROFILES: Final[tuple[Profile, ...]] = ("paper", "careful")
"""As published; ``careful`` looks at the first sentences twice too, and asks again for answers without first words."""

Stage = Literal[
    "boundary", "suitability", "motive", "hypothesis", "pool", "aspects", "leak", "results", "alignment", "coverage",
    "stance",
]  # fmt: skip
STAGES: Final[tuple[Stage, ...]] = (
    "boundary", "suitability", "motive", "hypothesis", "pool", "aspects", "leak", "results", "alignment", "coverage",
)  # fmt: skip
"""In their order. ``pool`` and ``coverage`` ask nobody; ``alignment`` asks by aspect and window, the others once.

``stance`` is none of them: no build waits for it.
"""

StageResult = Mapping[str, Any]
"""The result of a stage's conversation, as JSON can hold it.

``outcome`` is ``"done"``, ``"failed"`` (no usable answer: the build waits) or a `DropReason`; ``text`` the last
answer, ``keys`` of the kept answers, ``prompt_tokens``, ``completion_tokens`` and ``seconds`` of all calls. Done, it
has: boundary ``sentences`` (of the paragraph) and ``summary``; motive ``question``; hypothesis ``hypothesis``,
``problems``; aspects ``aspects`` (objects with ``text`` and ``problems``); leak ``leaked`` (aspect numbers, where the
outcome is ``"leak"`` too); results ``results`` (aspect numbers);
stance ``stances``, one for each aspect that stands. One of alignment is of `align.window_look`.
"""

Source = Literal["summary", "model", "user"]
Status = Literal["due", "failed", "dropped", "kept"]
CUT_OFF: Final = "It was cut off."
"""The ``problem`` of a stage whose last answer was cut off."""
_MORE_ROOM: Final = "the answer was cut off, with twice the room too: give it more with --set max_tokens=N"
_PROBED: Final = 3  # aspects (rule 71)
_SAME_TITLE: Final = 0.6  # F1 of words (rule 91)


@dataclass(frozen=True, slots=True)
class BuildInput:
    """The input of a build: a line of the input, a paper with its summary, or what a person typed.

    Attributes
    ----------
    id : str
        One line, unique in its construction.
    paper : str
        Where the paper is from: a path, a PMC id, a PMID or a DOI.
    summary : str
        What the review says of the paper; empty: to be found in ``paragraph``.
    hypothesis : str
        Empty: asked of a model.
    aspects : tuple of str
        Written by a person; empty: asked of a model, who is shown the summary, or the paper where there is none.
    title : str
        Of the paper, as the review's reference has it.
    licence : str
        Of the paper, as the input says; where its file names one too, the stricter one counts.
    paragraph : tuple of str
        Sentences of the review, the one that cites the paper at ``citing``; ``None`` where that is not known.
    """

    id: str
    paper: str
    summary: str = ""
    hypothesis: str = ""
    aspects: tuple[str, ...] = ()
    title: str = ""
    licence: str = ""
    review_id: str = ""
    review_title: str = ""
    review_doi: str = ""
    review_licence: str = ""
    section: tuple[str, ...] = ()
    paragraph: tuple[str, ...] = ()
    citing: int | None = None
    context_before: str = ""
    context_after: str = ""


@dataclass(frozen=True, slots=True)
class Pool:
    """The candidate pool of a build's paper."""

    sha256: str  # `pool_sha256`
    paper_id: str
    title: str
    licence: str  # one of `papers.licence.LICENCES`, or ""
    sentences: tuple[str, ...]
    sentence_types: tuple[SentenceType, ...]


@dataclass(frozen=True, slots=True)
class AspectDraft:
    """A study aspect; its number is its own for ever (rule 22)."""

    number: int
    text: str
    is_result: bool | None = None  # None: not said yet
    source: Source = "summary"  # of the review, proposed by a model from the paper, or written by a person
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Edits:
    """The changes that people's decisions make to a build; made by `decisions`.

    ``aspects`` are added, or stand for one that is ``gone`` (rejected, edited or split), under numbers of their own.
    An aspect is named by number and text, so that nothing is said of another text that has the number later. By number
    ``instead`` has the aspect that an added one stands for: its label as a result is taken over.
    ``overruled`` are reasons of a drop that a person set aside; ``dropped``: a person dropped the build.
    """

    summary: str = ""
    hypothesis: str = ""
    aspects: tuple[AspectDraft, ...] = ()
    gone: frozenset[tuple[int, str]] = frozenset()
    results: Mapping[tuple[int, str], bool] = field(default_factory=dict)
    instead: Mapping[int, tuple[int, str]] = field(default_factory=dict)
    overruled: frozenset[DropReason] = frozenset()
    dropped: bool = False


@dataclass(frozen=True, slots=True)
class ConstructionSettings:
    """How the builds of a construction are made; the newest that a construction was run with count.

    ``align_model`` and ``second_model`` may be empty: the same model, and none. ``request`` holds
    `runs.request_settings` that differ from the defaults. ``coverage`` is in percent of the aspects.
    """

    model: str
    profile: Profile = "paper"
    align_model: str = ""
    second_model: str = ""
    probe: bool = False
    length: int = LENGTH
    stride: int = STRIDE
    merge: Merge = "any"
    coverage: int = LEAST_COVERAGE
    least_aspects: int = LEAST_ASPECTS
    request: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise SettingError("model", "is not named", "Say --model NAME.")
        if self.profile not in PROFILES:
            raise SettingError("profile", f"is {self.profile!r}", f"Choices are: {', '.join(PROFILES)}.")
        if self.second_model and self.second_model == (self.align_model or self.model):
            problem = f"is {shown(self.second_model)}, which looks already"
            raise SettingError(
                "second model", problem, "Name another one, of another family if there is one."
            )
        if not 0 <= self.coverage <= 100:
            raise SettingError("coverage", f"is {self.coverage} percent", "Give 0 to 100.")
        if self.least_aspects < 1:
            raise SettingError("least aspects", f"is {self.least_aspects}", "Give 1 or more.")
        self.windows(1)

    def windows(self, n_sentences: int) -> tuple[Window, ...]:
        return windows(n_sentences, self.length, self.stride, head=self.profile == "careful")


@dataclass(frozen=True, slots=True)
class Position:
    """How far a build is: its first stage that is not done, and why; a kept one is at ``coverage``."""

    stage: Stage
    status: Status
    reason: DropReason | None = None  # of a drop
    problem: str = ""  # what a person should know: why a call failed, or the paper cannot be read


@dataclass(frozen=True, slots=True)
class BuildState:
    """A build with all that is stored of it for its present inputs."""

    input: BuildInput
    settings: ConstructionSettings
    edits: Edits = field(default_factory=Edits)
    pool: Pool | None = None
    no_pool: tuple[DropReason, str] | None = (
        None  # why there is none, or it cannot be used: the paper's licence
    )
    results: Mapping[Stage, StageResult] = field(default_factory=dict)  # of the stages that ask once
    errors: Mapping[Stage, str] = field(
        default_factory=dict
    )  # of calls that gave nothing, the last one a stage
    # By aspect number and window the results of alignment, and those of the second model.
    aligned: Mapping[int, Mapping[Window, StageResult]] = field(default_factory=dict)
    second: Mapping[int, Mapping[Window, StageResult]] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return self.input.id

    # -- texts ----------------------------------------------------------------------------------------

    @property
    def summary(self) -> str:
        """The evidence summary; empty where there is none, or none yet."""
        return self.edits.summary or self.input.summary or str(self._said("boundary", "summary", ""))

    @property
    def context(self) -> str:
        """The context of a look at the paper: the summary, else the aspects as they were drafted."""
        return self.summary or " ".join(f"{one.text.rstrip('.')}." for one in self.drafted)

    @property
    def question(self) -> str:
        """Why the review cites the paper; empty where it was not asked."""
        return str(self._said("motive", "question", ""))

    @property
    def hypothesis(self) -> str:
        return (
            self.edits.hypothesis or self.input.hypothesis or str(self._said("hypothesis", "hypothesis", ""))
        )

    @property
    def drafted(self) -> tuple[AspectDraft, ...]:
        """The aspects as they were decomposed, or given; before any decision."""
        if self.input.aspects:
            found = [AspectDraft(n, text, source="user") for n, text in enumerate(self.input.aspects)]
        else:
            source: Source = "summary" if self.summary else "model"
            found = [
                AspectDraft(n, one["text"], source=source, problems=tuple(one.get("problems", ())))
                for n, one in enumerate(self._said("aspects", "aspects", ()))
            ]
        if "results" in self.results and self.results["results"]["outcome"] == "done":
            named = frozenset(self.results["results"]["results"])
            found = [replace(one, is_result=one.number in named) for one in found]
        return tuple(found)

    @property
    def aspects(self) -> tuple[AspectDraft, ...]:
        """The aspects that stand, by number."""
        of, labels = self.edits, dict[tuple[int, str] | None, bool | None]()
        found = sorted((*self.drafted, *of.aspects), key=lambda one: one.number)
        for one in found:  # those that stand for others come after them
            known = labels.get(of.instead.get(one.number)) if one.is_result is None else one.is_result
            labels[one.number, one.text] = of.results.get((one.number, one.text), known)
        return tuple(
            replace(one, is_result=labels[one.number, one.text])
            for one in found
            if (one.number, one.text) not in of.gone
        )

    def _said(self, stage: Stage, name: str, default: Any) -> Any:
        return self.results[stage].get(name, default) if stage in self.results else default

    @property
    def warning(self) -> str:
        """Whether the paper may be another one than the review cites (rule 91); empty where it is not."""
        cited, there = self.input.title, self.pool.title if self.pool else ""
        if not cited or not there or _title_f1(cited, there) >= _SAME_TITLE:
            return ""
        return f"the review cites {shown(cited)}, and the paper is {shown(there)}"

    # -- looks ----------------------------------------------------------------------------------------

    def looks(self, *, second: bool = False) -> dict[int, AspectLooks]:
        """The looks of every aspect that stands, by number; windows without an answer are absent."""
        if self.pool is None:
            return {}
        by_number, settings, n = (
            self.second if second else self.aligned,
            self.settings,
            len(self.pool.sentences),
        )
        return {
            one.number: AspectLooks(
                n,
                tuple(window_looks(by_number.get(one.number, {}))),
                settings.length,
                settings.stride,
            )
            for one in self.aspects
        }

    def covers(self) -> dict[int, frozenset[int]]:
        """The sentences that cover each aspect that stands and is judged, by number; empty: none does."""
        return {
            number: frozenset(looks.covering(self.settings.merge))
            for number, looks in self.looks().items()
            if looks.is_judged
        }

    def pairs(self, *, second: bool = False) -> Iterator[tuple[AspectDraft, Window]]:
        """The questions of alignment, in the order that shares most of a prompt (rule 66)."""
        if self.pool is None:
            return
        aspects = self.aspects
        if self.settings.probe and not self._probed(aspects):
            aspects = aspects[:_PROBED]
        for window in self.settings.windows(len(self.pool.sentences)):
            for one in aspects:
                yield one, window

    def looks_due(self, *, second: bool = False) -> Iterator[tuple[AspectDraft, Window]]:
        """The `pairs` that have no answer."""
        answered = self.second if second else self.aligned
        return (pair for pair in self.pairs(second=second) if pair[1] not in answered.get(pair[0].number, {}))

    def _probed(self, aspects: tuple[AspectDraft, ...]) -> bool:
        """Whether a sentence covers one of the first aspects, or there are no others."""
        covers = self.covers()
        return len(aspects) <= _PROBED or any(covers.get(one.number) for one in aspects[:_PROBED])

    # -- stages ---------------------------------------------------------------------------------------

    def needs(self, stage: Stage) -> bool:
        """Whether a stage is to be asked, as what it finds was not given (rule 33)."""
        match stage:
            case "boundary" | "suitability":
                return not (self.edits.summary or self.input.summary) and bool(self.input.paragraph)
            case "motive" | "hypothesis":
                return not (self.edits.hypothesis or self.input.hypothesis)
            case "aspects":
                return not self.input.aspects
            case "leak":  # of a summary; without one alignment says whether the paper has the aspect
                return not self.input.aspects and bool(self.summary or self.input.paragraph)
            case _:
                return True

    @property
    def position(self) -> Position:
        """Where the build stands. A drop that a person overruled is none."""
        unfinished = (self._unfinished(stage) for stage in STAGES if self.needs(stage))
        found = next(filter(None, unfinished), Position("coverage", "kept"))
        return Position(found.stage, "dropped", "human") if self.edits.dropped else found

    def _unfinished(self, stage: Stage) -> Position | None:
        match stage:
            case "pool":
                return self._without_pool()
            case "alignment":
                return self._unaligned()
            case "coverage":
                return self._uncovered()
        if stage not in self.results:
            return self._unanswered(stage)
        outcome = self.results[stage]["outcome"]
        if outcome == "failed":
            is_cut_off = self.results[stage].get("problem") == CUT_OFF
            return Position(stage, "failed", problem=_MORE_ROOM if is_cut_off else "no answer could be read")
        is_done = outcome == "done" or outcome in self.edits.overruled
        return None if is_done else Position(stage, "dropped", outcome)

    def _unanswered(self, stage: Stage) -> Position:
        error = self.errors.get(stage, "")
        return Position(stage, "failed" if error else "due", problem=error)

    def _without_pool(self) -> Position | None:
        if self.no_pool is not None and not (self.pool and self.no_pool[0] in self.edits.overruled):
            return Position("pool", "dropped", *self.no_pool)
        return self._unanswered("pool") if self.pool is None else None

    def _uncovered(self) -> Position | None:
        n_covered = sum(map(bool, self.covers().values()))
        least = self.settings.coverage, self.settings.least_aspects
        reason = coverage_drop(n_covered, len(self.aspects), *least)
        is_dropped = reason is not None and reason not in self.edits.overruled
        return Position("coverage", "dropped", reason) if is_dropped else None

    def _unaligned(self) -> Position | None:
        if next(self.looks_due(), None):
            return self._unanswered("alignment")
        wanted = {one.number for one, _ in self.pairs()}
        unjudged = [n for n, looks in self.looks().items() if n in wanted and not looks.is_judged]
        if unjudged:
            problem = f"aspect {unjudged[0]} has sentences without a look"
            if any(look.get("kind") == "cut_off" for look in self.aligned[unjudged[0]].values()):
                problem += f": {_MORE_ROOM}"
            return Position("alignment", "failed", problem=problem)
        if self.settings.second_model and next(self.looks_due(second=True), None):
            return self._unanswered("alignment")
        return None


def _title_f1(a: str, b: str) -> float:
    """Of their words, as often as they stand there, case and marks aside."""
    left, right = (Counter(re.findall(r"\w+", one.casefold())) for one in (a, b))
    return 2 * (left & right).total() / max(1, left.total() + right.total())


@dataclass(frozen=True, slots=True)
class Reviewed:
    """People's decisions on a build, as far as they are written with its instance (rules 36 to 38)."""

    is_finished: bool
    by: str  # who, joined by commas
    mode: str  # "blind", "assisted", or both
    n_accepted: int = 0
    n_edited: int = 0
    n_rejected: int = 0
    n_added: int = 0


def window_looks(results: Mapping[Window, StageResult]) -> Iterator[WindowLook]:
    """The looks behind alignment's results by window."""
    for window, said in sorted(results.items()):
        yield WindowLook(window, frozenset(said["yes"]), said["failed"], said["n_unknown"])
