"""The changes that wording makes, as tables: answers to other wordings beside those to the original."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd

from evidencebench_core.analyses.variant_runs import Answers
from evidencebench_core.data import published_results
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

LIKENESS: Final = ["overlap", "kendall_tau", "rank_biased_overlap"]
_RESAMPLES: Final = 10_000


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
                **{name: pairs[name].mean() for name in LIKENESS},
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
    ids = common_ids(original, other)
    before, after = original.frame.loc[ids], other.frame.loc[ids]
    likeness = []
    for *picks, a, b in zip(
        before["selection"], after["selection"], before["ranking"], after["ranking"], strict=True
    ):
        depth = max(map(len, picks))
        likeness.append((overlap(*picks), kendall_tau(a, b, depth), rank_biased_overlap(a, b, depth)))
    frame = pd.DataFrame(likeness, columns=LIKENESS, dtype=float)
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
    ids = common_ids(original, *others)
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
    ids = common_ids(*several)
    frames = [answers.frame.loc[ids] for answers in several]
    return Answers(
        name,
        frames[0].assign(recall=sum(frame["recall"] for frame in frames) / len(frames)),
        n_left_out=max(answers.n_left_out for answers in several),
        n_missing=max(answers.n_missing for answers in several),
    )


def common_ids(first: Answers, *others: Answers) -> list[str]:
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
