"""The labels of a judge's run about an answer set, as they came or with what people corrected."""

from __future__ import annotations

from collections.abc import Iterable

from evidencebench_core.answers.agreement import LABELS, Form
from evidencebench_core.answers.set_judging import label_reads
from evidencebench_core.data.store import Store
from evidencebench_core.runs import ChatRunInfo, ChatRuns

LABELLED = ("relevance", "citations")
"""Labels that judges give as people do: the ``task`` of their runs."""


def scale_of(run: ChatRunInfo) -> Form:
    """On which scale a judge's labels are."""
    scale: Form = "relevance" if run.settings["task"] == "relevance" else run.settings.get("scale", "ternary")
    return scale


def tokens_of(store: Store, run: ChatRunInfo) -> tuple[int, int]:
    """Tokens of the prompts and of the answers that a run has, whoever paid for them; unknown ones count 0."""
    prompts = answers = 0
    for result in ChatRuns(store).results(run.id).values():
        for part in result.get("parts", (result,)) if not isinstance(result, str) else ():
            prompts += part.get("prompt_tokens") or 0
            answers += part.get("completion_tokens") or 0
    return prompts, answers


def judge_labels(
    store: Store,
    run: ChatRunInfo,
    corrections: Iterable[tuple[str, str]] = (),
    threshold: float | None = None,
) -> dict[str, str | None]:
    """Label by unit, ``None`` where the judgement has none; ``corrections`` are units with people's labels.

    A correction on another scale, or of a unit that was not judged, is left out. ``threshold``: of a judge that gives
    scores, where not its own.
    """
    labels: dict[str, str | None] = {
        unit: read.label for unit, read in label_reads(store, run, threshold).items()
    }
    known = LABELS[scale_of(run)]
    return labels | {unit: label for unit, label in corrections if unit in labels and label in known}
