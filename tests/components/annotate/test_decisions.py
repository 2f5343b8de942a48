"""Disagreements, the consensus, and a model's proposal, decided item by item."""

from hypothesis import given
from hypothesis import strategies as st

from components.annotate.decisions import first_consensus, has_item, open_proposals
from evidencebench_core.annotation.differences import decide, differences
from evidencebench_core.annotation.model import Annotation
from tests.annotation.test_differences import ADA, BEN, Marks, annotation


def as_dict(marked: Annotation) -> Marks:
    return {aspect.text: aspect.sentences for aspect in marked.aspects}


def test_disagreements_are_settled_item_by_item() -> None:
    design, dose, harm, cost = differences(ADA, BEN)
    assert [(item.pair.text, item.sentence, item.by) for item in (design, dose, harm, cost)] == [
        ("Design", 1, "Ada"), ("Dose", 5, "Ben"), ("Harm", None, "Ada"), ("Cost", None, "Ben"),
    ]  # fmt: skip
    standing = first_consensus(ADA, BEN)  # all that either marked
    assert as_dict(standing) == {"Design": (1, 2), "Dose": (4, 5), "Harm": (7,), "Cost": (9,)}
    assert (standing.annotator, standing.hypothesis, standing.n_made) == ("consensus", "Tea helps.", 4)
    assert [aspect.is_result for aspect in standing.aspects] == [False, False, True, False]
    for item, keep in ((design, False), (dose, True), (harm, True), (cost, False)):
        standing = decide(standing, [item], keep)
    assert as_dict(standing) == {"Design": (2,), "Dose": (4, 5), "Harm": (7,)}
    assert [has_item(standing, item) for item in (design, dose, harm, cost)] == [False, True, True, False]
    assert as_dict(decide(standing, [cost], True))["Cost"] == (9,)  # changed their mind


marks = st.dictionaries(
    st.sampled_from(["Design", "Dose", "Harm", "Cost"]), st.frozensets(st.integers(0, 9)).map(tuple)
)


@given(marks, marks)
def test_to_accept_all_of_one_gives_what_that_one_marked(of_a: Marks, of_b: Marks) -> None:
    a, b = annotation("Ada", of_a), annotation("Ben", of_b)
    items = differences(a, b)
    for kept in (a, b):
        settled = first_consensus(a, b)
        for item in items:
            settled = decide(settled, [item], keep=item.by == kept.annotator)
        assert as_dict(settled) == as_dict(kept)
    assert first_consensus(a, b).evidence_sentences == a.evidence_sentences | b.evidence_sentences


PROPOSAL = annotation("model:m", {"Design": (1, 3), "Dose": (4, 5)}, ("Dose",))


def test_a_proposal_is_decided_mark_by_mark_or_at_once() -> None:
    own = Annotation("Ada", "Tea helps.", 10)
    items = open_proposals(own, PROPOSAL)
    accepted = decide(own, items, keep=True)
    assert as_dict(accepted) == as_dict(PROPOSAL)
    assert [aspect.is_result for aspect in accepted.aspects] == [False, True]
    assert [(item.pair.text, item.sentence) for item in items] == [
        ("Design", None), ("Design", 1), ("Design", 3), ("Dose", None), ("Dose", 4), ("Dose", 5),
    ]  # fmt: skip
    own = decide(own, [items[0], items[1]], keep=True)
    own = decide(own, [items[2], items[3]], keep=False)  # a rejected aspect takes its marks with it
    assert as_dict(own) == {"Design": (1,)}
    assert open_proposals(own, PROPOSAL) == ()
    assert len(own.decisions) == 4


def test_a_decision_stands_whatever_is_edited_by_hand() -> None:
    own = Annotation("Ada", "Tea helps.", 10)
    own = decide(own, open_proposals(own, PROPOSAL)[:2], keep=True)
    edited = own.rename_aspect("aspect_0", "How it was made").unmark("aspect_0", [1])
    assert [item.sentence for item in open_proposals(edited, PROPOSAL)] == [3, None, 4, 5]
    removed = edited.remove_aspect("aspect_0")
    assert [item.pair.text for item in open_proposals(removed, PROPOSAL)] == ["Dose"] * 3
