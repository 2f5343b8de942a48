"""A build with people's decisions on it: what is proposed, what holds, what is open, and on what two people differ."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from evidencebench_core.construction.decisions import (
    ITEM,
    Decision,
    Mode,
    Verdict,
    edits_of,
    is_person,
)
from evidencebench_core.construction.state import BuildState, Edits, Reviewed
from evidencebench_core.errors import SettingError


@dataclass(frozen=True, slots=True)
class Proposal:
    """Something to decide, as it stands now."""

    item: str
    text: str
    about: str
    source: str = "model"  # or "user": nothing is left to decide, unless a person says so


@dataclass(frozen=True)
class Review:
    """A build with what people decided of it."""

    state: BuildState
    decisions: tuple[Decision, ...]

    @cached_property
    def proposals(self) -> tuple[Proposal, ...]:
        return proposals(self.state)

    def about(self, item: str) -> str | None:
        """`Decision.about` of an item as it stands now, proposed or not; ``None`` where there is none."""
        match = ITEM.fullmatch(item)
        if match is None:
            return None
        if item in ("hypothesis", "summary", "build"):
            return {"hypothesis": self.state.hypothesis, "summary": self.state.summary, "build": ""}[item]
        text = self._texts.get(int(match["n"] or match["of"]))
        if text is None or match["n"]:
            return text
        sentences = self.state.pool.sentences if self.state.pool else ()
        return mark_about(text, sentences[int(match["s"])]) if int(match["s"]) < len(sentences) else None

    @cached_property
    def _texts(self) -> Mapping[int, str]:
        return {one.number: one.text for one in self.state.aspects}

    @cached_property
    def _newest_of_all(self) -> tuple[Decision, ...]:
        """By item and person the newest decision."""
        newest = {(one.item, one.by): one for one in self.decisions if is_person(one.by)}
        return tuple(one for one in newest.values() if not one.is_taken_back)

    @cached_property
    def newest(self) -> Mapping[str, Mapping[str, Decision]]:
        """By item and person the newest decision, where it is about what stands there."""
        found: dict[str, dict[str, Decision]] = defaultdict(dict)
        for one in self._newest_of_all:
            if self._holds(one):
                found[one.item][one.by] = one
        return found

    @property
    def stale(self) -> tuple[Decision, ...]:
        """The newest decisions that are about something else than what stands there now."""
        return tuple(one for one in self._newest_of_all if not self._holds(one))

    def _holds(self, one: Decision) -> bool:
        there = self.about(one.item)
        is_text = one.verdict in ("edit", "add") and one.words and not one.item.startswith("result:")
        return there is None or there == (one.words if is_text else one.about)

    def verdict(self, item: str) -> Verdict | None:
        """The verdict that holds for an item: two who differ keep it, unless one is unsure; ``None``: open."""
        said = {one.verdict for one in self.newest.get(item, {}).values()}
        for verdict in ("unsure", "edit", "add", "accept", "reject"):
            if verdict in said:
                return verdict
        return None

    @property
    def blind_marks(self) -> dict[tuple[str, int], frozenset[int]]:
        """By person and aspect number the sentences marked before seeing what a model proposed.

        Aspects of which a person said nothing then are not there; newer decisions in sight of proposals change nothing.
        """
        said = {
            (one.by, one.item): one for one in self.decisions if one.mode == "blind" and is_person(one.by)
        }
        found: dict[tuple[str, int], set[int]] = defaultdict(set)
        for one in said.values():
            kind, *numbers = one.item.split(":")
            is_of_marks = kind in ("mark", "uncovered") and not one.is_taken_back
            if is_of_marks and one.about == self.about(one.item):
                of_aspect = found[one.by, int(numbers[0])]
                if kind == "mark" and one.verdict in ("accept", "add"):
                    of_aspect.add(int(numbers[1]))
        return {key: frozenset(of) for key, of in found.items()}

    @cached_property
    def disagreements(self) -> tuple[str, ...]:
        """Items of which people want different texts or labels, or which some want and others do not."""
        wanted: dict[str, set[str | None]] = defaultdict(set)
        drafted = replace(self.state, edits=Edits())
        texts = {drafted.hypothesis, drafted.summary} | {one.words for one in self._newest_of_all}
        for one in self._newest_of_all:
            kind = one.item.split(":")[0]
            # of two who changed one text, the first one's decision is about what no longer stands there
            if one.verdict != "unsure" and (
                self._holds(one) or (kind in ("hypothesis", "summary") and one.about in texts)
            ):
                wanted[one.item].add(_wanted(one))
        return tuple(item for item, of in wanted.items() if len(of) > 1)

    @property
    def open_items(self) -> tuple[str, ...]:
        """The items left to decide before the build is finished (rule 37)."""
        left = [one.item for one in self.proposals if one.source == "model" and self._is_open(one.item)]
        marked = {int(one.split(":")[1]) for one in left if one.startswith("mark:")} | set(self.marks)
        bare = (f"uncovered:{number}" for number in self.state.covers() if number not in marked)
        doubted = (
            one for one in self.newest if not one.startswith("uncovered:") and self.about(one) is not None
        )
        return tuple(dict.fromkeys((*left, *filter(self._is_open, (*bare, *doubted)))))

    def _is_open(self, item: str) -> bool:
        said = self.verdict(item)
        is_needed = item in ("hypothesis", "summary") or item.startswith("uncovered:")
        return said in (None, "unsure") or (is_needed and said == "reject")

    @property
    def covers(self) -> dict[int, frozenset[int]]:
        """The sentences of each aspect that stands: what was proposed and nobody rejected, and what people added."""
        marks, proposed = self.marks, self.state.covers()
        return {
            one.number: marks.get(one.number, frozenset())
            | {
                index
                for index in proposed.get(one.number, ())
                if self.verdict(f"mark:{one.number}:{index}") != "reject"
            }
            for one in self.state.aspects
        }

    @property
    def marks(self) -> dict[int, frozenset[int]]:
        """The sentences that people accepted or added, by aspect number."""
        found: dict[int, set[int]] = defaultdict(set)
        standing = {one.number for one in self.state.aspects}
        for item in self.newest:
            match = ITEM.fullmatch(item)
            if (
                match
                and match["of"]
                and int(match["of"]) in standing
                and self.verdict(item) in ("accept", "add")
            ):
                found[int(match["of"])].add(int(match["s"]))
        return {number: frozenset(of) for number, of in found.items()}

    def after(self, more: Iterable[Decision]) -> Review:
        """With further decisions, none of which edits a summary or hypothesis: what follows from these is asked."""
        decisions = (*self.decisions, *more)
        return Review(replace(self.state, edits=edits_of(decisions)), decisions)

    @property
    def reviewed(self) -> Reviewed:
        """The record that is written with the instance."""
        newest = [one for by in self.newest.values() for one in by.values()]
        counts = Counter(one.verdict for one in newest)
        counts["add"] -= sum(one.verdict == "edit" and one.item.startswith("aspect:") for one in newest)
        people = list(dict.fromkeys(one.by for one in self.decisions if is_person(one.by)))
        modes = sorted({one.mode for one in self.decisions if is_person(one.by)})
        return Reviewed(
            bool(people) and not self.open_items,
            ", ".join(people),
            " and ".join(modes),
            *(counts[verdict] for verdict in ("accept", "edit", "reject", "add")),
        )


def proposals(state: BuildState) -> tuple[Proposal, ...]:
    """Everything to decide about a build, in the order in which it is read."""
    own = "user" if state.input.hypothesis or state.edits.hypothesis else "model"
    found = [Proposal("hypothesis", state.hypothesis, state.hypothesis, own)] if state.hypothesis else []
    covers, sentences = state.covers(), state.pool.sentences if state.pool else ()
    written = {one.number for one in state.edits.aspects}
    for one in state.aspects:
        by_person = one.number in written or one.source == "user"
        found.append(Proposal(f"aspect:{one.number}", one.text, one.text, "user" if by_person else "model"))
        if one.is_result is not None or "results" in state.results:
            label = "" if one.is_result is None else "yes" if one.is_result else "no"
            found.append(Proposal(f"result:{one.number}", label, one.text, "user" if label else "model"))
        found += [
            Proposal(f"mark:{one.number}:{index}", sentences[index], mark_about(one.text, sentences[index]))
            for index in sorted(covers.get(one.number, ()))
        ]
    return tuple(found)


def mark_about(aspect: str, sentence: str) -> str:
    """`Decision.about` of a mark."""
    return f"{aspect}\n{sentence}"


def accepted(review: Review, by: str, mode: Mode = "assisted") -> tuple[Decision, ...]:
    """Decisions that accept all that is open and proposed; not aspects that a model made from the paper (rule 40)."""
    state = review.state
    for_one = {f"aspect:{one.number}" for one in state.aspects if one.source == "model"}
    for_one |= {f"result:{one.number}" for one in state.aspects}  # nothing is proposed of those that are open
    return tuple(
        Decision(state.id, item, "accept", by, mode, about=review.about(item) or "")
        for item in review.open_items
        if review.verdict(item) is None and item not in for_one
    )


def decision_on(
    review: Review, item: str, verdict: Literal["accept", "reject"], by: str, mode: Mode = "assisted"
) -> Decision:
    """Accept or reject an item as it stands; `SettingError` if the build has none of this name.

    Of ``result:N`` the label of the model, or the other one; without a label accepted is a result. To accept ``build``
    sets the reason of its drop aside.
    """
    state, about, words = review.state, review.about(item), ""
    if about is None:
        remedy = "`evidencebench construct list N ID` names those of a build."
        raise SettingError(f"{state.id}/{item}", "is no item of the build", remedy)
    if item.startswith("result:"):
        unlabelled = replace(state, edits=replace(state.edits, results={})).aspects
        labels = {f"result:{one.number}": one.is_result for one in unlabelled}
        words = "yes" if (labels[item] is not False) == (verdict == "accept") else "no"
    elif item == "build" and verdict == "accept":
        words = replace(state, edits=replace(state.edits, dropped=False)).position.reason or ""
    return Decision(state.id, item, verdict, by, mode, words, about)


def next_number(state: BuildState) -> int:
    """The number of an aspect that is added: none that was used before (rule 22)."""
    used = [one.number for one in (*state.drafted, *state.edits.aspects)]
    return max([*used, *(number for number, _ in state.edits.gone)], default=-1) + 1


def _wanted(one: Decision) -> str | None:
    """The text or label that a decision wants; ``None``: none."""
    if one.item.startswith("result:"):
        return one.words
    if one.verdict == "reject":
        return None
    return one.words if one.verdict in ("edit", "add") and one.words else one.about
