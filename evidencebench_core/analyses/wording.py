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
from evidencebench_core.data import published_results
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError
from evidencebench_core.perturb import NEGATION, PARAPHRASE, misspelling
from evidencebench_core.runs import Variant, variant_named, variant_names
from evidencebench_core.runs.variant import RULE_NEGATION, spelling_name
from evidencebench_core.stats import (
    DECIMALS,
    cluster_numbers,
    cluster_sums,
    kendall_tau,
    overlap,
    randomisation_p_value,
    rank_biased_overlap,
    resampled_matrix,
)
from evidencebench_core.words import quantity

ERRORS: Final = (0, 1, 3, 10, 20, 50)

_RESAMPLES: Final = 10_000
_LIKENESS: Final = ["overlap", "kendall_tau", "rank_biased_overlap"]
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
        table.loc[len(others), _LIKENESS] = np.nan
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
        n_made = [misspelling(texts[one], n).n_mutated for one in _common_ids(original, other)]
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
            " twice (n_capped), so the largest numbers ask nearly the same of most instances.",
            "A retriever that matches words, such as bm25, answers in the order of the paper once no word"
            " matches: its recall is then that of the first sentences (lead), not a sign of robustness.",
            *_notes(original, ()),
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
    tables = {}
    for name, table in reports[0].tables.items():
        frames = [report.tables[name] for report in reports]
        labelled = zip(setups, frames, strict=True)
        tables[name] = (
            table
            if name == "published"
            else _concatenation([frame.assign(run=s.label)[["run", *frame]] for s, frame in labelled])
        )
    question = reports[0].title.partition(":")[0]
    labels = ", ".join(setup.label for setup in setups)
    title = f"{question}: {labels} on {setups[0].dataset}, {setups[0].task.title}"
    return Report(title, tables, _all_notes(reports))


def one_after_the_other(reports: Sequence[Report]) -> Report:
    """Several questions as one report; the published figures come last, together."""
    if len(reports) == 1:
        return reports[0]
    tables = {name: table for one in reports for name, table in one.tables.items() if name != "published"}
    published = _concatenation([one.tables["published"] for one in reports])
    title = "; ".join(one.title for one in reports)
    return Report(title, {**tables, "published": published}, _all_notes(reports))


def _concatenation(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    return frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)


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
        " undefined where both pick one and the same sentence (n_tau).",
        *(
            f"{answers.name}: {answers.n_missing:,} instances have no answer yet and are left out."
            for answers in (original, *others)
            if answers.n_missing
        ),
    )


def _title(setup: Setup) -> str:
    return f"{setup.label} on {setup.dataset}, {setup.task.title}"


def wording_frame(original: Answers, others: Sequence[Answers]) -> pd.DataFrame:
    """One row a wording: its recall against the original's, and how much of the ranking stays.

    Returns
    -------
    DataFrame
        ``wording``; ``n``: instances answered in both; ``n_left_out``: without such a variant;
        ``n_missing``: with it, but not answered in both; ``original``, ``recall``: mean Aspect Recall over
        the n, 0 to 1; ``recall_low``, ``recall_high``: 95% bootstrap of papers; ``difference``: recall -
        original, with ``ci_low``, ``ci_high`` (95% paired bootstrap of papers) and ``p_value`` (two-sided
        paired randomisation, papers flipped whole); ``better``, ``same``, ``worse``: instances;
        ``overlap``, ``kendall_tau``, ``rank_biased_overlap``: means over instances of how alike the two
        top Ks are (see `pair_frame`), ``n_tau``: instances behind the tau.
    """
    rows = []
    frames = [pair_frame(original, other) for other in others]
    for other, pairs, bounds in zip(others, frames, _bounds(frames), strict=True):
        of_papers = pairs.groupby("paper", sort=False)["difference"].sum().to_numpy(float)
        p_value = randomisation_p_value(np.round(of_papers, DECIMALS), np.random.default_rng(0), _RESAMPLES)
        rows.append(
            {
                "wording": other.name,
                "n": len(pairs),
                "n_left_out": other.n_left_out,
                "n_missing": other.n_missing + len(other.frame) - len(pairs),
                "original": pairs["original"].mean(),
                "recall": pairs["recall"].mean(),
                **dict(zip(("recall_low", "recall_high"), bounds[:2], strict=True)),
                "difference": pairs["difference"].mean(),
                **dict(zip(("ci_low", "ci_high"), bounds[2:], strict=True)),
                "p_value": np.nan if p_value is None else p_value,
                "better": int((pairs["difference"] > 0).sum()),
                "same": int((pairs["difference"] == 0).sum()),
                "worse": int((pairs["difference"] < 0).sum()),
                **{name: pairs[name].mean() for name in _LIKENESS},
                "n_tau": int(pairs["kendall_tau"].notna().sum()),
            }
        )
    return pd.DataFrame(rows)


def _bounds(frames: Sequence[pd.DataFrame]) -> list[list[float]]:
    """95% intervals of each frame's mean recall and mean difference, papers being drawn.

    Frames over the same instances share their draws, which are most of the work. NaN for fewer than two
    papers.
    """
    groups: dict[tuple[str, ...], list[int]] = {}
    for place, pairs in enumerate(frames):
        groups.setdefault(tuple(pairs["instance"]), []).append(place)
    bounds = [[np.nan] * 4 for _ in frames]
    for places in groups.values():
        papers = frames[places[0]]["paper"].to_numpy()
        if len(set(papers)) < 2:
            continue
        values = np.array([frames[place][name] for place in places for name in ("recall", "difference")])
        sums, sizes = cluster_sums(values, cluster_numbers(papers, len(papers)))
        means = resampled_matrix(sums, sizes, np.random.default_rng(0), _RESAMPLES)
        ends = np.quantile(means, [0.025, 0.975], axis=0).T.reshape(len(places), 4)
        for place, row in zip(places, ends.tolist(), strict=True):
            bounds[place] = row
    return bounds


def pair_frame(original: Answers, other: Answers) -> pd.DataFrame:
    """One row an instance answered in both wordings, in the order of the dataset.

    Returns
    -------
    DataFrame
        ``instance``, ``paper``; ``original``, ``recall``: Aspect Recall, 0 to 1; ``difference``: recall -
        original; ``overlap``: share of the longer selection that both have, 0 to 1; ``kendall_tau``: tau-b
        over the sentences in either top K, ranked by the whole rankings, -1 to 1; ``rank_biased_overlap``
        of the two top Ks, p = 0.9, 0 to 1. NaN where one is undefined. K is the longer selection's length.
    """
    ids = _common_ids(original, other)
    before, after = original.frame.loc[ids], other.frame.loc[ids]
    likeness = []
    for *picks, a, b in zip(
        before["selection"], after["selection"], before["ranking"], after["ranking"], strict=True
    ):
        depth = max(map(len, picks))
        likeness.append((overlap(*picks), kendall_tau(a, b, depth), rank_biased_overlap(a, b, depth)))
    frame = pd.DataFrame(likeness, columns=_LIKENESS, dtype=float)
    difference = (after["recall"] - before["recall"]).round(DECIMALS)
    columns = {"instance": ids, "paper": before["paper"], "original": before["recall"]}
    columns |= {"recall": after["recall"], "difference": difference}
    return pd.concat([pd.DataFrame(columns).reset_index(drop=True), frame], axis=1)


def instance_frame(original: Answers, others: Sequence[Answers]) -> pd.DataFrame:
    """One row an instance that is answered in every wording, those that move most first.

    Returns
    -------
    DataFrame
        ``instance``, ``paper``; ``original`` and one column a wording: Aspect Recall, 0 to 1; over all of
        these, the original among them, ``lowest``, ``highest``, ``spread`` (highest - lowest) and ``sd``
        (of the population); ``overlap``: mean over the wordings of the share of the selection that stays.
    """
    ids = _common_ids(original, *others)
    first, *frames = (answers.frame.loc[ids] for answers in (original, *others))
    names = ["original", *(other.name for other in others)]
    recalls = pd.DataFrame(
        dict(zip(names, (frame["recall"] for frame in (first, *frames)), strict=True)), index=first.index
    )
    stays = pd.DataFrame(
        [
            [overlap(*picks) for picks in zip(first["selection"], frame["selection"], strict=True)]
            for frame in frames
        ],
        columns=ids,
        dtype=float,
    )
    low, high = recalls.min(axis=1), recalls.max(axis=1)
    frame = recalls.assign(
        lowest=low, highest=high, spread=high - low, sd=recalls.std(axis=1, ddof=0), overlap=stays.mean()
    )
    frame.insert(0, "paper", first["paper"])
    frame = frame.rename_axis("instance").reset_index()
    return frame.sort_values(["spread", "sd"], ascending=False, kind="stable", ignore_index=True)


def spread_frame(instances: pd.DataFrame, n_answered: int) -> pd.DataFrame:
    """How far the recall of an instance of `instance_frame` moves between wordings, in one row.

    ``n_answered`` counts instances answered in the original, those with a wording missing included.

    Returns
    -------
    DataFrame
        ``n``: instances answered in every wording; ``n_left_out``: the others; ``mean_spread``,
        ``median_spread``, ``largest_spread``, ``mean_sd``: 0 to 1; ``n_moved``: instances with a spread.
    """
    spread = instances["spread"]
    row = {
        "n": len(instances),
        "n_left_out": n_answered - len(instances),
        "mean_spread": spread.mean(),
        "median_spread": spread.median(),
        "largest_spread": spread.max(),
        "mean_sd": instances["sd"].mean(),
        "n_moved": int((spread > 1e-9).sum()),
    }
    return pd.DataFrame([row])


def mean_answers(name: str, several: Sequence[Answers]) -> Answers:
    """The mean recall over several runs, of the instances answered in all of them; picks of the first."""
    ids = _common_ids(*several)
    frames = [answers.frame.loc[ids] for answers in several]
    return Answers(
        name,
        frames[0].assign(recall=sum(frame["recall"] for frame in frames) / len(frames)),
        n_left_out=max(answers.n_left_out for answers in several),
        n_missing=max(answers.n_missing for answers in several),
    )


def _common_ids(first: Answers, *others: Answers) -> list[str]:
    return [one for one in first.frame.index if all(one in other.frame.index for other in others)]


def published_frame(source: str) -> pd.DataFrame:
    """The paper's own figures on paraphrases ("Appendix F") or negation ("Section 5.2"): other instances.

    Returns
    -------
    DataFrame
        ``system``, ``task``, ``wording``, ``aspect_recall`` (0 to 1), ``difference`` (to that system's
        original), ``dataset``, ``source``.
    """
    columns = ["system", "task", "strategy", "aspect_recall", "dataset", "source"]
    figures = [figure for figure in published_results() if figure.source == source]
    frame = pd.DataFrame([[getattr(figure, name) for name in columns] for figure in figures], columns=columns)
    originals = frame[frame["strategy"].str.startswith("original")].set_index("system")["aspect_recall"]
    frame.insert(4, "difference", frame["aspect_recall"] - frame["system"].map(originals))
    return frame.rename(columns={"strategy": "wording"})
