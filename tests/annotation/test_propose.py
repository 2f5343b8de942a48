"""A model's proposal: one conversation a paper, nothing paid twice, an annotation that people decide on."""

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.annotate.decisions import open_proposals
from evidencebench_core.annotation.differences import decide
from evidencebench_core.annotation.export import exported_annotations
from evidencebench_core.annotation.model import Annotation
from evidencebench_core.annotation.propose import ProposalInput, echoed_sentences, proposal_plan, windows
from evidencebench_core.annotation.store import Annotations
from evidencebench_core.data import Store, open_store
from evidencebench_core.errors import BudgetReachedError, SettingError
from evidencebench_core.llm import LLM, Budget, Connection
from evidencebench_core.papers import read_paper
from evidencebench_core.papers.own import OwnPapers
from evidencebench_core.runs import estimate, execute
from tests.annotation.scripted_model import paper_text, scripted_answer
from tests.llm.server import Step, answering, reply, scripted

COVERS = {"It is about blood": (3, 7, 19), "It is about weight": (22,), "It is about sleep": ()}
NOTHING = Annotation("", "", 0)
N_CALLS = 1 + 3 * 5  # which are results, and three aspects in five windows


def good(sent: Mapping[str, Any]) -> Step:
    return reply(scripted_answer(sent))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "store.sqlite")


def own_paper(store: Store, hypothesis: str = "") -> str:
    return OwnPapers(store).save(read_paper(paper_text().encode(), "tea.txt"), "tea", hypothesis).key


def proposed(
    store: Store,
    given: ProposalInput,
    step: Callable[[Mapping[str, Any]], Step] = good,
    budget: Budget | None = None,
) -> tuple[Annotation, int]:
    """What a scripted model proposes, and how often it was asked."""
    with scripted(answering(step)) as server:
        llm = LLM(Connection(server.url, "s"), store, budget or Budget(), 1)
        with suppress(BudgetReachedError):
            list(execute(proposal_plan(store, [given], "m", llm=llm)))
        return Annotations(store).get(given.paper, "model:m") or NOTHING, len(server.requests)


def covers(annotation: Annotation) -> dict[str, tuple[int, ...]]:
    return {aspect.text: aspect.sentences for aspect in annotation.aspects}


def test_a_proposal_from_a_summary(store: Store) -> None:
    given = ProposalInput(own_paper(store), summary="Tea is good for blood and weight.")
    proposal, n_calls = proposed(store, given)
    assert covers(proposal) == COVERS
    assert (proposal.annotator, proposal.hypothesis) == ("model:m", "Tea is good.")
    assert [aspect.is_result for aspect in proposal.aspects] == [True, True, False]
    assert proposal.origin["aspects"] == "summary"
    assert proposal.origin["reasons"]["0:3"].endswith("it says so")
    assert n_calls == 2 + N_CALLS
    assert proposed(store, given) == (proposal, 0)


def test_what_is_given_is_not_asked_for(store: Store) -> None:
    aspects = ("It is about blood", "It is about weight")
    given = ProposalInput(own_paper(store, "Tea helps."), aspects=aspects)
    proposal, n_calls = proposed(store, given)
    assert (proposal.hypothesis, proposal.origin["aspects"]) == ("Tea helps.", "user")
    assert n_calls == 1 + 2 * 5
    newest, _ = proposed(store, ProposalInput(given.paper, hypothesis="Tea is bad."))
    assert newest.origin["aspects"] == "model"
    assert Annotations(store).proposals(given.paper[:-1]) == {}
    assert Annotations(store).papers() == (given.paper,)


def test_the_estimate_asks_nothing(store: Store) -> None:
    plan = proposal_plan(store, [ProposalInput(own_paper(store))], "m")
    assert estimate(plan).calls == 3 + 10 * 5  # rehearsed with ten aspects
    with pytest.raises(SettingError):
        proposal_plan(store, [], " ")


def test_an_answer_that_cannot_be_read_is_asked_for_once_more(store: Store) -> None:
    asked = Counter[str]()

    def step(sent: Mapping[str, Any]) -> Step:
        text = sent["messages"][1]["content"]
        asked[text] += 1
        is_lost = "<aspect>" in text and "\n15: Alpha" in text
        return reply("I am not sure.") if is_lost or asked[text] == 1 else good(sent)

    proposal, _ = proposed(store, ProposalInput(own_paper(store), summary="Tea is good."), step)
    assert covers(proposal) == COVERS | {"It is about blood": (3, 7)}
    assert proposal.origin["unread"] == ["aspect_0", "aspect_1", "aspect_2"]  # that window, of each
    assert set(asked.values()) == {2}


def test_a_cap_stops_and_the_next_start_asks_the_rest(store: Store) -> None:
    given = ProposalInput(own_paper(store), summary="Tea is good.")
    assert proposed(store, given, budget=Budget(calls=6)) == (NOTHING, 6)
    assert proposed(store, given)[1] == 2 + N_CALLS - 6


def test_only_what_people_decided_is_exported(store: Store) -> None:
    annotations = Annotations(store)
    given = ProposalInput(own_paper(store), summary="Tea is good.")
    proposal, _ = proposed(store, given)
    assert "nobody decided" in exported_annotations(store).left_out["tea"]
    (instance,) = exported_annotations(store, undecided=True).instances.values()
    assert len(instance.evidence.aspects) == 2  # what no sentence covers is no part of it
    assert instance.construction["decisions"]["by"] == "nobody"
    exported = exported_annotations(store, undecided=True, min_covered=0.7)
    assert (exported.instances, exported.covered) == ({}, {"tea": pytest.approx(2 / 3)})
    assert "67%" in exported.left_out["tea"]
    own = Annotation("Ada", "Tea is good.", 24)
    items = open_proposals(own, proposal)
    annotations.save(given.paper, decide(decide(own, items[:3], keep=True), items[3:], keep=False))
    exported = exported_annotations(store)
    (instance,) = exported.instances.values()
    assert instance.evidence.covers("all") == (frozenset({3, 7}),)
    assert instance.construction["stages"] == [{"stage": "alignment", "model": "m"}]
    assert instance.construction["decisions"]["by"] == "Ada"
    assert exported.licences == {"none named": 1}
    annotations.save(given.paper, Annotation("Ben", "H.", 24).add_aspect("His", sentences=[2]))
    assert "consensus" in exported_annotations(store).left_out["tea"]
    assert len(exported_annotations(store, annotator="Ben").instances) == 1


def test_windows_by_hand() -> None:
    assert windows(23) == ((0, 10), (5, 15), (10, 20), (15, 23), (20, 23))
    assert (windows(5), windows(0)) == (((0, 5),), ())


@given(st.integers(1, 400))
def test_every_sentence_but_the_first_five_is_shown_twice(n: int) -> None:
    shown = [sum(start <= index < stop for start, stop in windows(n)) for index in range(n)]
    assert shown == [1 if index < 5 else 2 for index in range(n)]


SENTENCES = [f"Word{n} beta{n} gamma{n} delta{n} epsilon{n}." for n in range(20)]


@pytest.mark.parametrize(
    ("chosen", "echoes", "meant"),
    [
        ([7], {7: "Word7 beta7 gamma7 - why"}, {7}),
        ([2], {2: "word7 beta7 gamma7"}, {7}),  # counted within the window
        ([6, 7], {6: "nothing of this kind"}, None),
        ([6, 17], {}, {6}),  # without words one stays, and one beyond the window does not
        ([17], {17: "Word17 beta17 gamma17"}, None),
    ],
)
def test_words_by_an_index_decide(chosen: list[int], echoes: dict[int, str], meant: set[int] | None) -> None:
    assert echoed_sentences(SENTENCES, (5, 15), chosen, echoes) == meant


@given(st.lists(st.integers(-3, 30), max_size=8), st.dictionaries(st.integers(-3, 30), st.text(max_size=50)))
def test_only_sentences_of_the_window_are_meant(chosen: list[int], echoes: dict[int, str]) -> None:
    meant = echoed_sentences(SENTENCES, (5, 15), chosen, echoes)
    assert (meant or set()) <= set(range(5, 15))
