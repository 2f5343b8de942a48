"""Runs of tasks: planned, resumed, capped, judged, read back and deleted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.data.store import Store, open_store
from evidencebench_core.errors import BudgetReachedError, SettingError, UnknownNameError
from evidencebench_core.llm import LLM, AnswerCache, Budget, Connection
from evidencebench_core.reliability.items import Item, add_items, delete_item_set
from evidencebench_core.reliability.runs import (
    judge_plan,
    judge_runs,
    reliability_run,
    reliability_runs,
    results_of,
    run_plan,
    run_probes,
)
from evidencebench_core.runs import ChatPlan, ChatRuns, execute
from tests.llm.server import Scripted, answering, reply, scripted

ITEMS = [
    Item(
        f"q{number}",
        f"Does tea number {number} help?",
        (
            f"Tea number {number} was given to many people.",
            f"It did {'' if number % 2 else 'not '}help {number} of them.",
        ),
        "yes" if number % 2 else "no",
        (f"Tea number {number} is as it is.",),
    )
    for number in range(8)
]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = open_store(tmp_path / "reliability.sqlite")
    add_items(store, "teas", [*ITEMS, Item("m", "Does it?", ("Perhaps.",), "maybe")])
    return store


def llm(server: Scripted, store: Store, budget: Budget | None = None) -> LLM:
    return LLM(Connection(server.url, "secret"), AnswerCache(store), budget)


def run(plan: ChatPlan) -> str:
    *_, last = execute(plan)
    return last.run_id


def last_line(sent: dict[str, Any]) -> str:
    return str(sent["messages"][-1]["content"])


def test_a_run_is_the_same_whoever_continues_it(store: Store) -> None:
    with scripted(reply("Yes.")) as server:
        first = run_plan(store, "teas", "spelling", "m", {"errors": "0,1"}, limit=3, llm=llm(server, store))
        assert (len(first.missing), first.left_out, dict(first.reasons)) == (6, 1, {"the answer is maybe": 1})
        with pytest.raises(BudgetReachedError):
            run(
                run_plan(
                    store, "teas", "t4", " m ", {"errors": "0,1"}, llm=llm(server, store, Budget(calls=5))
                )
            )
        assert len(server.requests) == 5
        run_id = run(run_plan(store, "teas", "spelling", "m", {"errors": ("0", "1")}, llm=llm(server, store)))
        assert (run_id, len(server.requests)) == (first.run_id, 16)
        assert not run_plan(store, "teas", "spelling", "m", {"errors": "0,1"}, llm=llm(server, store)).missing
    (found,) = reliability_runs(store, "teas")
    assert (found.id, found.task.name, found.model, found.n_answered) == (run_id, "spelling", "m", 16)
    assert (found.label, found.as_published) == ("errors=0+1", False)
    probes = run_probes(store, found)
    assert set(results_of(store, found)) == {probe.id for probe in probes.probes}
    assert probes == run_probes(store, reliability_run(store, run_id[:6]))
    (sent, *_) = (one.json for one in server.requests)
    assert (sent["max_tokens"], sent["temperature"], sent["seed"]) == (4096, 0.0, 0)


def test_what_decides_what_is_asked_is_in_the_id(store: Store) -> None:
    def run_id(task: str, *args: Any, **more: Any) -> str:
        return run_plan(store, "teas", task, *args, **more).run_id

    add_items(
        store, "others", [Item("x", "Is it?", ("It is.",), "yes"), Item("y", "Was it?", ("No.",), "no")] * 1
    )
    ids = [
        run_id("baseline", "m"),
        run_id("baseline", "n"),
        run_id("baseline", "m", as_published=True),
        run_id("baseline", "m", request={"max_tokens": 10}),
        run_id("baseline", "m", request={"extra_body": '{"top_p": 0.5}'}),
        run_id("distraction", "m"),
        run_id("distraction", "m", {"seed": 1}),
        run_id("few-shot", "m", {"orders": "YN"}),
        run_id("few-shot", "m", {"orders": "YN", "examples_from": "others"}),
    ]
    assert len(set(ids)) == len(ids)
    assert (
        run_id("baseline", "m", limit=2)
        == run_id("baseline", "m", {}, request={"max_tokens": "4096"})
        == ids[0]
    )
    add_items(store, "more", [*ITEMS[:7], Item("z", "Is it?", ("It is.",), "yes")])
    assert run_plan(store, "more", "baseline", "m").run_id != ids[0]
    for wrong, words in (
        (lambda: run_id("baseline", " "), "is not named"),
        (lambda: run_id("baseline", "m", request={"top_k": 3}), "there is no setting 'top_k'"),
        (lambda: run_id("baseline", "m", {"seed": 1}), "no setting 'seed'|takes no settings"),
        (lambda: run_id("paraphrase", "m"), "no paraphrase"),
        (lambda: run_id("judge", "m"), "teas"),
        (
            lambda: run_id("few-shot", "m", {"orders": "YYYY"}),
            "has 3 examples with the answer yes .* needs 4",
        ),
        (lambda: run_id("distraction", "m", {"distractors": 8}), "has 7 contexts other than .* needs 8"),
        (
            lambda: run_plan(store, "others", "freeform", "m"),
            r"nothing to ask about 2 items: no long_answer \(2\)",
        ),
    ):
        with pytest.raises(SettingError, match=words):
            wrong()
    assert reliability_runs(store) == ()
    with pytest.raises(UnknownNameError):
        run_plan(store, "nothing", "baseline", "m")


def test_a_judge_reads_the_answers_as_they_stand(store: Store) -> None:
    texts = {"q3": ""}

    def say(sent: dict[str, Any]) -> Any:
        if sent["model"] == "judge":
            return reply("Yes")
        number = last_line(sent).split("Does tea number ")[1][0]
        return reply(texts.get(f"q{number}", f"Tea {number} helps."))

    with scripted(answering(say)) as server:
        empty = run_plan(store, "teas", "freeform", "m", llm=llm(server, store))
        empty.create()
        with pytest.raises(SettingError, match="has no answers to judge yet"):
            judge_plan(store, empty.run_id, "judge", llm=llm(server, store))
        run_id = run(run_plan(store, "teas", "freeform", "m", llm=llm(server, store)))
        plan = judge_plan(store, run_id, "judge", llm=llm(server, store))
        n_asked = len(plan.missing)
        assert "q0" in plan.missing
        assert "q3" not in plan.missing  # an empty text is not sent
        judged = run(plan)
        assert not judge_plan(store, run_id, "judge", llm=llm(server, store)).missing
        (judge,) = judge_runs(store, run_id)
        assert (judge.id, judge.judged, judge.model, judge.task.name) == (judged, run_id, "judge", "freeform")
        assert [one.id for one in reliability_runs(store)] == [run_id]
        assert len(results_of(store, judge)) == n_asked
        texts["q5"] = "Nobody knows."
        run(run_plan(store, "teas", "freeform", "m", llm=llm(server, store), fresh=True))
        about_q5 = {one for one in plan.missing if one.split()[-1] == "q5"} & {"q5", "exchanged q5"}
        assert plan.missing.keys() - results_of(store, judge).keys() >= about_q5
        again = judge_plan(store, run_id, "judge", llm=llm(server, store))
        assert about_q5 <= set(again.missing) < set(plan.missing)
        run(again)
        assert len(results_of(store, judge)) == n_asked
        counts = Counter(one.json["model"] for one in server.requests)
        assert counts == {"m": 16, "judge": n_asked + len(again.missing)}
        for wrong in (judged, run(run_plan(store, "teas", "baseline", "m", llm=llm(server, store)))):
            with pytest.raises(SettingError, match="need no judge"):
                judge_plan(store, wrong, "judge")
    delete_item_set(store, "teas")
    assert ChatRuns(store).runs() == ()
