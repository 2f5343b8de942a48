"""The invented items: every task but the judges' runs on them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from evidencebench_core.data import open_store
from evidencebench_core.reliability.items import delete_item_set, item_set, item_set_dependents, new_item_set
from evidencebench_core.reliability.probes import probes_of, problem_of
from evidencebench_core.reliability.sample import SAMPLE_NAME, add_sample_items, sample_items
from evidencebench_core.reliability.tasks import RELIABILITY_TASKS
from evidencebench_core.runs.chat_runs import ChatRuns, ChatRunSpec


def test_every_task_runs_on_the_sample() -> None:
    items = new_item_set("sample", sample_items())
    assert Counter(item.answer for item in items.items) == {"yes": 12, "no": 12}
    refused = [name for name, task in RELIABILITY_TASKS.items() if problem_of(items, task)]
    assert refused == ["judge"]
    for name in set(RELIABILITY_TASKS) - {"judge"}:
        for as_published in (True, False):
            made = probes_of(items, RELIABILITY_TASKS[name], {"as_published": as_published})
            assert len({probe.item_id for probe in made.probes}) == 24
    spelling = probes_of(items, RELIABILITY_TASKS["spelling"]).probes
    assert not any(probe.details["capped"] for probe in spelling)
    for item in items.items:
        background, methods, _ = item.context
        assert item.wordings["negation"].startswith(f"{background}\n\n{methods}\n\n")
        assert item.wordings["negation"] != item.text
        assert item.wordings["paraphrase:ours"].endswith("?")


def test_it_is_added_once_and_deleted_with_its_runs(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store.sqlite")
    info = add_sample_items(store)
    assert add_sample_items(store) == info
    assert item_set(store, SAMPLE_NAME).items == sample_items()
    spec = ChatRunSpec("reliability", info.sha256, {"task": "baseline", "model": "m"})
    runs = ChatRuns(store)
    runs.create(spec)
    runs.create(ChatRunSpec("reliability", spec.id, {"task": "baseline", "model": "judge"}))
    assert item_set_dependents(store, SAMPLE_NAME) == {"run": 1, "judge's run": 1}
    delete_item_set(store, SAMPLE_NAME)
    assert runs.runs() == ()
