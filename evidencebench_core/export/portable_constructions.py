"""Constructions in an export of a store: their builds, papers and what people decided, written, and brought in.

Their answers are chat runs about the digest of their name. Where the store has another construction of that name, one
that comes in gets a number, and its runs are about that name.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from pathlib import PurePath
from typing import Any, Final, get_args

import orjson

from evidencebench_core.construction import BuildInput, Pool, build_input, pool_sha256
from evidencebench_core.construction.decisions import Decision, check_decision
from evidencebench_core.construction.funnel import DropReason
from evidencebench_core.construction.store import check_name, forget_positions, settings_of, subject_of
from evidencebench_core.data.model import SentenceType
from evidencebench_core.data.packing import unpacked, zstd_frames
from evidencebench_core.errors import shown
from evidencebench_core.papers import DEFAULT_LIMITS
from evidencebench_core.papers.licence import LICENCES
from evidencebench_core.papers.own import OWN

Record = tuple[str, dict[str, Any]]  # kind and content

_PAPER: Final = ("paper", "pool", "paper_id", "title", "licence", "reason", "problem", "added_at")
_DECISION: Final = tuple(field.name for field in fields(Decision) if field.name != "at")
CONSTRUCTION_KINDS: Final[Mapping[str, Mapping[str, tuple[type, ...]]]] = {
    "construction": {"name": (str,), "added_at": (str,), "settings": (list,)},
    "pool": {"sha256": (str,), "sentences": (list,), "sentence_types": (list,)},
    "read_paper": dict.fromkeys(("construction", "paper", "paper_id", "title", "licence"), (str,))
    | dict.fromkeys(("problem", "added_at"), (str,))
    | dict.fromkeys(("pool", "reason"), (str, type(None))),
    "build": {"construction": (str,), "body": (dict,), "added_at": (str,)},
    "decision": dict.fromkeys(("construction", *_DECISION, "decided_at"), (str,)),
}


def construction_records(db: sqlite3.Connection, subjects: frozenset[str] | None) -> Iterator[Record]:
    """The constructions that are among these subjects of chat runs, or all."""
    found = db.execute("SELECT id, name, added_at FROM intact_constructions ORDER BY id").fetchall()
    for key, name, added_at in found:
        if subjects is not None and subject_of(name) not in subjects:
            continue
        of = "WHERE construction_id = ? ORDER BY id"
        settings = db.execute(f"SELECT body, used_at FROM intact_construction_settings {of}", (key,))
        yield "construction", {"name": name, "added_at": added_at, "settings": settings.fetchall()}
        pools = "SELECT pool FROM construction_papers WHERE construction_id = ?"
        bodies = f"SELECT sha256, body FROM intact_construction_pools WHERE sha256 IN ({pools})"
        for sha256, body in db.execute(bodies, (key,)):
            sentences, types = orjson.loads(unpacked(body))
            yield "pool", {"sha256": sha256, "sentences": sentences, "sentence_types": types}
        papers = f"SELECT {', '.join(_PAPER)} FROM intact_construction_papers {of}"
        for row in db.execute(papers, (key,)):
            paper = dict(zip(_PAPER, row, strict=True))
            problem = paper["problem"].replace(paper["paper"], source := _source(paper["paper"]))
            yield "read_paper", paper | {"construction": name, "paper": source, "problem": problem}
        for body, at in db.execute(f"SELECT body, added_at FROM intact_construction_builds {of}", (key,)):
            build = orjson.loads(unpacked(body))
            build["paper"] = _source(build["paper"])
            yield "build", {"construction": name, "body": build, "added_at": at}
        columns = (*_DECISION, "decided_at")
        decisions = f"SELECT {', '.join(columns)} FROM intact_construction_decisions {of}"
        for row in db.execute(decisions, (key,)):
            yield "decision", {"construction": name, **dict(zip(columns, row, strict=True))}


def _source(paper: str) -> str:
    """Where a paper is from, without folders of this machine."""
    path = PurePath(paper)
    return f"{hashlib.sha256(paper.encode()).hexdigest()[:8]}/{path.name}" if path.is_absolute() else paper


class ConstructionImport:
    """Writes such records inside the transaction that is open.

    Each method takes a record's content and says whether it is new, or nothing where it is only part of another. Of a
    construction that is there already builds, papers and settings stay as they are.
    """

    def __init__(self, db: sqlite3.Connection, own_papers: Mapping[str, tuple[str, int]]) -> None:
        self.db, self.own_papers = db, own_papers
        self.subjects: dict[str, str] = {}  # by subject in the file that of the store
        self._of: dict[str, int] = {}  # by name in the file
        self._there: dict[str, set[str]] = {}  # the builds, and the papers, that were there before

    def construction(self, values: dict[str, Any]) -> bool:
        check_name(values["name"])
        for body, used_at in values["settings"]:
            settings_of(orjson.loads(body))
            _check_texts(body, used_at)
        name, number = values["name"], 1
        find = "SELECT id, added_at FROM constructions WHERE name = ?"
        while (row := self.db.execute(find, (name,)).fetchone()) and row[1] != values["added_at"]:
            number += 1
            name = f"{values['name'][:90]} {number}"
        is_new = row is None
        if row is None:
            begin = "INSERT INTO constructions (name, added_at) VALUES (?, ?) RETURNING id"
            row = self.db.execute(begin, (name, values["added_at"])).fetchone()
            add = "INSERT INTO construction_settings (construction_id, body, used_at) VALUES (?, ?, ?)"
            self.db.executemany(add, [(row[0], *one) for one in values["settings"]])
        self._of[values["name"]] = row[0]
        self.subjects[subject_of(values["name"])] = subject_of(name)
        there = "SELECT build FROM construction_builds WHERE construction_id = ?1 UNION"
        there += " SELECT 'paper ' || paper FROM construction_papers WHERE construction_id = ?1"
        self._there[values["name"]] = {one for (one,) in self.db.execute(there, (row[0],))}
        return is_new

    def pool(self, values: dict[str, Any]) -> None:
        sentences, types = tuple(values["sentences"]), tuple(values["sentence_types"])
        _check_texts(*sentences)
        DEFAULT_LIMITS.check_size(sum(map(len, sentences)), "a paper")
        if len(sentences) != len(types) or set(types) - set(get_args(SentenceType)):
            raise ValueError("sentences and their types do not fit each other")
        if pool_sha256(Pool("", "", "", "", sentences, types)) != values["sha256"]:
            raise ValueError("a paper has other sentences than it had")
        keep = "INSERT INTO construction_pools (sha256, body) VALUES (?, ?) ON CONFLICT (sha256) DO NOTHING"
        self.db.execute(keep, (values["sha256"], zstd_frames([orjson.dumps([sentences, types])])[0]))

    def read_paper(self, values: dict[str, Any]) -> None:
        of, pool, reason = values["construction"], values["pool"], values["reason"]
        known = "SELECT 1 FROM construction_pools WHERE sha256 = ?"
        if (pool is None) == (reason is None) or reason not in (None, *get_args(DropReason)):
            raise ValueError(f"the paper is neither there nor dropped: {shown(reason)}")
        if pool is not None and not self.db.execute(known, (pool,)).fetchone():
            raise ValueError(f"the paper has no sentences under {shown(pool)}")
        if values["licence"] not in ("", *LICENCES):
            raise ValueError(f"the licence is {shown(values['licence'])}")
        paper = self._paper(values["paper"])
        if f"paper {paper}" not in self._there[of]:
            row = values | {"construction": self._of[of], "paper": paper}
            marks = ", ".join(f":{one}" for one in _PAPER)
            add = f"INSERT INTO construction_papers (construction_id, {', '.join(_PAPER)})"
            self.db.execute(f"{add} VALUES (:construction, {marks})", row)

    def _paper(self, source: str) -> str:
        """The same of this store, where kept papers have other numbers; one that did not come along has none."""
        if not source.startswith(OWN):
            return source
        return self.own_papers[source][0] if source in self.own_papers else f"{source} of another store"

    def build(self, values: dict[str, Any]) -> bool:
        build = build_input(values["body"])
        body = asdict(build) | {"paper": self._paper(build.paper)}
        packed = orjson.dumps(asdict(BuildInput(**body)), option=orjson.OPT_SORT_KEYS)
        if build.id in self._there[values["construction"]]:
            return False
        add = """INSERT INTO construction_builds (construction_id, build, sha256, body, added_at)
            VALUES (?, ?, ?, ?, ?)"""
        digest = hashlib.sha256(packed).hexdigest()
        of = self._of[values["construction"]]
        self.db.execute(add, (of, build.id, digest, zstd_frames([packed])[0], values["added_at"]))
        return True

    def decision(self, values: dict[str, Any]) -> bool:
        check_decision(Decision(**{name: values[name] for name in _DECISION}))
        row = values | {"construction": self._of[values["construction"]]}
        columns = (*_DECISION, "decided_at")
        same = " AND ".join(f"{name} = :{name}" for name in columns)
        find = f"SELECT 1 FROM construction_decisions WHERE construction_id = :construction AND {same}"
        if self.db.execute(find, row).fetchone():
            return False
        marks = ", ".join(f":{name}" for name in columns)
        add = f"INSERT INTO construction_decisions (construction_id, {', '.join(columns)})"
        self.db.execute(f"{add} VALUES (:construction, {marks})", row)
        forget_positions(self.db, row["construction"], [values["build"]])
        return True


def _check_texts(*values: object) -> None:
    if set(map(type, values)) - {str}:
        raise ValueError(f"it is {shown(json.dumps(values)[:100])}")
