"""Wordings that a model wrote, until somebody has decided on them.

A draft waits to be read, or was refused by our checks (a reader may still take it); from either it is accepted, as
it is or edited, or rejected; and every decision can be taken back. Who accepted it is kept with the wording.
"""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, get_args

from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, UnknownNameError, shown
from evidencebench_core.perturb.wordings import UNKNOWN, MadeBy

if TYPE_CHECKING:
    from evidencebench_core.llm.conversation import Conversation

Kind = Literal["paraphrase", "negation"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
DraftState = Literal["waiting", "refused", "accepted", "rejected"]
DRAFT_STATES: Final[tuple[DraftState, ...]] = get_args(DraftState)


@dataclass(frozen=True, slots=True)
class Draft:
    """One wording that a model wrote."""

    subject_id: str  # of the instance or the item
    name: str  # of the wording it becomes when it is accepted: "negation", "paraphrase:gpt-x"
    original: str  # what it rewords
    text: str = ""  # the model's words; empty where no wording could be read from its answer
    problem: str = ""  # the objection of our checks
    made_by: MadeBy = UNKNOWN
    state: DraftState = "waiting"
    edited: str | None = None  # what the reviewer accepted instead of `text`
    id: int = 0  # in its store; 0 before it is there
    failed: bool = False  # whether the call for it failed: `problem` says why, and it is never kept
    about: str = ""  # what else a reader has to know: of a negated context the question and its answer

    @property
    def kind(self) -> str:
        """``"negation"`` or ``"paraphrase"``."""
        return self.name.partition(":")[0]

    @property
    def wording(self) -> str:
        """The words that are or would be accepted: the reviewer's words, else the model's."""
        return self.text if self.edited is None else self.edited

    def as_dict(self) -> dict[str, Any]:
        """JSON-able values of all but whose wording it is."""
        fields = ("id", "name", "state", "original", "text", "edited", "problem")
        values = {name: getattr(self, name) for name in fields}
        return {**values, "made_by": self.made_by.as_dict()}


class Drafts(ABC):
    """The drafts beside one dataset or one set of items, by its name."""

    table: ClassVar[str]
    owner: ClassVar[str]  # its column that names the dataset or the set
    subject: ClassVar[str]  # its column that names the instance or the item
    noun: ClassVar[str]  # of the owner, in messages
    answer_tokens: ClassVar[int]  # of an answer, before one is known
    can_check: ClassVar = False  # whether a second model can check negations

    def __init__(self, store: Store, name: str, key: int, checker: str = "") -> None:
        self.store, self.name, self._key, self.checker = store, name, key, checker

    # -- what is reworded ----------------------------------------------------------------------------

    @abstractmethod
    def ids(self, limit: int | None = None) -> Sequence[str]:
        """Those that can be reworded, in order."""

    @abstractmethod
    def conversations(
        self, wanted: Iterable[tuple[str, Kind]], model: str
    ) -> Iterator[tuple[Draft, Conversation[Draft]]]:
        """The empty draft for each id and kind, and the conversation that writes it."""

    @abstractmethod
    def prompt_of(self, kind: Kind) -> str:
        """Name and version of the prompt that makes a kind: ``"negation 1-3fa9c2d1"``."""

    @abstractmethod
    def problem(self, draft: Draft, text: str) -> str:
        """The objection to a text as such a wording, whoever wrote it; empty if there is none."""

    def tidy(self, text: str) -> str:
        """The text as it is kept."""
        return " ".join(text.split())

    @abstractmethod
    def on_accept(self, db: sqlite3.Connection, draft: Draft) -> None:
        """Do what else an accepted draft needs."""

    @abstractmethod
    def on_withdraw(self, db: sqlite3.Connection, draft: Draft) -> None:
        """Undo `on_accept`."""

    # -- reading -------------------------------------------------------------------------------------

    @abstractmethod
    def _rows(self, db: sqlite3.Connection, rest: str, values: Sequence[object]) -> Iterator[Draft]:
        """Drafts by the rest of a query over the table ``d``, in the order of what they reword."""

    def counts(self) -> dict[DraftState, int]:
        """How many there are in every state."""
        query = f"SELECT state, count(*) FROM {self.table} WHERE {self.owner} = ? GROUP BY state"
        with self.store.read() as db:
            found: dict[str, int] = dict(db.execute(query, (self._key,)))
        return {state: found.get(state, 0) for state in DRAFT_STATES}

    def drafts(
        self, state: DraftState | None = None, limit: int | None = None, offset: int = 0
    ) -> tuple[Draft, ...]:
        """Those of one state or all."""
        values = (self._key, state, state, -1 if limit is None else limit, offset)
        with self.store.read() as db:
            return tuple(self._rows(db, "AND (? IS NULL OR d.state = ?) {order} LIMIT ? OFFSET ?", values))

    def known(self, model: str, kinds: Sequence[Kind]) -> frozenset[tuple[str, str]]:
        """Ids with kinds of which there is a draft by this model and the kind's prompt, checked or decided on."""
        query = (
            f"SELECT {self.subject} FROM {self.table} WHERE {self.owner} = ? AND model = ? AND prompt = ?"
            " AND (checked_by = ? OR state IN ('accepted', 'rejected'))"
        )
        prompts = {kind: (self.prompt_of(kind), self.checker if kind == "negation" else "") for kind in kinds}
        with self.store.read() as db:
            return frozenset(
                (one, kind)
                for kind, prompt in prompts.items()
                for (one,) in db.execute(query, (self._key, model, *prompt))
            )

    def missing(
        self, model: str, kinds: Sequence[Kind], limit: int | None = None, *, fresh: bool = False
    ) -> list[tuple[str, Kind]]:
        """Ids with kinds that are still to be written, or all where they are to be written afresh."""
        known = frozenset() if fresh else self.known(model, kinds)
        return [(one, kind) for one in self.ids(limit) for kind in kinds if (one, kind) not in known]

    # -- writing -------------------------------------------------------------------------------------

    def add(self, drafts: Iterable[Draft]) -> int:
        """Keep what a model wrote, to be read; returns how many are new or have new words.

        Failed calls are not kept. Words that were there already stay in the state they have.
        """
        rows = [
            (
                self._key, one.subject_id, one.name, one.text, one.problem, one.made_by.model,
                one.made_by.prompt, one.made_by.made_at or now(), one.made_by.checked_by,
                "refused" if one.problem else "waiting",
            )
            for one in drafts
            if not one.failed
        ]  # fmt: skip
        statement = (
            f"INSERT INTO {self.table} ({self.owner}, {self.subject}, name, text, problem, model, prompt, made_at,"
            f" checked_by, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            f" ON CONFLICT ({self.owner}, {self.subject}, name, model, prompt) DO UPDATE SET"
            " text = excluded.text, problem = excluded.problem, made_at = excluded.made_at, state = excluded.state,"
            " checked_by = excluded.checked_by, edited = NULL, reviewer = '', reviewed_at = ''"
            " WHERE text <> excluded.text OR problem <> excluded.problem OR"
            " (checked_by <> excluded.checked_by AND state IN ('waiting', 'refused'))"
        )
        with self.store.write() as db:
            return max(db.executemany(statement, rows).rowcount, 0)

    def accept(
        self, draft_ids: Sequence[int], reviewer: str, words: Mapping[int, str] | None = None
    ) -> tuple[Draft, ...]:
        """Make wordings of drafts, all or none; `words` has by draft id what the reviewer wrote instead.

        A wording of the same name and subject gives way; if it had been a draft, that is rejected now.

        Raises
        ------
        UnknownNameError
            If there is no such draft.
        SettingError
            If the reviewer has no name, or a text is no other wording of its original.
        """
        reviewer, moment = _name_of(reviewer), now()
        with self.store.write() as db:
            for draft_id in draft_ids:
                draft = self._draft(db, draft_id)
                text = self.tidy((words or {}).get(draft_id, draft.wording))
                if problem := self.problem(draft, text) if text else "there are no words":
                    place = f"draft {draft_id}, {draft.subject_id}"
                    raise SettingError(place, f"cannot be accepted: {problem}", "Edit it.")
                db.execute(
                    f"UPDATE {self.table} SET state = 'rejected', reviewer = ?, reviewed_at = ?"
                    f" WHERE {self.owner} = ? AND {self.subject} = ? AND name = ? AND state = 'accepted'",
                    (reviewer, moment, self._key, draft.subject_id, draft.name),
                )
                edited = None if text == draft.text else text
                self._decide(db, draft, "accepted", reviewer, moment, edited)
                self.on_accept(db, self._draft(db, draft_id))
            return tuple(self._draft(db, draft_id) for draft_id in draft_ids)

    def reject(self, draft_ids: Sequence[int], reviewer: str) -> None:
        """Decide against drafts; one that had been accepted is no wording any more. Raises as `accept`."""
        reviewer, moment = _name_of(reviewer), now()
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
        draft = next(self._rows(db, "AND d.id = ?", (self._key, draft_id)), None)
        if draft is None:
            problem = f"is none of {self.noun} {shown(self.name)}"
            raise UnknownNameError(f"draft {draft_id}", problem, "--list lists them.")
        return draft

    def _decide(
        self,
        db: sqlite3.Connection,
        draft: Draft,
        state: DraftState,
        reviewer: str,
        moment: str,
        edited: str | None = None,
    ) -> None:
        """The one transition."""
        if draft.state == "accepted":
            self.on_withdraw(db, draft)
        db.execute(
            f"UPDATE {self.table} SET state = ?, edited = ?, reviewer = ?, reviewed_at = ? WHERE id = ?",
            (state, edited, reviewer, moment, draft.id),
        )


COLUMNS: Final = (
    "d.id, d.name, d.text, d.problem, d.model, d.prompt, d.made_at, d.state, d.edited, d.reviewer,"
    " d.reviewed_at, d.checked_by"
)
"""Of a draft's row, for `draft_of_row`."""


def draft_of_row(subject_id: str, original: str, row: Sequence[Any]) -> Draft:
    number, name, text, problem, model, prompt, made_at, state, edited, reviewer, reviewed_at, checked_by = (
        row
    )
    made_by = MadeBy(model, prompt, made_at, reviewer, reviewed_at, edited is not None, checked_by)
    return Draft(subject_id, name, original, text, problem, made_by, state, edited, number)


def _name_of(reviewer: str) -> str:
    name = " ".join(reviewer.split())
    if not name or len(name) > 200 or not name.isprintable():
        raise SettingError("the reviewer", "has no name", "Say who read the drafts: it is kept with them.")
    return name


def now() -> str:
    """This moment in ISO 8601, UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
