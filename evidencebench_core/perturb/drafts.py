"""Wordings that a model wrote, until somebody has decided on them.

A draft is no wording: no run sees it before somebody has accepted it, and who did so is kept with the wording.
It waits to be read, or was refused by our checks (a reader may still take it); from either it is accepted, as
it is or edited, or rejected; and every decision can be taken back.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, Literal, get_args

from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, UnknownNameError, shown
from evidencebench_core.perturb.wordings import (
    SET_WORDING,
    UNKNOWN,
    MadeBy,
    Wording,
    Wordings,
    add_wordings,
    check_instances,
    wording_problem,
)

DraftState = Literal["waiting", "refused", "accepted", "rejected"]
DRAFT_STATES: Final[tuple[DraftState, ...]] = get_args(DraftState)
REVIEWED: Final = "made by a model, accepted in review"  # the source of wordings that were drafts

_SELECT: Final = (
    "SELECT d.id, d.instance_id, d.name, b.hypothesis, d.text, d.problem, d.model, d.prompt, d.made_at,"
    " d.state, d.edited, d.reviewer, d.reviewed_at"
    " FROM intact_hypothesis_drafts AS d"
    " JOIN intact_instances AS i ON i.dataset_id = d.dataset_id AND i.instance_id = d.instance_id"
    " JOIN intact_bodies AS b ON b.instance = i.id WHERE d.dataset_id = ?"
)
_ADD: Final = (
    "INSERT INTO hypothesis_drafts (dataset_id, instance_id, name, text, problem, model, prompt, made_at, state)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (dataset_id, instance_id, name, model, prompt) DO UPDATE SET"
    " text = excluded.text, problem = excluded.problem, made_at = excluded.made_at, state = excluded.state,"
    " edited = NULL, reviewer = '', reviewed_at = ''"
    " WHERE text <> excluded.text OR problem <> excluded.problem"
)


@dataclass(frozen=True, slots=True)
class Draft:
    """One wording that a model wrote for an instance."""

    instance_id: str
    name: str  # of the wording it becomes when it is accepted: "negation", "paraphrase:gpt-x"
    original: str  # the instance's own hypothesis
    text: str  # the model's words; empty where no wording could be read from its answer
    problem: str = ""  # the objection of our checks
    made_by: MadeBy = UNKNOWN
    state: DraftState = "waiting"
    edited: str | None = None  # what the reviewer accepted instead of `text`
    id: int = 0  # in its store; 0 before it is there
    failed: bool = False  # whether the call for it failed: `problem` says why, and it is never kept

    @property
    def kind(self) -> str:
        """``"negation"`` or ``"paraphrase"``."""
        return self.name.partition(":")[0]

    @property
    def wording(self) -> str:
        """The words that are or would be accepted: the reviewer's words, else the model's."""
        return self.text if self.edited is None else self.edited

    def as_dict(self) -> dict[str, Any]:
        """JSON-able values."""
        fields = ("id", "instance_id", "name", "state", "original", "text", "edited", "problem")
        values = {name.removesuffix("_id"): getattr(self, name) for name in fields}
        return {**values, "made_by": self.made_by.as_dict()}


class Drafts:
    """The drafts beside one dataset.

    Raises
    ------
    UnknownNameError
        If there is no such dataset.
    """

    def __init__(self, store: Store, dataset: str) -> None:
        self.store, self.dataset = store, dataset
        self._key = store.dataset(dataset).id

    def add(self, drafts: Iterable[Draft]) -> int:
        """Keep what a model wrote, to be read; returns how many are new or have new words.

        Failed calls are not kept. Words that were there already stay in the state they have.
        """
        rows = [
            (
                self._key, one.instance_id, one.name, one.text, one.problem, one.made_by.model,
                one.made_by.prompt, one.made_by.made_at or _now(), "refused" if one.problem else "waiting",
            )
            for one in drafts
            if not one.failed
        ]  # fmt: skip
        with self.store.write() as db:
            return max(db.executemany(_ADD, rows).rowcount, 0)

    def add_file(self, wordings: Wordings, source: str) -> tuple[int, int]:
        """Keep what a variants file has: as drafts what a model made and nobody has accepted, else as wordings.

        Returns how many wordings there are more, and how many drafts. Raises as `add_wordings`; nothing is kept
        then.
        """
        check_instances(self.store, self.dataset, wordings, source)
        ids = sorted({one for by_id in wordings.values() for one in by_id})
        originals = {row.id: row.hypothesis for row in self.store.rows(self.dataset, ids)}
        ready: dict[str, dict[str, Wording]] = {}
        drafts = []
        for name, by_id in wordings.items():
            for one, wording in by_id.items():
                if wording.made_by.needs_review:
                    problem = wording_problem(originals[one], wording.text)
                    drafts.append(Draft(one, name, originals[one], wording.text, problem, wording.made_by))
                else:
                    ready.setdefault(name, {})[one] = wording
        n_ready = add_wordings(self.store, self.dataset, ready, source) if ready else 0
        return n_ready, self.add(drafts)

    def counts(self) -> dict[DraftState, int]:
        """How many there are in every state."""
        query = "SELECT state, count(*) FROM intact_hypothesis_drafts WHERE dataset_id = ? GROUP BY state"
        with self.store.read() as db:
            found: dict[str, int] = dict(db.execute(query, (self._key,)))
        return {state: found.get(state, 0) for state in DRAFT_STATES}

    def drafts(
        self, state: DraftState | None = None, limit: int | None = None, offset: int = 0
    ) -> tuple[Draft, ...]:
        """In the order of the dataset, those of one state or all."""
        query = f"{_SELECT} AND (? IS NULL OR d.state = ?) ORDER BY i.position, d.name, d.id LIMIT ? OFFSET ?"
        with self.store.read() as db:
            rows = db.execute(query, (self._key, state, state, -1 if limit is None else limit, offset))
            return tuple(map(_draft_of, rows.fetchall()))

    def known(self, model: str, prompts: Mapping[str, str]) -> frozenset[tuple[str, str]]:
        """Instance ids with kinds of which there is a draft by this model and the kind's prompt already."""
        query = "SELECT instance_id FROM intact_hypothesis_drafts WHERE dataset_id = ? AND model = ? AND prompt = ?"
        with self.store.read() as db:
            return frozenset(
                (instance_id, kind)
                for kind, prompt in prompts.items()
                for (instance_id,) in db.execute(query, (self._key, model, prompt))
            )

    def accept(
        self, draft_ids: Sequence[int], reviewer: str, words: Mapping[int, str] | None = None
    ) -> tuple[Draft, ...]:
        """Make wordings of drafts, all or none; `words` has by draft id what the reviewer wrote instead.

        A wording of the same name and instance gives way; if it had been a draft, that is rejected now.

        Raises
        ------
        UnknownNameError
            If the dataset has no such draft.
        SettingError
            If the reviewer has no name, or a text is no other wording of its hypothesis.
        """
        reviewer, moment = _name_of(reviewer), _now()
        with self.store.write() as db:
            for draft_id in draft_ids:
                draft = self._draft(db, draft_id)
                text = " ".join((words or {}).get(draft_id, draft.wording).split())
                if problem := wording_problem(draft.original, text) if text else "there are no words":
                    place = f"draft {draft_id}, {draft.instance_id}"
                    raise SettingError(place, f"cannot be accepted: {problem}", "Edit it.")
                edited = None if text == draft.text else text
                db.execute(
                    "UPDATE hypothesis_drafts SET state = 'rejected', reviewer = ?, reviewed_at = ?"
                    " WHERE dataset_id = ? AND instance_id = ? AND name = ? AND state = 'accepted'",
                    (reviewer, moment, self._key, draft.instance_id, draft.name),
                )
                self._decide(db, draft, "accepted", reviewer, moment, edited)
                is_edited = edited is not None
                made_by = replace(draft.made_by, reviewer=reviewer, reviewed_at=moment, edited=is_edited)
                row = (self._key, draft.instance_id, draft.name, text, REVIEWED, moment, made_by.as_json())
                db.execute(SET_WORDING, row)
            return tuple(self._draft(db, draft_id) for draft_id in draft_ids)

    def reject(self, draft_ids: Sequence[int], reviewer: str) -> None:
        """Decide against drafts; one that had been accepted is no wording any more. Raises as `accept`."""
        reviewer, moment = _name_of(reviewer), _now()
        with self.store.write() as db:
            for draft_id in draft_ids:
                self._decide(db, self._draft(db, draft_id), "rejected", reviewer, moment)

    def take_back(self, draft_ids: Sequence[int]) -> None:
        """Undo decisions: the drafts wait again, and are wordings no more.

        A wording that one of them had replaced does not come back, unless it was the data's own.
        """
        with self.store.write() as db:
            for draft_id in draft_ids:
                draft = self._draft(db, draft_id)
                self._decide(db, draft, "refused" if draft.problem else "waiting", "", "")

    def _draft(self, db: sqlite3.Connection, draft_id: int) -> Draft:
        row = db.execute(f"{_SELECT} AND d.id = ?", (self._key, draft_id)).fetchone()
        if row is None:
            remedy = "`evidencebench make-variants --dataset NAME --list` lists them."
            raise UnknownNameError(f"draft {draft_id}", f"is none of dataset {shown(self.dataset)}", remedy)
        return _draft_of(row)

    def _decide(
        self,
        db: sqlite3.Connection,
        draft: Draft,
        state: DraftState,
        reviewer: str,
        moment: str,
        edited: str | None = None,
    ) -> None:
        """The one transition: the wording that an accepted draft became goes, if it is that one still."""
        if draft.state == "accepted":
            db.execute(
                "DELETE FROM hypothesis_variants WHERE dataset_id = ? AND instance_id = ? AND name = ?"
                " AND made_by = ?",
                (self._key, draft.instance_id, draft.name, draft.made_by.as_json()),
            )
        db.execute(
            "UPDATE hypothesis_drafts SET state = ?, edited = ?, reviewer = ?, reviewed_at = ? WHERE id = ?",
            (state, edited, reviewer, moment, draft.id),
        )


def _draft_of(row: Sequence[Any]) -> Draft:
    number, instance_id, name, original, text, problem, model, prompt, made_at = row[:9]
    state, edited, reviewer, reviewed_at = row[9:]
    made_by = MadeBy(model, prompt, made_at, reviewer, reviewed_at, edited is not None)
    return Draft(instance_id, name, original, text, problem, made_by, state, edited, number)


def _name_of(reviewer: str) -> str:
    name = " ".join(reviewer.split())
    if not name or len(name) > 200 or not name.isprintable():
        raise SettingError("the reviewer", "has no name", "Say who read the drafts: it is kept with them.")
    return name


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
