"""Answer sets in the store, and what a person corrects or marks in them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal, get_args

import orjson

from evidencebench_core.answers.fields import Line, Placed
from evidencebench_core.answers.model import AnswerSet
from evidencebench_core.answers.read import answer_set, counts
from evidencebench_core.data.named_sets import NamedSets
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, UnknownNameError, shown
from evidencebench_core.runs.chat_runs import ChatRuns, delete_runs_about

What = Literal["label", "nuggets", "gold", "note"]
_WHATS: Final = get_args(What)
_LONGEST_VALUE: Final = 5_000


@dataclass(frozen=True, slots=True)
class AnswerSetInfo:
    """An answer set of the store without its answers.

    Attributes
    ----------
    sha256 : str
        Of its lines, whatever the set is called and in whichever order they stood: what runs are about.
    counts : mapping from str to int
        As `answers.read.counts`.
    """

    name: str
    sha256: str
    source: str
    counts: Mapping[str, int]
    added_at: str  # ISO 8601, UTC


@dataclass(frozen=True, slots=True)
class Mark:
    """A person's mark on a unit; append-only, the newest of each unit counts.

    Attributes
    ----------
    what : {"label", "nuggets", "gold", "note"}
        A corrected label of a judge; whether two nuggets are the ``same`` or ``different``; that gold missed a pair;
        a note on a unit, in words.
    unit : str
        The judged unit's id; of nuggets the JSON list of both texts, predicted first.
    value : str
        The label; ``""`` takes it back.
    before : str
        What the judge, or the matcher, had said.
    """

    what: What
    unit: str
    value: str
    author: str = ""
    before: str = ""
    created_at: str = ""


def _info(name: str, sha256: str, source: str, found: str, added_at: str) -> AnswerSetInfo:
    return AnswerSetInfo(name, sha256, source, orjson.loads(found), added_at)


ANSWER_SETS: Final = NamedSets(
    "answer_sets",
    "answer set",
    ("name", "sha256", "source", "counts", "added_at"),
    _info,
    "There is none yet: `answers ingest` brings one in.",
)


def add_answers(store: Store, name: str, lines: Sequence[Placed], source: str = "") -> AnswerSetInfo:
    """Keep the lines of `read_answers` under a name; where the store has the same, under whatever name, that set.

    Raises
    ------
    StoreError
        If the name is blank, too long or taken by other answers.
    """
    sha256, document = digest_and_counts(lines)
    rows = [line for _, line in lines]
    return ANSWER_SETS.add(store, name, sha256, rows, {"source": source, "counts": document})


def digest_and_counts(lines: Sequence[Placed]) -> tuple[str, str]:
    """The sha256 of lines in any order, and the counts of them as JSON; `DataError` if they do not go together."""
    sorted_lines = sorted(orjson.dumps(line, option=orjson.OPT_SORT_KEYS) for _, line in lines)
    sha256 = hashlib.sha256(b"\n".join(sorted_lines)).hexdigest()
    return sha256, orjson.dumps(counts(answer_set(lines))).decode()


def answer_sets(store: Store) -> tuple[AnswerSetInfo, ...]:
    """All answer sets, in the order in which they came."""
    return ANSWER_SETS.all(store)


def answer_set_info(store: Store, name: str) -> AnswerSetInfo:
    """An answer set without its answers; `UnknownNameError` where there is none of that name."""
    return ANSWER_SETS.named(store, name)


def stored_lines(store: Store, name: str) -> list[Line]:
    """The lines of an answer set as they came, with the sentences that answers were split into."""
    lines: list[Line] = ANSWER_SETS.body(store, ANSWER_SETS.named(store, name))
    return lines


def stored_answers(store: Store, name: str) -> AnswerSet:
    """An answer set of the store; `UnknownNameError` where there is none of that name."""
    return answer_set((f"answer set {shown(name)}", line) for line in stored_lines(store, name))


def rename_answers(store: Store, name: str, new: str) -> AnswerSetInfo:
    """Give an answer set another name, which must be free; its runs and marks stay with it."""
    return ANSWER_SETS.rename(store, name, new)


def delete_answers(store: Store, name: str) -> None:
    """Delete an answer set with its marks and its judges' runs; stored answers of models stay, and are found again."""
    with store.write() as db:
        sha256 = answer_set_info(store, name).sha256
        for table, column in (("answer_marks", "subject"), ("answer_sets", "sha256")):
            db.execute(f"DELETE FROM {table} WHERE {column} = ?", (sha256,))
        delete_runs_about(db, sha256)


# -- marks ----------------------------------------------------------------------------------------


def mark_subject(store: Store, name: str) -> str:
    """The subject of marks: the answer set of this name, else the dataset, else the run of answers of this id."""
    named = {info.name: info.sha256 for info in store.datasets()}
    named |= {info.name: info.sha256 for info in answer_sets(store)}
    if name in named:
        return named[name]
    try:
        return ChatRuns(store).run(name).id
    except UnknownNameError:
        remedy = f"Sets and datasets are: {', '.join(named) or 'none yet'}."
        problem = "is no answer set, no dataset and no run of answers"
        raise UnknownNameError(shown(name), problem, remedy) from None


def add_mark(store: Store, subject: str, mark: Mark) -> None:
    """Keep what a person said; ``subject``: sha256 of an answer set or a dataset, or id of the run of answers."""
    if mark.what not in _WHATS:
        raise SettingError("mark", f"is {shown(mark.what)}", f"Choices are: {', '.join(_WHATS)}.")
    for name, text in (("unit", mark.unit), ("value", mark.value), ("author", mark.author)):
        if len(text) > _LONGEST_VALUE:
            remedy = f"Give at most {_LONGEST_VALUE:,}."
            raise SettingError(f"mark, {name}", f"has {len(text):,} characters", remedy)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    values = (subject, mark.what, mark.unit, mark.value, mark.author, mark.before, mark.created_at or now)
    with store.write() as db:
        db.execute(
            "INSERT INTO answer_marks (subject, what, unit, value, author, before, created_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            values,
        )


def marks(store: Store, subject: str, what: What | None = None) -> list[Mark]:
    """The newest mark of each unit, those taken back left out, in the order in which units were first marked."""
    with store.read() as db:
        rows = db.execute(
            "SELECT what, unit, value, author, before, created_at FROM answer_marks"
            " WHERE subject = ? AND (?2 IS NULL OR what = ?2) ORDER BY created_at, id",
            (subject, what),
        ).fetchall()
    newest = {(row[0], row[1]): Mark(*row) for row in rows}
    return [mark for mark in newest.values() if mark.value]


def marks_document(store: Store, subject: str) -> dict[str, Any]:
    """Counts of the marks and the marks themselves, JSON-able: what is exported."""
    found = marks(store, subject)
    return {
        "subject": subject,
        "counts": dict(Counter(mark.what for mark in found)),
        "marks": [asdict(mark) for mark in found],
    }
