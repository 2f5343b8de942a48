"""Raw retrievals as rows of the store."""

from __future__ import annotations

import json
import sqlite3
import struct
from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Final

import orjson

from evidencebench_core.data.packing import packed_nearest
from evidencebench_core.retrievers import Retrieval

Answers = Mapping[str, Mapping[str, Retrieval | str]]
"""By instance id and task name: the raw retrieval, or in one line why there is none."""

ADD: Final = """INSERT INTO retrievals
        (run_id, task, instance_id, ranking, scores, selection, seconds, details, error, outcome, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (run_id, task, instance_id) DO UPDATE SET
        ranking = excluded.ranking, scores = excluded.scores, selection = excluded.selection,
        seconds = excluded.seconds, details = excluded.details, error = excluded.error,
        outcome = excluded.outcome, created_at = excluded.created_at
    WHERE retrievals.error IS NOT NULL"""
_NEAREST: Final = (
    "INSERT OR REPLACE INTO nearest_sentences (run_id, task, instance_id, nearest) VALUES (?, ?, ?, ?)"
)
_EVIDENCE: Final = """SELECT b.body
    FROM runs JOIN instances AS i ON i.dataset_id = runs.dataset_id
    JOIN bodies AS b ON b.instance = i.id
    WHERE runs.id = ? AND i.instance_id = ?"""


def keep_answers(
    db: sqlite3.Connection, run_id: str, answers: Answers, sql: str, moment: str | None = None
) -> int:
    """Write answers, where none stands that stays, and where they have the aspects; how many were written."""
    moment, n_new = moment or now(), 0
    for instance_id, by_task in answers.items():
        evidence = db.execute(_EVIDENCE, (run_id, instance_id)).fetchone()
        for task, answer in by_task.items():
            key = run_id, task, instance_id
            is_new = db.execute(sql, (*key, *_columns(answer), moment)).rowcount
            n_new += is_new
            if is_new and evidence and not isinstance(answer, str):
                nearest = packed_nearest(answer.ranking, answer.scores, answer.selection, evidence[0])
                db.execute(_NEAREST, (*key, nearest))
    return n_new


def _columns(answer: Retrieval | str) -> tuple[bytes, bytes, bytes, float, str, str | None, str]:
    if isinstance(answer, str):
        return b"", b"", b"", 0.0, "{}", answer, ""
    details = dict(answer.details)
    try:
        text = orjson.dumps(details).decode()
    except orjson.JSONEncodeError:  # half a surrogate pair: only escaped can it be kept
        text = json.dumps(details)
    ranking, selection = (struct.pack(f"<{len(of)}i", *of) for of in (answer.ranking, answer.selection))
    scores = struct.pack(f"<{len(answer.scores)}d", *answer.scores)
    return ranking, scores, selection, answer.seconds, text, None, details.get("outcome", "")


def integers(blob: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(blob) // 4}i", blob)


def numbers(blob: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(blob) // 8}d", blob)


def retrieval_from(
    ranking: bytes, scores: bytes, selection: bytes, seconds: float = 0.0, details: str = "{}"
) -> Retrieval:
    described = MappingProxyType(json.loads(details))
    return Retrieval(integers(ranking), numbers(scores), integers(selection), seconds, described)


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
