"""A model that reads another model's free text: what it is asked, its labels, and how far it can be believed.

Beside the judgements that count there are controls under ids of their own, such as ``"shuffled ID"``: what a
judge says where the right label is known. Without them a judged figure says little, for the data has no wrong answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

import numpy as np

from evidencebench_core import metrics
from evidencebench_core.llm.labels import LabelRead, NullReason
from evidencebench_core.llm.parse import after_thinking, no_answer_reason
from evidencebench_core.reliability.items import ItemSet
from evidencebench_core.reliability.probes import Probe
from evidencebench_core.reliability.reads import (
    Axes,
    Draws,
    Estimate,
    ProbeRead,
    Results,
    Statistic,
    Tables,
    number_or_none,
    probe_read,
)
from evidencebench_core.reliability.tasks import ReliabilityTask
from evidencebench_core.runs import Result
from evidencebench_core.stats import percentile_interval

_YES_NO: Final = ("yes", "no")


@dataclass(frozen=True, slots=True)
class Judgements:
    """A judge's answers about the texts of a run."""

    run: str
    model: str
    results: Results  # by id of `judge_probes`
    pairs: tuple[ProbeRead, ...] = ()  # its answers in the task "judge", which tell its errors
    pairs_of: str = ""  # their item set


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """How far a judged figure can be believed. Shares are 0 to 1, ``None`` where not known."""

    judge: str
    run: str
    is_model_under_test: bool
    n_judged: int
    not_sent: Mapping[str, int]  # by reason; counted as not similar, or missed
    order_flips: tuple[int, int] | None = None  # (n, of): other verdict with the statements exchanged
    shuffled: Estimate | None = None  # share similar to another item's reference: 1 - specificity
    any_reference: float | None = None  # share similar to the reference or a further one
    sensitivity: float | None = None
    specificity: float | None = None
    pairs_of: str = ""  # the pairs that sensitivity and specificity are of
    corrected: Estimate | None = None  # the share without the judge's errors
    controls: Mapping[str, float | None] = field(
        default_factory=lambda: MappingProxyType({})
    )  # the figure with other summaries


def judge_probes(
    task: ReliabilityTask,
    items: ItemSet,
    probes: Sequence[Probe],
    results: Results,
    with_controls: bool = True,
) -> tuple[Probe, ...]:
    """The questions to a judge about the answers of a run; then the controls, each under ``"CONTROL ID"``.

    Texts that never came, were refused or are empty are not sent. The first reference of an item counts; further ones
    are controls. Pure: the same results give the same probes.
    """
    texts = {one.id: text for one in probes if (text := _text(results.get(one.id))) is not None}
    sent = [one for one in probes if one.id in texts]
    of = _similarity if task.figure == "judged_accuracy" else _conclusions
    asked = of(sent, [one for one in probes if one.id in results], texts, items)
    return tuple(
        Probe(
            f"{control} {one.id}".strip(),
            one.item_id,
            control,
            fields,
            task.judge_prompt,
            task.judge_labels,
            _expected(task, one),
            one.gold,
            one.group,
        )
        for control, one, fields in asked
        if with_controls or not control
    )


def _similarity(
    sent: Sequence[Probe], probes: Sequence[Probe], texts: Mapping[str, str], _: ItemSet
) -> Iterator[tuple[str, Probe, dict[str, str]]]:
    def pair(one: str, other: str) -> dict[str, str]:
        return {"statement_1": one, "statement_2": other}

    others = _other_references(probes)
    for one in sent:
        yield "", one, pair(texts[one.id], one.references[0])
    for one in sent:
        yield "exchanged", one, pair(one.references[0], texts[one.id])
        if one.id in others:
            yield "shuffled", one, pair(texts[one.id], others[one.id])
        for place, reference in enumerate(one.references[1:], start=2):
            yield f"reference-{place}", one, pair(texts[one.id], reference)


def _conclusions(
    sent: Sequence[Probe], probes: Sequence[Probe], texts: Mapping[str, str], items: ItemSet
) -> Iterator[tuple[str, Probe, dict[str, str]]]:
    by_id = {item.id: item for item in items.items}
    for one in sent:
        yield "", one, {"question": by_id[one.item_id].question, "summary": texts[one.id]}
    for one in probes:
        item = by_id[one.item_id]
        summaries = {"reference": item.long_answer[:1], "context": (item.text,), "empty": ("",)}
        for control, of in summaries.items():
            for summary in of:
                yield control, one, {"question": item.question, "summary": summary}


def _other_references(probes: Sequence[Probe]) -> dict[str, str]:
    """For every probe another one's reference, of another text; none where all are alike."""
    n = len(probes)
    references = [" ".join(one.references[0].lower().split()) for one in probes]
    shift = int(np.random.default_rng(0).integers(1, n)) if n > 1 else 0
    others = {}
    for place, one in enumerate(probes):
        around = ((place + shift + step) % n for step in range(n))
        other = next((at for at in around if references[at] != references[place]), None)
        if other is not None:
            others[one.id] = probes[other].references[0]
    return others


def judged_reads(
    task: ReliabilityTask,
    probes: Sequence[Probe],
    results: Results,
    judge: Judgements | None,
    as_published: bool,
) -> tuple[ProbeRead, ...]:
    """A judge's labels of the answers that came; those that could not be sent are nulls, with the reason."""
    reads = []
    for one in probes:
        if one.id not in results or judge is None:
            continue
        result = results[one.id]
        probe = replace(one, expected=_expected(task, one), labels=task.judge_labels)
        if (reason := _not_sent(result)) is not None:
            reads.append(ProbeRead(probe, result, None, LabelRead(None, reason=reason), None))
        elif one.id in judge.results:
            reads.append(probe_read(probe, judge.results[one.id], task.judge_labels, as_published))
    return tuple(reads)


def judge_report(
    task: ReliabilityTask,
    draws: Draws,
    statistic: Statistic,
    reads: Sequence[ProbeRead],
    judge: Judgements | None,
    model: str,
) -> JudgeReport | None:
    """How far the figure can be believed; ``None`` for tasks without a judge, or not judged yet."""
    if task.labels or judge is None:
        return None

    def control(name: str) -> list[ProbeRead]:
        by_id = {one.probe.id: one.probe for one in reads}
        return [
            probe_read(probe, judge.results[f"{name} {of}"], task.judge_labels, False)
            for of, probe in by_id.items()
            if f"{name} {of}" in judge.results
        ]

    not_sent = Counter(one.reason for one in reads if one.probe.id not in judge.results)
    report = JudgeReport(
        judge.model,
        judge.run,
        judge.model == model,
        len(reads) - not_sent.total(),
        dict(not_sent.most_common()),
    )
    if task.figure != "judged_accuracy":
        controls = {name: control(name) for name in ("reference", "context", "empty")}
        figures = {
            name: number_or_none(statistic(Axes(task.judge_labels).units(some).sum(axis=0)))
            for name, some in controls.items()
            if some
        }
        return replace(report, controls=figures)
    first = {one.probe.id: one for one in reads}
    exchanged, shuffled = control("exchanged"), control("shuffled")
    flips = sum(one.label != first[one.probe.id].label for one in exchanged)
    most = max((len(one.probe.references) for one in reads), default=0)
    further = [one for place in range(2, most + 1) for one in control(f"reference-{place}")]
    similar = {one.probe.id for one in [*reads, *further] if one.label == "yes"}
    by_chance = Draws(Axes(_YES_NO).units(shuffled)).estimate(statistic)
    pairs = [one for one in judge.pairs if one.probe.variant in ("", "given")]
    report = replace(
        report,
        order_flips=(flips, len(exchanged)) if exchanged else None,
        shuffled=by_chance if shuffled else None,
        any_reference=len(similar) / len(reads) if further else None,
    )
    return _with_errors(report, draws, statistic, pairs, judge.pairs_of) if pairs else report


def _with_errors(
    report: JudgeReport, draws: Draws, statistic: Statistic, pairs: Sequence[ProbeRead], pairs_of: str
) -> JudgeReport:
    variants = tuple(dict.fromkeys(one.probe.variant for one in pairs))
    errors = Draws(Axes(_YES_NO, variants).units(pairs).sum(axis=1), seed=1)
    sensitivity, specificity = (number_or_none(one) for one in _rates(errors.total))
    corrected = Estimate(
        number_or_none(metrics.corrected_share(statistic(draws.total), *_rates(errors.total)))
    )
    if corrected.value is not None and draws.drawn is not None and errors.drawn is not None:
        drawn = metrics.corrected_share(statistic(draws.drawn), *_rates(errors.drawn))
        corrected = Estimate(corrected.value, percentile_interval(drawn))
    return replace(
        report, sensitivity=sensitivity, specificity=specificity, pairs_of=pairs_of, corrected=corrected
    )


def _rates(tables: Tables) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.float64]], ...]:
    """Share of the similar pairs judged similar, and of the others judged not to be."""
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = np.diagonal(tables, axis1=-2, axis2=-1) / tables.sum(axis=-1)
    return rates[..., 0], rates[..., 1]


def _expected(task: ReliabilityTask, probe: Probe) -> str | None:
    return "yes" if task.figure == "judged_accuracy" else probe.gold


def _not_sent(result: Result | str) -> NullReason | None:
    """Why a judge is not asked about an answer."""
    if isinstance(result, str):
        return "failed"
    answer = after_thinking(str(result["text"]))
    if answer and answer.strip():
        return None
    return no_answer_reason(answer, result.get("refusal"), result.get("finish_reason")) or "empty"


def _text(result: Result | str | None) -> str | None:
    """The part of an answer that is judged; ``None`` where nothing is."""
    if result is None or isinstance(result, str) or _not_sent(result) is not None:
        return None
    return (after_thinking(str(result["text"])) or "").strip()
