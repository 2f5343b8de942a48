"""What people decide of a build: append-only, an author's newest counts, two who differ are named (rules 36, 37).

A decision says what it was about. Where something else stands there now, it is stale: kept and shown, not applied.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Final, Literal, get_args

from evidencebench_core.construction.state import AspectDraft, BuildState, Edits, Reviewed
from evidencebench_core.construction.store import ConstructionInfo, construction_info, forget_positions
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.papers.blocks import clean_text
from evidencebench_core.words import one_line

Verdict = Literal["accept", "reject", "edit", "add", "unsure"]
Mode = Literal["blind", "assisted"]
_ITEM: Final = re.compile(
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


@dataclass(frozen=True, slots=True)
class Proposal:
    """Something to decide, as it stands now."""

    item: str
    text: str
    about: str
    source: str = "model"  # or "user": nothing is left to decide, unless a person says so


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
    sql = """SELECT build, item, verdict, by, mode, words, about, decided_at FROM intact_construction_decisions
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


def proposals(state: BuildState) -> tuple[Proposal, ...]:
    """What there is to decide of a build, in the order in which it is read."""
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
        match = _ITEM.fullmatch(item)
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
        return tuple(one for one in newest.values() if not _is_taken_back(one))

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
        """What holds of an item: two who differ keep it, unless one is unsure; ``None``: open."""
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
            is_of_marks = kind in ("mark", "uncovered") and not _is_taken_back(one)
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
        """What is left to decide before the build is finished (rule 37)."""
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
            match = _ITEM.fullmatch(item)
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
        """What is written with the instance."""
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


def is_item(text: str) -> bool:
    """Whether a text names something of a build to decide; see `Decision.item`."""
    return _ITEM.fullmatch(text) is not None


def is_person(by: str) -> bool:
    """Whether an author is a person."""
    return not by.strip().casefold().startswith(("model:", "rule:"))


def _is_taken_back(one: Decision) -> bool:
    return one.verdict == "unsure" and one.words == TAKEN_BACK


def _wanted(one: Decision) -> str | None:
    """The text or label that a decision wants; ``None``: none."""
    if one.item.startswith("result:"):
        return one.words
    if one.verdict == "reject":
        return None
    return one.words if one.verdict in ("edit", "add") and one.words else one.about


def edits_of(decisions: Iterable[Decision]) -> Edits:
    """What people's decisions about a build change of it."""
    newest: dict[tuple[str, str, str], Decision] = {}
    for one in decisions:
        if is_person(one.by):
            newest.pop(key := (one.item, one.about, one.by), None)
            newest[key] = one
    said = [one for one in newest.values() if not _is_taken_back(one)]
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
    if not _ITEM.fullmatch(one.item):
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
