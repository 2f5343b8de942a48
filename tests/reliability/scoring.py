"""Runs by hand: items, probes and answers in a line each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evidencebench_core.reliability.items import Item, ItemSet, new_item_set
from evidencebench_core.reliability.probes import Probe, Probes
from evidencebench_core.reliability.score import TaskRun
from evidencebench_core.reliability.tasks import reliability_task


def answer(text: str, **said: Any) -> dict[str, Any]:
    """The stored result of a call."""
    return {
        "text": text,
        "finish_reason": "stop",
        "refusal": None,
        "completion_tokens": 3,
        "seconds": 0.1,
    } | said


def item_set(gold: Sequence[str | None], **more: Mapping[int, Any]) -> ItemSet:
    """Items 0, 1, ... with these gold labels; ``more`` gives some of them other values of a field."""
    items = [
        Item(
            str(place),
            f"Does tea {place} help?",
            (f"Tea {place} was tried.",),
            label,  # type: ignore[arg-type]
            **{name: values[place] for name, values in more.items() if place in values},
        )
        for place, label in enumerate(gold)
    ]
    return new_item_set("tea", items)


def task_run(
    task: str,
    items: ItemSet,
    texts: Mapping[str, Sequence[Any]],
    *,
    expected: Mapping[str, Sequence[str | None]] | None = None,
    details: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    left_out: Mapping[str, str] | None = None,
    **run: Any,
) -> TaskRun:
    """A run with the texts of each variant, item by item; ``None``: not asked yet; an exception: the call failed."""
    of = reliability_task(task)
    probes, results = [], {}
    for variant, answers in texts.items():
        for place, (item, text) in enumerate(zip(items.items, answers, strict=True)):
            if item.id in (left_out or {}):
                continue
            probe = Probe(
                f"{variant} {item.id}".strip(), item.id, variant, {"question": item.question}, "", of.labels,
                expected[variant][place] if expected else (item.answer if of.labels else None),
                item.answer, item.group or item.id, item.long_answer,
                details[variant][place] if details else {},
            )  # fmt: skip
            probes.append(probe)
            if isinstance(text, Exception):
                results[probe.id] = str(text)
            elif text is not None:
                results[probe.id] = text if isinstance(text, dict) else answer(text)
    return TaskRun(of, items, Probes(tuple(probes), left_out or {}), results, **run)
