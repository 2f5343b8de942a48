"""Wordings that a model wrote and nobody has accepted yet: kept, read, accepted or rejected.

A draft is no wording: no run sees it before somebody has accepted it, and who did so is kept with the wording.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, UnknownNameError, shown
from evidencebench_core.perturb.draft import DRAFT_STATES, SELECT_DRAFTS, Draft, DraftState, draft_of
from evidencebench_core.perturb.made import Kind, MadeVariant, wording_problem
from evidencebench_core.perturb.made_by import MadeBy
from evidencebench_core.perturb.variants import KEEP_VARIANT, checked_instances, keep_variants
from evidencebench_core.perturb.variants_file import VariantsFile, Wordings

if TYPE_CHECKING:
    import sqlite3

__all__ = ["DRAFT_STATES", "REVIEWED", "Draft", "DraftState", "Drafts"]

REVIEWED: Final = "made by a model, accepted in review"
"""The source of wordings that were drafts."""

_KEEP: Final = (
    "INSERT INTO hypothesis_drafts (dataset_id, instance_id, name, text, problem, model, prompt, made_at, state)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (dataset_id, instance_id, name, model, prompt) DO UPDATE SET"
    " text = excluded.text, problem = excluded.problem, made_at = excluded.made_at, state = excluded.state,"
    " edited = NULL, reviewer = '', reviewed_at = ''"
    " WHERE text <> excluded.text OR problem <> excluded.problem"
)


class Drafts:
    """The drafts beside one dataset.

    Raises
    ------
    UnknownNameError
        If there is no such dataset.
    """

    def __init__(self, store: Store, dataset: str) -> None:
        self.store, self.dataset = store, dataset
        self._dataset_id = store.dataset(dataset).id

    def keep(self, made: Iterable[MadeVariant]) -> int:
        """Keep what a model wrote, to be read; returns how many are new or have new words.

        What our checks refused is kept as refused; failed calls are not kept. Words that were there already
        stay in the state they have.
        """
        return self._keep(
            (
                self._dataset_id, one.instance_id, one.name, one.said if one.text is None else one.text,
                one.problem, one.made_by.model, one.made_by.prompt, one.made_by.made_at,
                "waiting" if one.text is not None else "refused",
            )
            for one in made
            if not one.failed
        )  # fmt: skip

    def bring(self, file: VariantsFile, source: str) -> tuple[int, int]:
        """Keep a variants file: as drafts what a model made and nobody has accepted, else as wordings.

        Returns
        -------
        (int, int)
            How many wordings there are more, and how many drafts.

        Raises
        ------
        DataError
            As `keep_variants`; nothing is kept then.
        """
        wanted = checked_instances(self.store, self.dataset, file.wordings, source)
        hypotheses = {row.id: row.hypothesis for row in self.store.rows(self.dataset, wanted)}
        ready: Wordings = {}
        drafts = []
        for name, texts in file.wordings.items():
            for instance_id, text in texts.items():
                one = file.made_by.get(name, {}).get(instance_id, MadeBy())
                if not one.needs_review:
                    ready.setdefault(name, {})[instance_id] = text
                    continue
                problem = wording_problem(hypotheses[instance_id], text)
                state = "refused" if problem else "waiting"
                drafts.append(
                    (
                        self._dataset_id, instance_id, name, text, problem, one.model, one.prompt,
                        one.made_at or _now(), state,
                    )
                )  # fmt: skip
        n_ready = keep_variants(self.store, self.dataset, ready, source, file.made_by) if ready else 0
        return n_ready, self._keep(drafts)

    def _keep(self, rows: Iterable[tuple[int | str, ...]]) -> int:
        with self.store.write() as db:
            before = db.total_changes
            db.executemany(_KEEP, rows)
            return db.total_changes - before

    def counts(self) -> dict[DraftState, int]:
        """How many there are in every state."""
        with self.store.read() as db:
            found: dict[str, int] = dict(
                db.execute(
                    "SELECT state, count(*) FROM hypothesis_drafts WHERE dataset_id = ? GROUP BY state",
                    (self._dataset_id,),
                )
            )
        return {state: found.get(state, 0) for state in DRAFT_STATES}

    def stamp(self) -> str:
        """Changes whenever a draft does."""
        with self.store.read() as db:
            row = db.execute(
                "SELECT count(*), max(made_at), max(reviewed_at) FROM hypothesis_drafts WHERE dataset_id = ?",
                (self._dataset_id,),
            ).fetchone()
        return " ".join(map(str, row))

    def drafts(
        self, state: DraftState | None = None, limit: int | None = None, offset: int = 0
    ) -> tuple[Draft, ...]:
        """In the order of the dataset, those of one state or all."""
        with self.store.read() as db:
            rows = db.execute(
                f"{SELECT_DRAFTS} WHERE d.dataset_id = ? AND (? IS NULL OR d.state = ?)"
                " ORDER BY i.position, d.name, d.id LIMIT ? OFFSET ?",
                (self._dataset_id, state, state, -1 if limit is None else limit, offset),
            ).fetchall()
        return tuple(map(draft_of, rows))

    def draft(self, draft_id: int) -> Draft:
        """
        Raises
        ------
        UnknownNameError
            If the dataset has no such draft.
        """
        with self.store.read() as db:
            return self._draft_in(db, draft_id)

    def known(self, model: str, prompts: Mapping[Kind, str]) -> frozenset[tuple[str, str]]:
        """Instance ids with kinds of which there is a draft by this model and these prompts already."""
        with self.store.read() as db:
            return frozenset(
                (instance_id, kind)
                for kind, prompt in prompts.items()
                for (instance_id,) in db.execute(
                    "SELECT instance_id FROM hypothesis_drafts"
                    " WHERE dataset_id = ? AND model = ? AND prompt = ?",
                    (self._dataset_id, model, prompt),
                )
            )

    def accept(
        self, draft_ids: Sequence[int], reviewer: str, words: Mapping[int, str] | None = None
    ) -> tuple[Draft, ...]:
        """Make wordings of drafts, all or none; one of the same name and instance gives way, and if that
        had been a draft as well it is rejected now.

        Parameters
        ----------
        reviewer : str
            Who read them.
        words : mapping of int to str, optional
            By draft id what the reviewer wrote instead.

        Returns
        -------
        tuple of Draft
            As they are now.

        Raises
        ------
        UnknownNameError
            If the dataset has no such draft.
        SettingError
            If the reviewer has no name, or a text is no other wording of its hypothesis.
        """
        reviewer, moment = _named(reviewer), _now()
        with self.store.write() as db:
            for draft_id in draft_ids:
                draft = self._draft_in(db, draft_id)
                text = " ".join((words or {}).get(draft_id, draft.wording).split())
                if problem := wording_problem(draft.original, text) if text else "there are no words":
                    raise SettingError(
                        f"draft {draft_id}, {draft.instance_id}", f"cannot be accepted: {problem}", "Edit it."
                    )
                edited = None if text == draft.text else text
                one = draft.made_by
                made_by = MadeBy(one.model, one.prompt, one.made_at, reviewer, moment, edited is not None)
                db.execute(
                    KEEP_VARIANT,
                    (
                        self._dataset_id, draft.instance_id, draft.name, text, REVIEWED, moment,
                        made_by.as_json(),
                    ),
                )  # fmt: skip
                db.execute(
                    "UPDATE hypothesis_drafts SET state = 'rejected', reviewer = ?, reviewed_at = ?"
                    " WHERE dataset_id = ? AND instance_id = ? AND name = ? AND state = 'accepted'",
                    (reviewer, moment, self._dataset_id, draft.instance_id, draft.name),
                )
                self._decide(db, draft_id, "accepted", edited, reviewer, moment)
            return tuple(self._draft_in(db, draft_id) for draft_id in draft_ids)

    def reject(self, draft_ids: Sequence[int], reviewer: str) -> None:
        """Decide that drafts are of no use; one that had been accepted is no wording any more.

        Raises
        ------
        UnknownNameError, SettingError
            As `accept`.
        """
        reviewer, moment = _named(reviewer), _now()
        with self.store.write() as db:
            for draft_id in draft_ids:
                self._unkeep(db, self._draft_in(db, draft_id))
                self._decide(db, draft_id, "rejected", None, reviewer, moment)

    def take_back(self, draft_ids: Sequence[int]) -> None:
        """Undo what was decided: drafts wait again, and are wordings no more.

        A wording that one of them had replaced does not come back, unless it was the data's own.

        Raises
        ------
        UnknownNameError
            If the dataset has no such draft.
        """
        with self.store.write() as db:
            for draft_id in draft_ids:
                draft = self._draft_in(db, draft_id)
                self._unkeep(db, draft)
                self._decide(db, draft_id, "refused" if draft.problem else "waiting", None, "", "")

    def _draft_in(self, db: sqlite3.Connection, draft_id: int) -> Draft:
        row = db.execute(
            f"{SELECT_DRAFTS} WHERE d.dataset_id = ? AND d.id = ?", (self._dataset_id, draft_id)
        ).fetchone()
        if row is None:
            raise UnknownNameError(
                f"draft {draft_id}",
                f"is none of dataset {shown(self.dataset)}",
                "`evidencebench make-variants --dataset NAME --list` lists them.",
            )
        return draft_of(row)

    def _unkeep(self, db: sqlite3.Connection, draft: Draft) -> None:
        """Take away the wording that a draft became, if it is that one still."""
        if draft.state == "accepted":
            db.execute(
                "DELETE FROM hypothesis_variants WHERE dataset_id = ? AND instance_id = ? AND name = ?"
                " AND made_by = ?",
                (self._dataset_id, draft.instance_id, draft.name, draft.made_by.as_json()),
            )

    def _decide(
        self,
        db: sqlite3.Connection,
        draft_id: int,
        state: DraftState,
        edited: str | None,
        reviewer: str,
        moment: str,
    ) -> None:
        db.execute(
            "UPDATE hypothesis_drafts SET state = ?, edited = ?, reviewer = ?, reviewed_at = ? WHERE id = ?",
            (state, edited, reviewer, moment, draft_id),
        )


def _named(reviewer: str) -> str:
    name = " ".join(reviewer.split())
    if not name or len(name) > 200 or not name.isprintable():
        raise SettingError("the reviewer", "has no name", "Say who read the drafts: it is kept with them.")
    return name


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
