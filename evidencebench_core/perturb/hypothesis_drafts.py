"""Drafts of other wordings of a dataset's hypotheses."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from evidencebench_core.data.store import Store
from evidencebench_core.perturb.drafts import COLUMNS, Draft, Drafts, Kind, draft_of_row
from evidencebench_core.perturb.wordings import (
    SET_WORDING,
    Wording,
    Wordings,
    add_wordings,
    check_instances,
    wording_problem,
)

if TYPE_CHECKING:
    from evidencebench_core.llm.conversation import Conversation

REVIEWED: Final = "made by a model, accepted in review"  # the source of wordings that were drafts


class HypothesisDrafts(Drafts):
    """The drafts beside one dataset: an accepted one is a wording, and no run sees it before.

    Raises
    ------
    UnknownNameError
        If there is no such dataset.
    """

    table: ClassVar = "hypothesis_drafts"
    owner: ClassVar = "dataset_id"
    subject: ClassVar = "instance_id"
    noun: ClassVar = "dataset"
    answer_tokens: ClassVar = 150  # a sentence or two of thought and the wording

    def __init__(self, store: Store, dataset: str) -> None:
        super().__init__(store, dataset, store.dataset(dataset).id)

    def ids(self, limit: int | None = None) -> Sequence[str]:
        return self.store.ids(self.name, limit)

    def conversations(
        self, wanted: Iterable[tuple[str, Kind]], model: str
    ) -> Iterator[tuple[Draft, Conversation[Draft]]]:
        """The empty draft for each id and kind, and the conversation that writes it.

        A wording that is empty or the original again is refused, and so is a paraphrase that has lost a term.
        """
        from evidencebench_core.llm.conversation import ChatRequest
        from evidencebench_core.llm.parse import parsed_hypothesis
        from evidencebench_core.llm.prompts import prompt
        from evidencebench_core.perturb.making import name_of, written

        wanted = list(wanted)
        rows = self.store.rows(self.name, dict.fromkeys(one for one, _ in wanted))
        hypotheses = {row.id: row.hypothesis for row in rows}
        for one, kind in wanted:
            draft = Draft(one, name_of(kind, model), hypotheses[one])
            request = ChatRequest(model, prompt(kind).messages(hypothesis=draft.original))
            yield draft, written(self, draft, request, parsed_hypothesis)

    def prompt_of(self, kind: Kind) -> str:
        from evidencebench_core.llm.prompts import prompt

        return str(prompt(kind))

    def problem(self, draft: Draft, text: str) -> str:
        return wording_problem(draft.original, text)

    def on_accept(self, db: sqlite3.Connection, draft: Draft) -> None:
        made_by = draft.made_by
        row = (self._key, draft.subject_id, draft.name, draft.wording, REVIEWED, made_by.reviewed_at)
        db.execute(SET_WORDING, (*row, made_by.as_json()))

    def on_withdraw(self, db: sqlite3.Connection, draft: Draft) -> None:
        """Remove the wording that the draft became, if it is that one still."""
        db.execute(
            "DELETE FROM hypothesis_variants WHERE dataset_id = ? AND instance_id = ? AND name = ? AND made_by = ?",
            (self._key, draft.subject_id, draft.name, draft.made_by.as_json()),
        )

    def add_file(self, wordings: Wordings, source: str) -> tuple[int, int]:
        """Keep what a variants file has: as drafts what a model made and nobody has accepted, else as wordings.

        Returns how many wordings there are more, and how many drafts. Raises as `add_wordings`; nothing is kept
        then.
        """
        check_instances(self.store, self.name, wordings, source)
        ids = sorted({one for by_id in wordings.values() for one in by_id})
        originals = {row.id: row.hypothesis for row in self.store.rows(self.name, ids)}
        ready: dict[str, dict[str, Wording]] = {}
        drafts = []
        for name, by_id in wordings.items():
            for one, wording in by_id.items():
                if wording.made_by.needs_review:
                    problem = wording_problem(originals[one], wording.text)
                    drafts.append(Draft(one, name, originals[one], wording.text, problem, wording.made_by))
                else:
                    ready.setdefault(name, {})[one] = wording
        n_ready = add_wordings(self.store, self.name, ready, source) if ready else 0
        return n_ready, self.add(drafts)

    def _rows(self, db: sqlite3.Connection, rest: str, values: Sequence[object]) -> Iterator[Draft]:
        rows = db.execute(
            f"SELECT d.instance_id, b.hypothesis, {COLUMNS} FROM hypothesis_drafts AS d"
            " JOIN instances AS i ON i.dataset_id = d.dataset_id AND i.instance_id = d.instance_id"
            " JOIN bodies AS b ON b.instance = i.id WHERE d.dataset_id = ? "
            + rest.format(order="ORDER BY i.position, d.name, d.id"),
            values,
        )
        for instance_id, hypothesis, *row in rows:
            yield draft_of_row(instance_id, hypothesis, row)
