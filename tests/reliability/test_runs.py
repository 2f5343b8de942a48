"""Runs of tasks in a store: planned, capped and continued, reworded, judged, shown on a card, compared, deleted."""

import re
from typing import Any

import pytest

from evidencebench_core.data.store import Store, open_store
from evidencebench_core.errors import BudgetReachedError, SettingError, UnknownNameError
from evidencebench_core.llm import LLM, Budget, Connection
from evidencebench_core.reliability import runs
from evidencebench_core.reliability.card import headline, model_card, reliability_report, run_score
from evidencebench_core.reliability.items import ITEM_SETS, Item, Label, add_items
from evidencebench_core.reliability.runs import judge_plan, reliability_runs, run_plan
from evidencebench_core.runs import ChatSpec, Plan, RunStore, chat_run, estimate, execute, judge_runs
from tests.llm.server import Scripted, answering, reply, scripted
from tests.reliability.asking import ask_scripted


@pytest.fixture
def store() -> Store:
    """Item set ``teas``: eight questions q0 to q7, and one whose answer is maybe."""
    items = [Item("m", "Does it?", ("Perhaps.",), "maybe")]
    for n in range(8):
        answer: Label = "yes" if n % 2 else "no"
        context = f"Tea {n} was given. It did {'' if n % 2 else 'not '}help."
        reference = f"Tea number {n} is as it is."
        items.append(Item(f"q{n}", f"Does tea number {n} help?", (context,), answer, (reference,)))
    store = open_store()
    add_items(store, "teas", items)
    return store


def llm(server: Scripted, store: Store, budget: Budget | None = None) -> LLM:
    return LLM(Connection(server.url, "secret"), store, budget or Budget())


def run(plan: Plan) -> str:
    *_, last = execute(plan)
    return last.run_id


def test_a_run_is_the_same_whoever_continues_it(store: Store) -> None:
    with scripted(reply("Yes.")) as server:
        first = run_plan(store, "teas", "spelling", "m", {"errors": "0,1"}, limit=3, llm=llm(server, store))
        assert len(first.missing) == 6
        capped = llm(server, store, Budget(calls=5))
        with pytest.raises(BudgetReachedError):
            run(run_plan(store, "teas", "t4", " m ", {"errors": "0,1"}, llm=capped))
        assert len(server.requests) == 5
        run_id = run(run_plan(store, "teas", "spelling", "m", {"errors": ("0", "1")}, llm=llm(server, store)))
        assert (run_id, len(server.requests)) == (first.run_id, 16)
    (stored,) = reliability_runs(store, "teas")
    assert (stored.id, stored.n_answered, runs.settings_label(stored)) == (run_id, 16, "errors=0+1")
    probes = runs.run_probes(runs.items_of(store, stored.subject), chat_run(store, run_id[:6], runs.KIND))
    assert set(RunStore(store).results(run_id)) == {probe.id for probe in probes.probes}


def test_what_decides_what_is_asked_is_in_the_id(store: Store) -> None:
    def run_id(task: str, model: str, **more: Any) -> str:
        return run_plan(store, "teas", task, model, **more).run_id

    ids = {run_id("baseline", "m"), run_id("baseline", "n"), run_id("distraction", "m")}
    ids.add(run_id("baseline", "m", request={"temperature": 0.5}))
    ids.add(run_id("distraction", "m", settings={"seed": 1}))
    assert len(ids) == 5
    assert run_id("baseline", "m", limit=2, settings={}) in ids
    for words, wrong in (("is not named", {"model": " "}), ("has no setting", {"request": {"top_k": 3}})):
        with pytest.raises(SettingError, match=words):
            run_id("baseline", **{"model": "m", **wrong})  # type: ignore[arg-type]


def test_a_rewording_is_the_first_step_of_its_items_conversation(store: Store) -> None:
    rewordings = {
        "1": "NEW QUESTION: no. Right:\nNEW QUESTION: **Is this tea of help?**",  # the last one
        "2": "I cannot.",
        "3": "NEW QUESTION:  does tea number 3 HELP? ",  # as it was
        "4": "<think>NEW QUESTION: does it?",
        "5": "NEW QUESTION: And does te",  # cut off
    }

    def say(sent: dict[str, Any]) -> Any:
        if sent["model"] == "m":
            return reply("Yes")
        number = sent["messages"][-1]["content"].split("ea number ")[1][0]
        reason = "length" if number == "5" else "stop"
        return reply(rewordings.get(number, "NEW QUESTION: And this?"), finish_reason=reason)

    with scripted(answering(say)) as server:
        run_id = run(run_plan(store, "teas", "paraphrase", "m", {"writer": "w"}, llm=llm(server, store)))
        assert sorted(request.json["model"] for request in server.requests) == ["m"] * 4 + ["w"] * 8
    score = run_score(store, run_id)
    assert (score.value.n, score.left_out) == (4, {"no usable rewording": 4, "the answer is maybe": 1})
    assert score.in_words().endswith("The new wordings are by w.")
    answer = score.answers[score.answers["item"] == "q1"].iloc[0]
    assert answer["wording"] == "Is this tea of help?"
    probes = runs.run_probes(runs.items_of(store, score.run.subject), score.run).probes
    (probe,) = [probe for probe in probes if probe.item.id == "q1"]
    asked = runs.question_of(ChatSpec.of(score.run), probe).messages(answer["wording"])
    assert answer["wording"] in asked[-1].content


def test_a_judge_reads_the_answers_as_they_stand(store: Store) -> None:
    texts = {"3": ""}

    def say(sent: dict[str, Any]) -> Any:
        if sent["model"] == "judge":
            return reply("Yes")
        number = sent["messages"][-1]["content"].split("Does tea number ")[1][0]
        return reply(texts.get(number, f"Tea {number} helps."))

    with scripted(answering(say)) as server:
        client = llm(server, store)
        empty = run_plan(store, "teas", "freeform", "m", llm=client)
        RunStore(store).create(empty.spec)
        with pytest.raises(SettingError, match="has no answers to judge yet"):
            judge_plan(store, empty.run_id, "judge", llm=client)
        run_id = run(run_plan(store, "teas", "freeform", "m", llm=client))
        judged = run(judge_plan(store, run_id[:6], "judge", llm=client))
        assert not judge_plan(store, run_id, "judge", llm=client).missing
        (judge,) = judge_runs(store, run_id)
        assert (judge.id, judge.subject, judge.n_answered) == (judged, run_id, 7)
        score = run_score(store, run_id, "judge")
        assert (score.judge, score.value.value) == ("judge", pytest.approx(7 / 8))
        assert run_score(store, run_id, "another").left_out["not judged yet"] == 8
        texts["5"] = "Nobody knows."
        run(run_plan(store, "teas", "freeform", "m", llm=client, fresh=True))
        again = judge_plan(store, run_id, "judge", llm=client)
        assert [unit.split("#")[0] for unit in again.missing] == ["q5"]
        assert run_score(store, run_id).left_out["not judged yet"] == 1
        baseline = run(run_plan(store, "teas", "baseline", "m", llm=client))
        for not_judged, words in ((baseline, "need no judge"), (judged, "run of judgements")):
            with pytest.raises(SettingError, match=words):
                judge_plan(store, not_judged, "judge")
    ITEM_SETS.delete(store, "teas")
    assert RunStore(store).runs_of() == ()


TASKS = ("baseline", "paraphrase", "negation", "spelling", "freeform", "question", "conclusion")


def test_what_is_announced_is_what_is_asked(store: Store) -> None:
    """Rewordings with the questions that follow them, what two tasks ask alike, and the judge's questions."""

    def say(sent: dict[str, Any]) -> Any:
        content = sent["messages"][-1]["content"]
        mark = next((mark for mark in ("NEW QUESTION:", "NEW CONTEXT:") if mark in content), "Yes.")
        return reply(f"{mark} tea {re.findall('ea (?:number )?([0-9])', content)[-1]} in other words?")

    with scripted(answering(say)) as server:
        client = llm(server, store)
        plans = [run_plan(store, "teas", task, "m", limit=5, llm=client) for task in TASKS]
        free = plans[-3:]
        expected = [judge_plan(store, plan.run_id, "j", llm=client, expected=plan) for plan in free]
        announced = estimate(*plans, *expected).calls
        assert not server.requests
        for plan in plans:
            run(plan)
        for plan in free:
            run(judge_plan(store, plan.run_id, "j", llm=client))
        assert announced == pytest.approx(len(server.requests), rel=0.05)


def test_the_card_shows_of_each_task_the_fullest_run(store: Store) -> None:
    ask_scripted(store, "teas", ["baseline", "unknown", "spelling", "freeform"], ["word-overlap"])
    begun = run_plan(store, "teas", "baseline", "word-overlap", request={"temperature": 0.5})
    RunStore(store).create(begun.spec)
    report = reliability_report(store, "teas")
    card = report.tables["tests"]
    assert card.equals(model_card(store, "teas", "word-overlap"))
    assert card["task"].tolist() == ["baseline", "baseline", "spelling", "freeform", "unknown"]
    assert card["test"].tolist()[:2] == ["Baseline", "Baseline (temperature=0.5)"]
    assert card["n"].tolist() == [8, 0, 8, 8, 8]
    assert card["difference"].notna().tolist() == [False, False, True, False, False]
    assert card["p_holm"][2] is not None
    assert report.notes[0] == headline(card)
    worse = card.assign(difference=[None, None, -0.25, None, None])
    assert "It loses most in Spelling errors: −25.0" in headline(worse)
    assert "most answers to Baseline hold no label" in headline(card.assign(null_rate=[0.6, 1, 0, 0, 0]))
    with pytest.raises(SettingError, match="no answers of"):
        reliability_report(store, "teas", "nobody")
    with pytest.raises(UnknownNameError):
        reliability_report(store, "ffff")
