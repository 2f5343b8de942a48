"""Item sets, answer sets and runs of plain questions, taken from one store to another."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.answers.asking import answer_plan, cited_judge_plan, cited_run, cited_run_scores
from evidencebench_core.answers.set_judging import set_judge_plan
from evidencebench_core.answers.store import (
    Mark,
    add_mark,
    answer_set_info,
    answer_sets,
    marks,
    stored_answers,
)
from evidencebench_core.data.backup import backup
from evidencebench_core.data.repair import faults
from evidencebench_core.data.store import Store, open_store
from evidencebench_core.errors import DataError, UnknownNameError
from evidencebench_core.export.portable import export_file
from evidencebench_core.export.portable_import import import_file
from evidencebench_core.llm import LLM, AnswerCache, Connection
from evidencebench_core.reliability.drafts import kept_wordings
from evidencebench_core.reliability.items import Item, add_items, item_set, item_sets
from evidencebench_core.reliability.runs import reliability_runs, results_of
from evidencebench_core.runs import ChatPlan, ChatRuns, ChatRunSpec, execute
from tests.answers.judging import add_sample
from tests.factories import store_with, tiny_dataset
from tests.llm.server import Scripted, answering, reply, scripted
from tests.reliability.asking import ask_scripted

ITEMS = [
    Item("q0", "Does tea help?", ("It does.",), "yes", ("Yes \N{HOT BEVERAGE}.",), wordings={"paraphrase:a": "Tea?"}),
    Item("q1", "Does coffee help?", ("No.", "Not at all."), "no", group="p", annotators={"Ada": "maybe"}),
]  # fmt: skip
TABLES = ("chat_runs", "chat_results", "item_wordings", "answer_marks")


def contents(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    with store.read() as db:
        rows = {table: db.execute(f"SELECT * FROM {table}").fetchall() for table in TABLES}
        for table in ("item_sets", "answer_sets"):
            rows[table] = db.execute(f"SELECT name, sha256, source, body, added_at FROM {table}").fetchall()
    return {table: sorted(of, key=repr) for table, of in rows.items()}


def run(plan: ChatPlan) -> str:
    *_, last = execute(plan)
    return last.run_id


def llm(store: Store, server: Scripted) -> LLM:
    return LLM(Connection(server.url, "secret"), AnswerCache(store))


def said(sent: dict[str, Any]) -> Any:
    if "ANSWER:" in str(sent["messages"]):
        return reply("VERDICT: supports\nANSWER: Tea lowers pressure [0]. It does so in men [1].")
    return reply("LABEL: supports \ud800")


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with runs of both wings, a judge's each, and marks of both kinds, beside its export."""
    folder = tmp_path_factory.mktemp("exported")
    store = store_with(tiny_dataset(), folder)
    add_items(store, "teas", ITEMS, source="/home/ada/teas.csv")
    ask_scripted(store, "teas", ("conclusion", "paraphrase"), ("always-yes",))
    sample = add_sample(store)
    with scripted(answering(said)) as server:
        answered = run(answer_plan(store, "tiny", "m", llm=llm(store, server)))
        run(cited_judge_plan(store, answered, "j", llm=llm(store, server)))
        answers = stored_answers(store, "sample answers")
        run(set_judge_plan(store, sample, answers, "correctness", "j", settings={"prefilter": 0}, limit=1,
                           llm=llm(store, server)))  # fmt: skip
    built = ChatRunSpec("construction", "c" * 64, {"stage": "leak", "model": "m", "max_tokens": 400})
    ChatRuns(store).create(built)
    ChatRuns(store).add(built.id, {"build/1": {"kind": "clear", "seconds": [1.5], "keys": ["d" * 64]}})
    add_mark(store, sample, Mark("label", "q/s/1/d", "neutral", "Ada", "supports"))
    add_mark(store, answered, Mark("gold", "tiny_0#0-0", "missed", "Ada"))
    export_file(store, folder / "mine.jsonl.gz")
    return store.path


@pytest.fixture
def store(exported: Path, tmp_path: Path) -> Store:
    copied = tmp_path / "copy.sqlite"
    backup(open_store(exported), copied)
    return open_store(copied)


@pytest.fixture
def other(tmp_path: Path) -> Store:
    (tmp_path / "other").mkdir()
    return store_with(tiny_dataset(), tmp_path / "other", "theirs")


def test_they_come_whole_and_once(store: Store, other: Store, tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl.gz"
    counts = export_file(store, path, answers=True)
    assert [counts[kind] for kind in ("item_set", "answer_set", "chat_run", "mark")] == [1, 1, 7, 2]
    assert counts["chat_result"] == len(contents(store)["chat_results"])
    assert counts["reply"] > 0
    add_items(other, "teas", ITEMS[:1])  # has the name
    assert import_file(other, path, answers=True) == {kind: (n, n) for kind, n in counts.items()}
    theirs, ours = contents(other), contents(store)
    for table in ("chat_runs", "answer_sets", *TABLES[3:]):
        assert [row[-8:] for row in theirs[table]] == [row[-8:] for row in ours[table]]
    assert ChatRuns(other).runs() == ChatRuns(store).runs()
    for one in ChatRuns(store).runs():
        assert ChatRuns(other).results(one.id) == ChatRuns(store).results(one.id)
    assert [info.name for info in item_sets(other)] == ["teas", "teas 2"]
    assert item_set(other, "teas 2").source == "teas.csv"
    assert item_set(other, "teas 2").items == item_set(store, "teas").items
    for theirs_run in (found := reliability_runs(other, "teas 2")):
        assert results_of(other, theirs_run)
        if theirs_run.wordings:
            assert kept_wordings(other, theirs_run.wordings) == kept_wordings(store, theirs_run.wordings)
    assert len(found) == 2
    assert answer_sets(other) == answer_sets(store)
    sample = answer_set_info(other, "sample answers").sha256
    assert marks(other, sample) == marks(store, sample)
    answered = next(one for one in ChatRuns(store).runs() if one.settings.get("task") == "cited-answer")
    judge = ChatRuns(store).runs(subject=answered.id)[0]
    scores = cited_run_scores(other, cited_run(other, answered.id).id, judge.id)
    assert scores.as_dict() == cited_run_scores(store, answered.id, judge.id).as_dict()
    before = contents(other)
    assert {new for new, _ in import_file(other, path, answers=True).values()} == {0}
    assert contents(other) == before
    assert faults(other) == []
    assert not answer_plan(other, "theirs", "m").missing


def test_what_goes_with_a_run(store: Store, other: Store, tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl.gz"
    runs = {(one.settings.get("task"), len(one.subject)): one for one in ChatRuns(store).runs()}
    answered, judge = runs["cited-answer", 64], runs["citations", 12]
    of_set, freeform = runs["correctness", 64], runs["conclusion", 64]
    n = {one.id: one.n_answered for one in runs.values()}
    both = n[answered.id] + n[judge.id]
    for chosen in (answered, judge):
        counts = export_file(store, path, run_ids=[chosen.id[:7]], overwrite=True)
        assert counts == {"chat_run": 2, "chat_result": both, "mark": 1}
    assert export_file(store, path, "tiny", overwrite=True) == counts
    counts = export_file(store, path, run_ids=[of_set.id], overwrite=True)
    assert counts == {"answer_set": 1, "chat_run": 1, "chat_result": n[of_set.id], "mark": 1}
    import_file(other, path)
    counts = export_file(store, path, run_ids=[freeform.id], overwrite=True)
    assert (counts["item_set"], counts["chat_run"]) == (1, 2)
    import_file(other, path)
    assert {one.id for one in ChatRuns(other).runs()} == {of_set.id, freeform.id, runs["conclusion", 12].id}
    with pytest.raises(UnknownNameError, match="run 'zz'"):
        export_file(store, path, run_ids=["zz"], overwrite=True)


def test_a_failure_gives_way_and_nothing_else(store: Store, other: Store, tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl.gz"
    export_file(store, path)
    import_file(other, path)
    answered = next(one for one in ChatRuns(store).runs() if one.settings.get("task") == "cited-answer")
    units = sorted(ChatRuns(store).results(answered.id))
    changes = "UPDATE chat_results SET result = ?, error = ? WHERE run_id = ? AND unit = ?"
    with other.write() as db:
        db.execute(changes, (None, "no answer", answered.id, units[0]))
    with store.write() as db:
        db.execute(changes, (None, "cut off", answered.id, units[1]))
    export_file(store, path, overwrite=True)
    assert import_file(other, path)["chat_result"][0] == 1
    assert all(not isinstance(one, str) for one in ChatRuns(other).results(answered.id).values())
    assert ChatRuns(other).run(answered.id).n_failed == 0


def change(of: str, **values: object) -> Callable[[list[dict[str, Any]]], None]:
    def changed(lines: list[dict[str, Any]]) -> None:
        next(line for line in lines if of in line)[of].update(values)

    return changed


HOSTILE: dict[str, Callable[[list[dict[str, Any]]], object]] = {
    "another item": change("line", question="Is it another?"),
    "a text for a list": change("line", context="abc"),
    "an item with more": change("line", script="<script>"),
    "an unknown label": change("line", answer="perhaps"),
    "an unknown kind of items": change("item_set", kind="evil"),
    "another hash": change("answer_set", sha256="0" * 64),
    "a blank name": change("answer_set", name=" \n"),
    "another wing": change("chat_run", wing="evil"),
    "about nothing": change("chat_run", subject="0" * 64),
    "a path for a subject": change("chat_run", subject="../../etc/passwd"),
    "other settings": change("chat_run", settings='{"model": "x", "task": "baseline"}'),
    "settings that are none": change("chat_run", settings="[]"),
    "of no run": change("chat_result", run="0" * 12),
    "neither answer nor failure": change("chat_result", result=None),
    "an answer without a text": change("chat_result", result="{}"),
    "a number for a text": change("chat_result", result='{"text": 1}'),
    "parts that are none": change("chat_result", result='{"parts": 7}'),
    "a list for an answer": change("chat_result", result="[]"),
    "from the future": change("chat_result", created_at="2999-01-01T00:00:00+00:00"),
    "a mark on nothing": change("mark", subject="0" * 12),
    "a mark of another kind": change("mark", what="evil"),
    "wordings that are not those": change("wordings", digest="0" * 12),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_could_not_have_been_made_here_is_refused_whole(
    exported: Path, other: Store, tmp_path: Path, what: str
) -> None:
    path, whole = tmp_path / "mine.jsonl.gz", exported.with_name("mine.jsonl.gz").read_bytes()
    lines = [json.loads(line) for line in gzip.decompress(whole).splitlines()]
    HOSTILE[what](lines)
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, lines)).encode()))
    before = contents(other)
    with pytest.raises(DataError) as caught:
        import_file(other, path)
    assert len(str(caught.value)) < 600
    assert contents(other) == before
