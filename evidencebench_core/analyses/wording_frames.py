"""Runs over other wordings of one dataset, set beside the run over the original hypotheses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd

from evidencebench_core.analyses.variant_runs import Answers
from evidencebench_core.data import published_results
from evidencebench_core.stats import (
    cluster_numbers,
    cluster_sums,
    kendall_tau,
    overlap,
    randomisation_p_value,
    rank_biased_overlap,
    resampled_matrix,
)

_RESAMPLES: Final = 10_000
_DECIMALS: Final = 12  # differences below are rounding, not a move
_LIKENESS: Final = ("overlap", "kendall_tau", "rank_biased_overlap")


def wording_frame(original: Answers, others: Sequence[Answers], seed: int = 0) -> pd.DataFrame:
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
    for other, pairs, bounds in zip(others, frames, _bounds(frames, seed), strict=True):
        n = len(pairs)
        before, recall = pairs["original"].to_numpy(), pairs["recall"].to_numpy()
        differences = np.round(recall - before, _DECIMALS)
        means = [float(values.mean()) if n else np.nan for values in (before, recall, differences)]
        of_papers = pairs.groupby("paper", sort=False)["difference"].sum().to_numpy(float)
        p_value = randomisation_p_value(
            np.round(of_papers, _DECIMALS), np.random.default_rng(seed), _RESAMPLES
        )
        rows.append(
            {
                "wording": other.name,
                "n": n,
                "n_left_out": other.n_left_out,
                "n_missing": other.n_missing + len(other.recalls) - n,
                "original": means[0],
                "recall": means[1],
                "recall_low": bounds[0],
                "recall_high": bounds[1],
                "difference": means[2],
                "ci_low": bounds[2],
                "ci_high": bounds[3],
                "p_value": np.nan if p_value is None else p_value,
                "better": int((differences > 0).sum()),
                "same": int((differences == 0).sum()),
                "worse": int((differences < 0).sum()),
                **{name: pairs[name].mean() for name in _LIKENESS},
                "n_tau": int(pairs["kendall_tau"].notna().sum()),
            }
        )
    return pd.DataFrame(rows)


def _bounds(frames: Sequence[pd.DataFrame], seed: int) -> list[list[float]]:
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
        means = resampled_matrix(sums, sizes, np.random.default_rng(seed), _RESAMPLES)
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
    rows = []
    for one in _answered_in_all(original, other):
        picks = original.selections[one], other.selections[one]
        rankings = original.rankings[one], other.rankings[one]
        depth = max(map(len, picks))
        rows.append(
            (
                one,
                original.papers[one],
                original.recalls[one],
                other.recalls[one],
                round(other.recalls[one] - original.recalls[one], _DECIMALS),
                overlap(*picks),
                kendall_tau(*rankings, depth),
                rank_biased_overlap(*rankings, depth),
            )
        )
    columns = ["instance", "paper", "original", "recall", "difference", *_LIKENESS]
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(columns[2:], float))


def instance_frame(original: Answers, others: Sequence[Answers]) -> pd.DataFrame:
    """One row an instance that is answered in every wording, those that move most first.

    Returns
    -------
    DataFrame
        ``instance``, ``paper``; ``original`` and one column a wording: Aspect Recall, 0 to 1; over all of
        these, the original among them, ``lowest``, ``highest``, ``spread`` (highest - lowest) and ``sd``
        (of the population); ``overlap``: mean over the wordings of the share of the selection that stays.
    """
    rows = []
    for one in _answered_in_all(original, *others):
        recalls = [answers.recalls[one] for answers in (original, *others)]
        shares = [overlap(original.selections[one], other.selections[one]) for other in others]
        known = [share for share in shares if share is not None]
        mean, low, high = sum(recalls) / len(recalls), min(recalls), max(recalls)
        deviation = (sum((recall - mean) ** 2 for recall in recalls) / len(recalls)) ** 0.5
        stays = sum(known) / len(known) if known else None
        rows.append((one, original.papers[one], *recalls, low, high, high - low, deviation, stays))
    names = [other.name for other in others]
    columns = ["instance", "paper", "original", *names, "lowest", "highest", "spread", "sd", "overlap"]
    frame = pd.DataFrame(rows, columns=columns)
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
    first = several[0]
    ids = _answered_in_all(*several)
    return Answers(
        name,
        {one: sum(answers.recalls[one] for answers in several) / len(several) for one in ids},
        {one: first.rankings[one] for one in ids},
        {one: first.selections[one] for one in ids},
        {one: first.papers[one] for one in ids},
        n_left_out=max(answers.n_left_out for answers in several),
        n_missing=max(answers.n_missing for answers in several),
    )


def _answered_in_all(first: Answers, *others: Answers) -> list[str]:
    return [one for one in first.recalls if all(one in other.recalls for other in others)]


def published_frame(source: str) -> pd.DataFrame:
    """The paper's own figures on paraphrases ("Appendix F") or negation ("Section 5.2"): other instances.

    Returns
    -------
    DataFrame
        ``system``, ``task``, ``wording``, ``aspect_recall`` (0 to 1), ``difference`` (to that system's
        original), ``dataset``, ``source``.
    """
    figures = [figure for figure in published_results() if figure.source == source]
    originals = {f.system: f.aspect_recall for f in figures if f.strategy.startswith("original")}
    rows = []
    for figure in figures:
        original = originals.get(figure.system)
        difference = None if original is None else figure.aspect_recall - original
        head = (figure.system, figure.task, figure.strategy, figure.aspect_recall)
        rows.append((*head, difference, figure.dataset, figure.source))
    columns = ["system", "task", "wording", "aspect_recall", "difference", "dataset", "source"]
    return pd.DataFrame(rows, columns=columns)
