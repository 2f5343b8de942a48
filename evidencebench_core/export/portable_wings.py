"""The item sets, answer sets and runs of plain questions in an export of a store: written, and brought in.

The lines of a set stand before it. A set is told by the hash of its lines, a run by that of all that decides what is
asked; so neither can come in as another than it was.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any, Final, get_args

import orjson

from evidencebench_core.answers.fields import Line
from evidencebench_core.answers.store import ANSWER_SETS, What, digest_and_counts
from evidencebench_core.data.named_sets import NamedSets
from evidencebench_core.data.packing import unpacked, zstd_frames
from evidencebench_core.errors import shown
from evidencebench_core.export.portable_constructions import Record, construction_records
from evidencebench_core.llm.request import from_json
from evidencebench_core.perturb.wordings import MadeBy
from evidencebench_core.reliability.drafts import wordings_digest
from evidencebench_core.reliability.items import ITEM_SETS, KINDS, Item, ItemWording, new_item_set
from evidencebench_core.reliability.tasks import reliability_task, task_settings
from evidencebench_core.runs import ChatRunSpec, request_settings
from evidencebench_core.runs.chat_runs import keep_results

WING_KINDS: Final[Mapping[str, Mapping[str, tuple[type, ...]]]] = {
    "line": {},
    "item_set": dict.fromkeys(("name", "sha256", "kind", "source", "added_at"), (str,)),
    "answer_set": dict.fromkeys(("name", "sha256", "source", "added_at"), (str,)),
    "wordings": {"digest": (str,), "items_sha256": (str,), "body": (list,)},
    "chat_run": dict.fromkeys(("id", "wing", "subject", "settings", "created_at"), (str,)),
    "chat_result": dict.fromkeys(("run", "unit", "created_at"), (str,))
    | dict.fromkeys(("result", "error"), (str, type(None))),
    "mark": dict.fromkeys(("subject", "what", "unit", "value", "author", "before", "created_at"), (str,)),
}
_WINGS: Final = ("reliability", "answers", "construction")
_SUBJECT: Final = re.compile("[0-9a-f]{64}|[0-9a-f]{12}")
_RESULT: Final[Mapping[str, tuple[type, ...]]] = (
    dict.fromkeys(("text", "model", "key", "window", "fields"), (str,))
    | dict.fromkeys(("finish_reason", "refusal", "reasoning"), (str, type(None)))
    | dict.fromkeys(("prompt_tokens", "completion_tokens"), (int, type(None)))
    | dict.fromkeys(("n", "n_windows"), (int,))
    | dict.fromkeys(("seconds", "score", "threshold", "contradiction"), (int, float))
)
_RUNS: Final = """WITH RECURSIVE
    first (id) AS (SELECT id FROM chat_runs WHERE :whole OR subject = :sha256
        OR id IN (SELECT value FROM json_each(:chosen))),
    judged (id) AS (SELECT id FROM first UNION
        SELECT subject FROM chat_runs WHERE id IN first AND length(subject) = 12),
    every (id) AS (SELECT id FROM judged UNION SELECT id FROM chat_runs WHERE subject IN first)
    SELECT id, wing, subject, settings, created_at FROM intact_chat_runs WHERE id IN every
    ORDER BY length(subject) DESC, created_at, id"""  # the judged before those about them


def wing_records(
    db: sqlite3.Connection, sha256: str | None, chosen: Sequence[str], keys: set[str]
) -> Iterator[Record]:
    """All that is about the dataset of this hash, or goes with the chosen runs; with neither all there is.

    ``keys`` gains those of the stored answers behind the results.
    """
    whole = sha256 is None and not chosen
    values = {"whole": whole, "sha256": sha256, "chosen": json.dumps(chosen)}
    runs = list(rows(db, _RUNS, values))
    subjects = {sha256 or ""} | {run["subject"] for run in runs} | {run["id"] for run in runs}
    digests = set[str]()
    for run in runs:
        settings = json.loads(run["settings"])
        digests.add(settings.get("wordings") or "")
        subjects.add((settings.get("settings") or {}).get("examples_sha256") or "")
    about = {"whole": whole, "subjects": json.dumps(sorted(subjects)), "digests": json.dumps(sorted(digests))}
    for kind in ("item_set", "answer_set"):
        columns = ", ".join(WING_KINDS[kind])
        of = "WHERE :whole OR sha256 IN (SELECT value FROM json_each(:subjects)) ORDER BY id"
        for one in list(rows(db, f"SELECT {columns}, body FROM intact_{kind}s {of}", about)):
            yield from (("line", line) for line in orjson.loads(unpacked(one.pop("body"))))
            path = PurePath(one["source"])
            yield (
                kind,
                one | ({"source": path.name} if path.is_absolute() else {}),
            )  # no folders of this machine
    wordings = (
        "SELECT w.digest, s.sha256 AS items_sha256, w.body FROM intact_item_wordings AS w JOIN item_sets AS s"
        " ON s.id = w.item_set_id WHERE :whole OR w.digest IN (SELECT value FROM json_each(:digests))"
    )
    for one in rows(db, wordings, about):
        yield "wordings", one | {"body": orjson.loads(unpacked(one["body"]))}
    yield from construction_records(db, None if whole else frozenset(subjects))
    for run in runs:
        yield "chat_run", run
        columns = "run_id AS run, unit, result, error, created_at"
        results = f"SELECT {columns} FROM intact_chat_results WHERE run_id = ? ORDER BY unit"
        for one in rows(db, results, (run["id"],)):
            if one["result"] is not None:
                text = unpacked(one["result"])
                keys |= set(_keys(from_json(text)))
                one["result"] = text.decode()
            yield "chat_result", one
    marks = f"SELECT {', '.join(WING_KINDS['mark'])} FROM intact_answer_marks"
    of = "WHERE :whole OR subject IN (SELECT value FROM json_each(:subjects)) ORDER BY id"
    yield from (("mark", one) for one in rows(db, f"{marks} {of}", about))


class WingImport:
    """Writes such records inside the transaction that is open.

    Each method takes a record's content and says whether it is new, or nothing where it is only part of another.
    """

    def __init__(self, db: sqlite3.Connection, subjects: Mapping[str, str]) -> None:
        self.db = db
        self.subjects = subjects  # of constructions, by those in the file
        self.lines: list[Line] = []  # of the set that follows
        self.runs: dict[str, ChatRunSpec] = {}  # by id in the file

    def line(self, values: dict[str, Any]) -> None:
        self.lines.append(values)

    def item_set(self, values: dict[str, Any]) -> bool:
        lines, self.lines = self.lines, []
        items = [Item.from_dict(line) for line in lines]
        for item, line in zip(items, lines, strict=True):
            _check_item(item, line)
        if values["kind"] not in KINDS:
            raise ValueError(f"the kind is {shown(values['kind'])}")
        digest = new_item_set(values["name"], items, values["kind"]).sha256
        return self._keep(ITEM_SETS, values | {"n_items": len(items)}, digest, lines)

    def answer_set(self, values: dict[str, Any]) -> bool:
        lines, self.lines = self.lines, []
        digest, counts = digest_and_counts([(f"line {n} of the set", line) for n, line in enumerate(lines)])
        return self._keep(ANSWER_SETS, values | {"counts": counts}, digest, lines)

    def _keep(self, sets: NamedSets[Any], values: dict[str, Any], digest: str, lines: list[Line]) -> bool:
        """Where the name belongs to another set, this one gets a number."""
        if digest != values["sha256"]:
            raise ValueError(f"the {sets.noun} {shown(values['name'])} has other lines than it had")
        there = {info.sha256: info.name for info in sets.within(self.db)}
        if digest in there:
            return False
        name, number = values["name"], 1
        while name in there.values():
            number += 1
            name = f"{values['name'][:90]} {number}"
        fields = {key: value for key, value in values.items() if key not in ("name", "sha256")}
        sets.insert(self.db, name, digest, lines, fields)
        return True

    def wordings(self, values: dict[str, Any]) -> None:
        found: dict[str, tuple[ItemWording, ...]] = {}
        for one, name, text, made_by, reviewed in values["body"]:
            if {type(one), type(name), type(text)} != {str} or type(reviewed) is not bool:
                raise ValueError(f"a wording is {shown([one, name, text, reviewed])}")
            wording = ItemWording(name, text, MadeBy.from_dict(made_by), reviewed)
            found[one] = (*found.get(one, ()), wording)
        if wordings_digest(found) != values["digest"]:
            raise ValueError("the wordings are not as they were")
        self.db.execute(
            "INSERT OR IGNORE INTO item_wordings (digest, item_set_id, body)"
            " SELECT ?, id, ? FROM item_sets WHERE sha256 = ?",
            (values["digest"], zstd_frames([orjson.dumps(values["body"])])[0], values["items_sha256"]),
        )

    def chat_run(self, values: dict[str, Any]) -> bool:
        wing, subject, settings = values["wing"], values["subject"], json.loads(values["settings"])
        if wing not in _WINGS or not _SUBJECT.fullmatch(subject):
            raise ValueError(f"the run is of {shown(wing)} about {shown(subject)}")
        if wing != "construction" or len(subject) == 12:
            self._check_subject(subject)
        _check_settings(wing, settings, is_judge=len(subject) == 12)
        spec = ChatRunSpec(wing, subject, settings)
        if spec.id != values["id"]:
            raise ValueError(f"run {shown(values['id'])} has other settings than it had")
        self.runs[values["id"]] = spec = replace(spec, subject=self.subjects.get(subject, subject))
        insert = (
            "INSERT OR IGNORE INTO chat_runs (id, wing, subject, settings, created_at) VALUES (?, ?, ?, ?, ?)"
        )
        row = (spec.id, wing, spec.subject, json.dumps(settings, sort_keys=True), values["created_at"])
        return self.db.execute(insert, row).rowcount > 0

    def chat_result(self, values: dict[str, Any]) -> bool:
        run, result = values["run"], values["error"]
        here = self.runs[run].id
        if (values["result"] is None) == (values["error"] is None):
            raise ValueError("it is neither an answer nor a failure")
        if result is None:
            result = from_json(values["result"])
            _check_result(self.runs[run].wing, result)
        else:
            there = "SELECT 1 FROM chat_results WHERE run_id = ? AND unit = ?"
            if self.db.execute(there, (here, values["unit"])).fetchone():
                return False
        return keep_results(self.db, here, {values["unit"]: result}, values["created_at"]) > 0

    def mark(self, values: dict[str, Any]) -> bool:
        self._check_subject(values["subject"])
        if values["what"] not in get_args(What):
            raise ValueError(f"the mark is {shown(values['what'])}")
        names = list(WING_KINDS["mark"])
        same = " AND ".join(f"{name} = :{name}" for name in names)
        if self.db.execute(f"SELECT 1 FROM answer_marks WHERE {same}", values).fetchone():
            return False
        marks = ", ".join(f":{name}" for name in names)
        self.db.execute(f"INSERT INTO answer_marks ({', '.join(names)}) VALUES ({marks})", values)
        return True

    def _check_subject(self, subject: str) -> None:
        known = " UNION ALL ".join(
            f"SELECT 1 FROM {table} WHERE {column} = ?1"
            for table, column in (
                ("datasets", "sha256"), ("item_sets", "sha256"), ("answer_sets", "sha256"), ("chat_runs", "id"),
            )
        )  # fmt: skip
        if not self.db.execute(known, (subject,)).fetchone():
            raise ValueError(f"it is about {subject[:12]}, which neither the store nor the file has")


def rows(db: sqlite3.Connection, sql: str, values: Any) -> Iterator[dict[str, Any]]:
    cursor = db.execute(sql, values)
    names = [column[0] for column in cursor.description]
    for row in cursor:
        yield dict(zip(names, row, strict=True))


def _keys(result: Mapping[str, Any]) -> Iterator[str]:
    """Of the stored answers behind a result, in whichever of the wings' forms it is."""
    for part in (result, *result.get("parts", ())):
        yield from filter(None, (part.get("key"), *part.get("keys", ())))


def _check_item(item: Item, line: Line) -> None:
    texts = (item.id, item.question, item.group, item.passage, *item.context, *item.long_answer)
    named = (*item.annotators.items(), *item.wordings.items())
    all_texts = all(type(one) is str for one in (*texts, *(part for pair in named for part in pair)))
    known = item.answer in (None, "yes", "no", "maybe") and type(item.neighbour_covers) is bool
    if not all_texts or not known or item.as_dict() != line:
        raise ValueError(f"the item is {shown(line)}")


def _check_settings(wing: str, settings: Any, is_judge: bool) -> None:
    """An error where the pages could not say what the run was."""
    if type(settings["model"]) is not str:
        raise ValueError(f"the model is {shown(settings['model'])}")
    if wing == "construction":
        return
    if "by" not in settings:  # else it gives scores, and is asked nothing
        request_settings(settings["request"])
    if wing == "reliability":
        task = reliability_task(settings["task"])
        if not is_judge:
            own = {
                name: tuple(one) if isinstance(one, list) else one
                for name, one in settings["settings"].items()
            }
            own.pop("examples_sha256", None)
            task_settings(task, own, own["as_published"] is True)
            if type(settings["wordings"]) is not str:
                raise ValueError(f"the wordings are {shown(settings['wordings'])}")
    elif type(settings["task"]) is not str:
        raise ValueError(f"the task is {shown(settings['task'])}")


def _check_result(wing: str, result: Any) -> None:
    if not isinstance(result, dict):
        raise ValueError(f"the answer is {shown(result)}")
    if wing == "construction":  # whose stages read what they have kept each in its own way
        return
    for one in (result, *(parts := result.get("parts", [result]))):
        for name, value in one.items():
            if type(value) not in _RESULT.get(name, (type(value),)):
                raise ValueError(f"the answer's {name} is {shown(value)}")
    if any("text" not in part for part in parts):
        raise ValueError("the model's answer has no text")
