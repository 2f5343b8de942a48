"""The check of a judge that needs no annotator (bioace spec rule 69)."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.answers.judge_check import judge_check, judge_check_plan
from evidencebench_core.data.ingest import ingest
from evidencebench_core.data.store import Store, open_store
from evidencebench_core.errors import SettingError
from evidencebench_core.llm import LLM, AnswerCache, Connection, Limits
from evidencebench_core.runs import ChatRuns, execute
from tests.factories import raw_instance, written
from tests.llm.server import answering, reply, scripted


def checked(store: Store, says: Callable[[str, str], str], dataset: str = "train", **more: Any) -> Any:
    def step(sent: dict[str, Any]) -> Any:
        text = sent["messages"][-1]["content"]
        pair = re.findall(r"<(?:sentence|document)>\n(.*?)\n</", text, re.DOTALL)
        return reply(f"LABEL: {says(*pair)}")

    with scripted(answering(step)) as server:
        llm = LLM(Connection(server.url, "k"), AnswerCache(store), None, Limits(8))
        plan = judge_check_plan(store, dataset, "j", llm=llm, **more)
        assert judge_check_plan(store, dataset, "j", llm=llm, **more).spec == plan.spec
        list(execute(plan))
    return judge_check(store, ChatRuns(store).run(plan.run_id), dataset)


@pytest.mark.realdata
def test_judges_on_train(train_store: Store) -> None:
    covers = {one.id: (one.sentences, one.evidence.covers("all")) for one in train_store.iter("train")}

    def truth(claim: str, source: str) -> str:
        together = any(
            {claim, source} <= {sentences[i] for i in cover}
            for sentences, every in covers.values()
            for cover in every
        )
        return "supports" if together else "neutral"

    knows = checked(train_store, truth)
    assert (knows.n_same, knows.n_other, knows.n_missing, knows.n_unread) == (100, 100, 0, 0)
    assert (knows.same, knows.other, knows.difference, knows.ci95) == (1.0, 0.0, 1.0, (1.0, 1.0))
    always = checked(train_store, lambda *_: "supports", seed=1)
    assert (always.same, always.other, always.difference, always.ci95) == (1.0, 1.0, 0.0, (0.0, 0.0))
    assert checked(train_store, lambda *_: "who knows", seed=2, n=5).n_unread == 10


def test_a_dataset_without_such_pairs(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store.sqlite")
    ingest(store, written({"one": raw_instance(9, {"a": [1, 2]})}, tmp_path / "one.json"), "one")
    with pytest.raises(SettingError, match="no two aspects"):
        judge_check_plan(store, "one", "j")
