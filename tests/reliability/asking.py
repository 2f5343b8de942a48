"""Scores and runs without a server: every probe is answered by a function."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evidencebench_core.data import Store
from evidencebench_core.llm import Answer, Call
from evidencebench_core.reliability.items import Item, ItemSet, new_item_set
from evidencebench_core.reliability.probes import Probe
from evidencebench_core.reliability.runs import KIND, judge_plan, judgements, run_plan
from evidencebench_core.reliability.score import TaskScore, task_score
from evidencebench_core.reliability.tasks import probes_of, reliability_task, task_settings
from evidencebench_core.runs import Plan, RunInfo, chat_spec, execute
from tests.reliability.scripted_models import answer
from tests.retrievers.llm.stand_in import Speaking

Say = Callable[[Probe], Any]
"""A text, a whole result, an exception (the call failed), or None: not asked yet."""
Judge = Callable[[Mapping[str, str]], Any]


def item_set(gold: Sequence[str | None], **more: Mapping[int, Any]) -> ItemSet:
    """Items 0, 1, ... with these gold labels; ``more`` gives some of them other values of a field."""
    items = []
    for n, label in enumerate(gold):
        others: dict[str, Any] = {name: values[n] for name, values in more.items() if n in values}
        items.append(Item(str(n), f"Does tea {n} help?", (f"Tea {n} was tried.",), label, **others))  # type: ignore[arg-type]
    return new_item_set("tea", items)


def texts(*answers: Any) -> Say:
    """The answers of items 0, 1, ..., whatever the variant."""
    return lambda probe: answers[int(probe.item.id)]


def scored(
    items: ItemSet, task: str, say: Say, judge: Judge | None = None, *, baseline: Any = None, **settings: Any
) -> TaskScore:
    """The score of a run over all probes; ``judge`` is given what it is asked."""
    row = reliability_task(task)
    values = task_settings(row, settings)
    spec = chat_spec(KIND, items.sha256, row.name, "m", [row.prompt], None, values).run
    run = RunInfo(f"run of {task}", "", spec.kind, spec.subject, spec.settings, "")
    probes = probes_of(items, row, values)
    said = {probe.id: say(probe) for probe in probes.probes}
    results: dict[str, Any] = {unit: result(words) for unit, words in said.items() if words is not None}
    labelled = None
    if judge is not None:
        asked = judgements(row, probes, results).values()
        labelled = {unit: result(judge(question.fields)) for unit, question in asked}
    return task_score(run, items, probes, results, labelled, baseline, "" if judge is None else "the judge")


def result(said: Any) -> Any:
    """The stored result of a call; a result is one already."""
    if isinstance(said, Exception):
        return str(said)
    return said if isinstance(said, dict) else {"text": said, "finish_reason": "stop", "refusal": None}


def carry_out(store: Store, plan: Plan, say: Callable[[str], str]) -> str:
    """Answer everything that a plan asks, given the last message; the id of the run."""

    def answered(call: Call) -> Answer:
        return Answer(say(call.body["messages"][-1]["content"]), "stop", completion_tokens=3, seconds=0.1)

    assert plan.llm is not None
    for _ in execute(replace(plan, llm=replace(plan.llm, transport=Speaking(answered)))):
        pass
    return plan.run_id


def ask_scripted(store: Store, items: str, tasks: Sequence[str], models: Sequence[str]) -> None:
    """Runs of scripted models over tasks; free texts are judged by word overlap."""
    for model in models:
        for task in tasks:
            plan = run_plan(store, items, task, model)
            carry_out(store, plan, lambda prompt, model=model: answer(model, prompt))  # type: ignore[misc]
            if reliability_task(task).judge:
                judge = judge_plan(store, plan.run_id, "word-overlap")
                carry_out(store, judge, lambda prompt: answer("word-overlap", prompt))
