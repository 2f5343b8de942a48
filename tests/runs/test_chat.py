"""Runs of questions to a model: asked once, tried again, of several calls, in batches."""

from typing import Any

from evidencebench_core.data.store import Store
from evidencebench_core.llm import LLM, Connection, Limits, Message
from evidencebench_core.llm.answers import request_of
from evidencebench_core.runs import (
    Plan,
    Progress,
    RunSpec,
    RunStore,
    ask_model,
    chat_plan,
    estimate,
    execute,
    parameters_of,
    request_settings,
)
from evidencebench_core.runs.store import Result
from tests.llm.server import Step, answering, reply, scripted, status

SPEC = RunSpec("reliability", "a" * 64, {"task": "baseline", "model": "m"})
UNITS = [f"q{number}" for number in range(6)]
PARAMETERS = parameters_of("m", request_settings({"max_tokens": 10}))


async def ask(llm: LLM, unit: str) -> Result:
    return await ask_model(llm, [Message("user", f"Question {unit}")], PARAMETERS)


def question(sent: dict[str, Any]) -> str:
    return str(sent["messages"][-1]["content"]).removeprefix("Question ")


def planned(store: Store, url: str, units: list[str] = UNITS, **more: Any) -> Plan:
    llm = LLM(Connection(url, "secret"), store, limits=Limits(4))
    return chat_plan(store, SPEC, units, ask, llm, **more)


def run(store: Store, url: str, units: list[str] = UNITS, **more: Any) -> Progress:
    *_, last = execute(planned(store, url, units, **more))
    return last


def texts(store: Store) -> dict[str, Any]:
    results = RunStore(store).results(SPEC.id)
    return {unit: result if isinstance(result, str) else result["text"] for unit, result in results.items()}


def test_results_are_kept_by_unit_and_asked_once(store: Store) -> None:
    with scripted(answering(lambda sent: reply(f"Yes \ud800, {question(sent)}"))) as server:
        cost = estimate(planned(store, server.url))
        assert (cost.model, cost.calls, cost.n_instances, server.requests) == ("m", 6, 6, [])
        first = run(store, server.url, UNITS[:4])
        assert (first.run_id, first.done, first.total, first.failed) == (SPEC.id, 4, 4, 0)
        last = run(store, server.url)
        assert (last.done, last.total, len(server.requests)) == (6, 6, 6)
        assert estimate(planned(store, server.url)).calls == 0
        run(store, server.url, UNITS[:2], fresh=True)
        assert len(server.requests) == 8
    assert texts(store) == {unit: f"Yes \ufffd, {unit}" for unit in UNITS}
    result = RunStore(store).results(SPEC.id)["q0"]
    assert isinstance(result, dict)
    assert request_of(store, result["key"]) == {
        "model": "m",
        "messages": [{"role": "user", "content": "Question q0"}],
        "temperature": 0.0,
        "max_tokens": 10,
    }


def test_a_failure_is_tried_again_and_an_odd_answer_is_an_answer(store: Store) -> None:
    steps: dict[str, Step] = {
        "q1": status(400, "too long"),
        "q2": reply(None, message={"role": "assistant", "content": None, "refusal": "No."}),
        "q3": reply("Y", finish_reason="length"),
        "q4": reply(""),
    }
    with scripted(answering(lambda sent: steps.pop(question(sent), reply("yes")))) as server:
        last = run(store, server.url)
        assert (last.done, last.failed, RunStore(store).run(SPEC.id).n_failed) == (5, 1, 1)
        assert "too long" in texts(store)["q1"]
        missing = planned(store, server.url, [*UNITS, "q6"]).missing
        assert list(missing) == ["q6", "q1"]  # what failed comes last
        assert run(store, server.url).failed == 0
        assert len(server.requests) == 7
    results: dict[str, Any] = RunStore(store).results(SPEC.id)
    assert results["q1"]["text"] == "yes"
    assert (results["q2"]["refusal"], results["q3"]["finish_reason"]) == ("No.", "length")
    assert results["q4"]["text"] == ""
