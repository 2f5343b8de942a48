"""A run's misses as a `Report`: the queue with suggested causes, shares of misses, analysts' notes.

Every share stands on all aspects of its bin, found or missed, so that "much is missed there" is not
confused with "much stands there".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Final, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evidencebench_core.analyses.causes import CAUSES, Thresholds, with_causes
from evidencebench_core.analyses.missed import aspect_outcomes, queue_of
from evidencebench_core.analyses.missed_text import with_text
from evidencebench_core.analyses.report import Report
from evidencebench_core.data.gold import Numbers
from evidencebench_core.data.sections import SECTION_CLASSES
from evidencebench_core.data.store import Store
from evidencebench_core.data.texts import paper_texts
from evidencebench_core.runs import RunStore
from evidencebench_core.runs.notes import NOTE_COLUMNS, Note, NoteStore, note_rows
from evidencebench_core.stats import ratio_intervals
from evidencebench_core.tasks import Task, task_named

SHORT_COLUMNS: Final = (
    "instance", "label", "cause", "best_rank", "distance", "sentence", "section", "overlap", "n_covering",
)  # fmt: skip

EXPORT_COLUMNS: Final = (
    "instance", "hypothesis", "aspect", "label", "text", "is_result", "sentence", "sentence_text", "best_rank",
    "budget", "distance", "position", "section", "n_covering", "overlap", "cause", "causes", "notes",
)  # fmt: skip

SHARED_COLUMNS: Final = ("paper", "missed", "covering", "n_covering", "n_sentences", "sections", "cause")
"""All that `missed_shares` reads."""

Binning = Literal["section", "decile", "n_covering", "cause"]
BINNINGS: Final[Mapping[Binning, str]] = MappingProxyType(
    {
        "section": "An aspect counts in every part of the paper in which a sentence covers it.",
        "decile": "An aspect counts in every tenth of the paper in which a sentence covers it.",
        "n_covering": "By how many sentences cover the aspect.",
        "cause": "By the first cause suggested; the share is of all aspects asked for, found ones included.",
    }
)
_COUNTS: Final = {"1": 1, "2": 2, "3": 3, "4–5": 5, "6–10": 10, "over 10": None}  # by the largest of each
_DRAWS: Final = 10_000_000  # papers times resamples: about a second


def missed_report(
    store: Store,
    run_id: str,
    task: str | Task = "result-er@optimal",
    *,
    results_only: bool = True,
    short: bool = False,
) -> Report:
    """Every aspect that a run missed, nearest miss first, and the share missed of each kind.

    ``short`` leaves only the columns in `SHORT_COLUMNS` of the queue.

    Returns
    -------
    Report
        *missed*: columns as in `aspect_outcomes`, `with_text` and `with_causes`. *shares*: ``by`` (a
        `Binning`) and the columns of `missed_shares`.
    """
    chosen = task_named(task)
    limits = Thresholds()
    run = RunStore(store).run(run_id)
    outcomes = with_causes(with_text(store, aspect_outcomes(store, run.id, chosen)), limits)
    asked = outcomes[outcomes["is_result"]] if results_only else outcomes
    queue = queue_of(outcomes, results_only).drop(columns="missed")
    shares = pd.concat([missed_shares(asked, by).assign(by=by) for by in BINNINGS])
    return Report(
        f"Missed aspects: {run.label} ({run.id}), {chosen.title} on {run.dataset}",
        {
            "missed": queue[list(SHORT_COLUMNS)] if short else queue,
            "shares": shares[["by", *shares.columns.drop("by")]],
        },
        (
            f"{len(queue):,} of {len(asked):,} {'result aspects' if results_only else 'aspects'} in"
            f" {asked['instance'].nunique():,} instances are missed; nearest miss first.",
            *left_out_notes(outcomes, results_only),
            "Shares: 95% bootstrap intervals over papers. "
            + " ".join(f"{by}: {text}" for by, text in BINNINGS.items()),
            *(f"Cause {cause.name}: {cause.rule_text(limits)}" for cause in CAUSES.values() if cause.rule),
            "Causes are suggestions by these rules, in this order, never verdicts.",
            *store.dataset(run.dataset).gold_notes,
        ),
    )


def misses_in_words(
    store: Store, dataset: str, misses: pd.DataFrame, notes: Sequence[Note] = ()
) -> pd.DataFrame:
    """Rows of `aspect_outcomes` (or with more) to take away: with hypothesis, sentence and everybody's notes.

    Returns
    -------
    DataFrame
        The columns in `EXPORT_COLUMNS` that the rows have or that are added: ``hypothesis``, ``sentence_text``, the
        nearest covering sentence, and ``notes``, as "author: cause, tags, text" joined by "; ".
    """
    papers = {
        instance_id: (hypothesis, paper.sentences)
        for paper in paper_texts(store, dataset, set(misses["instance"]))
        for instance_id, hypothesis in paper.hypotheses.items()
    }
    said: dict[tuple[str, str], list[str]] = {}
    for note in notes:
        words = ", ".join(filter(None, (note.cause, *note.tags, note.text)))
        said.setdefault((note.instance_id, note.aspect_id), []).append(f"{note.author}: {words}")
    keys = list(zip(misses["instance"], misses["aspect"], strict=True))
    frame = misses.assign(
        hypothesis=[papers[instance_id][0] for instance_id, _ in keys],
        sentence_text=[
            papers[i][1][index] for i, index in zip(misses["instance"], misses["sentence"], strict=True)
        ],
        notes=["; ".join(said.get(key, ())) for key in keys],
    )
    return frame[[name for name in EXPORT_COLUMNS if name in frame.columns]]


def left_out_notes(outcomes: pd.DataFrame, results_only: bool) -> tuple[str, ...]:
    """A sentence on each kind of thing that `aspect_outcomes` left out; none where there is nothing to say."""
    counts = outcomes.attrs
    n_other = int((~outcomes["is_result"] & outcomes["missed"]).sum()) if results_only else 0
    said = (
        (n_other, "missed aspect", "no result aspects and not shown"),
        (counts.get("n_unanswered", 0), "instance", "without an answer and left out"),
        (counts.get("n_skipped", 0), "instance", "skipped: nothing to cover on this task"),
        (counts.get("n_uncoverable", 0), "aspect", "left out: no sentence covers them"),
    )
    return tuple([f"{n:,} {what}{' is' if n == 1 else 's are'} {why}." for n, what, why in said if n])


def notes_report(store: Store, run_id: str, task: str | Task) -> Report:
    """Of each author the newest note on each missed aspect.

    Returns
    -------
    Report
        *notes*: ``instance_id``, ``aspect_id`` (the key), ``run_id``, ``task``, ``author``, ``cause`` (a name
        of `CAUSES`, ``None`` where left open), ``tags`` (joined by "; "), ``text``, ``created_at``.
    """
    chosen = task_named(task)
    run = RunStore(store).run(run_id)
    newest = NoteStore(store).notes(run.id, chosen.name)
    n_replaced = len(NoteStore(store).notes(run.id, chosen.name, history=True)) - len(newest)
    return Report(
        f"Notes on missed aspects: {run.label} ({run.id}), {chosen.title} on {run.dataset}",
        {"notes": pd.DataFrame(note_rows(newest), columns=list(NOTE_COLUMNS))},
        (f"{len(newest):,} notes; {n_replaced:,} older ones that their authors replaced are left out.",),
    )


def missed_shares(outcomes: pd.DataFrame, by: Binning) -> pd.DataFrame:
    """Missed aspects as a share of all aspects of a bin, with an interval over papers.

    The rows are those of `aspect_outcomes`; for ``"section"`` with `with_text`, for ``"cause"`` with `with_causes`.

    Returns
    -------
    DataFrame
        One row a bin, in its natural order: ``bin``; ``n_missed`` of ``n_aspects`` in ``n_papers``; ``share``
        (0 to 1; NaN where the bin is empty); ``low`` and ``high``, the 95% percentile interval of a bootstrap
        that draws whole papers (NaN with aspects in fewer than two papers). 10,000 resamples, with over
        1,000 papers fewer, but 500 at least.
    """
    names = bin_names(by)
    paper, papers = pd.factorize(outcomes["paper"], sort=True)
    missed = outcomes["missed"].to_numpy(dtype=bool)
    rows, columns = _bins(outcomes, by)
    cells, n_cells = paper[rows] * len(names) + columns, len(papers) * len(names)
    top, bottom = (
        np.bincount(chosen, minlength=n_cells).reshape(len(papers), len(names)).astype(np.float64)
        for chosen in (cells[missed[rows]], cells)
    )
    if by == "cause":
        bottom = (
            np.repeat(np.bincount(paper, minlength=len(papers)), len(names)).reshape(top.shape).astype(float)
        )
    bounds = np.full((len(names), 2), np.nan)
    if len(papers):
        n_resamples = min(10_000, max(500, _DRAWS // len(papers)))
        bounds = ratio_intervals(top, bottom, np.random.default_rng(0), n_resamples)
    n_missed, n_aspects = top.sum(axis=0), bottom.sum(axis=0)
    return pd.DataFrame(
        {
            "bin": names,
            "n_missed": n_missed.astype(int),
            "n_aspects": n_aspects.astype(int),
            "n_papers": (bottom > 0).sum(axis=0),
            "share": n_missed / np.where(n_aspects > 0, n_aspects, np.nan),
            "low": bounds[:, 0],
            "high": bounds[:, 1],
        }
    )


def bin_names(by: Binning) -> list[str]:
    """The bins in their natural order."""
    if by == "section":
        return list(SECTION_CLASSES)
    if by == "decile":
        return [_decile(tenth) for tenth in range(10)]
    if by == "n_covering":
        return list(_COUNTS)
    return [cause.name for cause in CAUSES.values() if cause.rule]


def bin_of(missed: pd.DataFrame, by: Binning, names: Collection[str]) -> NDArray[np.bool_]:
    """Which rows are in one of these bins: the aspects behind a mark."""
    rows, columns = _bins(missed, by)
    chosen = np.array([name in names for name in bin_names(by)], dtype=bool)
    inside = np.zeros(len(missed), dtype=bool)
    inside[rows[chosen[columns]]] = True
    return inside


def _decile(tenth: int) -> str:
    return f"{10 * tenth}–{10 * tenth + 10}%"


def _bins(outcomes: pd.DataFrame, by: Binning) -> tuple[Numbers, Numbers]:
    """Rows and the bins (places in `bin_names`) that they belong to, one pair each."""
    if by == "n_covering":
        most = [largest for largest in _COUNTS.values() if largest is not None]
        return np.arange(len(outcomes)), np.searchsorted(most, outcomes["n_covering"])
    if by == "decile":  # sentence i of n is in tenth 10 i // n
        rows = np.repeat(np.arange(len(outcomes)), outcomes["n_covering"])
        sentences = np.fromiter(chain.from_iterable(outcomes["covering"]), dtype=np.int64, count=rows.size)
        tenths = 10 * sentences // outcomes["n_sentences"].to_numpy()[rows]
        pairs = np.flatnonzero(np.bincount(10 * rows + tenths, minlength=1))
        return pairs // 10, pairs % 10
    names = {name: number for number, name in enumerate(bin_names(by))}
    bins = (
        [set(classes) for classes in outcomes["sections"]]
        if by == "section"
        else [{cause} if isinstance(cause, str) else () for cause in outcomes["cause"]]
    )
    found = [(row, names[name]) for row, its in enumerate(bins) for name in its]
    rows, columns = np.array(found, dtype=np.int64).reshape(-1, 2).T
    return rows, columns
