"""Which share of the aspects a run missed, by where and how often evidence for them stands.

Every share stands on all aspects of its bin, found or missed, so that "much is missed there" is not
confused with "much stands there".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

from evidencebench_core.analyses.causes import CAUSES
from evidencebench_core.data.sections import SECTION_CLASSES
from evidencebench_core.stats import ratio_intervals

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BINNINGS", "Binning", "bin_names", "bin_of", "deciles_of", "missed_shares"]

Binning = Literal["section", "decile", "n_covering", "cause"]

BINNINGS: Final[Mapping[Binning, str]] = MappingProxyType(
    {
        "section": "An aspect counts in every part of the paper in which a sentence covers it.",
        "decile": "An aspect counts in every tenth of the paper in which a sentence covers it.",
        "n_covering": "By how many sentences cover the aspect.",
        "cause": "By the first cause suggested; the share is of all aspects asked for, found ones included.",
    }
)
_COUNTS: Final = (
    ("1", 1, 1),
    ("2", 2, 2),
    ("3", 3, 3),
    ("4–5", 4, 5),
    ("6–10", 6, 10),
    ("over 10", 11, None),
)
_DRAWS: Final = 10_000_000  # papers times resamples: about a second


def missed_shares(outcomes: pd.DataFrame, by: Binning, seed: int = 0) -> pd.DataFrame:
    """Missed aspects as a share of all aspects of a bin, with an interval over papers.

    Parameters
    ----------
    outcomes : DataFrame
        Found and missed aspects, as `missed.aspect_outcomes` has them; for ``"section"`` with
        `missed.with_text`, for ``"cause"`` with ``cause`` of the missed ones (NaN or ``None`` for others).
    by : {"section", "decile", "n_covering", "cause"}
        See `BINNINGS`.
    seed : int
        Of the bootstrap.

    Returns
    -------
    DataFrame
        One row a bin, in its natural order: ``bin``; ``n_missed`` of ``n_aspects`` in ``n_papers``; ``share``
        (0 to 1; NaN where the bin is empty); ``low`` and ``high``, the 95% percentile interval of a bootstrap
        that draws whole papers (NaN with aspects in fewer than two papers). 10,000 resamples, with over
        1,000 papers fewer, but 500 at least.
    """
    import numpy as np
    import pandas as pd

    names = bin_names(by)
    members = _members(outcomes, by)
    papers, paper = np.unique(outcomes["paper"].to_numpy(dtype=str), return_inverse=True)
    missed = outcomes["missed"].to_numpy(dtype=bool)
    every = np.array(
        [(row, names.index(name)) for row, bins in enumerate(members) for name in bins], dtype=int
    )
    every = every.reshape(-1, 2)
    rows, columns = every[:, 0], every[:, 1]
    shape = (len(papers), len(names))
    bottom, top = np.zeros(shape), np.zeros(shape)
    np.add.at(top, (paper[rows], columns), missed[rows])
    if by == "cause":
        bottom += np.bincount(paper, minlength=len(papers))[:, None]
    else:
        np.add.at(bottom, (paper[rows], columns), 1.0)
    n_resamples = min(10_000, max(500, _DRAWS // max(1, len(papers))))
    bounds = (
        ratio_intervals(top, bottom, np.random.default_rng(seed), n_resamples)
        if len(papers)
        else np.full((len(names), 2), np.nan)
    )
    n_missed, n_aspects = top.sum(axis=0), bottom.sum(axis=0)
    return pd.DataFrame(
        {
            "bin": names,
            "n_missed": n_missed.astype(int),
            "n_aspects": n_aspects.astype(int),
            "n_papers": (bottom > 0).sum(axis=0),
            "share": np.divide(n_missed, n_aspects, out=np.full(len(names), np.nan), where=n_aspects > 0),
            "low": bounds[:, 0],
            "high": bounds[:, 1],
        }
    )


def bin_of(missed: pd.DataFrame, by: Binning, name: str) -> pd.Series[bool]:
    """Which rows are in a bin: the aspects behind a mark."""
    import pandas as pd

    return pd.Series([name in bins for bins in _members(missed, by)], index=missed.index, dtype=bool)


def deciles_of(covering: Sequence[int], n_sentences: int) -> tuple[str, ...]:
    """The tenths of a paper in which these sentences stand, ascending: sentence i is in ``10 i // n``."""
    return tuple([_decile(tenth) for tenth in sorted({10 * index // n_sentences for index in covering})])


def _decile(tenth: int) -> str:
    return f"{10 * tenth}–{10 * tenth + 10}%"


def bin_names(by: Binning) -> list[str]:
    """The bins in their natural order."""
    if by == "section":
        return list(SECTION_CLASSES)
    if by == "decile":
        return [_decile(tenth) for tenth in range(10)]
    if by == "n_covering":
        return [name for name, _, _ in _COUNTS]
    return [cause.name for cause in CAUSES.values() if cause.rule]


def _members(outcomes: pd.DataFrame, by: Binning) -> list[tuple[str, ...]]:
    """The bins of every row."""
    if by == "section":
        return [tuple(dict.fromkeys(classes)) for classes in outcomes["sections"]]
    if by == "decile":
        pairs = zip(outcomes["covering"], outcomes["n_sentences"], strict=True)
        return [deciles_of(covering, n) for covering, n in pairs]
    if by == "n_covering":
        return [
            tuple([name for name, low, high in _COUNTS if low <= n and (high is None or n <= high)])
            for n in outcomes["n_covering"]
        ]
    return [(cause,) if isinstance(cause, str) else () for cause in outcomes["cause"]]
