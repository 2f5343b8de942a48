"""Runs of answers and of judges over them, through a scripted server."""

import re
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.answers.asking import KIND, abstract_answers, answer_plan, answers_of
from evidencebench_core.answers.judging import (
    JUDGES,
    judge_labels,
    judge_plan,
    labels_by_task,
    pair_labels,
    unread_judgements,
)
from evidencebench_core.answers.model import unit_id
from evidencebench_core.answers.read import SAMPLE, read_answers
from evidencebench_core.answers.report import answers_report
from evidencebench_core.answers.store import Mark, add_answers, stored_answers
from evidencebench_core.answers.units import answer_values, system_scores
from evidencebench_core.data import Store
from evidencebench_core.errors import SettingError, UnknownNameError
from evidencebench_core.llm import LLM, Connection, Limits
from evidencebench_core.runs import (
    Plan,
    Progress,
    RunStore,
    chat_run,
    estimate,
    execute,
    judge_runs,
)
from tests.factories import store_with, tiny_dataset
from tests.llm.server import answering, reply, scripted


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return store_with(tiny_dataset(), tmp_path)


def llm(store: Store, url: str) -> LLM:
    return LLM(Connection(url, "secret"), store, limits=Limits(8))


def done(plan: Plan) -> Progress:
    *_, last = execute(plan)
    return last


FIRST = {one["paper_as_candidate_pool"][0] for one in tiny_dataset().values()}


def answering_everything(sent: dict[str, Any]) -> Any:
    """Answers by two sentences; judges that the first sentence of a paper supports both, and nothing else does."""
    text = str(sent["messages"][-1]["content"])
    if "<document>" not in text:
        return reply("VERDICT: supports\nANSWER: Tea lowers pressure [0]. It does so in men [1, 0, 99].")
    source = re.search(r"<document>\n(.*?)\n</document>", text, re.DOTALL)
    return reply(f"LABEL: {'supports' if source and source[1] in FIRST else 'neutral'}")


def test_a_run_and_its_judge(store: Store) -> None:
    n = len(store.ids("tiny"))
    with scripted(answering(answering_everything)) as server:
        plan = answer_plan(store, "tiny", "m", llm=llm(store, server.url))
        assert (estimate(plan).calls, plan.total) == (n, n)
        assert done(plan).done == n
        run = chat_run(store, plan.run_id[:6], KIND)
        answers = answers_of(store, run)
        assert [answer.n_unknown for answer in answers.values()] == [1] * n
        report = answers_report(store, run.id)
        assert f"Outcomes: {n} answer; 0 without an aspect." in report.notes
        assert "support_rate" not in report.tables["systems"]
        judge = judge_plan(store, run.id, "citations", "j", llm=llm(store, server.url))
        assert judge.total == 3 * n
        done(judge)
    judged = answers_report(store, run.id)  # finds its judge
    assert "Judged by j." in judged.notes
    figures = judged.tables["figures"].set_index(["system", "metric"])
    assert figures.loc[("m", "support_rate"), "n"] == n
    for unit, labels in pair_labels(store, RunStore(store).run(judge.run_id), answers).items():
        second = "supports" if store.get("tiny", unit).sentences[1] in FIRST else "neutral"
        assert labels == {(0, 0): "supports", (1, 1): second, (1, 0): "supports"}
    with scripted(reply("ANSWER: Something else is so [0].")) as server:
        done(answer_plan(store, "tiny", "m", llm=llm(store, server.url), fresh=True))
    assert (
        "support_rate" not in answers_report(store, plan.run_id, "j").tables["systems"]
    )  # of other sentences
    systems, instances = (judged.tables[name] for name in ("systems", "instances"))
    assert set(systems["system"]) == {"m", "abstract"}
    of_abstract = instances[instances["system"] == "abstract"].set_index("instance")
    for instance_id, answer in abstract_answers(store, "tiny").items():  # it cites itself
        instance = store.get("tiny", instance_id)
        places = {place for place, kind in enumerate(instance.sentence_types) if kind == "abstract"}
        covers = instance.evidence.covers("all")
        assert set(answer.selection) == places
        wanted = sum(bool(cover & places) for cover in covers) / len(covers)
        assert of_abstract.loc[instance_id, "cited_recall"] == pytest.approx(wanted)


def test_what_is_no_answer_is_missing_and_asked_again(store: Store) -> None:
    n = len(store.ids("tiny"))
    texts = iter(["I will not.", "ANSWER: Nothing in the paper."])
    with scripted(answering(lambda _: reply(next(texts, "ANSWER: So it is [0].")))) as server:
        for n_scored in (n - 1, n):
            plan = answer_plan(store, "tiny", "m", llm=llm(store, server.url), fresh=n_scored == n)
            assert len(plan.missing) == n
            done(plan)
            instances = answers_report(store, plan.run_id).tables["instances"]
            assert (instances["system"] == "m").sum() == n_scored
    with pytest.raises(UnknownNameError):
        answers_report(store, "ffff")
    with pytest.raises(SettingError, match="j has judged nothing of run"):
        answers_report(store, plan.run_id, "j")


def test_judges_of_a_set(store: Store) -> None:
    """Of the sample every kind of judgement; the labels of a reader by rule come back as figures."""
    add_answers(store, "sample", read_answers([SAMPLE]))
    answers = stored_answers(store, "sample")

    def step(sent: dict[str, Any]) -> Any:
        text = str(sent["messages"][-1]["content"])
        if "<nuggets>" in text and "FACTS:" in text:
            return reply("So.\nFACTS:\nsupport: a\n- **none**: b: c\n3. partial: d\nperhaps: e\nsupport:")
        if "<nuggets>" in text:
            return reply("1: support\n- **2: partial**\n3. none")
        return reply("So.\nLABEL: **Required**" if "<document>" not in text else "LABEL: Supported.")

    with scripted(answering(step)) as server:
        client = llm(store, server.url)
        plans = [judge_plan(store, "sample", task, "j", llm=client) for task in JUDGES]
        announced = estimate(*plans).calls
        for plan in plans:
            assert plan.total == len(plan.missing) > 0
            done(plan)
            assert not judge_plan(store, "sample", plan.chat.task, "j", llm=client).missing
        assert announced == pytest.approx(len(server.requests), rel=0.05)
        with pytest.raises(SettingError, match="Did you mean 'citations'"):
            judge_plan(store, "sample", "citation", "j", llm=llm(store, server.url))
    subject = judge_runs(store, plan.spec.subject)[0].subject
    labels = labels_by_task(store, subject, "j")
    assert set(labels["relevance"].values()) == {"required"}
    assert set(labels["citations"].values()) == {"supports"}
    heron = [labels["nuggets"][unit_id("blood-pressure", "Heron", f"nugget {n}")] for n in (1, 2, 3, 4)]
    assert heron == ["support", "partial", None, None]
    facts = [
        labels["nuggets"].get(unit_id("blood-pressure", "Heron", f"fact {n}"), "-") for n in (1, 2, 3, 4, 5)
    ]
    assert facts == ["support", "none", "partial", None, "-"]
    values = system_scores(answer_values(answers, labels)).set_index(["system", "metric"])["value"]
    assert values["Heron", "nugget precision"] == pytest.approx(1.5 / 4)
    assert values["Heron", "precision"] == 1.0
    assert values["Heron", "correctness"] == 1.0
    (unit, *_) = labels["citations"]
    (run,) = [run for run in judge_runs(store, subject) if run.settings["task"] == "citations"]
    decided = judge_labels(store, run, {unit: Mark(unit, "neutral"), "gone": Mark("gone", "neutral")})
    assert decided[unit] == "neutral"
    assert "gone" not in decided
    report = answers_report(store, "sample", "j", "precision")
    systems, order = report.tables["systems"], report.tables["order of systems"]
    assert list(systems.columns[:5]) == ["system", "precision", "low", "high", "n"]
    assert set(systems["system"]) == set(answers.systems)
    assert {"precision", "coverage", "support rate"} <= set(order["people"])
    assert order.set_index("judge")["tau"].isna()["precision"]  # all alike by this judge
    with pytest.raises(SettingError, match="Did you mean 'coverage'"):
        answers_report(store, "sample", metric="coverag")


def test_labels_that_are_no_label_of_the_task_are_unread(store: Store) -> None:
    add_answers(store, "sample", read_answers([SAMPLE]))
    texts = iter(["LABEL: neutral", "LABEL: unnecessary", "Required."])
    with scripted(answering(lambda _: reply(next(texts, "LABEL: required")))) as server:
        done(plan := judge_plan(store, "sample", "relevance", "j", llm=llm(store, server.url), limit=2))
    run = RunStore(store).run(plan.run_id)
    assert unread_judgements(store, run) == {"LABEL: neutral": 1}
    notes = answers_report(store, "sample", "j").notes
    assert any("relevance: without a label: 'LABEL: neutral' (1)" in note for note in notes)
    assert any("precision: of 6 of 18 answers" in note for note in notes)
