"""Runs of answers and of judges over them, through a scripted server."""

import re
from typing import Any

import pytest

from evidencebench_core.answers import judging
from evidencebench_core.answers.asking import KIND, abstract_answers, answer_plan, answers_of
from evidencebench_core.answers.model import unit_id
from evidencebench_core.answers.report import answers_report
from evidencebench_core.answers.store import Mark
from evidencebench_core.data import Store
from evidencebench_core.errors import SettingError
from evidencebench_core.llm import LLM, Connection
from evidencebench_core.runs import Plan, RunStore, chat_run, estimate, execute, judge_run
from tests.answers.judging import add_sample
from tests.factories import tiny_dataset
from tests.llm.server import answering, reply, scripted


def asked(plan: Plan) -> Plan:
    """The plan, carried out."""
    for _ in execute(plan):
        pass
    return plan


FIRST = {raw["paper_as_candidate_pool"][0] for raw in tiny_dataset().values()}


def answering_everything(sent: dict[str, Any]) -> Any:
    """Answers by two sentences; judges that the first sentence of a paper supports both, and nothing else does."""
    text = str(sent["messages"][-1]["content"])
    if "<document>" not in text:
        return reply("VERDICT: supports\nANSWER: Tea lowers pressure [0]. It does so in men [1, 0, 99].")
    source = re.search(r"<document>\n(.*?)\n</document>", text, re.DOTALL)
    return reply(f"LABEL: {'supports' if source and source[1] in FIRST else 'neutral'}")


def test_a_run_its_judge_and_the_abstract_beside_it(store: Store) -> None:
    n = len(store.ids("tiny"))
    with scripted(answering(answering_everything)) as server:
        llm = LLM(Connection(server.url), store)
        plan = answer_plan(store, "tiny", "m", llm=llm)
        assert (estimate(plan).calls, plan.total) == (n, n)
        run = chat_run(store, asked(plan).run_id[:6], KIND)
        answers = answers_of(store, run)
        assert [answer.sentences[1].unknown for answer in answers.values()] == [(99,)] * n
        plain = answers_report(store, run.id)
        assert f"Outcomes: {n} answer; 0 without an aspect." in plain.notes
        assert "support_rate" not in plain.tables["systems"]
        judge = asked(judging.judge_plan(store, run.id, "citations", "j", llm=llm))
        assert judge.total == 3 * n
    report = answers_report(store, run.id)  # finds its judge
    assert "Judged by j." in report.notes
    figures = report.tables["figures"].set_index(["system", "metric"])
    assert figures.loc[("m", "support_rate"), "n"] == n
    for unit, labels in judging.pair_labels(store, RunStore(store).run(judge.run_id), answers).items():
        second = "supports" if store.get("tiny", unit).sentences[1] in FIRST else "neutral"
        assert labels == {(0, 0): "supports", (1, 1): second, (1, 0): "supports"}
    with scripted(reply("ANSWER: Something else is so [0].")) as server:
        asked(answer_plan(store, "tiny", "m", llm=LLM(Connection(server.url), store), fresh=True))
    of_other_sentences = answers_report(store, plan.run_id, "j").tables["systems"]
    assert "support_rate" not in of_other_sentences
    assert set(of_other_sentences["system"]) == {"m", "abstract"}
    instances = report.tables["instances"].set_index(["system", "instance"])
    for instance_id, answer in abstract_answers(store, "tiny").items():  # it cites itself
        instance = store.get("tiny", instance_id)
        places = {place for place, kind in enumerate(instance.sentence_types) if kind == "abstract"}
        covers = instance.evidence.covers("all")
        assert set(answer.selection) == places
        recall = sum(bool(cover & places) for cover in covers) / len(covers)
        assert instances.loc[("abstract", instance_id), "cited_recall"] == pytest.approx(recall)


def test_what_is_no_answer_is_missing(store: Store) -> None:
    texts = iter(["I will not.", "ANSWER: Nothing in the paper."])
    with scripted(answering(lambda _: reply(next(texts, "ANSWER: So it is [0].")))) as server:
        plan = asked(answer_plan(store, "tiny", "m", llm=LLM(Connection(server.url), store)))
    instances = answers_report(store, plan.run_id).tables["instances"]
    assert (instances["system"] == "m").sum() == plan.total - 1


def judgement_of(sent: dict[str, Any]) -> Any:
    text = str(sent["messages"][-1]["content"])
    if "FACTS:" in text:
        return reply("So.\nFACTS:\nsupport: a\n- **none**: b: c\n3. partial: d\nperhaps: e\nsupport:")
    if "<nuggets>" in text:
        return reply("1: support\n- **2: partial**\n3. none")
    return reply("So.\nLABEL: **Required**" if "<document>" not in text else "LABEL: Supported.")


def test_judges_of_a_set(store: Store) -> None:
    """Of the sample every kind of judgement; the labels of a reader by rule come back as figures."""
    subject = add_sample(store)
    with scripted(answering(judgement_of)) as server:
        llm = LLM(Connection(server.url), store)
        plans = [judging.judge_plan(store, "sample answers", task, "j", llm=llm) for task in judging.JUDGES]
        announced = estimate(*plans).calls
        for task, plan in zip(judging.JUDGES, plans, strict=True):
            assert asked(plan).total == len(plan.missing) > 0
            assert not judging.judge_plan(store, "sample answers", task, "j", llm=llm).missing
        assert announced == pytest.approx(len(server.requests), rel=0.05)
        with pytest.raises(SettingError, match="Did you mean 'citations'"):
            judging.judge_plan(store, "sample answers", "citation", "j", llm=llm)
    labels = judging.labels_by_task(store, subject, "j")
    assert set(labels["relevance"].values()) == {"required"}
    assert set(labels["citations"].values()) == {"supports"}
    heron = unit_id("blood-pressure", "Heron", "")
    of_heron = {unit.removeprefix(heron): label for unit, label in labels["nuggets"].items() if heron in unit}
    nuggets = {"nugget 1": "support", "nugget 2": "partial", "nugget 3": None, "nugget 4": None}
    assert of_heron == {**nuggets, "fact 1": "support", "fact 2": "none", "fact 3": "partial", "fact 4": None}
    (unit, *_) = labels["citations"]
    run = judge_run(store, subject, "j", "citations")
    assert run is not None
    decided = judging.judge_labels(store, run, {unit: Mark(unit, "neutral"), "gone": Mark("gone", "neutral")})
    assert decided == {**labels["citations"], unit: "neutral"}
    report = answers_report(store, "sample answers", "j", "precision")
    systems, order = report.tables["systems"], report.tables["order of systems"]
    assert list(systems.columns[:5]) == ["system", "precision", "low", "high", "n"]
    shares = systems.set_index("system").loc["Heron", ["nugget precision", "precision", "correctness"]]
    assert shares.tolist() == [1.5 / 4, 1.0, 1.0]
    assert {"precision", "coverage", "support rate"} <= set(order["people"])
    assert order.set_index("judge")["tau"].isna()["precision"]  # all alike by this judge
    with pytest.raises(SettingError, match="Did you mean 'coverage'"):
        answers_report(store, "sample answers", metric="coverag")


def test_labels_that_are_no_label_of_the_task_are_unread(store: Store) -> None:
    add_sample(store)
    texts = iter(["LABEL: neutral", "LABEL: unnecessary", "Required."])
    with scripted(answering(lambda _: reply(next(texts, "LABEL: required")))) as server:
        llm = LLM(Connection(server.url), store)
        plan = asked(judging.judge_plan(store, "sample answers", "relevance", "j", llm=llm, limit=2))
    assert judging.unread_judgements(store, RunStore(store).run(plan.run_id)) == {"LABEL: neutral": 1}
    notes = answers_report(store, "sample answers", "j").notes
    assert "relevance: without a label: 'LABEL: neutral' (1)." in notes
    assert any(note.startswith("precision: of 6 of 18 answers") for note in notes)
