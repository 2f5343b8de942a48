"""Paraphrases of an item set's questions and negations of its contexts: drafts by a model, and those that runs use."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar, Final

import orjson

from evidencebench_core.data.packing import unpacked, zstd_frames
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, UnknownNameError, shown
from evidencebench_core.perturb.drafts import COLUMNS, Draft, Drafts, DraftState, Kind, draft_of_row
from evidencebench_core.perturb.wordings import MadeBy, wording_problem
from evidencebench_core.reliability.items import Item, ItemWording, ItemWordings, item_set
from evidencebench_core.reliability.tasks import reliability_task

if TYPE_CHECKING:
    from evidencebench_core.llm.conversation import Conversation

_MARKS: Final[dict[Kind, str]] = {"paraphrase": "NEW QUESTION", "negation": "NEW CONTEXT"}
_PROMPTS: Final[dict[Kind, str]] = {
    "paraphrase": "reliability-paraphrase",
    "negation": "reliability-negation",
}
_OPPOSITE: Final = {"yes": "no", "no": "yes"}
_YES_NO: Final = ("yes", "no")


class ItemDrafts(Drafts):
    """The drafts beside one set of questions; items that are answered yes or no have them.

    Parameters
    ----------
    store : Store
    items : str
        Name of the set.
    checker : str
        A model that answers each question from the negated context: where it does not give the opposite of the
        gold label, the draft is refused. Empty: no model checks.

    Raises
    ------
    UnknownNameError
        If there is no such item set.
    SettingError
        If it holds no questions.
    """

    table: ClassVar = "item_drafts"
    owner: ClassVar = "item_set_id"
    subject: ClassVar = "item_id"
    noun: ClassVar = "item set"
    answer_tokens: ClassVar = 350  # a question has some 40, an abstract some 400
    can_check: ClassVar = True

    def __init__(self, store: Store, items: str, checker: str = "") -> None:
        self._items = item_set(store, items)
        if self._items.kind != "questions":
            remedy = "Reword its hypotheses on the page Wording, and make the item set again."
            raise SettingError(f"item set {shown(items)}", "was not made of questions and contexts", remedy)
        with store.read() as db:
            row = db.execute("SELECT id FROM item_sets WHERE sha256 = ?", (self._items.sha256,)).fetchone()
        if row is None:  # deleted meanwhile
            raise UnknownNameError(
                f"item set {shown(items)}", f"is not in {store.path}", "Choose another one."
            )
        super().__init__(store, items, row[0], checker)

    @cached_property
    def _by_id(self) -> dict[str, Item]:
        return {item.id: item for item in self._items.items}

    def ids(self, limit: int | None = None) -> Sequence[str]:
        return [item.id for item in self._items.items if item.answer in _YES_NO and item.context][:limit]

    def prompt_of(self, kind: Kind) -> str:
        from evidencebench_core.llm.prompts import prompt

        return str(prompt(_PROMPTS[kind]))

    def conversations(
        self, wanted: Iterable[tuple[str, Kind]], model: str
    ) -> Iterator[tuple[Draft, Conversation[Draft]]]:
        """The empty draft for each id and kind, and the conversation that writes it, and checks a negation.

        A wording that is empty or the original again is refused, and so is a question without a question mark or
        one that has lost a term.
        """
        from evidencebench_core.llm.prompts import prompt
        from evidencebench_core.llm.request import ChatRequest
        from evidencebench_core.perturb.making import name_of, written

        for one, kind in wanted:
            item = self._by_id[one]
            fields = {"question": item.question, "context": item.text, "answer": item.answer or ""}
            draft = self._with_texts(Draft(one, name_of(kind, model), ""))
            request = ChatRequest(model, prompt(_PROMPTS[kind]).messages(**fields))
            mark = _MARKS[kind]
            conversation = written(
                self,
                draft,
                request,
                partial(_behind, mark),
                f"{mark}: Not {draft.original}",
            )
            is_checked = kind == "negation" and self.checker
            yield draft, self._checked(conversation, item) if is_checked else conversation

    def _checked(self, conversation: Conversation[Draft], item: Item) -> Conversation[Draft]:
        """The draft, and what the checker answers from it."""
        from evidencebench_core.llm.conversation import Ask
        from evidencebench_core.llm.labels import read_label
        from evidencebench_core.llm.prompts import prompt
        from evidencebench_core.llm.request import ChatRequest

        draft = yield from conversation
        if draft.problem:
            return draft
        messages = prompt(reliability_task("baseline").prompts["questions"]).messages(
            question=item.question, context=draft.text
        )
        (answer,) = yield [Ask("check", ChatRequest(self.checker, messages))]
        read = read_label(answer.text, _YES_NO, refusal=answer.refusal, finish_reason=answer.finish_reason)
        opposite = _OPPOSITE[str(item.answer)]
        draft = replace(draft, made_by=replace(draft.made_by, checked_by=self.checker))
        if read.label == opposite:
            return draft
        problem = f"{self.checker} answers {read.label or 'neither yes nor no'} from it, not {opposite}"
        return replace(draft, problem=problem, state="refused")

    def problem(self, draft: Draft, text: str) -> str:
        kind: Kind = "negation" if draft.kind == "negation" else "paraphrase"
        if problem := wording_problem(draft.original, text, _MARKS[kind]):
            return problem
        return "it ends with no question mark" if kind == "paraphrase" and not text.endswith("?") else ""

    def tidy(self, text: str) -> str:
        """The text as it is kept: paragraphs with a blank line between them."""
        paragraphs = (" ".join(one.split()) for one in re.split(r"\n\s*\n", text))
        return "\n\n".join(filter(None, paragraphs))

    def on_accept(self, db: sqlite3.Connection, draft: Draft) -> None:
        """Nothing more: runs use accepted drafts as they stand."""

    def on_withdraw(self, db: sqlite3.Connection, draft: Draft) -> None:
        """Nothing more."""

    def wordings(self, kind: Kind, reviewed_only: bool = False) -> ItemWordings:
        """Those that a run uses now, by item id: of each name the accepted draft, else the latest that waits.

        What was refused by the checks, or rejected, is not among them. Wordings that came with the items are, where
        no draft takes their place.
        """
        found: dict[str, dict[str, ItemWording]] = {item.id: {} for item in self._items.items}
        for item in self._items.items:
            own = {name: text for name, text in item.wordings.items() if name.partition(":")[0] == kind}
            found[item.id] |= {name: ItemWording(name, text) for name, text in own.items()}
        states: tuple[DraftState, ...] = ("accepted",) if reviewed_only else ("waiting", "accepted")
        for state in states:
            for draft in self.drafts(state):
                if draft.kind == kind:
                    reviewed = state == "accepted"
                    wording = ItemWording(draft.name, draft.wording, draft.made_by, reviewed)
                    found[draft.subject_id][draft.name] = wording
        return {one: tuple(by[name] for name in sorted(by)) for one, by in found.items() if by}

    def _with_texts(self, draft: Draft) -> Draft:
        item = self._by_id[draft.subject_id]
        if draft.kind == "negation":
            about = (
                f"{item.question} Gold: {item.answer}. The draft must make it {_OPPOSITE[str(item.answer)]}."
            )
            return replace(draft, original=item.text, about=about)
        return replace(draft, original=item.question)

    def _rows(self, db: sqlite3.Connection, rest: str, values: Sequence[object]) -> Iterator[Draft]:
        rows = db.execute(
            f"SELECT d.item_id, {COLUMNS} FROM item_drafts AS d WHERE d.item_set_id = ? "
            + rest.format(order="ORDER BY d.id"),
            values,
        )
        for item_id, *row in rows:
            yield self._with_texts(draft_of_row(item_id, "", row))


def _behind(mark: str, text: str) -> str:
    """The text behind the last mark of an answer, without quotes and bold."""
    from evidencebench_core.llm.parse import after_thinking

    _, *after = re.split(rf"(?<!\w){mark}[ \t*_`]*[:：]", after_thinking(text) or "", flags=re.IGNORECASE)
    return after[-1].strip(" \t\n*_`\"'“”‘’„«»") if after else ""


def decisions_about(store: Store, items_sha256: str) -> tuple[int, str]:
    """How many drafts of an item set are accepted, and when the last decision was: changes with every review."""
    query = (
        "SELECT sum(state = 'accepted'), max(reviewed_at) FROM item_drafts"
        " WHERE item_set_id = (SELECT id FROM item_sets WHERE sha256 = ?)"
    )
    with store.read() as db:
        n_accepted, last = db.execute(query, (items_sha256,)).fetchone()
    return n_accepted or 0, last or ""


# -- the wordings of a run ----------------------------------------------------------------------


def keep_wordings(store: Store, items: str, wordings: ItemWordings) -> str:
    """Keep the texts that a run over an item set uses; returns their digest, by which `kept_wordings` has them.

    So a run can be read after a draft was edited or rejected. The digest is of the texts: a review that changes
    none leaves it as it is.
    """
    digest = wordings_digest(wordings)
    content = [[one, *asdict(wording).values()] for one, some in wordings.items() for wording in some]
    with store.write() as db:
        db.execute(
            "INSERT INTO item_wordings (digest, item_set_id, body) SELECT ?, id, ? FROM item_sets WHERE name = ?"
            " ON CONFLICT (digest) DO UPDATE SET body = excluded.body",
            (digest, zstd_frames([orjson.dumps(content)])[0], items),
        )
    return digest


def kept_wordings(store: Store, digest: str) -> ItemWordings:
    """The wordings of a run, reviewed where a text has been accepted by now.

    Raises
    ------
    UnknownNameError
        If the store has them no more.
    """
    with store.read() as db:
        row = db.execute("SELECT body, item_set_id FROM item_wordings WHERE digest = ?", (digest,)).fetchone()
        if row is None:
            raise UnknownNameError(f"wordings {digest}", f"are not in {store.path}", "Run the task again.")
        query = (
            f"SELECT d.item_id, {COLUMNS} FROM item_drafts AS d WHERE item_set_id = ? AND state = 'accepted'"
        )
        rows = db.execute(query, (row[1],)).fetchall()
    accepted = [draft_of_row(item_id, "", of) for item_id, *of in rows]
    read = {(one.subject_id, one.name, one.wording): one.made_by for one in accepted}
    found: dict[str, tuple[ItemWording, ...]] = {}
    for one, name, text, made_by, reviewed in orjson.loads(unpacked(row[0])):
        now = read.get((one, name, text))
        wording = ItemWording(name, text, now or MadeBy.from_dict(made_by), reviewed or now is not None)
        found[one] = (*found.get(one, ()), wording)
    return found


def wordings_digest(wordings: ItemWordings) -> str:
    """12 hex digits of the SHA-256 of the texts, for a run's identity."""
    texts = sorted((one, wording.name, wording.text) for one, some in wordings.items() for wording in some)
    return hashlib.sha256(orjson.dumps(texts)).hexdigest()[:12]
