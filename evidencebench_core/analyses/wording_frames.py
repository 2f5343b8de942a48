"""Runs over other wordings of one dataset, set beside the run over the original hypotheses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from evidencebench_core.analyses.variant_runs import Answers
from evidencebench_core.data import published_results
from evidencebench_core.stats import (
    DECIMALS,
    cluster_numbers,
    cluster_sums,
    compare_paired,
    kendall_tau,
    overlap,
    randomisation_p_value,
    rank_biased_overlap,
    resampled_matrix,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["instance_frame", "mean_answers", "pair_frame", "published_frame", "spread_frame", "wording_frame"]

_RESAMPLES: Final = 10_000


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
    import numpy as np
    import pandas as pd

    rows = []
    frames = [pair_frame(original, other) for other in others]
    bounds = _bounds(frames, seed)
    for other, pairs, (recall_low, recall_high, low, high) in zip(others, frames, bounds, strict=True):
        # Its interval comes from `_bounds`: one resample here keeps that of `compare_paired` cheap.
        compared = compare_paired(pairs["recall"], pairs["original"], np.random.default_rng(seed), 1)
        rows.append(
            {
                "wording": other.name,
                "n": compared.n,
                "n_left_out": other.n_left_out,
                "n_missing": other.n_missing + len(other.recalls) - compared.n,
                "original": compared.mean_b,
                "recall": compared.mean_a,
                "recall_low": recall_low,
                "recall_high": recall_high,
                "difference": compared.mean_difference,
                "ci_low": low,
                "ci_high": high,
                "p_value": _p_value(pairs, seed),
                "better": compared.wins,
                "same": compared.ties,
                "worse": compared.losses,
                "overlap": pairs["overlap"].mean(),
                "kendall_tau": pairs["kendall_tau"].mean(),
                "rank_biased_overlap": pairs["rank_biased_overlap"].mean(),
                "n_tau": int(pairs["kendall_tau"].notna().sum()),
            }
        )
    return pd.DataFrame(rows)


def _bounds(frames: Sequence[pd.DataFrame], seed: int) -> list[tuple[float | None, ...]]:
    """95% intervals of each frame's mean recall and mean difference, papers being drawn.

    Frames over the same instances share their draws, which are most of the work. ``None`` four times for
    fewer than two papers.
    """
    import numpy as np

    groups: dict[tuple[str, ...], list[int]] = {}
    for place, pairs in enumerate(frames):
        groups.setdefault(tuple(pairs["instance"]), []).append(place)
    found: dict[int, tuple[float | None, ...]] = {}
    for places in groups.values():
        papers = frames[places[0]]["paper"].to_numpy()
        if len(set(papers)) < 2:
            found |= dict.fromkeys(places, (None,) * 4)
            continue
        values = np.array([frames[place][name] for place in places for name in ("recall", "difference")])
        sums, sizes = cluster_sums(values, cluster_numbers(papers, len(papers)))
        means = resampled_matrix(sums, sizes, np.random.default_rng(seed), _RESAMPLES)
        low, high = np.quantile(means, [0.025, 0.975], axis=0)
        ends = np.stack([low, high], axis=1).reshape(len(places), 4)
        found |= {place: tuple(map(float, row)) for place, row in zip(places, ends, strict=True)}
    return [found[place] for place in range(len(frames))]


def _p_value(pairs: pd.DataFrame, seed: int) -> float | None:
    """Of the paired randomisation test in which the instances of one paper change sign together."""
    import numpy as np

    sums = pairs.groupby("paper", sort=False)["difference"].sum().to_numpy(float)
    return randomisation_p_value(np.round(sums, DECIMALS), np.random.default_rng(seed), _RESAMPLES)


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
    import pandas as pd

    rows = []
    for one in (one for one in original.recalls if one in other.recalls):
        picks = original.selections[one], other.selections[one]
        rankings = original.rankings[one], other.rankings[one]
        depth = max(map(len, picks))
        rows.append(
            (
                one,
                original.papers[one],
                original.recalls[one],
                other.recalls[one],
                round(other.recalls[one] - original.recalls[one], DECIMALS),  # below is rounding, not a move
                overlap(*picks),
                kendall_tau(*rankings, depth),
                rank_biased_overlap(*rankings, depth),
            )
        )
    columns = ["instance", "paper", "original", "recall", "difference", "overlap", "kendall_tau"]
    frame = pd.DataFrame(rows, columns=[*columns, "rank_biased_overlap"])
    return frame.astype(dict.fromkeys(frame.columns[2:], float))


def instance_frame(original: Answers, others: Sequence[Answers]) -> pd.DataFrame:
    """One row an instance that is answered in every wording, those that move most first.

    Returns
    -------
    DataFrame
        ``instance``, ``paper``; ``original`` and one column a wording: Aspect Recall, 0 to 1; over all of
        these, the original among them, ``lowest``, ``highest``, ``spread`` (highest - lowest) and ``sd``
        (of the population); ``overlap``: mean over the wordings of the share of the selection that stays.
    """
    import pandas as pd

    everywhere = [one for one in original.recalls if all(one in other.recalls for other in others)]
    rows = []
    for one in everywhere:
        recalls = [answers.recalls[one] for answers in (original, *others)]
        kept = [overlap(original.selections[one], other.selections[one]) for other in others]
        known = [share for share in kept if share is not None]
        mean = sum(recalls) / len(recalls)
        low, high = min(recalls), max(recalls)
        deviation = (sum((recall - mean) ** 2 for recall in recalls) / len(recalls)) ** 0.5
        stays = sum(known) / len(known) if known else None
        rows.append((one, original.papers[one], *recalls, low, high, high - low, deviation, stays))
    names = [other.name for other in others]
    columns = ["instance", "paper", "original", *names, "lowest", "highest", "spread", "sd", "overlap"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.sort_values(["spread", "sd"], ascending=False, kind="stable", ignore_index=True)


def spread_frame(instances: pd.DataFrame, n_asked: int) -> pd.DataFrame:
    """How far the recall of an instance moves between wordings, in one row.

    Parameters
    ----------
    instances : DataFrame
        Of `instance_frame`.
    n_asked : int
        Instances answered in the original, those with a wording missing included.

    Returns
    -------
    DataFrame
        ``n``: instances answered in every wording; ``n_left_out``: the others; ``mean_spread``,
        ``median_spread``, ``largest_spread``, ``mean_sd``: 0 to 1; ``n_moved``: instances with a spread.
    """
    import pandas as pd

    spread = instances["spread"]
    row = {
        "n": len(instances),
        "n_left_out": n_asked - len(instances),
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
    everywhere = [one for one in first.recalls if all(one in answers.recalls for answers in several)]

    def of_those(values: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
        return {one: values[one] for one in everywhere}

    return Answers(
        name,
        "",
        {one: sum(answers.recalls[one] for answers in several) / len(several) for one in everywhere},
        of_those(first.rankings),
        of_those(first.selections),
        {one: first.papers[one] for one in everywhere},
        n_left_out=max(answers.n_left_out for answers in several),
        n_missing=max(answers.n_missing for answers in several),
    )


def published_frame(source: str) -> pd.DataFrame:
    """The paper's own figures on wordings: other instances, never paired with ours.

    Parameters
    ----------
    source : {"Appendix F", "Section 5.2"}
        Paraphrases, or negation.

    Returns
    -------
    DataFrame
        ``system``, ``task``, ``wording``, ``aspect_recall`` (0 to 1), ``difference`` (to that system's
        original), ``dataset``, ``source``.
    """
    import pandas as pd

    figures = [figure for figure in published_results() if figure.source == source]
    originals = {f.system: f.aspect_recall for f in figures if f.strategy.startswith("original")}
    return pd.DataFrame(
        [
            (
                figure.system,
                figure.task,
                figure.strategy,
                figure.aspect_recall,
                figure.aspect_recall - originals[figure.system] if figure.system in originals else None,
                figure.dataset,
                figure.source,
            )
            for figure in figures
        ],
        columns=["system", "task", "wording", "aspect_recall", "difference", "dataset", "source"],
    )
