"""Runs of ``tiny`` that ask a model, and runs to their end."""

import re
from collections.abc import Iterator
from typing import Any

from evidencebench_core.data.store import Store
from evidencebench_core.llm import LLM, Budget, Connection
from evidencebench_core.runs import Plan, Progress, plan

KEY = "sk-a-very-secret-key"
COT = {"model": "m", "strategy": "cot"}


def cohort(request: dict[str, Any]) -> str:
    """Which instance a prompt is about; the paper does not tell, but the hypothesis does."""
    match = re.search(r"blood pressure in cohort (\d+)\.", request["messages"][-1]["content"])
    return match[1] if match else ""


def asking(
    store: Store, url: str, *tasks: str, settings: dict[str, Any] = COT, budget: Budget | None = None,
    concurrency: int = 8, **options: Any,
) -> Plan:  # fmt: skip
    """A plan for a model behind this address; without a task for ER@10."""
    llm = LLM(Connection(url, KEY), store, budget or Budget(), concurrency)
    return plan(store, "tiny", "llm", settings, tasks or ["er@10"], llm=llm, **options)


def finished(reports: Iterator[Progress]) -> Progress:
    """The last report of a run."""
    *_, last = reports
    return last
