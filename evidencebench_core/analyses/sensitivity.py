"""How much wording matters: paraphrases, negation and spelling errors against the original hypothesis.

Gold and budget are those of the original everywhere. A paraphrase asks for the same; a negation asks
for the same sentences too, because evidence that supported the original now refutes; a misspelt
hypothesis is the same one, badly typed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from evidencebench_core.analyses.report import Report
from evidencebench_core.analyses.variant_runs import Answers, Asked, answers_of
from evidencebench_core.analyses.wording_frames import (
    instance_frame,
    mean_answers,
    pair_frame,
    published_frame,
    spread_frame,
    wording_frame,
)
from evidencebench_core.errors import SettingError
from evidencebench_core.perturb import NEGATION, PARAPHRASE, misspelt
from evidencebench_core.runs import Variant, run_label, variant_named, variant_names
from evidencebench_core.runs.wording import RULE_NEGATION, spelling_name

if TYPE_CHECKING:
    import pandas as pd

    from evidencebench_core.data.store import Store

__all__ = [
    "ERRORS",
    "WORDING_REPORTS",
    "WORDING_VARIANTS",
    "negation_report",
    "negation_variants",
    "paraphrase_report",
    "paraphrase_variants",
    "spelling_report",
    "spelling_variants",
]

ERRORS: Final = (0, 1, 3, 10, 20, 50)

_ELSEWHERE: Final = (
    "The published figures stand on other instances (the paper's test set), with other retrievers and"
    " paraphrases by other writers; they are beside ours, never paired with them."
)


def paraphrase_variants(store: Store, dataset: str) -> tuple[Variant, ...]:
    """The paraphrases that a dataset has; none where neither the data nor a file brought any."""
    names = [name for name in variant_names(store, dataset) if name.startswith(PARAPHRASE)]
    return tuple(variant_named(store, dataset, name) for name in names)


def negation_variants(store: Store, dataset: str, by_rules: bool = True) -> tuple[Variant, ...]:
    """The negations that a dataset has, and those made by rule where a rule can make one."""
    names = [NEGATION] if NEGATION in variant_names(store, dataset) else []
    found = [variant_named(store, dataset, name) for name in names]
    if by_rules:
        with suppress(SettingError):  # the rules refuse them all
            found.append(variant_named(store, dataset, RULE_NEGATION))
    return tuple(found)


def spelling_variants(
    store: Store, dataset: str, errors: Sequence[int] = ERRORS, seeds: Sequence[int] = (0,)
) -> tuple[Variant, ...]:
    """A variant for every number of errors but 0, and every seed."""
    return tuple(variant_named(store, dataset, spelling_name(n, seed)) for n in errors if n for seed in seeds)


def paraphrase_report(store: Store, asked: Asked, seed: int = 0) -> Report:
    """Recall per paraphrase, paired with the original, and how far each instance moves.

    Reads what is stored; `run_variants` with `paraphrase_variants` asks what is missing.

    Returns
    -------
    Report
        Tables ``paraphrases`` (`wording_frame`; a last row for the mean of all), ``spread``
        (`spread_frame`), ``instances`` (`instance_frame`), ``published`` (`published_frame`).

    Raises
    ------
    SettingError
        If the dataset has no paraphrases.
    """
    variants = paraphrase_variants(store, asked.dataset)
    if not variants:
        raise _nothing(asked, "paraphrases")
    original, *others = (answers_of(store, asked, variant) for variant in (None, *variants))
    means = [mean_answers("mean of the paraphrases", others)] if len(others) > 1 else []
    table = wording_frame(original, [*others, *means], seed)
    if means:  # these are of one ranking, not of a mean
        table.loc[len(others), ["overlap", "kendall_tau", "rank_biased_overlap"]] = float("nan")
        table.loc[len(others), "n_tau"] = 0
    instances = instance_frame(original, others)
    return Report(
        f"Paraphrases of the hypothesis: {_label(asked)}",
        {
            "paraphrases": table,
            "spread": spread_frame(instances, len(original.recalls)),
            "instances": instances,
            "published": published_frame("Appendix F"),
        },
        (
            *_standing(original, others),
            "The p-values are not corrected for the number of paraphrases.",
            "Spread and SD are over the original and the paraphrases of an instance.",
            _ELSEWHERE,
        ),
    )


def negation_report(store: Store, asked: Asked, seed: int = 0, by_rules: bool = True) -> Report:
    """Recall on the negated hypotheses, paired with the original.

    Parameters
    ----------
    seed : int
        Of the bootstrap.
    by_rules : bool
        Whether the negations made by rule are reported as well.

    Returns
    -------
    Report
        Tables ``negation`` (`wording_frame`), one `pair_frame` a negation, those that move most first,
        ``published`` (`published_frame`).

    Raises
    ------
    SettingError
        If no hypothesis has a negation.
    """
    variants = negation_variants(store, asked.dataset, by_rules)
    if not variants:
        raise _nothing(asked, "negations")
    original, *others = (answers_of(store, asked, variant) for variant in (None, *variants))
    pairs = {
        f"instances {other.name.replace(':', ' by ')}": _most_moved(pair_frame(original, other))
        for other in others
    }
    return Report(
        f"Negation of the hypothesis: {_label(asked)}",
        {
            "negation": wording_frame(original, others, seed),
            **pairs,
            "published": published_frame("Section 5.2"),
        },
        (
            "Gold stays that of the original: evidence that supported it refutes the negation, so the same"
            " sentences are sources of information for both.",
            *_standing(original, others),
            "negation:rules leaves out every hypothesis that the rules refuse, so its n differs.",
            _ELSEWHERE,
        ),
    )


def spelling_report(
    store: Store, asked: Asked, errors: Sequence[int] = ERRORS, seeds: Sequence[int] = (0,), seed: int = 0
) -> Report:
    """Recall against the number of misspelt words, as in RAmBLA.

    Parameters
    ----------
    seeds : sequence of int
        Of the misspellings; recall is the mean over them, instance by instance.
    seed : int
        Of the bootstrap.

    Returns
    -------
    Report
        Table ``spelling``: `wording_frame`, with before it ``errors`` (asked for), ``n_capped`` (of the
        n, instances with fewer eligible words than that, all of which are misspelt) and ``mean_errors``
        (made). The row of 0 errors is the original against itself: its difference is 0 by definition.
    """
    original = answers_of(store, asked, None)
    texts = {row.id: row.hypothesis for row in store.rows(asked.dataset, original.recalls)}
    others, capped, means = [], [], list[float | None]()
    for n in errors:
        made = [
            answers_of(store, asked, variant)
            for variant in spelling_variants(store, asked.dataset, (n,), seeds)
        ]
        other = mean_answers(f"{n} error{'' if n == 1 else 's'}", made) if made else original
        both = [one for one in original.recalls if one in other.recalls]
        mutated = [misspelt(texts[one], n).n_mutated for one in both]
        others.append(replace(other, name=other.name if n else "0 errors, the original"))
        capped.append(sum(count < n for count in mutated))
        means.append(sum(mutated) / len(mutated) if mutated else None)
    table = wording_frame(original, others, seed)
    for name, values in (("mean_errors", means), ("n_capped", capped), ("errors", errors)):
        table.insert(0, name, list(values))
    return Report(
        f"Spelling errors in the hypothesis: {_label(asked)}",
        {"spelling": table},
        (
            f"Each error replaces one letter or digit of another word by one of its class; {len(seeds)} seed(s)"
            f" ({', '.join(map(str, seeds))}), recall averaged over them, overlap and tau of the first.",
            "A hypothesis with fewer eligible words than errors asked for has all of them misspelt and none"
            " twice (n_capped), so the largest numbers ask nearly the same of most instances.",
            "A retriever that matches words, such as bm25, answers in the order of the paper once no word"
            " matches: its recall is then that of the first sentences (lead), not a sign of robustness.",
            *_standing(original, ()),
        ),
    )


WORDING_VARIANTS: Final[Mapping[str, Callable[[Store, str], tuple[Variant, ...]]]] = MappingProxyType(
    {"paraphrases": paraphrase_variants, "negation": negation_variants, "spelling": spelling_variants}
)
"""By question: the variants that have to be run."""

WORDING_REPORTS: Final[Mapping[str, Callable[[Store, Asked], Report]]] = MappingProxyType(
    {"paraphrases": paraphrase_report, "negation": negation_report, "spelling": spelling_report}
)
"""By question: the report on what is stored."""


def _most_moved(pairs: pd.DataFrame) -> pd.DataFrame:
    order = pairs["difference"].abs().sort_values(ascending=False, kind="stable").index
    return pairs.loc[order].reset_index(drop=True)


def _standing(original: Answers, others: Sequence[Answers]) -> tuple[str, ...]:
    """What is not there, said only where something is not."""
    notes = [
        f"{answers.name}: {answers.n_missing:,} instances have no answer yet and are left out."
        for answers in (original, *others)
        if answers.n_missing
    ]
    return (
        "Intervals are 95% paired bootstraps in which papers are drawn; n counts instances with an answer"
        " in both wordings.",
        "Overlap, tau and rank-biased overlap are of the two top Ks. Tau is over the sentences in either of"
        " them, which picks out what the rankings disagree on: unrelated rankings come out below 0. It is"
        " undefined where both pick one and the same sentence (n_tau).",
        *notes,
    )


def _label(asked: Asked) -> str:
    from evidencebench_core.retrievers import full_settings

    settings = full_settings(asked.retriever, asked.settings)
    return f"{run_label(asked.retriever, settings)} on {asked.dataset}, {asked.task.title}"


def _nothing(asked: Asked, what: str) -> SettingError:
    return SettingError(
        f"dataset {asked.dataset}",
        f"has no {what} of its hypotheses",
        'Give a file with --variants FILE: {"instance id": {"paraphrases": {"name": "text"}, "negation": "text"}}.',
    )
