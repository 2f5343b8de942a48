"""The queue of a run's misses with suggested causes, and the shares behind it, as a `Report`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evidencebench_core.analyses.causes import CAUSES, Thresholds, with_causes_of_missed
from evidencebench_core.analyses.missed import aspect_outcomes, queue_of, with_text
from evidencebench_core.analyses.missed_shares import BINNINGS, missed_shares
from evidencebench_core.analyses.report import Report
from evidencebench_core.runs import RunStore
from evidencebench_core.tasks import Task, task_named

if TYPE_CHECKING:
    import pandas as pd

    from evidencebench_core.data.store import Store

__all__ = ["SHORT_COLUMNS", "diagnosed", "left_out_notes", "missed_report"]

SHORT_COLUMNS: Final = (
    "instance", "label", "cause", "best_rank", "distance", "sentence", "section", "overlap", "n_covering",
)  # fmt: skip


def diagnosed(
    store: Store, run_id: str, task: str | Task, thresholds: Thresholds | None = None
) -> pd.DataFrame:
    """All asked aspects with text columns, and ``cause`` and ``causes`` of the missed ones.

    Columns as `missed.aspect_outcomes`, `missed.with_text` and `causes.with_causes` have them; ``cause`` and
    ``causes`` are ``None`` for found aspects.

    Raises
    ------
    UnknownNameError, SettingError
        No such run or task, or a run without answers for it.
    """
    return with_causes_of_missed(with_text(store, aspect_outcomes(store, run_id, task)), thresholds)


def missed_report(
    store: Store,
    run_id: str,
    task: str | Task = "result-er@optimal",
    *,
    results_only: bool = True,
    thresholds: Thresholds | None = None,
    short: bool = False,
    seed: int = 0,
) -> Report:
    """Every aspect that a run missed, nearest miss first, and the share missed of each kind.

    Parameters
    ----------
    store : Store
    run_id : str
        An id, or the beginning of one.
    task : str or Task
    results_only : bool
        Only result aspects; a result task asks for no others anyway.
    thresholds : Thresholds, optional
        Of the causes' rules.
    short : bool
        Only the columns in `SHORT_COLUMNS` of the queue.
    seed : int
        Of the bootstrap.

    Returns
    -------
    Report
        *missed*: columns as in `diagnosed`. *shares*: ``by`` (a `missed_shares.Binning`) and the columns of
        `missed_shares.missed_shares`.

    Raises
    ------
    UnknownNameError, SettingError
        No such run or task, or a run without answers for it.
    """
    import pandas as pd

    chosen = task if isinstance(task, Task) else task_named(task)
    limits = thresholds or Thresholds()
    run = RunStore(store).run(run_id)
    outcomes = diagnosed(store, run.id, chosen, limits)
    asked = outcomes[outcomes["is_result"]] if results_only else outcomes
    queue = queue_of(outcomes, results_only).drop(columns="missed")
    shares = pd.concat([missed_shares(asked, by, seed).assign(by=by) for by in BINNINGS])
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
        ),
    )


def left_out_notes(outcomes: pd.DataFrame, results_only: bool) -> tuple[str, ...]:
    """What `missed.aspect_outcomes` left out, a sentence each; none where there is nothing to say."""
    counts = outcomes.attrs
    other = 0 if not results_only else int((~outcomes["is_result"] & outcomes["missed"]).sum())
    said = (
        (other, "missed aspect", "no result aspects and not shown"),
        (counts.get("n_unanswered", 0), "instance", "without an answer and left out"),
        (counts.get("n_skipped", 0), "instance", "skipped: nothing to cover on this task"),
        (counts.get("n_uncoverable", 0), "aspect", "left out: no sentence covers them"),
    )
    return tuple([f"{n:,} {what}{' is' if n == 1 else 's are'} {why}." for n, what, why in said if n])
