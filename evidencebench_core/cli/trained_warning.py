"""Saying loudly that a model is scored on what it has learnt from."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from evidencebench_core.cli.output import note
from evidencebench_core.words import quantity

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store
    from evidencebench_core.runs import RunInfo
    from evidencebench_core.tasks import Score


def seen_by(store: Store, run: RunInfo) -> frozenset[str]:
    """The instances that the run's model has learnt from; none for most runs."""
    from evidencebench_core.runs import trained_on_ids

    return trained_on_ids(store, run) if run.n_trained_on else frozenset()


def tell_trained_on(run: RunInfo, seen: Collection[str], scores: Sequence[Score]) -> None:
    """Warn on stderr if any scored instance is among those that the model has learnt from."""
    scored = {name for score in scores for name in score.per_instance}
    met = len(scored & set(seen))
    if not met:
        return
    cross_validated = run.settings.get("model") == "cross-validated"
    by = "the embedding model behind this run" if cross_validated else "this model"
    note(
        f"WARNING: run {run.id} ({run.label}): {met:,} of {quantity(len(scored), 'scored instance')} were in the"
        f" training data of {by}: this is no estimate of how it does on others; see its cross-validated scores."
    )
