"""Finished builds as instances in the benchmark's format (S12), with their provenance, and random splits (S13)."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from evidencebench_core.construction.cost import StageRun
from evidencebench_core.construction.review import Review
from evidencebench_core.construction.state import BuildState, Reviewed, StageResult
from evidencebench_core.construction.windows import Window
from evidencebench_core.errors import SettingError
from evidencebench_core.papers.annotation import Annotation, MarkedAspect, annotated_instance
from evidencebench_core.papers.licence import LICENCES, allows_export
from evidencebench_core.papers.paper import Paper

LOOKED_AT: Final = "every sentence looked at"
"""The value of ``construction.gold`` for an instance whose sentences were all shown to a model or a person."""


@dataclass
class WriteTally:
    """Counts of `written_instances`."""

    n_builds: int = 0
    n_written: int = 0
    n_without_texts: int = 0  # of what was written: the words of a review, which its licence does not allow
    left_out: Counter[str] = field(default_factory=Counter)  # by reason, in words
    licences: set[str] = field(default_factory=set)  # of the papers that were written; "" for none named


def written_instances(
    reviews: Iterable[Review],
    tally: WriteTally,
    *,
    unreviewed: bool = False,
    texts_are_mine: bool = False,
    asked: Mapping[StageRun, Mapping[str, str]] = MappingProxyType({}),
    **writing: bool,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Raw instances by id of the builds that are kept and decided.

    Parameters
    ----------
    reviews : iterable of Review
    tally : WriteTally
        Counts what is written and what is left out, and why.
    unreviewed : bool
        Write too what nobody has decided, with the marks that people added and without those they rejected; not what
        a person must decide (rule 43): aspects that a model proposed from the paper or that have no label, a
        hypothesis that was edited, and aspects with windows that gave no look.
    texts_are_mine : bool
        Write the summary and the aspects also where no licence of a review allows it.
    asked : mapping of str to mapping of str to str
        By stage ``prompt`` (its version) and ``at`` (when its run was begun), for the provenance; ``second``: of the
        second model's looks.
    **writing : bool
        ``keep_uncovered`` and ``pad`` of `annotated_instance`.
    """
    for review in writable(reviews, tally, unreviewed=unreviewed):
        state = review.state
        raw = _instance(review, texts_are_mine, asked, writing)
        tally.n_written += 1
        tally.n_without_texts += "aspect_texts" not in raw
        tally.licences.add(state.pool.licence if state.pool else "")
        yield state.id, raw


def writable(reviews: Iterable[Review], tally: WriteTally, *, unreviewed: bool = False) -> Iterator[Review]:
    """Those that `written_instances` writes; what is left out is counted, and why."""
    for review in reviews:
        tally.n_builds += 1
        if reason := _reason_to_leave_out(review, unreviewed):
            tally.left_out[reason] += 1
        else:
            yield review


def split_builds(
    builds: Mapping[str, Sequence[str]], shares: Mapping[str, float], seed: int = 0
) -> dict[str, list[str]]:
    """Builds drawn at random into parts of these shares (S13).

    By build what no two parts may have in common: its paper, and its review if one likes. Builds that hold together by
    these are drawn as one. The same builds and seed give the same parts, whatever their order. `SettingError` if the
    shares do not add up to 1.
    """
    if abs(sum(shares.values()) - 1) > 1e-9 or min(shares.values(), default=0) <= 0:
        said = ", ".join(f"{name}={share:g}" for name, share in shares.items()) or "empty"
        raise SettingError("split", f"is {said}", "Give shares that add up to 1: train=.8,test=.2.")
    above: dict[str, str] = {}

    def root(name: str) -> str:
        while above.setdefault(name, name) != name:
            above[name] = name = above[above[name]]
        return name

    for names in builds.values():
        for name in names:
            first, other = sorted((root(names[0]), root(name)))
            above[other] = first
    groups = sorted({root(names[0]) for names in builds.values()})
    drawn = [groups[index] for index in np.random.default_rng(seed).permutation(len(groups))]
    ends = np.rint(np.cumsum(list(shares.values())) * len(drawn)).astype(int)
    part_of = {
        group: part
        for part, start, end in zip(shares, (0, *ends[:-1]), ends, strict=True)
        for group in drawn[start:end]
    }
    found: dict[str, list[str]] = {part: [] for part in shares}
    for build, names in builds.items():
        found[part_of[root(names[0])]].append(build)
    return found


def _reason_to_leave_out(review: Review, unreviewed: bool) -> str:
    state, at = review.state, review.state.position
    licence = state.pool.licence if state.pool else ""
    if at.status != "kept":
        return f"{at.status} at {at.stage}" + (f": {at.reason.replace('_', ' ')}" if at.reason else "")
    if licence and not allows_export(licence):
        is_known = licence in LICENCES
        return f"licence {licence} " + ("allows no changed copy" if is_known else "is no open licence")
    undecided = "not decided by a person"
    if not review.reviewed.is_finished:
        if not unreviewed:
            return undecided
        for_people = {  # rule 43
            "aspects proposed by a model": any(one.source == "model" for one in state.aspects),
            "aspects without a label as a result": any(one.is_result is None for one in state.aspects),
            "hypothesis edited": bool(state.edits.hypothesis),
            "windows without a look": _looks(state)["missing"] > 0,
        }
        if what := next((what for what, is_so in for_people.items() if is_so), ""):
            return f"{what}, {undecided}"
        if review.verdict("hypothesis") == "reject":
            return "hypothesis rejected"
    is_small = sum(map(bool, review.covers.values())) < state.settings.least_aspects
    return "too few aspects covered after the review" if is_small else ""


def _instance(
    review: Review,
    texts_are_mine: bool,
    asked: Mapping[StageRun, Mapping[str, str]],
    writing: Mapping[str, bool],
) -> dict[str, Any]:
    state, covers = review.state, review.covers
    assert state.pool is not None  # noqa: S101 - it is kept
    pool = state.pool
    aspects = [
        MarkedAspect(f"aspect_{one.number}", one.text, bool(one.is_result), tuple(sorted(covers[one.number])))
        for one in state.aspects
    ]
    covered = [one for one in aspects if one.sentences]
    given = state.input
    is_of_review = bool(given.review_id or given.paragraph or state.summary)  # as far as one can tell
    may_quote = texts_are_mine or not is_of_review or allows_export(given.review_licence)
    paper = Paper(
        pool.paper_id, pool.title, pool.sentences, pool.sentence_types, "text", MappingProxyType({}), ()
    )
    written = aspects if writing.get("keep_uncovered") else covered
    annotation = Annotation("", state.hypothesis, len(pool.sentences), tuple(written), len(aspects))
    construction = _construction(state, review.reviewed, aspects, asked, may_quote)
    raw = annotated_instance(paper, annotation, state.id, construction=construction, **writing)
    if not may_quote:
        del raw["aspect_texts"]
    return raw


def _construction(
    state: BuildState,
    decided: Reviewed,
    aspects: Iterable[MarkedAspect],
    asked: Mapping[StageRun, Mapping[str, str]],
    may_quote: bool,
) -> dict[str, Any]:
    """The key of rule 38."""
    of, pool = state.input, state.pool
    aspects = tuple(aspects)
    summary = {
        "sha256": hashlib.sha256(state.summary.encode()).hexdigest(),
        "source": "harvested" if of.paragraph and not of.summary else "user",
    }
    dropped = [
        {"number": int(one.id.removeprefix("aspect_"))} | ({"text": one.text} if may_quote else {})
        for one in aspects
        if not one.sentences
    ]
    review_of = {
        "id": of.review_id,
        "title": of.review_title,
        "doi": of.review_doi,
        "licence": of.review_licence,
    }
    return {
        "version": 1,
        "profile": state.settings.profile,
        "pool_sha256": pool.sha256 if pool else "",
        "review": {name: text for name, text in review_of.items() if text},
        "paper_licence": pool.licence if pool else "",
        "summary": summary | ({"text": state.summary} if may_quote else {}),
        "stages": _stages(state, asked),
        "looks": _looks(state),
        "coverage": {
            "n_aspects": len(aspects),
            "n_covered": len(aspects) - len(dropped),
            "dropped": dropped,
        },
        "decisions": {
            "by": decided.by or "nobody",
            "mode": decided.mode,
            "n_accepted": decided.n_accepted,
            "n_edited": decided.n_edited,
            "n_rejected": decided.n_rejected,
            "n_added": decided.n_added,
        },
        "aspects": sorted({one.source for one in state.aspects}),
        "gold": LOOKED_AT,
    }


def _stages(state: BuildState, asked: Mapping[StageRun, Mapping[str, str]]) -> list[dict[str, Any]]:
    """Who was asked what: a line a stage, and one of the second model, which the gold does not rest on."""
    lines = [
        {
            "stage": stage,
            "model": state.settings.model,
            **asked.get(stage, {}),
            "calls": len(result["keys"]),
            "tokens": _tokens([result]),
        }
        for stage, result in state.results.items()
    ]
    settings = state.settings
    of_runs: tuple[tuple[StageRun, str, Mapping[int, Mapping[Window, StageResult]]], ...] = (
        ("alignment", settings.align_model or settings.model, state.aligned),
        ("second", settings.second_model, state.second),
    )
    for name, model, by_aspect in of_runs:
        looks = [result for of in by_aspect.values() for result in of.values()]
        if looks:
            lines.append({
                "stage": name,
                "model": model,
                **asked.get(name, {}),
                "calls": sum(len(result["keys"]) for result in looks),
                "tokens": _tokens(looks),
            })  # fmt: skip
    return lines


def _tokens(results: Iterable[Mapping[str, Any]]) -> int:
    return sum((one["prompt_tokens"] or 0) + (one["completion_tokens"] or 0) for one in results)


def _looks(state: BuildState) -> dict[str, int]:
    numbers = {one.number for one in state.aspects}
    of = [result for number, by in state.aligned.items() if number in numbers for result in by.values()]
    expected = len(list(state.pairs()))
    return {
        "expected": expected,
        "missing": expected - sum(not result["failed"] for result in of),
        "failed": sum(result["failed"] for result in of),
        "unknown": sum(result["n_unknown"] for result in of),
        "mended": sum(result["n_mended"] for result in of),
    }
