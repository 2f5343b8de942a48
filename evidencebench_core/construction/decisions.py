"""People's decisions on a build, kept append-only, and the changes that they make to it (rules 36, 37).

A decision says what it was about. Where something else stands there now, it is stale: kept and shown, not applied.
"""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final, Literal, get_args

from evidencebench_core.construction.state import AspectDraft, Edits
from evidencebench_core.construction.store import ConstructionInfo, construction_info, forget_positions
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.papers.blocks import clean_text
from evidencebench_core.words import one_line

Verdict = Literal["accept", "reject", "edit", "add", "unsure"]
Mode = Literal["blind", "assisted"]
ITEM: Final = re.compile(
    r"hypothesis|summary|build|(?P<kind>aspect|result|uncovered):(?P<n>\d{1,4})|mark:(?P<of>\d{1,4}):(?P<s>\d{1,6})"
)
TAKEN_BACK: Final = "taken back"
"""The words of a decision ``unsure`` that undoes what its author said of the item: nothing then."""

_LONGEST: Final = 10_000  # characters of an edit
_IDS_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict on an item of a build.

    Attributes
    ----------
    item : str
        ``hypothesis``, ``summary``, ``aspect:N``, ``result:N``, ``mark:N:SENTENCE``; ``uncovered:N``: that no sentence
        covers the aspect; ``build``: rejected, it is dropped; accepted, a drop for the reason in ``words`` is no drop.
    verdict : str
    by : str
        A person; ``rule:NAME`` and ``model:NAME`` are no persons and finish nothing.
    mode : str
        ``"blind"`` if the person marked before seeing what a model proposed.
    words : str
        The new text of an edit or an addition; of a result ``"yes"`` or ``"no"``; `TAKEN_BACK`.
    about : str
        What stood there; see `Proposal.about`.
    """

    build: str
    item: str
    verdict: Verdict
    by: str
    mode: Mode = "assisted"
    words: str = ""
    about: str = ""
    at: str = ""  # ISO 8601, UTC; given when it is kept

    @property
    def is_taken_back(self) -> bool:
        return self.verdict == "unsure" and self.words == TAKEN_BACK


def add_decisions(store: Store, name: str, decisions: Sequence[Decision]) -> int:
    """Keep decisions about builds of a construction; their number.

    An aspect that is added under a number which another text had by then gets a free one, in all of ``decisions``.

    Raises
    ------
    SettingError
        If an item, a verdict or an author is none; nothing is kept then.
    """
    for one in decisions:
        check_decision(one)
    info, now = construction_info(store, name), datetime.now(UTC).isoformat(timespec="milliseconds")
    add = """INSERT INTO construction_decisions (construction_id, build, item, verdict, words, by, mode, about,
        decided_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"""
    with store.write() as db:
        rows = [
            (info.id, one.build, one.item, one.verdict, one.words, one.by, one.mode, one.about, now)
            for one in _with_free_numbers(db, info.id, decisions)
        ]
        db.executemany(add, rows)
        forget_positions(db, info.id, {one.build for one in decisions})
    return len(rows)


def _with_free_numbers(
    db: sqlite3.Connection, construction_id: int, decisions: Sequence[Decision]
) -> Iterator[Decision]:
    free: dict[tuple[str, str], int] = {}
    sql = """SELECT item, words FROM construction_decisions
        WHERE construction_id = ? AND build = ? AND verdict = 'add' AND item LIKE 'aspect:%'"""
    for one in decisions:
        if one.verdict == "add" and one.item.startswith("aspect:"):
            taken = dict(db.execute(sql, (construction_id, one.build)))
            if taken.get(one.item, one.words) != one.words:
                number = one.item.split(":")[1]
                free[one.build, number] = 1 + max(int(item.split(":")[1]) for item in taken)
    for one in decisions:
        kind, *numbers = one.item.split(":")
        new = free.get((one.build, numbers[0])) if numbers else None
        yield replace(one, item=":".join((kind, str(new), *numbers[1:]))) if new else one


def decisions_of(
    store: Store, info: ConstructionInfo, ids: Sequence[str] | None = None
) -> dict[str, tuple[Decision, ...]]:
    """All decisions of these builds, or of all, by build, in the order in which they were made."""
    found: dict[str, list[Decision]] = defaultdict(list)
    sql = """SELECT build, item, verdict, by, mode, words, about, decided_at FROM construction_decisions
        WHERE construction_id = ? {} ORDER BY decided_at, id"""
    parts: Iterable[Sequence[str]] = (
        ((),) if ids is None else (ids[i : i + _IDS_AT_ONCE] for i in range(0, len(ids), _IDS_AT_ONCE))
    )
    with store.read() as db:
        for some in parts:
            which = "" if ids is None else f"AND build IN ({', '.join('?' * len(some))})"
            for row in db.execute(sql.format(which), (info.id, *some)):
                found[row[0]].append(Decision(*row))
    return {build: tuple(of) for build, of in found.items()}


def is_item(text: str) -> bool:
    """Whether a text names something of a build to decide; see `Decision.item`."""
    return ITEM.fullmatch(text) is not None


def is_person(by: str) -> bool:
    """Whether an author is a person."""
    return not by.strip().casefold().startswith(("model:", "rule:"))


def edits_of(decisions: Iterable[Decision]) -> Edits:
    """The changes that people's decisions make to a build."""
    newest: dict[tuple[str, str, str], Decision] = {}
    for one in decisions:
        if is_person(one.by):
            newest.pop(key := (one.item, one.about, one.by), None)
            newest[key] = one
    said = [one for one in newest.values() if not one.is_taken_back]
    texts = {one.item: one.words for one in said if one.verdict == "edit"}
    results = {
        (int(one.item.split(":")[1]), one.about): one.words == "yes"
        for one in said
        if one.item.startswith("result:") and one.verdict != "unsure"
    }
    of_build = [one for one in said if one.item == "build"]
    overruled = frozenset(one.words for one in of_build if one.verdict == "accept" and one.words)
    aspects, gone, instead = _aspect_edits([one for one in said if one.item.startswith("aspect:")])
    return Edits(
        texts.get("summary", ""),
        texts.get("hypothesis", ""),
        aspects,
        gone,
        results,
        instead,
        overruled,  # type: ignore[arg-type]
        bool(of_build) and all(one.verdict == "reject" for one in of_build),
    )


def _aspect_edits(
    said: Sequence[Decision],
) -> tuple[tuple[AspectDraft, ...], frozenset[tuple[int, str]], dict[int, tuple[int, str]]]:
    """Aspects that are added, those that are gone, and by number of an added one the one that it stands for."""
    added: dict[int, Decision] = {}
    reworded: dict[tuple[str, str], tuple[int, str]] = {}  # by author and new text the old aspect
    unwanted: dict[tuple[int, str], dict[str, bool]] = defaultdict(dict)  # by author
    for one in said:
        number = int(one.item.split(":")[1])
        text = one.words if one.verdict == "add" else one.about
        unwanted[number, text][one.by] = one.verdict in ("reject", "edit")
        if one.verdict == "add":
            added[number] = one
        elif one.verdict == "edit":
            reworded[one.by, one.words] = number, text
    gone = {aspect for aspect, by in unwanted.items() if all(by.values())}
    instead = {n: reworded[one.by, one.words] for n, one in added.items() if (one.by, one.words) in reworded}
    replaced = set[tuple[int, str]]()
    for number in sorted(instead, reverse=True):  # one that was itself reworded later counts as standing, too
        if (aspect := (number, added[number].words)) not in gone or aspect in replaced:
            replaced.add(instead[number])
    return (
        tuple(AspectDraft(n, one.words, source="user") for n, one in added.items()),
        frozenset(gone | replaced),
        instead,
    )


def check_decision(one: Decision) -> None:
    """Raise a `SettingError` for what is no decision."""
    items = "hypothesis, summary, build, aspect:N, result:N, uncovered:N, mark:N:SENTENCE"
    if not ITEM.fullmatch(one.item):
        raise SettingError("item", f"is {shown(one.item)}", f"Name one of: {items}.")
    if one.verdict not in get_args(Verdict) or one.mode not in get_args(Mode):
        wrong = one.verdict if one.verdict not in get_args(Verdict) else one.mode
        known = ", ".join((*get_args(Verdict), *get_args(Mode)))
        raise SettingError("decision", f"is {shown(wrong)}", f"Choices are: {known}.")
    if not one.by.strip() or one_line(one.by) != one.by or len(one.by) > 100:
        raise SettingError(
            "author", f"is {shown(one.by)}", "Say who decides, in one line of at most 100 characters."
        )
    writes = one.verdict in ("edit", "add") and one.item.split(":")[0] in ("hypothesis", "summary", "aspect")
    if writes and not clean_text(one.words):
        raise SettingError(one.item, "has no text", "Write it, or reject what is there.")
    if len(one.words) > _LONGEST:
        raise SettingError(one.item, f"has {len(one.words):,} characters", f"Write at most {_LONGEST:,}.")
    if one.item.startswith("result:") and one.verdict != "unsure" and one.words not in ("yes", "no"):
        raise SettingError(one.item, f"is {shown(one.words)}", "Say yes or no.")
