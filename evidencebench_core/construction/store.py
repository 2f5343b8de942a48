"""Constructions in the store: names, settings, the input of builds and the pools of papers, all append-only.

The newest settings of a construction, input of a build and reading of a paper count. Answers are chat runs, and
decisions have their own table; ``construction_positions`` is no more than a memory of what follows from all these.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote

import orjson

from evidencebench_core.construction.funnel import DropReason
from evidencebench_core.construction.state import BuildInput, ConstructionSettings, Pool, Position
from evidencebench_core.data.packing import unpacked, zstd_frames
from evidencebench_core.data.removal import counted
from evidencebench_core.data.store import Store
from evidencebench_core.errors import StoreError, UnknownNameError, did_you_mean, shown
from evidencebench_core.papers.paper import Paper
from evidencebench_core.runs.chat_runs import ChatRunSpec, delete_runs_about
from evidencebench_core.words import one_line

KEY: Final = "build:"
"""Begins the keys of builds' papers that are marked by hand."""

_LONGEST_NAME: Final = 100
_BATCH: Final = 500  # rows of a transaction
_NEWEST: Final = """SELECT {} FROM construction_builds AS b WHERE construction_id = :of
    AND id = (SELECT max(id) FROM construction_builds WHERE construction_id = :of AND build = b.build)"""


@dataclass(frozen=True, slots=True)
class ConstructionInfo:
    """A construction of the store without its builds."""

    id: int
    name: str
    n_builds: int
    settings: ConstructionSettings | None  # None: not run yet
    added_at: str  # ISO 8601, UTC

    @property
    def subject(self) -> str:
        """The subject of its chat runs."""
        return subject_of(self.name)


def subject_of(name: str) -> str:
    """The subject of the chat runs of a construction of this name."""
    return hashlib.sha256(f"construction\n{name}".encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class PaperRecord:
    """The result of reading a paper: a pool, or why there is none."""

    paper: str  # as `BuildInput.paper`
    pool: Pool | None
    reason: DropReason | None = None
    problem: str = ""


def constructions(store: Store) -> tuple[ConstructionInfo, ...]:
    """All constructions, in the order in which they were begun."""
    sql = """SELECT id, name, (SELECT count(DISTINCT build) FROM construction_builds WHERE construction_id = c.id),
        (SELECT body FROM construction_settings WHERE construction_id = c.id ORDER BY id DESC LIMIT 1),
        added_at FROM constructions AS c ORDER BY id"""
    with store.read() as db:
        rows = db.execute(sql).fetchall()
    return tuple(
        ConstructionInfo(key, name, n, None if body is None else settings_of(orjson.loads(body)), at)
        for key, name, n, body, at in rows
    )


def construction_info(store: Store, name: str) -> ConstructionInfo:
    """The construction of a name; `UnknownNameError` where there is none."""
    known = {one.name: one for one in constructions(store)}
    if name not in known:
        there = f"There are: {', '.join(known)}." if known else "Begin one: `evidencebench construct run`."
        problem = f"is not in {store.path}"
        remedy = did_you_mean(name, known, 0.5) + there
        raise UnknownNameError(f"construction {shown(name)}", problem, remedy)
    return known[name]


def settings_of(document: Mapping[str, Any]) -> ConstructionSettings:
    """Settings that were stored as JSON."""
    return ConstructionSettings(**{**document, "request": MappingProxyType(dict(document["request"]))})


def _document(settings: ConstructionSettings) -> dict[str, Any]:
    return asdict(replace(settings, request=dict(settings.request)))


def use_settings(store: Store, name: str, settings: ConstructionSettings) -> ConstructionInfo:
    """Take these settings for a construction from now on."""
    body = orjson.dumps(_document(settings), option=orjson.OPT_SORT_KEYS).decode()
    info = construction_info(store, name)
    if info.settings is None or _document(info.settings) != _document(settings):
        with store.write() as db:
            add = "INSERT INTO construction_settings (construction_id, body, used_at) VALUES (?, ?, ?)"
            db.execute(add, (info.id, body, _now()))
    return construction_info(store, name)


def add_builds(store: Store, name: str, builds: Iterable[BuildInput]) -> int:
    """Keep the input of builds, and begin the construction where there is none; the number that are new or changed.

    `StoreError` if the name is blank or too long. An input that is there already as it is adds nothing.
    """
    check_name(name)
    coming, added = iter(builds), 0
    while some := tuple(islice(coming, _BATCH)):
        bodies = {one.id: orjson.dumps(asdict(one), option=orjson.OPT_SORT_KEYS) for one in some}
        with store.write() as db:
            begin = "INSERT INTO constructions (name, added_at) VALUES (?, ?) ON CONFLICT (name) DO NOTHING"
            db.execute(begin, (name, _now()))
            (of,) = db.execute("SELECT id FROM constructions WHERE name = ?", (name,)).fetchone()
            there = _shas(db, of, tuple(bodies))
            new = {
                key: body
                for key, body in bodies.items()
                if there.get(key) != hashlib.sha256(body).hexdigest()
            }
            frames = zstd_frames(list(new.values()))
            db.executemany(
                "INSERT INTO construction_builds (construction_id, build, sha256, body, added_at)"
                " VALUES (?, ?, ?, ?, ?)",
                [
                    (of, key, hashlib.sha256(body).hexdigest(), frame, _now())
                    for (key, body), frame in zip(new.items(), frames, strict=True)
                ],
            )
            forget_positions(db, of, tuple(new))
        added += len(new)
    return added


def check_name(name: str) -> None:
    """Raise a `StoreError` for what cannot be the name of a construction."""
    if one_line(name).strip() != name or not 0 < len(name) <= _LONGEST_NAME:
        remedy = f"Give it a name of 1 to {_LONGEST_NAME} characters in one line."
        raise StoreError("name of the construction", f"is {shown(name)}", remedy)


def key_prefix(name: str) -> str:
    """Begins the keys under which the papers of a construction's builds are marked by hand."""
    return f"{KEY}{quote(name, safe='')}/"


def rename_construction(store: Store, name: str, new: str) -> ConstructionInfo:
    """Give a construction another name; its runs go with it, under other ids, as they are about its name.

    So does what was marked by hand on the papers of its builds.

    `StoreError` if the name is none, or taken.
    """
    info = construction_info(store, name)
    check_name(new)
    with store.write() as db:
        db.execute("PRAGMA defer_foreign_keys = ON")
        if db.execute("SELECT 1 FROM constructions WHERE name = ?", (new,)).fetchone():
            raise StoreError(f"construction {shown(new)}", "is there already", "Choose another name.")
        db.execute("UPDATE constructions SET name = ? WHERE id = ?", (new, info.id))
        runs = "SELECT id, settings FROM chat_runs WHERE subject = ?"
        for run_id, settings in db.execute(runs, (info.subject,)).fetchall():
            spec = ChatRunSpec("construction", subject_of(new), orjson.loads(settings))
            change = "UPDATE chat_runs SET id = ?, subject = ? WHERE id = ?"
            db.execute(change, (spec.id, spec.subject, run_id))
            for table in ("chat_results", "llm_batches"):
                db.execute(f"UPDATE {table} SET run_id = ? WHERE run_id = ?", (spec.id, run_id))
        keys = {"old": key_prefix(name), "new": key_prefix(new)}
        for table in ("annotations", "annotation_heads"):
            of = "substr(paper, 1, length(:old)) = :old"
            db.execute(f"UPDATE {table} SET paper = :new || substr(paper, length(:old) + 1) WHERE {of}", keys)
    return construction_info(store, new)


def construction_dependents(store: Store, name: str) -> dict[str, int]:
    """How many builds and runs go with a construction, by noun; without zeros."""
    info = construction_info(store, name)
    with store.read() as db:
        runs = counted(db, {"model run": "chat_runs WHERE subject = :subject"}, {"subject": info.subject})
    return {"build": info.n_builds} | runs


def delete_construction(store: Store, name: str) -> None:
    """Delete a construction with its builds and runs. Stored answers of models stay, and are found again."""
    info = construction_info(store, name)
    with store.write() as db:
        db.execute("DELETE FROM constructions WHERE id = ?", (info.id,))
        pools = "SELECT pool FROM construction_papers WHERE pool IS NOT NULL"
        db.execute(f"DELETE FROM construction_pools WHERE sha256 NOT IN ({pools})")
        delete_runs_about(db, info.subject)


def _shas(db: sqlite3.Connection, of: int, ids: Sequence[str]) -> dict[str, str]:
    newest = _NEWEST.format("build, sha256")
    return {
        build: sha256
        for one in ids
        for build, sha256 in db.execute(f"{newest} AND build = :build", {"of": of, "build": one})
    }


def build_ids(store: Store, name: str) -> tuple[str, ...]:
    """The builds of a construction, in the order of Unicode."""
    of = construction_info(store, name).id
    with store.read() as db:
        rows = "SELECT DISTINCT build FROM construction_builds WHERE construction_id = ? ORDER BY build"
        return tuple(build for (build,) in db.execute(rows, (of,)))


def build_inputs(store: Store, info: ConstructionInfo, ids: Iterable[str]) -> Iterator[BuildInput]:
    """The input of these builds as it stands, one after the other; `UnknownNameError` for one that is not there."""
    for one in ids:
        with store.read() as db:
            newest = f"{_NEWEST.format('body')} AND build = :build"
            row = db.execute(newest, {"of": info.id, "build": one}).fetchone()
        if row is None:
            problem = f"is not in the construction {shown(info.name)}"
            raise UnknownNameError(f"build {shown(one)}", problem, "`evidencebench construct list` has them.")
        raw = orjson.loads(unpacked(row[0]))
        lists = {key: tuple(raw[key]) for key in ("aspects", "section", "paragraph")}
        yield BuildInput(**(raw | lists))


# -- papers ---------------------------------------------------------------------------------------


def add_paper(
    store: Store,
    info: ConstructionInfo,
    source: str,
    read: Paper | tuple[DropReason, str],
    licence: str = "",
    sha256: str = "",
) -> None:
    """Keep what came of reading a paper of a construction; it counts from now on.

    Parameters
    ----------
    source : str
        As `BuildInput.paper`.
    read : Paper, or tuple of DropReason and str
        The paper, or why it cannot be had.
    licence : str
        As its file says.
    sha256 : str
        `pool_sha256` of the paper.
    """
    with store.write() as db:
        if isinstance(read, Paper):
            pool = orjson.dumps([list(read.sentences), list(read.sentence_types)])
            keep = (
                "INSERT INTO construction_pools (sha256, body) VALUES (?, ?) ON CONFLICT (sha256) DO NOTHING"
            )
            db.execute(keep, (sha256, zstd_frames([pool])[0]))
            values: tuple[str | None, ...] = (sha256, read.paper_id, read.title, licence, None, "")
        else:
            values = (None, "", "", "", *read)
        db.execute(
            "INSERT INTO construction_papers (construction_id, paper, pool, paper_id, title, licence, reason,"
            " problem, added_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (info.id, source, *values, _now()),
        )


def paper_record(store: Store, info: ConstructionInfo, source: str) -> PaperRecord | None:
    """The latest result of reading a paper; ``None`` if nobody has yet."""
    sql = """SELECT p.pool, p.paper_id, p.title, p.licence, p.reason, p.problem,
        (SELECT body FROM construction_pools WHERE sha256 = p.pool) FROM construction_papers AS p
        WHERE construction_id = ? AND paper = ? ORDER BY id DESC LIMIT 1"""
    with store.read() as db:
        row = db.execute(sql, (info.id, source)).fetchone()
    if row is None:
        return None
    sha256, paper_id, title, licence, reason, problem, body = row
    if body is None:
        return PaperRecord(source, None, reason, problem)
    sentences, types = orjson.loads(unpacked(body))
    return PaperRecord(source, Pool(sha256, paper_id, title, licence, tuple(sentences), tuple(types)))


def paper_ids(store: Store, info: ConstructionInfo) -> dict[str, str]:
    """By `BuildInput.paper` the ids of the papers that were read, as they were read last."""
    sql = "SELECT paper, pool, paper_id FROM construction_papers WHERE construction_id = ? ORDER BY id"
    with store.read() as db:
        newest = {paper: (pool, key) for paper, pool, key in db.execute(sql, (info.id,))}
    return {paper: key for paper, (pool, key) in newest.items() if pool is not None}


# -- positions ------------------------------------------------------------------------------------


def forget_positions(db: sqlite3.Connection, construction_id: int, ids: Iterable[str]) -> None:
    """Drop what is remembered of builds that have changed, in the transaction that is open."""
    gone = "DELETE FROM construction_positions WHERE construction_id = ? AND build = ?"
    db.executemany(gone, [(construction_id, one) for one in ids])


def keep_positions(
    store: Store, info: ConstructionInfo, fingerprint: str, positions: Mapping[str, Position]
) -> None:
    """Remember where builds stand, as their answers and these settings have it."""
    rows = [
        (info.id, build, fingerprint, one.stage, one.status, one.reason or "", one.problem[:500])
        for build, one in positions.items()
    ]
    with store.write(durable=False) as db:
        db.executemany("INSERT OR REPLACE INTO construction_positions VALUES (?, ?, ?, ?, ?, ?, ?)", rows)


def positions(
    store: Store, info: ConstructionInfo, fingerprint: str, status: str | None = None
) -> dict[str, Position]:
    """Where builds stand, as it is remembered for these settings: all, or those of one status."""
    sql = """SELECT build, stage, status, reason, problem FROM construction_positions
        WHERE construction_id = ?1 AND fingerprint = ?2 AND (?3 IS NULL OR status = ?3) ORDER BY build"""
    with store.read() as db:
        rows = db.execute(sql, (info.id, fingerprint, status)).fetchall()
    return {build: Position(stage, is_, reason or None, why) for build, stage, is_, reason, why in rows}


def position_counts(
    store: Store, info: ConstructionInfo, fingerprint: str
) -> dict[tuple[str, str, str], int]:
    """How many builds stand at each stage, with status and reason, by an index alone."""
    sql = """SELECT stage, status, reason, count(*) FROM construction_positions
        WHERE construction_id = ? AND fingerprint = ? GROUP BY stage, status, reason"""
    with store.read() as db:
        return {
            (stage, status, reason): n for stage, status, reason, n in db.execute(sql, (info.id, fingerprint))
        }


def position_problems(store: Store, info: ConstructionInfo, fingerprint: str, limit: int) -> dict[str, str]:
    """By build what a person should know of it, for the first so many of which there is something."""
    sql = """SELECT build, problem FROM construction_positions
        WHERE construction_id = ? AND fingerprint = ? AND problem <> '' ORDER BY build LIMIT ?"""
    with store.read() as db:
        return dict(db.execute(sql, (info.id, fingerprint, limit)).fetchall())


def unknown_positions(store: Store, info: ConstructionInfo, fingerprint: str) -> tuple[str, ...]:
    """The builds of which nothing is remembered for these settings."""
    sql = """SELECT DISTINCT build FROM construction_builds AS b WHERE construction_id = :of AND NOT EXISTS
        (SELECT 1 FROM construction_positions WHERE construction_id = :of AND build = b.build
        AND fingerprint = :fingerprint) ORDER BY build"""
    with store.read() as db:
        rows = db.execute(sql, {"of": info.id, "fingerprint": fingerprint}).fetchall()
    return tuple(build for (build,) in rows)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
