"""How much wording matters: paraphrases, negation and spelling errors against the original hypothesis.

Gold and budget are those of the original everywhere. A paraphrase asks for the same; a negation asks
for the same sentences too, because evidence that supported the original now refutes; a misspelt
hypothesis is the same one, badly typed. Reports are on what is stored; `run_variants` asks the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import Final

import numpy as np
import pandas as pd

from evidencebench_core.analyses.report import Report
from evidencebench_core.analyses.variant_runs import Answers, Setup, answers_of
from evidencebench_core.analyses.wording_tables import (
    LIKENESS,
    common_ids,
    instance_frame,
    mean_answers,
    pair_frame,
    published_frame,
    spread_frame,
    wording_frame,
)
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError
from evidencebench_core.perturb import NEGATION, PARAPHRASE, hypothesis_variants, misspelling
from evidencebench_core.runs import Variant, variant_named
from evidencebench_core.runs.variant import RULE_NEGATION, spelling_name
from evidencebench_core.words import quantity

ERRORS: Final = (0, 1, 3, 10, 20, 50)

_ELSEWHERE: Final = (
    "The published figures stand on other instances (the paper's test set), with other retrievers and"
    " paraphrases by other writers; they are beside ours, never paired with them."
)


def paraphrase_variants(store: Store, dataset: str) -> tuple[Variant, ...]:
    """The paraphrases that a dataset has; none where neither the data nor a file brought any."""
    names = [name for name in hypothesis_variants(store, dataset) if name.startswith(PARAPHRASE)]
    return tuple(variant_named(store, dataset, name) for name in names)


def negation_variants(store: Store, dataset: str, by_rules: bool = True) -> tuple[Variant, ...]:
    """The negations that a dataset has, and those made by rule where a rule can make one."""
    names = [NEGATION] if NEGATION in hypothesis_variants(store, dataset) else []
    variants = [variant_named(store, dataset, name) for name in names]
    if by_rules:
        with suppress(SettingError):  # the rules refuse them all
            variants.append(variant_named(store, dataset, RULE_NEGATION))
    return tuple(variants)


def spelling_variants(
    store: Store, dataset: str, errors: Sequence[int] = ERRORS, seeds: Sequence[int] = (0,)
) -> tuple[Variant, ...]:
    """A variant for every number of errors but 0, and every seed."""
    return tuple(variant_named(store, dataset, spelling_name(n, seed)) for n in errors if n for seed in seeds)


def paraphrase_report(store: Store, setup: Setup) -> Report:
    """Recall per paraphrase, paired with the original, and how far each instance moves.

    Returns
    -------
    Report
        Tables ``paraphrases`` (`wording_frame`; a last row for the mean of all), ``spread``
        (`spread_frame`), ``instances`` (`instance_frame`), ``published`` (`published_frame`).
    """
    original, *others = _answers(store, setup, paraphrase_variants(store, setup.dataset), "paraphrases")
    means = [mean_answers("mean of the paraphrases", others)] if len(others) > 1 else []
    table = wording_frame(original, [*others, *means])
    if means:  # these are of one ranking, not of a mean
        table.loc[len(others), LIKENESS] = np.nan
        table.loc[len(others), "n_tau"] = 0
    instances = instance_frame(original, others)
    return Report(
        f"Paraphrases of the hypothesis: {_title(setup)}",
        {
            "paraphrases": table,
            "spread": spread_frame(instances, len(original.frame)),
            "instances": instances,
            "published": published_frame("Appendix F"),
        },
        (
            *_notes(original, others),
            "The p-values are not corrected for the number of paraphrases.",
            "Spread and SD are over the original and the paraphrases of an instance.",
            _ELSEWHERE,
            *store.dataset(setup.dataset).gold_notes,
        ),
    )


def negation_report(store: Store, setup: Setup, by_rules: bool = True) -> Report:
    """Recall on the negated hypotheses, those made by rule too unless told not to, paired with the original.

    Returns
    -------
    Report
        Tables ``negation`` (`wording_frame`), one `pair_frame` a negation, those that move most first,
        ``published`` (`published_frame`).
    """
    variants = negation_variants(store, setup.dataset, by_rules)
    original, *others = _answers(store, setup, variants, "negations")
    pairs = {
        f"instances {other.name.replace(':', ' by ')}": pair_frame(original, other).sort_values(
            "difference", key=lambda column: -column.abs(), kind="stable", ignore_index=True
        )
        for other in others
    }
    return Report(
        f"Negation of the hypothesis: {_title(setup)}",
        {"negation": wording_frame(original, others), **pairs, "published": published_frame("Section 5.2")},
        (
            "Gold stays that of the original: evidence that supported it refutes the negation, so the same"
            " sentences are sources of information for both.",
            *_notes(original, others),
            "negation:rules leaves out every hypothesis that the rules refuse, so its n differs.",
            _ELSEWHERE,
            *store.dataset(setup.dataset).gold_notes,
        ),
    )


def spelling_report(
    store: Store, setup: Setup, errors: Sequence[int] = ERRORS, seeds: Sequence[int] = (0,)
) -> Report:
    """Recall against the number of misspelt words, as in RAmBLA; the mean over the seeds, by instance.

    Returns
    -------
    Report
        Table ``spelling``: `wording_frame`, with before it ``errors`` (asked for), ``n_capped`` (of the
        n, instances with fewer eligible words than that, all of which are misspelt) and ``mean_errors``
        (made). The row of 0 errors is the original against itself: its difference is 0 by definition.
    """
    original = answers_of(store, setup, None)
    texts = {row.id: row.hypothesis for row in store.rows(setup.dataset, list(original.frame.index))}
    others, n_capped, means = [], [], list[float | None]()
    for n in errors:
        other = replace(original, name="0 errors, the original")
        if n:
            variants = spelling_variants(store, setup.dataset, (n,), seeds)
            of_seeds = [answers_of(store, setup, variant) for variant in variants]
            other = mean_answers(quantity(n, "error"), of_seeds)
        n_made = [misspelling(texts[one], n).n_mutated for one in common_ids(original, other)]
        others.append(other)
        n_capped.append(sum(made < n for made in n_made))
        means.append(sum(n_made) / len(n_made) if n_made else None)
    table = wording_frame(original, others)
    for column, values in (("mean_errors", means), ("n_capped", n_capped), ("errors", list(errors))):
        table.insert(0, column, values)
    return Report(
        f"Spelling errors in the hypothesis: {_title(setup)}",
        {"spelling": table},
        (
            f"Each error replaces one letter or digit of another word by one of its class; {len(seeds)} seed(s)"
            f" ({', '.join(map(str, seeds))}), recall averaged over them, overlap and tau of the first.",
            "A hypothesis with fewer eligible words than errors asked for has all of them misspelt and none"
            " twice (they count as capped), so the largest numbers ask nearly the same of most instances.",
            "A retriever that matches words, such as bm25, answers in the order of the paper once no word"
            " matches: its recall is then that of the first sentences (lead), not a sign of robustness.",
            *_notes(original, ()),
            *store.dataset(setup.dataset).gold_notes,
        ),
    )


WORDING_VARIANTS: Final[Mapping[str, Callable[[Store, str], tuple[Variant, ...]]]] = MappingProxyType(
    {"paraphrases": paraphrase_variants, "negation": negation_variants, "spelling": spelling_variants}
)
"""By question: the variants that have to be run."""

WORDING_REPORTS: Final[Mapping[str, Callable[[Store, Setup], Report]]] = MappingProxyType(
    {"paraphrases": paraphrase_report, "negation": negation_report, "spelling": spelling_report}
)
"""By question: the report on what is stored."""


def one_below_the_other(setups: Sequence[Setup], reports: Sequence[Report]) -> Report:
    """One question asked of several setups as one report, their labels in the first column, ``run``."""
    tables = dict(reports[0].tables)
    for name in tables.keys() - {"published"}:
        frames = [(setup.label, report.tables[name]) for setup, report in zip(setups, reports, strict=True)]
        tables[name] = pd.concat([f.assign(run=label)[["run", *f]] for label, f in frames], ignore_index=True)
    question = reports[0].title.partition(":")[0]
    labels = ", ".join(setup.label for setup in setups)
    title = f"{question}: {labels} on {setups[0].dataset}, {setups[0].task.title}"
    return Report(title, tables, _all_notes(reports))


def one_after_the_other(reports: Sequence[Report]) -> Report:
    """Several questions as one report; the published figures come last, together."""
    if len(reports) == 1:
        return reports[0]
    tables = {name: table for one in reports for name, table in one.tables.items() if name != "published"}
    published = pd.concat([one.tables["published"] for one in reports], ignore_index=True)
    title = "; ".join(one.title for one in reports)
    return Report(title, {**tables, "published": published}, _all_notes(reports))


def _all_notes(reports: Sequence[Report]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line for one in reports for line in one.notes))


def _answers(store: Store, setup: Setup, variants: Sequence[Variant], what: str) -> list[Answers]:
    """Those of the original, then of the variants, of which there must be one."""
    if not variants:
        raise SettingError(
            f"dataset {setup.dataset}",
            f"has no {what} of its hypotheses",
            'Give a file with --variants FILE: {"instance id": {"paraphrases": {"name": "text"}, "negation": "text"}}.',
        )
    return [answers_of(store, setup, variant) for variant in (None, *variants)]


def _notes(original: Answers, others: Sequence[Answers]) -> tuple[str, ...]:
    return (
        "Intervals are 95% paired bootstraps in which papers are drawn; n counts instances with an answer"
        " in both wordings.",
        "Overlap, tau and rank-biased overlap are of the two top Ks. Tau is over the sentences in either of"
        " them, which picks out what the rankings disagree on: unrelated rankings come out below 0. It is"
        " undefined where both pick one and the same sentence.",
        *(
            f"{answers.name}: {answers.n_missing:,} instances have no answer yet and are left out."
            for answers in (original, *others)
            if answers.n_missing
        ),
    )


def _title(setup: Setup) -> str:
    return f"{setup.label} on {setup.dataset}, {setup.task.title}"
