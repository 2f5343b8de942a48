"""Runs of answers and of judges over them, through a scripted server (bioace spec rules 39, 61, 66, 68)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.answers import read
from evidencebench_core.answers.agreement import human_units
from evidencebench_core.answers.asking import (
    answer_plan,
    answers_of,
    cited_judge_plan,
    cited_run,
    cited_run_scores,
    compare_cited_runs,
    pair_labels,
)
from evidencebench_core.answers.model import Answer, AnswerSentence, AnswerSet, Assessment, Document, Question
from evidencebench_core.answers.set_judging import judge_settings, label_reads, set_judge_plan
from evidencebench_core.answers.store import (
    Mark,
    add_answers,
    add_mark,
    answer_set_info,
    marks,
    stored_answers,
)
from evidencebench_core.cli import main
from evidencebench_core.data.ingest import ingest
from evidencebench_core.data.removal import delete_dataset
from evidencebench_core.data.store import Store, open_store
from evidencebench_core.errors import SettingError, UnknownNameError
from evidencebench_core.llm import LLM, AnswerCache, Connection, Limits
from evidencebench_core.runs import ChatPlan, ChatRuns, Progress, estimate, execute
from tests.factories import tiny_dataset, written
from tests.llm.server import answering, reply, scripted, status


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = open_store(tmp_path / "store.sqlite")
    ingest(store, written(tiny_dataset(), tmp_path / "tiny.json"), "tiny")
    return store


def llm(store: Store, url: str) -> LLM:
    return LLM(Connection(url, "secret"), AnswerCache(store), None, Limits(2, first_wait=0.001, give_up=5.0))


def done(plan: ChatPlan) -> Progress:
    *_, last = execute(plan)
    return last


def prompt_of(sent: dict[str, Any]) -> str:
    return str(sent["messages"][-1]["content"])


def answering_everything(sent: dict[str, Any]) -> Any:
    """Answers by two sentences; judges that the first sentence of a paper supports both, and nothing else does."""
    text = prompt_of(sent)
    if "<document>" not in text:
        return reply("VERDICT: supports\nANSWER: Tea lowers pressure [0]. It does so in men [1, 0, 99].")
    source = re.search(r"<document>\n(.*?)\n</document>", text, re.DOTALL)
    return reply(f"LABEL: {'supports' if source and source[1] in FIRST else 'neutral'}")


FIRST = {one["paper_as_candidate_pool"][0] for one in tiny_dataset().values()}


def test_a_run_and_its_judge(store: Store) -> None:
    n = len(store.ids("tiny"))
    with scripted(answering(answering_everything)) as server:
        plan = answer_plan(store, "tiny", "m", llm=llm(store, server.url))
        assert (estimate(plan).calls, plan.total) == (n, n)
        assert done(plan).done == n
        assert estimate(answer_plan(store, "tiny", "m", llm=llm(store, server.url))).calls == 0
        run = cited_run(store, plan.run_id[:6])
        answers = answers_of(store, run)
        assert {one.outcome for one in answers.values()} == {"answer"}
        plain = cited_run_scores(store, run.id)
        assert (plain.n_scored, plain.n_unknown, plain.means["support_rate"][1]) == (n, n, 0)
        judge = cited_judge_plan(store, run.id, "j", llm=llm(store, server.url))
        assert estimate(judge).calls <= judge.total == plain.n_pairs == 3 * n
        done(judge)
        scores = cited_run_scores(store, run.id, judge.run_id)
        assert scores.n_unjudged == 0
        assert (sum(scores.pairs.values()), plain.pairs) == (3 * n, {"unjudged": 3 * n})
        rates = ("sound_precision", "support_rate", "evidence_precision")
        sound, supported, gold = (
            sum(getattr(one, name) for one in scores.per_instance.values()) for name in rates
        )
        counted = [scores.pairs.get(name, 0) for name in ("sound", "not in gold", "misread")]
        assert counted == [round(3 * one) for one in (sound, supported - sound, gold - sound)]  # rule 66
        assert scores.means["stated_recall"][1] == 0
        for one, labels in pair_labels(store, judge.run_id, answers).items():
            second = "supports" if store.get("tiny", one).sentences[1] in FIRST else "neutral"
            assert labels == {(0, 0): "supports", (1, 1): second, (1, 0): "supports"}
        before = len(server.requests)
        assert scores.stated == "none"
        stated = cited_judge_plan(store, run.id, "j", stated="all", llm=llm(store, server.url))
        assert stated.run_id == judge.run_id
        done(stated)
        both = cited_run_scores(store, run.id, judge.run_id)
        assert (both.stated, both.means["stated_recall"][1]) == ("all", n)
        assert {name: one for name, one in both.means.items() if name != "stated_recall"} == {
            name: one for name, one in scores.means.items() if name != "stated_recall"
        }
        assert len(server.requests) - before <= len(stated.missing)
        same = compare_cited_runs(store, (run.id, judge.run_id), (run.id, None))
        assert set(same) == {"cited_recall", "evidence_precision"}
        assert {(of.mean_difference, of.ties) for of, _ in same.values()} == {(0.0, n)}
        results = answer_plan(store, "tiny", "m", focus="results", llm=llm(store, server.url))
        done(results)
        with pytest.raises(SettingError, match="another focus"):
            compare_cited_runs(store, (run.id, None), (results.run_id, None))
    assert json.dumps(scores.as_dict())


@pytest.mark.model
def test_stated_recall_by_the_nearest_gold_sentences(store: Store) -> None:
    with scripted(answering(answering_everything)) as server:
        plan = answer_plan(store, "tiny", "m", llm=llm(store, server.url))
        done(plan)
        near = cited_judge_plan(store, plan.run_id, "j", stated="nearest", llm=llm(store, server.url))
        every = cited_judge_plan(store, plan.run_id, "j", stated="all", llm=llm(store, server.url))
        cited = cited_judge_plan(store, plan.run_id, "j", llm=llm(store, server.url))
        assert cited.total <= near.total <= every.total
        assert near.total <= cited.total + 2 * 3 * len(store.ids("tiny"))
        done(near)
        by_three = cited_run_scores(store, plan.run_id, near.run_id)
        done(every)
        by_all = cited_run_scores(store, plan.run_id, near.run_id)
    assert (by_three.stated, by_all.stated) == ("nearest" if near.total < every.total else "all", "all")
    for one, score in by_three.per_instance.items():
        grounded, most = score.grounded_recall, by_all.per_instance[one].stated_recall
        assert grounded is not None is not most
        assert grounded <= (score.stated_recall or 0) <= most


def test_labels_belong_to_the_wording_they_were_given_for(store: Store) -> None:
    with scripted(answering(answering_everything)) as server:
        plan = answer_plan(store, "tiny", "m", llm=llm(store, server.url))
        done(plan)
        judge = cited_judge_plan(store, plan.run_id, "j", llm=llm(store, server.url))
        done(judge)
    with scripted(reply("ANSWER: Something else is so [0].")) as server:
        done(answer_plan(store, "tiny", "m", llm=llm(store, server.url), fresh=True))
    scores = cited_run_scores(store, plan.run_id, judge.run_id)
    assert scores.n_unjudged == scores.n_pairs == scores.n_scored
    assert scores.means["support_rate"] == (None, 0, None)


def test_what_is_no_answer_is_missing_and_asked_again(store: Store) -> None:
    n = len(store.ids("tiny"))
    texts = iter(["I will not.", "ANSWER: Nothing in the paper."])

    def step(_: dict[str, Any]) -> Any:
        return reply(next(texts, "ANSWER: So it is [0]."))

    with scripted(answering(step)) as server:
        one_by_one = LLM(Connection(server.url, "k"), AnswerCache(store), None, Limits(1))
        plan = answer_plan(store, "tiny", "m", llm=one_by_one)
        done(plan)
        scores = cited_run_scores(store, plan.run_id)
        assert (scores.n_scored, scores.n_missing, scores.n_empty) == (n - 1, 1, 1)
        again = answer_plan(store, "tiny", "m", llm=llm(store, server.url), retry_lost=True)
        assert len(again.missing) == 1
        done(again)
    assert cited_run_scores(store, plan.run_id).n_missing == 0
    with pytest.raises(UnknownNameError):
        cited_run_scores(store, "ffff")
    with pytest.raises(SettingError, match="no answers of run"):
        cited_run_scores(store, plan.run_id, plan.run_id)


def test_failed_calls_leave_the_judges_figures_open(store: Store) -> None:
    with scripted(answering(answering_everything)) as server:
        plan = answer_plan(store, "tiny", "m", llm=llm(store, server.url), limit=1)
        done(plan)

    with scripted(status(400)) as server:
        judge = cited_judge_plan(store, plan.run_id, "j", llm=llm(store, server.url))
        last = done(judge)
    assert last.failed == judge.total
    scores = cited_run_scores(store, plan.run_id, judge.run_id, limit=1)
    assert (scores.means["support_rate"][0], scores.n_unjudged) == (None, judge.total)
    assert scores.means["cited_recall"][1] == 1
    for subject in (plan.run_id, store.dataset("tiny").sha256):
        add_mark(store, subject, Mark("gold", "tiny_0#0-0-00000000", "missed"))
    delete_dataset(store, "tiny")
    assert ChatRuns(store).runs("answers") == ()
    assert marks(store, plan.run_id) == []


# -- answer sets ----------------------------------------------------------------------------------

SENTENCES = (
    AnswerSentence("1", "A lowers B [1].", ("1", "2"), assessments=(Assessment("1", "supporting"),)),
    AnswerSentence("2", "[3]", ("1",)),
    AnswerSentence("3", "C rises.", ("9",)),
)
ANSWERS = AnswerSet(
    {"q": Question("q", "What of A?", ("Lower (A [C0000001], B [C0000002])",)), "r": Question("r")},
    {("q", "M1"): Answer("q", "M1", "A lowers B. C rises.", SENTENCES), ("r", "M1"): Answer("r", "M1", "")},
    {"1": Document("1", "A and B", "A lowers B. D."), "2": Document("2")},
)


@pytest.mark.model
@pytest.mark.parametrize(
    ("what", "settings", "said", "labels"),
    [
        ("relevance", {}, "LABEL: Required", {"q/M1/1": "required", "q/M1/3": "required"}),
        ("relevance", {"context": "answer"}, "perhaps", {"q/M1/1": None, "q/M1/3": None}),
        ("citations", {"scale": "binary"}, "LABEL: not attributable", {"q/M1/1/1": "not attributable"}),
        ("citations", {"source": "maxsim"}, "LABEL: supports", {"q/M1/1/1": "supports"}),
        ("citations", {"source": "nuggets"}, "LABEL: not relevant", {"q/M1/1/1": "not relevant"}),
        ("correctness", {"documents": "supported"}, "LABEL: supports", {"q/M1/1": "supports"}),
        ("joined", {}, "LABEL: supports", {}),
        ("nuggets", {}, "NUGGETS:\n- A lowers B", {}),
        ("nugget-support", {}, "1: support", {}),
    ],
)
def test_judges_of_sets(
    store: Store, what: Any, settings: dict[str, Any], said: str, labels: dict[str, str | None]
) -> None:
    with scripted(reply(said)) as server:
        plan = set_judge_plan(
            store, "d" * 64, ANSWERS, what, "m", settings=settings, llm=llm(store, server.url)
        )
        done(plan)
        assert all("[1]" not in prompt_of(sent) for sent in (one.json for one in server.requests))
    run = ChatRuns(store).run(plan.run_id)
    assert {unit: read.label for unit, read in label_reads(store, run).items()} == labels
    assert run.n_answered == plan.total == max(len(labels) + (what == "correctness"), 1)


def test_settings_of_judges() -> None:
    assert judge_settings("citations", {"source": "nuggets"})["scale"] == "four"
    assert judge_settings("correctness", {"prefilter": "0"})["prefilter"] == 0
    for what, given in (
        ("poetry", {}), ("citations", {"scal": "binary"}), ("citations", {"scale": "five"}),
        ("correctness", {"window": 0}), ("correctness", {"window": "x"}),
    ):  # fmt: skip
        with pytest.raises(SettingError):
            judge_settings(what, given)


def test_the_command(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    words = ["--store", str(store.path)]
    with scripted(answering(answering_everything), listed=["m"]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert main(["answers", "ask", "--dataset", "tiny", "--model", "m", "--json", *words]) == 0
        document = json.loads(capsys.readouterr().out)
        assert main(["answers", "judge", document["run"], "--model", "m", *words]) == 0
        out = capsys.readouterr().out
        assert "support rate" in out
        assert "Not gold is not wrong" in out
        check = ["answers", "check-judge", "--dataset", "tiny", "--model", "m", "--pairs", "3"]
        assert main([*check, *words]) == 0
        assert "do not use" in capsys.readouterr().out
    file = tmp_path / "picks.json"
    add_mark(store, document["run"], Mark("gold", "tiny_0#0-0-00000000", "missed", "Ada"))
    assert main(["answers", "mark", document["run"][:6], *words, "--json"]) == 0
    marked = json.loads(capsys.readouterr().out)
    assert (marked["counts"], marked["marks"][0]["author"]) == ({"gold": 1}, "Ada")
    assert main(["answers", "cited", document["run"], *words]) == 0
    assert "marked 1 citation as missed by gold" in capsys.readouterr().out
    assert main(["answers", "mark", "nothing", *words]) == 1
    assert "no answer set, no dataset and no run" in capsys.readouterr().err
    assert main(["answers", "cited", document["run"], "--predictions", str(file), *words]) == 0
    assert "grounded recall" not in capsys.readouterr().out
    assert set(map(tuple, json.loads(file.read_text()).values())) == {(0, 1)}
    assert main(["answers", "cited", document["run"], "--against", document["run"], *words]) == 0
    assert "p (Holm)" in capsys.readouterr().out
    assert main(["answers", "cited", "abc", *words]) == 1


@pytest.mark.model
def test_the_command_on_a_set(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = Path(read.__file__).with_name("sample_answers.jsonl")
    add_answers(store, "sample", read.read_answers([file]))
    info, words = answer_set_info(store, "sample"), ["--store", str(store.path)]
    monkeypatch.setenv("OPENAI_API_KEY", "secret")

    def document(*asked: str) -> Any:
        assert main(["answers", *asked, "--json", *words]) == 0
        return json.loads(capsys.readouterr().out)

    def step(sent: dict[str, Any]) -> Any:
        text = prompt_of(sent)
        return reply("1: support\n2: partial" if "1: partial" in text or "2: partial" in text else said)

    with scripted(answering(step), listed=["m"]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        said = "LABEL: supports"
        citations = document(
            "judge", "sample", "--model", "m", "--what", "citations", "--set", "source=maxsim"
        )
        assert citations["labels"] == {"supports": citations["n_answered"]}
        said = "NUGGETS:\n- Velorin lowers systolic pressure.\n- Something else is so."
        listed = document("judge", "sample", "--model", "m", "--what", "nuggets", "--limit", "2")
        support = document("judge", "sample", "--model", "m", "--what", "nugget-support")
    said = "LABEL: supports"
    with scripted(answering(step), listed=["m"]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert main(["answers", "judge", "sample", "--model", "m", "--what", "correctness", *words]) == 0
        assert "nothing to check" in capsys.readouterr().out
    human = human_units(stored_answers(store, "sample"), "ternary").labels
    units = label_reads(store, ChatRuns(store).run(citations["run"]))
    assert set(human) <= set(units) | {one for one in human if "9999" in one}
    scores = document("nuggets", "sample", "--run", listed["run"])
    assert scores["n_missing"] >= 0
    assert 0 <= scores["means"]["recall"] <= scores["means"]["counting"] <= 1
    systems = document("nuggets", "sample", "--run", support["run"])["systems"]
    assert all(0 < one["strict"] < one["recall"] < 1 for one in systems.values())
    pair = json.dumps(["Velorin lowers systolic pressure.", "Velorin lowers pressure."])
    add_mark(store, info.sha256, Mark("nuggets", pair, "same"))
    assert document("nuggets", "sample", "--run", listed["run"])["marked"]["f1"] == 1.0
    assert main(["answers", "nuggets", "sample", "--run", listed["run"], *words]) == 0
    assert "counting" in capsys.readouterr().out
    assert main(["answers", "nuggets", "sample", "--run", citations["run"], *words]) == 1
    assert main(["answers", "nuggets", "sample", "--matcher", "mixture", *words]) == 1
    assert "matcher=cosine" in capsys.readouterr().err
