"""Reading what `portable.export_file` wrote: all of it or nothing, and nothing twice."""

from __future__ import annotations

import base64
import json
import math
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import orjson

from evidencebench_core.data.packing import unpacked_rest, zstd_frames
from evidencebench_core.data.source import Source
from evidencebench_core.data.store import DatasetInfo, Store, datasets_in
from evidencebench_core.errors import DataError, EvidenceBenchError, SelectionError, shown
from evidencebench_core.export.portable import FORMAT, VERSION
from evidencebench_core.export.portable_constructions import CONSTRUCTION_KINDS, ConstructionImport
from evidencebench_core.export.portable_wings import WING_KINDS, WingImport
from evidencebench_core.llm.answers import reply_of
from evidencebench_core.papers import DEFAULT_LIMITS
from evidencebench_core.papers.annotation import Annotation, add_aspect, mark
from evidencebench_core.papers.blocks import clean_text
from evidencebench_core.papers.paper import Paper
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs.notes import Note, checked_note
from evidencebench_core.runs.rows import ADD, keep_answers
from evidencebench_core.runs.spec import run_label, settings_from_json
from evidencebench_core.runs.trained import trained_digests
from evidencebench_core.tasks import task_named
from evidencebench_core.tasks.selection import validated_selection
from evidencebench_core.words import clipped_text, one_line

_LONGEST_LINE: Final = 64 << 20  # bytes: a paper with its PDF
_LARGEST: Final = 4 << 30  # bytes, unpacked
_LONGEST_TEXT: Final = 4 << 20  # characters
_LONGEST_NAME: Final = 2000
_TEXTS: Final = (  # the others are names
    "text", "details", "request", "answer", "settings", "hypothesis", "result", "error", "unit", "value", "before",
)  # fmt: skip
_RUN_ID: Final = re.compile("[0-9a-f]{12}")
_KEY: Final = re.compile("[0-9a-f]{64}")
_REMEDY: Final = "Export it again with `evidencebench store export`."
_KINDS: Final[Mapping[str, Mapping[str, tuple[type, ...]]]] = {
    "dataset": {"name": (str,), "sha256": (str,), "n_instances": (int,)},
    "run": dict.fromkeys(("id", "sha256", "retriever", "settings", "created_at", "variant", "name"), (str,)),
    "trained": dict.fromkeys(("digest", "dataset_sha256", "trained_at"), (str,))
    | dict.fromkeys(("instance_ids", "paper_ids"), (list,)),
    "answer": dict.fromkeys(("run", "task", "instance_id", "created_at"), (str,)),
    "note": dict.fromkeys(
        ("sha256", "instance_id", "task", "aspect_id", "author", "text", "created_at"), (str,)
    )
    | {"sentence": (int, type(None)), "run_id": (str, type(None)), "cause": (str, type(None))}
    | {"flagged": (bool,), "tags": (list,)},
    "paper": dict.fromkeys(("name", "hypothesis", "added_at", "pdf"), (str,))
    | {"number": (int,), "paper": (dict,)},
    "annotation": dict.fromkeys(("paper", "annotator", "hypothesis", "created_at"), (str,))
    | {"body": (dict,)},
    "reply": dict.fromkeys(("key", "model", "request", "answer", "created_at"), (str,)),
    **WING_KINDS,
    **CONSTRUCTION_KINDS,
}
_ANSWER: Final = {"ranking": list, "scores": list, "selection": list, "details": str}


def import_file(
    store: Store, path: Path, *, answers: bool = False, progress: Callable[[int, int], None] | None = None
) -> dict[str, tuple[int, int]]:
    """Bring in what `export_file` wrote, in one transaction.

    What is there already stays as it is. Of an annotator who has marked a paper in both stores, what was saved last
    stands; what stood before is a step back.

    Parameters
    ----------
    store : Store
    path : Path
    answers : bool
        Whether stored replies of language models come in too: what has one is not asked again.
    progress : callable, optional
        Called now and then with the bytes of the file that are done, and the bytes in all.

    Returns
    -------
    mapping of str to (int, int)
        By kind how many came in, and how many are in the file.

    Raises
    ------
    DataError
        If anything in the file is wrong, or about a dataset that the store does not have. The store is as it was.
    """
    with Source(Path(path)) as source, store.write() as db:
        importing = _Import(db, answers)
        n_records, ended = 0, False
        for number, line in enumerate(_lines(source, progress), start=1):
            try:
                record = orjson.loads(line)
                if number == 1:
                    _check_head(record)
                elif ended:
                    raise ValueError("stands behind the end")
                elif isinstance(record, dict) and "end" in record:
                    ended = True
                    if record["end"] != n_records:
                        raise ValueError(
                            f"says that {shown(record['end'])} lines stand before it, not {n_records}"
                        )
                else:
                    n_records += 1
                    importing.add(record)
            except EvidenceBenchError as error:
                problem = f"{error.place} {error.problem}"
                raise DataError(f"{path}, line {number}", problem, error.remedy) from error
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                problem = f"is not as it was written ({clipped_text(one_line(str(error)), 200)})"
                raise DataError(f"{path}, line {number}", problem, _REMEDY) from error
        if not ended:
            raise DataError(str(path), "is cut off, or no export of a store", _REMEDY)
        source.check_unchanged()
    return {kind: (importing.new[kind], total) for kind, total in importing.total.items()}


def _lines(source: Source, progress: Callable[[int, int], None] | None) -> Iterator[bytes]:
    rest = b""
    for chunk in source:
        if source.n_content > _LARGEST or len(rest) > _LONGEST_LINE:
            limit = _LARGEST if source.n_content > _LARGEST else _LONGEST_LINE
            what = "in all" if source.n_content > _LARGEST else "in one line"
            raise DataError(str(source.path), f"has more than {limit >> 20:,} MiB {what}", _REMEDY)
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines
        if progress is not None:
            progress(source.bytes_read, source.n_bytes)
    if rest:
        yield rest


def _check_head(record: Any) -> None:
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise ValueError("the file is no export of a store")
    if record.get("version") not in range(1, VERSION + 1):
        problem = (
            f"is of version {shown(record.get('version'))}, and this program reads versions up to {VERSION}"
        )
        raise DataError("the file", problem, "Update evidencebench-explorer, or export it again.")


class _Import:
    """Writes records inside the transaction that is open."""

    def __init__(self, db: sqlite3.Connection, answers: bool) -> None:
        self.db, self.answers = db, answers
        self.datasets = {info.sha256: info for info in datasets_in(db)}
        self.names: dict[str, str] = {}  # of the file's datasets, by hash
        self.runs: dict[str, DatasetInfo] = {}
        self.digests: set[str] = set()  # of the models behind the runs
        self.papers: dict[str, tuple[str, int]] = {}  # by key in the file: key here, number of sentences
        constructions = ConstructionImport(db, self.papers)
        self.rooms = dict.fromkeys(WING_KINDS, WingImport(db, constructions.subjects)) | dict.fromkeys(
            CONSTRUCTION_KINDS, constructions
        )
        self.new: Counter[str] = Counter()
        self.total: Counter[str] = Counter()
        self.latest = datetime.now(UTC) + timedelta(days=1)

    def add(self, record: Any) -> None:
        ((kind, values),) = record.items()
        for name, types in _KINDS[kind].items():
            if type(values[name]) not in types:
                raise ValueError(f"{kind}.{name} is {shown(values[name])}")
            longest = _LONGEST_TEXT if name in _TEXTS else _LONGEST_NAME
            if isinstance(values[name], str) and name != "pdf" and len(values[name]) > longest:
                raise ValueError(f"{kind}.{name} has {len(values[name]):,} characters")
        for name in ("created_at", "added_at", "trained_at"):
            if name in values and not datetime.fromisoformat(values[name]) <= self.latest:
                raise ValueError(f"{kind}.{name} is {shown(values[name])}, which is still to come")
        if kind == "chat_run" and values["subject"] in self.names:
            self.dataset_of(values["subject"])
        is_new = getattr(self.rooms.get(kind, self), kind)(values)
        if is_new is not None:
            self.total[kind] += 1
            self.new[kind] += is_new

    def dataset(self, values: dict[str, Any]) -> None:
        self.names[values["sha256"]] = values["name"]

    def dataset_of(self, sha256: str) -> DatasetInfo:
        if sha256 in self.datasets:
            return self.datasets[sha256]
        name = self.names.get(sha256, "")
        remedy = "Ingest that dataset first: it is told by the hash of its file, not by its name."
        raise DataError(
            "it", f"belongs to dataset {shown(name)} ({sha256[:12]}), which is not in the store", remedy
        )

    def n_sentences(self, info: DatasetInfo, instance_id: str) -> int:
        query = "SELECT n_sentences FROM instances WHERE dataset_id = ? AND instance_id = ?"
        row = self.db.execute(query, (info.id, instance_id)).fetchone()
        if row is None:
            raise SelectionError(f"instance {shown(instance_id)}", f"is not in {info.name}", _REMEDY)
        return int(row[0])

    def run(self, values: dict[str, Any]) -> bool:
        info, key = self.dataset_of(values["sha256"]), values["id"]
        settings = settings_from_json(values["settings"])
        if not _RUN_ID.fullmatch(key) or not _are_settings(*settings.values()):
            raise ValueError(f"the run is {shown(key)} with settings {shown(settings)}")
        run_label(values["retriever"], settings, values["variant"])  # an error where that cannot be
        row = (key, info.id, values["retriever"], values["settings"], values["variant"])
        columns = "id, dataset_id, retriever, settings, variant"
        there = self.db.execute(f"SELECT {columns} FROM runs WHERE id = ?", (key,)).fetchone()
        if there is not None and there != row:
            raise ValueError(f"the store has another run {key}")
        self.runs[key] = info
        self.digests |= {*trained_digests(key, settings)}
        if there is None:
            name = one_line(values["name"]).strip()
            insert = f"INSERT INTO runs ({columns}, name, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)"
            self.db.execute(insert, (*row, name, values["created_at"]))
        return there is None

    def trained(self, values: dict[str, Any]) -> None:
        if values["digest"] not in self.digests or set(
            map(type, values["instance_ids"] + values["paper_ids"])
        ) - {str}:
            raise ValueError("it is the training data of no run in the file")
        row = [
            values[name] if type(values[name]) is str else json.dumps(values[name])
            for name in _KINDS["trained"]
        ]
        names = ", ".join(_KINDS["trained"])
        self.db.execute(f"INSERT OR IGNORE INTO trained_models ({names}) VALUES (?, ?, ?, ?, ?)", row)

    def answer(self, values: dict[str, Any]) -> bool:
        run, task, instance_id = values["run"], values["task"], values["instance_id"]
        n_sentences = self.n_sentences(self.runs[run], instance_id)
        if task_named(task).name != task:
            raise ValueError(f"the task is {shown(task)}")
        answer = _answer(values, n_sentences)
        there = "SELECT 1 FROM retrievals WHERE run_id = ? AND task = ? AND instance_id = ?"
        if isinstance(answer, str) and self.db.execute(there, (run, task, instance_id)).fetchone():
            return False
        return keep_answers(self.db, run, {instance_id: {task: answer}}, ADD, values["created_at"]) > 0

    def note(self, values: dict[str, Any]) -> bool:
        info = self.dataset_of(values["sha256"])
        run_id, sentence = values["run_id"], values["sentence"]
        if run_id is not None and self.runs[run_id] != info:
            raise ValueError("the note is on a run over another dataset")
        if sentence is not None and not 0 <= sentence < self.n_sentences(info, values["instance_id"]):
            raise ValueError(f"the note is on sentence {sentence}")
        self.n_sentences(info, values["instance_id"])
        if {*map(type, values["tags"])} - {str}:
            raise ValueError(f"its tags are {shown(values['tags'])}")
        tags = tuple(values["tags"])
        fields = {
            name: value for name, value in values.items() if name in _KINDS["note"] and name != "sha256"
        }
        written = Note(**fields | {"run_id": run_id or "", "tags": tags})
        if (note := checked_note(written)) != written:
            raise ValueError(f"the note is {shown(written)}")
        row = asdict(note) | {"tags": json.dumps(note.tags), "run_id": run_id, "dataset_id": info.id}
        del row["dataset"]
        same = " AND ".join(f"{name} IS :{name}" for name in row)
        if self.db.execute(f"SELECT 1 FROM notes WHERE {same}", row).fetchone():
            return False
        marks = ", ".join(f":{name}" for name in row)
        self.db.execute(f"INSERT INTO notes ({', '.join(row)}) VALUES ({marks})", row)
        return True

    def paper(self, values: dict[str, Any]) -> bool:
        paper, pdf = Paper.from_dict(values["paper"]), base64.b64decode(values["pdf"], validate=True)
        DEFAULT_LIMITS.check_size(len(pdf), "its PDF")
        n_sentences, n_characters = len(paper.sentences), sum(map(len, paper.sentences))
        if (
            not 0 < n_sentences <= DEFAULT_LIMITS.max_sentences
            or n_characters > DEFAULT_LIMITS.max_characters
        ):
            raise ValueError(f"the paper has {n_sentences:,} sentences and {n_characters:,} characters")
        if pdf and not pdf.startswith(b"%PDF"):
            raise ValueError("what it was read from is no PDF")
        content = paper.as_dict()
        alike = self.db.execute(
            "SELECT id, body FROM own_papers WHERE paper_id = ? AND n_sentences = ? AND added_at = ?",
            (paper.paper_id, n_sentences, values["added_at"]),
        )
        number = next((number for number, body in alike if unpacked_rest(body) == content), None)
        is_new = number is None
        if is_new:
            row = (
                _clean(values["name"], 300),
                values["hypothesis"],
                paper.paper_id,
                paper.title,
                n_sentences,
            )
            number = self.db.execute(
                "INSERT INTO own_papers (name, hypothesis, paper_id, title, n_sentences, added_at, body, pdf)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (*row, values["added_at"], zstd_frames([orjson.dumps(content)])[0], pdf or None),
            ).lastrowid
        self.papers[f"own:{values['number']}"] = f"own:{number}", n_sentences
        return is_new

    def annotation(self, values: dict[str, Any]) -> bool:
        kind, _, rest = values["paper"].partition(":")
        if kind == "own":
            paper, n_sentences = self.papers[values["paper"]]
        else:
            sha256, _, instance_id = rest.partition(":")
            paper, n_sentences = values["paper"], self.n_sentences(self.dataset_of(sha256), instance_id)
        annotator = _clean(values["annotator"], 200)
        annotation = Annotation.from_dict(annotator, values["hypothesis"], values["body"])
        _check_annotation(annotation, n_sentences)
        of, body = (paper, annotator), json.dumps(annotation.as_dict(), ensure_ascii=False)
        kept = "FROM annotations WHERE paper = ? AND annotator = ?"
        same = f"SELECT 1 {kept} AND hypothesis = ? AND body = ?"
        if self.db.execute(same, (*of, annotation.hypothesis, body)).fetchone():
            return False
        head = "AND revision = (SELECT revision FROM annotation_heads WHERE paper = ? AND annotator = ?)"
        stands = self.db.execute(f"SELECT revision, created_at {kept} {head}", (*of, *of)).fetchone() or (
            0,
            "",
        )
        if stands[1] > values["created_at"]:
            return False
        (number,) = self.db.execute(f"SELECT coalesce(max(revision), 0) + 1 {kept}", of).fetchone()
        self.db.execute(
            "INSERT INTO annotations (paper, annotator, hypothesis, body, revision, parent, created_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (*of, annotation.hypothesis, body, number, stands[0], values["created_at"]),
        )
        head = "INSERT OR REPLACE INTO annotation_heads (paper, annotator, revision) VALUES (?, ?, ?)"
        self.db.execute(head, (*of, number))
        return True

    def reply(self, values: dict[str, Any]) -> bool:
        request = values["request"].encode()
        if not _KEY.fullmatch(values["key"]) or not isinstance(json.loads(request), dict):
            raise ValueError("the stored reply has no request")
        reply_of(values["key"], json.loads(values["answer"]))  # an error where it is none
        if not self.answers:
            return False
        row = (
            values["key"],
            values["model"],
            zstd_frames([request])[0],
            values["answer"],
            values["created_at"],
        )
        columns = ", ".join(_KINDS["reply"])
        insert = f"INSERT OR IGNORE INTO llm_answers ({columns}) VALUES (?, ?, ?, ?, ?)"
        return self.db.execute(insert, row).rowcount > 0


def _clean(name: str, longest: int) -> str:
    if not 0 < len(name) <= longest or clean_text(name) != name:
        raise ValueError(f"the name is {shown(name)}")
    return name


def _are_settings(*values: object) -> bool:
    return all(
        _are_settings(*one) if isinstance(one, tuple) else one is None or isinstance(one, str | int | float)
        for one in values
    )


def _answer(values: dict[str, Any], n_sentences: int) -> Retrieval | str:
    if "error" in values:
        if not isinstance(values["error"], str):
            raise ValueError(f"its error is {shown(values['error'])}")
        return values["error"]
    for name, wanted in _ANSWER.items():
        if not isinstance(values[name], wanted):
            raise ValueError(f"its {name} are {shown(values[name])}")
    ranking, selection = (
        validated_selection(values[name], n_sentences, name) for name in ("ranking", "selection")
    )
    scores = tuple(map(float, values["scores"]))
    details = json.loads(values["details"])
    if not isinstance(details, dict) or {*map(type, details.values())} - {str}:
        raise ValueError(f"its details are {shown(details)}")
    if len(ranking) != len(values["ranking"]) or len(selection) != len(values["selection"]):
        raise ValueError("it names a sentence twice")
    seconds = float(values["seconds"])
    if len(scores) not in (0, len(ranking)) or not 0 <= seconds < math.inf:
        raise ValueError(f"it has {len(scores)} scores, {len(ranking)} ranked sentences and took {seconds} s")
    return Retrieval(ranking, scores, selection, seconds, details)


def _check_annotation(annotation: Annotation, n_sentences: int) -> None:
    """An error unless it could have been made by hand."""
    by_hand = Annotation(annotation.annotator, annotation.hypothesis, n_sentences)
    for aspect in annotation.aspects:
        number = int(aspect.id.removeprefix("aspect_"))
        by_hand = add_aspect(replace(by_hand, n_made=number), aspect.text, aspect.is_result)
        by_hand = mark(by_hand, aspect.id, aspect.sentences)
    numbers = {aspect.id for aspect in annotation.aspects}
    known = all(type(one) is int for one in (annotation.n_made, annotation.n_sentences))
    results = all(type(aspect.is_result) is bool for aspect in annotation.aspects)
    if not (known and results and len(numbers) == len(annotation.aspects)):
        raise ValueError("its aspects are not as an annotator makes them")
    if (
        replace(by_hand, n_made=annotation.n_made) != annotation
        or not len(numbers) <= annotation.n_made < 10**6
    ):
        raise ValueError(f"it does not fit a paper of {n_sentences} sentences")
