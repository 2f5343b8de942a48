"""Checks of a gold: coverage, equal sentences, twins, spread, repeats, a second model, decisions.

Construction rules 48, 49, 51, 56 and 57. What a person is asked for is in `sheets`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np

from evidencebench_core.construction.measure import (
    MODEL,
    SECOND_MODEL,
    rater_gaps,
    rater_pairs,
    repeat_figures,
    shares,
)
from evidencebench_core.construction.review import Review
from evidencebench_core.construction.state import BuildState
from evidencebench_core.construction.windows import AspectLooks
from evidencebench_core.data.model import Instance
from evidencebench_core.stats.raters import rater_agreement
from evidencebench_core.stats.three_raters import AgreementGap

BANDS: Final = ("below 70", "70-79", "80-89", "90-99", "100")
"""Of the coverage, in percent."""

PUBLISHED_COVERAGE: Final[Mapping[str, float]] = {"mean": 0.87, "70-79": 0.27, "80-89": 0.33, "90-100": 0.40}
"""As the paper's authors gave it to a reviewer; about half of all were dropped below 70."""

WIDE: Final = 0.15
"""An aspect that more of the paper covers is named."""

_NUMBER: Final = re.compile(r"_aspect_(\d+)\Z")
_SHOWN: Final = 20  # places that are named of each kind


@dataclass(frozen=True, slots=True)
class Marks:
    """Which sentences of a paper cover which aspect, in a gold or by a model."""

    id: str
    paper_id: str
    sentences: tuple[str, ...]
    covers: Mapping[int, frozenset[int]]  # by the number of the aspect
    n_decomposed: int  # aspects before those went that no sentence covers


def instance_marks(instance: Instance) -> Marks:
    """Of a dataset's instance. Aspects that were left out at the end of the list have left no gap in the numbers."""
    aspects = instance.evidence.aspects
    found = [_NUMBER.search(aspect.id) for aspect in aspects]
    numbers = [int(one[1]) if one else place for place, one in enumerate(found)]
    if len(set(numbers)) < len(numbers):
        numbers = list(range(len(aspects)))
    covers = {n: frozenset(aspect.sentence_indices) for n, aspect in zip(numbers, aspects, strict=True)}
    coverage = instance.construction.get("coverage")
    said = coverage.get("n_aspects") if isinstance(coverage, Mapping) else None
    least = max(numbers, default=-1) + 1
    n = said if type(said) is int and said >= len(aspects) else least
    return Marks(instance.id, instance.paper_id, instance.sentences, covers, n)


def build_marks(state: BuildState) -> Marks | None:
    """Of a build of which every aspect is judged; ``None`` of another."""
    covers = state.covers()
    if state.pool is None or not state.aspects or len(covers) < len(state.aspects):
        return None
    return Marks(state.id, state.pool.paper_id, state.pool.sentences, covers, len(state.aspects))


@dataclass(frozen=True, slots=True)
class GoldChecks:
    """Made by `gold_checks`; places are named as (instance, ...), at most 20 of each kind.

    Attributes
    ----------
    n_instances, n_aspects : int
        ``n_aspects`` that a sentence covers.
    coverage : mapping of str to int
        Instances by `BANDS`; ``mean_coverage`` is the mean share of decomposed aspects that are covered.
    n_dropped_aspects, n_with_gaps : int
        Decomposed aspects that no sentence covers, and instances that have one.
    n_same, n_different : int
        Groups of equal sentences of a paper that all cover the same aspects, and those that do not.
    n_twins, n_with_twins : int
        Aspects that repeat the sentences of another one of their instance, and instances that have one.
    mean_spread, most_spread : float, int
        Sentences an aspect.
    share_single, share_positive : float
        Aspects that one sentence alone covers; pairs of aspect and sentence that are a yes.
    n_wide : int
        Aspects that more than `WIDE` of the paper covers.
    """

    n_instances: int
    n_aspects: int
    coverage: Mapping[str, int]
    mean_coverage: float | None
    n_dropped_aspects: int
    n_with_gaps: int
    n_same: int
    n_different: int
    different: Sequence[tuple[str, tuple[int, ...]]]
    n_twins: int
    n_with_twins: int
    twins: Sequence[tuple[str, tuple[int, ...]]]
    mean_spread: float | None
    most_spread: int
    share_single: float | None
    share_positive: float | None
    n_wide: int
    wide: Sequence[tuple[str, int, int]]  # instance, aspect, sentences


def gold_checks(marks: Iterable[Marks]) -> GoldChecks:
    """Look through instances one after the other."""
    bands, shares, spreads = dict.fromkeys(BANDS, 0), list[float](), list[int]()
    n_dropped = n_gaps = n_same = n_twins = n_pairs = 0
    different, twins, wide = [], [], []
    for one in marks:
        covered = {number: of for number, of in one.covers.items() if of}
        if one.n_decomposed:
            shares.append(len(covered) / one.n_decomposed)
            bands[_band(len(covered), one.n_decomposed)] += 1
        n_dropped += one.n_decomposed - len(covered)
        n_gaps += one.n_decomposed > len(covered)
        for indices in _equal_sentences(one.sentences):
            is_same = len({tuple(index in of for of in covered.values()) for index in indices}) == 1
            n_same += is_same
            different += [] if is_same else [(one.id, indices)]
        by_cover = defaultdict(list)
        for number, of in covered.items():
            by_cover[of].append(number)
        alike = [tuple(numbers) for numbers in by_cover.values() if len(numbers) > 1]
        n_twins += sum(len(numbers) - 1 for numbers in alike)
        twins += [(one.id, numbers) for numbers in alike]
        spreads += [len(of) for of in covered.values()]
        n_pairs += len(covered) * len(one.sentences)
        wide += [(one.id, n, len(of)) for n, of in covered.items() if len(of) > WIDE * len(one.sentences)]
    return GoldChecks(
        n_instances=len(shares),
        n_aspects=len(spreads),
        coverage=bands,
        mean_coverage=float(np.mean(shares)) if shares else None,
        n_dropped_aspects=n_dropped,
        n_with_gaps=n_gaps,
        n_same=n_same,
        n_different=len(different),
        different=tuple(different[:_SHOWN]),
        n_twins=n_twins,
        n_with_twins=len({name for name, _ in twins}),
        twins=tuple(twins[:_SHOWN]),
        mean_spread=float(np.mean(spreads)) if spreads else None,
        most_spread=max(spreads, default=0),
        share_single=spreads.count(1) / len(spreads) if spreads else None,
        share_positive=sum(spreads) / n_pairs if n_pairs else None,
        n_wide=len(wide),
        wide=tuple(sorted(wide, key=lambda one: -one[2])[:_SHOWN]),
    )


def _band(n_covered: int, n: int) -> str:
    """By integers: 7 of 10 is 70."""
    bounds = (70, 80, 90, 100)
    return BANDS[sum(100 * n_covered >= bound * n for bound in bounds)]


def _equal_sentences(sentences: Sequence[str]) -> Iterator[tuple[int, ...]]:
    places = defaultdict(list)
    for index, sentence in enumerate(sentences):
        places[sentence].append(index)
    return (tuple(indices) for indices in places.values() if len(indices) > 1)


# -- of builds ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ModelChecks:
    """Checks of a construction's models by their looks; made by `model_checks`.

    Attributes
    ----------
    looks : mapping of str to mapping
        By model: `repeat_figures` of all its looks, and by the words of an aspect (``"5 to 9 words"``).
    greedy : sequence of (build, aspect)
        Of which a model chose most of a window: legal, and a sign of text that orders it about (rules 13 and 26).
    n_compared, n_differing : int
        Pairs of aspect and sentence that both models judged, and those on which they differ.
    agreement : mapping
        Of the two models, by measure: ``value, plain, hierarchical``; empty without a second one.
    disputed : sequence of (build, aspect, sentence, whether the first model says yes)
        Where a person is needed first, builds in their order.
    """

    looks: Mapping[str, Mapping[str, Any]]
    greedy: Sequence[tuple[str, int]]
    n_compared: int
    n_differing: int
    agreement: Mapping[str, Mapping[str, Any]]
    disputed: Sequence[tuple[str, int, int, bool]]


def model_checks(states: Iterable[BuildState], n_resamples: int = 10_000) -> ModelChecks:
    """Look through builds one after the other; only answers that are stored count."""
    by_model: dict[str, list[tuple[int, AspectLooks]]] = {}
    first, second, papers = list[bool](), list[bool](), list[str]()
    disputed: list[tuple[str, int, int, bool]] = []
    greedy: list[tuple[str, int]] = []
    for state in states:
        settings = state.settings
        n_words = {one.number: len(one.text.split()) for one in state.aspects}
        both = state.looks(), state.looks(second=True) if settings.second_model else {}
        for model, of in zip(
            (settings.align_model or settings.model, settings.second_model), both, strict=True
        ):
            by_model.setdefault(model, []).extend((n_words[n], one) for n, one in of.items())
            greedy += [(state.id, n) for n, one in of.items() if one.is_greedy]
        for one, other in covers_of_both(state).values():
            n = len(state.pool.sentences) if state.pool else 0
            first += [index in one for index in range(n)]
            second += [index in other for index in range(n)]
            papers += [paper_of(state)] * n
        disputed += [(state.id, *place) for place in disputed_sentences(state)]
    agreement = rater_agreement(first, second, papers, np.random.default_rng(0), n_resamples) if first else {}
    return ModelChecks(
        {model: _by_length(looks) for model, looks in by_model.items() if model and looks},
        tuple(greedy),
        len(first),
        len(disputed),
        {
            name: {"value": one.value, "plain": one.plain, "hierarchical": one.hierarchical}
            for name, one in agreement.items()
        },
        tuple(sorted(disputed)),
    )


def paper_of(state: BuildState) -> str:
    """Identifies its paper: by id, else by text, and by the build where it was not read."""
    return (state.pool.paper_id or state.pool.sha256) if state.pool else state.id


def covers_by_model(state: BuildState) -> dict[str, dict[int, frozenset[int]]]:
    """By `MODEL` and `SECOND_MODEL` the sentences that cover each aspect that is judged, by number."""
    second = state.looks(second=True) if state.settings.second_model else {}
    merge = state.settings.merge
    of_second = {n: frozenset(looks.covering(merge)) for n, looks in second.items() if looks.is_judged}
    return {MODEL: state.covers(), SECOND_MODEL: of_second}


def covers_of_both(state: BuildState) -> dict[int, tuple[frozenset[int], frozenset[int]]]:
    """The sentences that cover each aspect by either model, by number, where both looked at every sentence."""
    one, other = covers_by_model(state).values()
    return {number: (of, other[number]) for number, of in one.items() if number in other}


def disputed_sentences(state: BuildState) -> Iterator[tuple[int, int, bool]]:
    """Where two models differ: aspect, sentence, and whether the first one says yes."""
    for number, (one, other) in covers_of_both(state).items():
        yield from ((number, index, index in one) for index in sorted(one ^ other))


@dataclass(frozen=True, slots=True)
class DecisionChecks:
    """Checks of a model's proposals by people's decisions (rule 51); made by `decision_checks`.

    Attributes
    ----------
    acceptance : mapping of str to mapping
        Of proposals decided in sight of them, by kind (``hypothesis, aspect, mark``): ``n``, and the share accepted as
        it was with its ``ci95``. It anchors, so it is no agreement.
    raters : sequence of mapping
        Agreement on all sentences of the aspects that a person marked before seeing any proposal; see `rater_pairs`.
    gaps : mapping
        By measure, of two such people and the model; see `rater_gaps`.
    """

    acceptance: Mapping[str, Mapping[str, Any]]
    raters: Sequence[Mapping[str, Any]]
    gaps: Mapping[str, AgreementGap]


def decision_checks(reviews: Iterable[Review], n_resamples: int = 10_000) -> DecisionChecks:
    """Look through what people decided of builds, one after the other."""
    assisted: dict[str, list[tuple[str, tuple[tuple[float, float]]]]] = {}
    blind: dict[tuple[str, str], dict[str, bool]] = {}
    papers: dict[str, str] = {}
    for review in reviews:
        state = review.state
        papers[state.id] = paper_of(state)
        proposed = _proposed_by_model(state)
        for one in (one for by in review.newest.values() for one in by.values()):
            if one.mode == "assisted" and one.item in proposed and one.verdict != "unsure":
                pair = (one.verdict == "accept", 1)
                assisted.setdefault(one.item.split(":")[0], []).append((papers[state.id], (pair,)))
        covers, n = covers_by_model(state), len(state.pool.sentences) if state.pool else 0
        for (by, number), marked in review.blind_marks.items():
            models = {name: of[number] for name, of in covers.items() if number in of}
            for index in range(n if models else 0):
                said = {name: index in of for name, of in models.items()}
                blind.setdefault((state.id, f"mark:{number}:{index}"), said)[by] = index in marked
    return DecisionChecks(
        {
            kind: {"n": len(rows)} | shares(rows, n_resamples)[0].as_dict()
            for kind, rows in sorted(assisted.items())
        },
        tuple(rater_pairs(blind, papers, n_resamples)),
        rater_gaps(blind, papers, n_resamples),
    )


def _proposed_by_model(state: BuildState) -> set[str]:
    """The items that a model proposed, be they gone by now or not."""
    items = {f"aspect:{one.number}" for one in state.drafted if one.source != "user"}
    marks = {f"mark:{number}:{index}" for number, of in state.covers().items() for index in of}
    return items | marks | ({"hypothesis"} if not state.input.hypothesis else set())


def _by_length(looks: Sequence[tuple[int, AspectLooks]]) -> dict[str, Any]:
    """All, then thirds by the words of the aspects."""
    found = {"all": repeat_figures([one for _, one in looks])}
    lengths = Counter(n for n, _ in looks)
    edges = np.quantile(sorted(lengths.elements()), (0, 1 / 3, 2 / 3, 1), method="lower")
    for low, high in pairwise(sorted({int(edges[0]) - 1, *map(int, edges[1:])})):
        some = [one for n, one in looks if low < n <= high]
        if some and len(some) < len(looks):
            found[f"{low + 1} to {high} words" if low + 1 < high else f"{high} words"] = repeat_figures(some)
    return {name: figures for name, figures in found.items() if figures}
