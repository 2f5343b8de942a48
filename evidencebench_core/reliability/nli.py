"""A model of natural language inference as a judge of pairs: each statement as premise of the other, no prompt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evidencebench_core.data.store import Store
from evidencebench_core.reliability.items import item_set
from evidencebench_core.reliability.probes import probes_of
from evidencebench_core.reliability.runs import run_plan
from evidencebench_core.reliability.tasks import reliability_task
from evidencebench_core.retrievers.nli import nli_logits
from evidencebench_core.runs import ChatRuns


@dataclass(frozen=True, slots=True, eq=False)
class NliVerdicts:
    """The verdicts of inference both ways on n pairs of statements."""

    strict: NDArray[np.bool_]  # shape (n,): each entails the other
    relaxed: NDArray[np.bool_]  # one does, and the other is neutral at worst
    average: NDArray[np.float64]  # mean probability of entailment


def nli_verdicts(forward: ArrayLike, backward: ArrayLike) -> NliVerdicts:
    """The verdicts of logits of shape (n, 3): entailment, neutral, contradiction."""
    both = np.asarray([forward, backward], dtype=np.float64)
    shares = np.exp(both - both.max(axis=-1, keepdims=True))
    entailment = (shares / shares.sum(axis=-1, keepdims=True))[..., 0]
    said = both.argmax(axis=-1)
    strict = (said == 0).all(axis=0)
    return NliVerdicts(
        strict, strict | ((said == 0).any(axis=0) & (said < 2).all(axis=0)), entailment.mean(axis=0)
    )


def nli_runs(store: Store, items: str, model: str, batch_size: int = 16) -> tuple[str, ...]:
    """Judge the pairs of an item set by a model on this machine, and keep what it says as runs of the task "judge".

    The model is a folder, or a name on the Hugging Face hub (downloaded if it is not here) whose ``id2label`` names the
    three classes. Its runs are of the models "MODEL, NLI strict", "... relaxed", and "... average" (alike from
    a mean probability of 0.5); their ids come back. `SettingError` if the set has no pairs or the classes no names,
    `RetrieverError` if the model cannot be loaded.
    """
    plans = {
        kind: run_plan(store, items, "judge", f"{model}, NLI {kind}", {"both_orders": False})
        for kind in ("strict", "relaxed", "average")
    }
    task = reliability_task("judge")
    probes = probes_of(item_set(store, items), task, {"both_orders": False}).probes
    pairs = [(one.fields["statement_1"], one.fields["statement_2"]) for one in probes]
    logits = nli_logits(model, pairs + [(b, a) for a, b in pairs], batch_size)
    verdicts = nli_verdicts(logits[: len(pairs)], logits[len(pairs) :])
    alike = {"strict": verdicts.strict, "relaxed": verdicts.relaxed, "average": verdicts.average >= 0.5}
    for kind, plan in plans.items():
        results = {
            one.id: {"text": "yes" if yes else "no", "finish_reason": "stop", "entailment": float(average)}
            for one, yes, average in zip(probes, alike[kind], verdicts.average, strict=True)
        }
        plan.create()
        ChatRuns(store).add(plan.run_id, results)
    return tuple(plan.run_id for plan in plans.values())
