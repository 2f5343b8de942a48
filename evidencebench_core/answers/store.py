"""Answer sets in the store, and the labels of a judge that a person corrected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import orjson

from evidencebench_core.answers.model import AnswerSet
from evidencebench_core.answers.read import counts
from evidencebench_core.data.named_sets import NamedSets
from evidencebench_core.data.primitives import digest, now
from evidencebench_core.data.store import Store


@dataclass(frozen=True, slots=True)
class AnswerSetInfo:
    """An answer set without its answers; ``sha256`` is of the content, which is what runs are about."""

    name: str
    sha256: str
    source: str
    counts: Mapping[str, int]
    added_at: str  # ISO 8601, UTC


def _set_info(name: str, sha256: str, source: str, numbers: str, added_at: str) -> AnswerSetInfo:
    return AnswerSetInfo(name, sha256, source, orjson.loads(numbers), added_at)


ANSWER_SETS: Final = NamedSets(
    "answer_sets",
    "answer set",
    ("name", "sha256", "source", "counts", "added_at"),
    _set_info,
    "There is none yet: `answers ingest` brings one in.",
)


def add_answers(store: Store, name: str, answers: AnswerSet, source: str = "") -> AnswerSetInfo:
    """Store answers under a name; if the store has the same answers under any name, that set is returned."""
    body = answers.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    sha256 = digest(body)
    values = {"source": source, "counts": orjson.dumps(counts(answers)).decode()}
    return ANSWER_SETS.add(store, name, sha256, body, values)


def stored_answers(store: Store, name: str) -> AnswerSet:
    """The answer set of this name; `UnknownNameError` if there is none."""
    return AnswerSet.model_validate(ANSWER_SETS.body(store, ANSWER_SETS.named(store, name)))


# -- what people decide about a judge's labels ------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Mark:
    """A person's decision about a judged unit: the label that it should have."""

    unit: str
    label: str
    author: str = ""


def add_mark(store: Store, subject: str, mark: Mark) -> None:
    """Store a decision about a unit of an answer set, given its sha256; an empty label withdraws it."""
    with store.write() as db:
        db.execute(
            "INSERT INTO answer_marks (subject, unit, label, author, created_at) VALUES (?, ?, ?, ?, ?)",
            (subject, mark.unit, mark.label, mark.author, now()),
        )


def marks(store: Store, subject: str) -> dict[str, Mark]:
    """The latest decision by unit, without those withdrawn."""
    with store.read() as db:
        rows = db.execute(
            "SELECT unit, label, author FROM answer_marks WHERE subject = ? ORDER BY id", (subject,)
        ).fetchall()
    newest = {row[0]: Mark(*row) for row in rows}
    return {unit: mark for unit, mark in newest.items() if mark.label}
