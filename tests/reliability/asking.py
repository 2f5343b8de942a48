"""Runs in a store without a server: every probe is answered by a function of its prompt."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evidencebench_core.data import Store
from evidencebench_core.llm.request import Answer
from evidencebench_core.reliability.runs import judge_plan, run_plan
from evidencebench_core.runs import ChatPlan, ChatRuns
from tests.reliability.scripted_models import answer


def carry_out(store: Store, plan: ChatPlan, say: Callable[[str], str]) -> None:
    """Answer everything that a plan asks."""
    plan.create()
    plan.prepare()
    results = {}
    for one in plan.missing:
        conversation = plan.conversations(one)
        (ask,) = next(conversation)
        text = say(ask.request.messages[-1].content)  # type: ignore[union-attr]
        try:
            conversation.send((Answer(text, "stop", completion_tokens=3, seconds=0.1),))
        except StopIteration as end:
            results[one] = end.value
    ChatRuns(store).add(plan.run_id, results)


def ask_scripted(store: Store, items: str, tasks: Sequence[str], models: Sequence[str]) -> None:
    """Runs of scripted models over tasks; free texts are judged by word overlap."""
    for model in models:
        for task in tasks:
            plan = run_plan(store, items, task, model)
            carry_out(store, plan, lambda prompt, model=model: answer(model, prompt))  # type: ignore[misc]
            if task in ("freeform", "question", "conclusion"):
                judge = judge_plan(store, plan.run_id, "word-overlap")
                carry_out(store, judge, lambda prompt: answer("word-overlap", prompt))
