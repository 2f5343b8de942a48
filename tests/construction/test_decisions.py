"""What people decide of a build: what it changes, what is left, who differs, what is stale."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from evidencebench_core.construction import BuildInput, BuildState
from evidencebench_core.construction.decisions import TAKEN_BACK, Decision, add_decisions, decisions_of
from evidencebench_core.construction.review import Review, accepted, decision_on, next_number, proposals
from evidencebench_core.construction.store import add_builds, construction_info
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError
from tests.construction.test_write import COVERS, POOL, build


def made(store: Store, *decisions: Decision, state: BuildState | None = None) -> Review:
    """The review of the build by hand after these decisions were kept."""
    add_builds(store, "lab", [BuildInput("b1", "PMC1", summary="Tea is good.")])
    add_decisions(store, "lab", decisions)
    info = construction_info(store, "lab")
    return Review(state or build(), ()).after(decisions_of(store, info).get("b1", ()))


def on(item: str, verdict: str, by: str = "ann", words: str = "", **more: str) -> Decision:
    """A decision about what stands at the item in the build by hand."""
    about = {one.item: one.about for one in proposals(build())}
    kind, *numbers = item.split(":")
    if item not in about and kind == "mark":
        about[item] = f"Aspect {numbers[0]}.\n{POOL.sentences[int(numbers[1])]}"
    if kind == "uncovered":
        about[item] = f"Aspect {numbers[0]}."
    given = {"about": about.get(item, ""), **more}
    return Decision("b1", item, verdict, by, words=words, **given)  # type: ignore[arg-type]


def test_what_there_is_to_decide() -> None:
    items = [one.item for one in proposals(build())]
    assert items[:5] == ["hypothesis", "aspect:0", "result:0", "mark:0:1", "mark:0:4"]
    assert len(items) == 1 + 6 * 2 + sum(map(len, COVERS))
    # the hypothesis of the input is a person's; the one aspect that nothing covers waits for a word, too
    assert len(Review(build(), ()).open_items) == 6 + 8 + 1


def test_all_accepted_is_finished_and_written(store: Store) -> None:
    given = accepted(Review(build(), ()), "ann", "blind")
    review = made(store, *given)
    assert review.open_items == ()
    assert review.marks == {n: frozenset(of) for n, of in enumerate(COVERS) if of}
    said = review.reviewed
    assert (said.is_finished, said.by, said.mode, said.n_accepted) == (True, "ann", "blind", 15)


def test_marks_are_added_and_rejected_and_an_uncovered_aspect_is_said(store: Store) -> None:
    review = made(
        store,
        on("mark:0:1", "reject"),
        on("mark:0:4", "reject"),
        on("mark:0:11", "add"),
        on("mark:2:2", "reject"),
    )
    assert review.marks == {0: frozenset({11})}
    assert "mark:0:1" not in review.open_items
    assert "uncovered:2" in review.open_items
    assert "uncovered:0" not in review.open_items
    assert "uncovered:2" not in made(store, on("uncovered:2", "accept")).open_items


def test_an_edited_aspect_gets_a_new_number_and_the_old_one_is_gone(store: Store) -> None:
    number = next_number(build())
    assert number == 6
    review = made(
        store, on("aspect:0", "edit", words="New."), Decision("b1", "aspect:6", "add", "ann", words="New.")
    )
    assert [(one.number, one.text, one.source) for one in review.state.aspects][-1] == (6, "New.", "user")
    assert 0 not in {one.number for one in review.state.aspects}
    assert not any(item.endswith(":0") or ":0:" in item for item in review.open_items)
    assert (review.reviewed.n_edited, review.reviewed.n_added) == (1, 0)
    assert next_number(review.state) == 7


def test_texts_results_and_drops(store: Store) -> None:
    review = made(
        store, on("hypothesis", "edit", words="Tea may help."), on("result:0", "edit", words="yes"),
        on("build", "reject"),
    )  # fmt: skip
    assert review.state.hypothesis == "Tea may help."
    assert review.verdict("hypothesis") == "edit"
    assert review.state.aspects[0].is_result
    assert review.state.position.reason == "human"
    review = made(store, on("build", "accept", words="coverage"))
    assert review.state.edits.overruled == {"coverage"}
    assert not review.state.edits.dropped


def test_the_newest_of_an_author_counts_and_two_who_differ_keep_the_mark(store: Store) -> None:
    review = made(store, on("mark:0:1", "accept"), on("mark:0:1", "reject"))
    assert (review.marks, review.disagreements) == ({}, ())
    review = made(store, on("mark:0:1", "accept", by="bob"))
    assert (review.marks, review.disagreements) == ({0: frozenset({1})}, ("mark:0:1",))
    review = made(store, on("mark:0:1", "unsure", by="cy"))
    assert "mark:0:1" in review.open_items
    assert review.marks == {}
    assert review.reviewed.by == "ann, bob, cy"


def test_two_people_who_finish_one_build_at_once(store: Store) -> None:
    """Edge case 94: both append, neither waits, and where they differ it is named."""
    add_builds(store, "lab", [build().input])
    ann = accepted(Review(build(), ()), "ann")
    bob = [replace(one, by="bob", verdict="reject" if one.item == "mark:0:1" else "accept") for one in ann]
    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(add_decisions, store, "lab", of) for of in (ann, bob)]:
            assert done.result() == len(ann)
    found = decisions_of(store, construction_info(store, "lab"))[build().id]
    assert Counter(one.by for one in found) == {"ann": len(ann), "bob": len(ann)}
    review = Review(build(), found)
    assert review.disagreements == ("mark:0:1",)
    assert review.open_items == ()
    assert 1 in review.marks[0]  # what could not be resolved is in (rule 37)


REWORDED = (on("aspect:3", "edit", words="New."), Decision("b1", "aspect:6", "add", "ann", words="New."))


@pytest.mark.parametrize(
    ("decisions", "named"),
    [
        ((on("hypothesis", "edit", words="H1."), on("hypothesis", "edit", "bob", "H2.")), ("hypothesis",)),
        ((on("hypothesis", "accept"), on("hypothesis", "edit", "bob", "H2.")), ("hypothesis",)),
        ((on("hypothesis", "edit", words="H1."), on("hypothesis", "edit", "bob", "H1.")), ()),
        ((*REWORDED, on("aspect:3", "accept", "bob")), ("aspect:3",)),
        ((on("aspect:3", "accept", "bob"), *REWORDED), ("aspect:3",)),
        ((on("result:0", "edit", words="yes"), on("result:0", "edit", "bob", "no")), ("result:0",)),
        ((on("result:0", "accept", words="yes"), on("result:0", "edit", "bob", "yes")), ()),
        ((on("mark:0:1", "accept"), on("mark:0:1", "add", "bob")), ()),
        ((on("mark:0:1", "accept"), on("mark:0:1", "unsure", "bob")), ()),
    ],
)
def test_people_who_want_different_things_are_named(
    store: Store, decisions: tuple[Decision, ...], named: tuple[str, ...]
) -> None:
    review = made(store, *decisions)
    assert review.disagreements == named
    if REWORDED[0] in decisions:  # the same information stands there once
        assert [one.number for one in review.state.aspects] == [0, 1, 2, 4, 5, 6]


def test_a_reworded_aspect_stands_for_the_old_one_unless_it_is_rejected(store: Store) -> None:
    twice = (
        *REWORDED,
        Decision("b1", "aspect:6", "edit", "ann", words="Newer.", about="New."),
        Decision("b1", "aspect:7", "add", "ann", words="Newer."),
    )
    review = made(store, on("aspect:3", "accept", "bob"), *twice)
    assert [one.number for one in review.state.aspects] == [0, 1, 2, 4, 5, 7]
    assert review.state.aspects[-1].is_result  # rule 22: as aspect 3 is
    last = Decision("b1", "aspect:7", "reject", "ann", about="Newer.")
    assert [one.number for one in review.after([last]).state.aspects] == [0, 1, 2, 3, 4, 5]  # bob keeps it
    by_bob = replace(last, by="bob")
    review = review.after([by_bob])
    assert [one.number for one in review.state.aspects] == [0, 1, 2, 4, 5, 7]
    assert review.disagreements == ("aspect:3", "aspect:7")


def test_two_who_add_an_aspect_at_once_both_keep_theirs(store: Store) -> None:
    made(store, Decision("b1", "aspect:6", "add", "ann", words="Hers."))
    review = made(
        store,
        Decision("b1", "aspect:6", "add", "bob", words="His."),
        Decision("b1", "result:6", "edit", "bob", words="yes", about="His."),
    )
    added = [(one.number, one.text, one.is_result) for one in review.state.aspects[6:]]
    assert added == [(6, "Hers.", None), (7, "His.", True)]
    assert review.stale == ()


def test_a_label_that_nobody_gave_is_asked_for(store: Store) -> None:
    added = Decision("b1", "aspect:6", "add", "ann", words="New.")
    review = made(store, added)
    assert "result:6" in review.open_items
    assert "result:6" not in {one.item for one in accepted(review, "ann")}
    labelled = review.after([decision_on(review, "result:6", "accept", "ann")])
    assert (labelled.state.aspects[-1].is_result, "result:6" in labelled.open_items) == (True, False)
    before = review.after([])
    assert "result:6" not in Review(replace(before.state, results={}), before.decisions).open_items


@pytest.mark.parametrize("item", ["result:3", "result:0"])
def test_a_label_is_accepted_or_turned_over(item: str) -> None:
    review = Review(build(), ())
    for verdict, is_kept in (("accept", True), ("reject", False), ("reject", False)):
        review = review.after([decision_on(review, item, verdict, "ann")])  # type: ignore[arg-type]
        number = int(item[-1])
        assert review.state.aspects[number].is_result is ((number == 3) == is_kept)
    with pytest.raises(SettingError, match=r"b1/mark:0:99"):
        decision_on(review, "mark:0:99", "accept", "ann")


@pytest.mark.parametrize(
    "doubt",
    [
        on("hypothesis", "unsure", "bob"),
        on("hypothesis", "reject", "bob"),
        Decision("b1", "summary", "unsure", "bob", about="Tea is good."),
        on("result:3", "unsure", "bob"),
        on("mark:0:11", "unsure", "bob"),
        on("uncovered:5", "reject", "bob"),
    ],
)
def test_doubt_blocks_whoever_wrote_it_until_it_is_taken_back(store: Store, doubt: Decision) -> None:
    given = [one for one in accepted(Review(build(), ()), "ann") if one.item != doubt.item]
    added = on("mark:0:11", "add") if doubt.item == "mark:0:11" else on("mark:0:1", "accept")
    review = made(store, *given, added, doubt)
    assert review.open_items == (doubt.item,)
    assert not review.reviewed.is_finished
    undone = review.after([replace(doubt, verdict="unsure", words=TAKEN_BACK)])
    assert undone.open_items == (("uncovered:5",) if doubt.item == "uncovered:5" else ())
    assert doubt.item not in undone.newest or doubt.item == "mark:0:11"


def test_a_model_or_a_rule_finishes_nothing(store: Store) -> None:
    given = accepted(Review(build(), ()), "Model:m 1-ab")
    review = made(store, *given)
    assert len(review.open_items) == 15
    assert not review.reviewed.is_finished


def test_what_was_decided_of_another_text_is_stale(store: Store) -> None:
    review = made(store, on("mark:0:1", "accept"), on("aspect:1", "reject"))
    assert review.stale == ()
    read_again = replace(POOL, sentences=("Other.",) * len(POOL.sentences))
    again = Review(replace(review.state, pool=read_again), review.decisions)
    assert [one.item for one in again.stale] == ["mark:0:1"]
    assert again.marks == {}
    results = {
        **review.state.results,
        "aspects": {"outcome": "done", "aspects": [{"text": "A"}, {"text": "B"}]},
    }
    split_anew = replace(review.state, results=results)
    assert [one.text for one in split_anew.aspects] == ["A", "B"]  # the rejection was of another text


def test_a_proposed_aspect_is_accepted_one_by_one() -> None:
    proposed = replace(build(), input=replace(build().input, summary="", review_id=""))
    items = {one.item for one in accepted(Review(proposed, ()), "ann")}
    assert "mark:0:1" in items
    assert not any(item.startswith("aspect:") for item in items)


@pytest.mark.parametrize(
    ("decision", "named"),
    [
        (Decision("b", "mark:1", "accept", "ann"), "mark:1"),
        (Decision("b", "mark:1:2", "maybe", "ann"), "maybe"),  # type: ignore[arg-type]
        (Decision("b", "mark:1:2", "accept", "ann", mode="both"), "both"),  # type: ignore[arg-type]
        (Decision("b", "mark:1:2", "accept", " "), "author"),
        (Decision("b", "mark:1:2", "accept", "a\nb"), "author"),
        (Decision("b", "aspect:1", "edit", "ann", words=" "), "no text"),
        (Decision("b", "aspect:1", "add", "ann", words="x" * 10_001), "10,001"),
        (Decision("b", "result:1", "edit", "ann", words="perhaps"), "perhaps"),
    ],
)
def test_bad_decisions_are_refused_and_nothing_is_kept(
    store: Store, decision: Decision, named: str, tmp_path: Path
) -> None:
    add_builds(store, "lab", [BuildInput("b", "PMC1")])
    with pytest.raises(SettingError, match=named):
        add_decisions(store, "lab", [Decision("b", "build", "reject", "ann"), decision])
    assert decisions_of(store, construction_info(store, "lab")) == {}
