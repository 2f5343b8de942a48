"""One instance in the making on the desk of a person: what is left, and what deciding does."""

from __future__ import annotations

from functools import cached_property
from itertools import groupby
from typing import Final

from components.app import resources
from components.app.session import flash, session_text
from components.app.state import PageState
from components.widgets.markdown import literal
from evidencebench_core.construction.decisions import (
    TAKEN_BACK,
    Decision,
    Mode,
    Verdict,
    add_decisions,
    is_person,
)
from evidencebench_core.construction.review import Review
from evidencebench_core.construction.sheets import sampled_marks
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.export.reader import DraftMarks
from evidencebench_core.words import one_line

BLIND, MIXED = "1", "mixed"
"""Values in the address: the model's sentences are hidden, or stand among others."""

_OF_SENTENCES: Final = ("mark:", "uncovered:")


class BuildDesk:
    """A build's review, and who decides."""

    def __init__(self, state: PageState, name: str, review: Review) -> None:
        self.state, self.name, self.review = state, name, review
        there = [one.item for one in review.proposals if one.source == "model" or _is_label(one.item)]
        self.left = tuple(one for one in review.open_items if not self._is_hidden(one))
        if self.is_mixed:
            there = [one for one in there if not one.startswith("mark:")] + [*self._drawn]
            self.left = (*self.left, *(one for one in self._drawn if self._is_undecided(one)))
        there = [one for one in there if not self._is_hidden(one)]
        order = {item: place for place, item in enumerate(dict.fromkeys((*there, *self.left)))}
        self.items = tuple(order)
        self.left = tuple(sorted(dict.fromkeys(self.left), key=order.__getitem__))

    @property
    def who(self) -> str:
        named = one_line(session_text("author")).strip()[:100]
        return named if is_person(named) else ""

    @property
    def has_seen(self) -> bool:
        """Whether the person decided on sentences that were proposed, and so has seen some."""
        return any(
            one.by == self.who and one.mode == "assisted" and one.item.startswith("mark:")
            for one in self.review.decisions
        )

    @property
    def is_blind(self) -> bool:
        """Whether the person marks without the marks of a model or of others in sight."""
        return self.state["blind"] == BLIND and not self.has_seen

    @property
    def is_mixed(self) -> bool:
        """Whether sentences that are proposed stand among others, and nothing tells which (rule 50)."""
        return self.state["blind"] == MIXED

    @cached_property
    def _drawn(self) -> dict[str, None]:
        return dict.fromkeys(sampled_marks(self.review.state))

    def _is_hidden(self, item: str) -> bool:
        return (self.is_blind and item.startswith(_OF_SENTENCES)) or (
            self.is_mixed and item.startswith("mark:") and item not in self._drawn
        )

    def _is_undecided(self, item: str) -> bool:
        return self.verdict(item) in (None, "unsure")

    def verdict(self, item: str) -> Verdict | None:
        """The verdict on an item; what was taken back counts as open."""
        said = self.review.newest.get(item, {}).values()
        return self.review.verdict(item) if any(one.words != TAKEN_BACK for one in said) else None

    def mode(self, item: str) -> Mode:
        return "blind" if self.is_blind and item.startswith("mark:") else "assisted"

    def tells(self, item: str) -> bool:
        """Whether it may be seen whether a model proposed a mark, and why."""
        return not self.is_mixed or not self._is_undecided(item)

    def acceptance(self, item: str) -> Verdict:
        """The verdict of accepting an item: a sentence that nobody proposed is added."""
        kind, *numbers = item.split(":")
        if kind != "mark":
            return "accept"
        proposed = self.review.state.covers().get(int(numbers[0]), frozenset())
        return "accept" if int(numbers[1]) in proposed else "add"

    def marks(self, number: int) -> DraftMarks:
        """The sentences of an aspect, as far as they are to be seen."""
        review, indices = self.review, {*self.review.marks.get(number, ())}
        if self.is_blind:
            by = {one: review.newest[f"mark:{number}:{one}"].get(self.who) for one in indices}
            own = [one for one, said in by.items() if said and said.verdict in ("accept", "add")]
            return DraftMarks(frozenset(), frozenset(), frozenset(own))
        proposed = review.state.covers().get(number, frozenset())
        still_open = [one for one in proposed if f"mark:{number}:{one}" in self.left]
        shown = () if self.is_mixed else still_open
        return DraftMarks(frozenset(shown), frozenset(indices & proposed), frozenset(indices - proposed))

    @property
    def last(self) -> tuple[Decision, ...]:
        """The person's latest decisions, made at once and not taken back."""
        stack: list[tuple[Decision, ...]] = []
        own = (one for one in self.review.decisions if one.by == self.who)
        for _, some in groupby(own, key=lambda one: one.at):
            batch = tuple(some)
            if batch[0].words != TAKEN_BACK:
                stack.append(batch)
            elif stack:
                stack.pop()
        return stack[-1] if stack else ()

    def undo(self) -> None:
        """Take back what was decided last: by a further decision, after which it is open."""
        last = self.last
        if last:
            self.decide(*((one.item, "unsure", TAKEN_BACK, one.about) for one in last))
            self.go_to(last[0].item)

    @property
    def in_hand(self) -> str:
        """The item of the address, else the first that is left."""
        return (
            self.state["item"]
            if self.state["item"] in self.items
            else next(iter(self.left or self.items), "")
        )

    def decide(self, *said: tuple[str, Verdict, str, str]) -> None:
        """Keep decisions (item, verdict, words, what stood there), and go on to the next item that is left."""
        build = self.review.state.id
        made = [
            Decision(build, item, verdict, self.who, self.mode(item), words, about)
            for item, verdict, words, about in said
        ]
        try:
            add_decisions(resources.store(), self.name, made)
        except EvidenceBenchError as error:
            flash(literal(str(error)))
            return
        done = {one.item for one in made}
        gone = {
            number_of(one.item)
            for one in made
            if one.item.startswith("aspect:") and one.verdict in ("reject", "edit")
        }
        if self.in_hand in {one.item for one in made}:
            at = self.items.index(self.in_hand)
            after = [
                one
                for one in (*self.items[at + 1 :], *self.items[:at])
                if one in self.left and one not in done and number_of(one) not in gone
            ]
            self.go_to(after[0] if after else "")

    def go_to(self, item: str) -> None:
        self.state.put(item=item or None, sentence=_sentence_of(item), lit=None)

    def about(self, item: str) -> str:
        return self.review.about(item) or ""


def item_name(item: str) -> str:
    """``"Study aspect A2"``, ``"A2, sentence 17"``."""
    kind, number, index = item.split(":", maxsplit=1)[0], number_of(item), index_of(item)
    label = f"A{number + 1}" if number is not None else ""
    if index is not None:
        return f"{label}, sentence {index}"
    return {"aspect": f"Study aspect {label}", "uncovered": f"{label} without a sentence"}.get(
        kind, kind.capitalize() + (f" {label}" if label else "")
    )


def number_of(item: str) -> int | None:
    parts = item.split(":")
    return int(parts[1]) if len(parts) > 1 else None


def index_of(item: str) -> int | None:
    parts = item.split(":")
    return int(parts[2]) if len(parts) > 2 else None


def _sentence_of(item: str) -> str | None:
    index = index_of(item)
    return None if index is None else str(index)


def _is_label(item: str) -> bool:
    return item.startswith("result:")
