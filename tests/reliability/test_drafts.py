"""Paraphrases of questions and negations of contexts: what is refused, what a checker says, what runs use."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.data import Store
from evidencebench_core.errors import SettingError, UnknownNameError
from evidencebench_core.llm import LLM, AnswerCache, Budget, Connection, Limits
from evidencebench_core.perturb import KINDS, Draft, Kind, MadeBy
from evidencebench_core.perturb.making import new_drafts
from evidencebench_core.reliability.drafts import (
    ItemDrafts,
    decisions_about,
    keep_wordings,
    kept_wordings,
    wordings_digest,
)
from evidencebench_core.reliability.items import Item, add_items, delete_item_set, item_set
from evidencebench_core.runs.estimate import draft_estimate
from tests.llm.server import Scripted, Step, answering, reply, scripted

ITEMS = (
    Item("1", "Does IL-6 fall with tea?", ("Tea was given.", "IL-6 fell."), "yes"),
    Item(
        "2", "Is sleep shorter?", ("Sleep was as long.",), "no", wordings={"paraphrase:own": "Shorter sleep?"}
    ),
    Item("3", "Is it so?", ("It may be.",), "maybe"),
    Item("4", "Is it?", (), "yes"),
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "store.sqlite")
    add_items(store, "tea", ITEMS)
    return store


def client(store: Store, server: Scripted, **caps: int) -> LLM:
    return LLM(Connection(server.url, "k"), AnswerCache(store), Budget(**caps), Limits(concurrency=1))


def made(
    drafts: ItemDrafts, server: Scripted, model: str = "m", kinds: Sequence[Kind] = KINDS
) -> dict[tuple[str, str], Draft]:
    """What the server writes, by item and kind; kept too."""
    wanted = drafts.missing(model, kinds)
    found = list(new_drafts(drafts, wanted, model, client(drafts.store, server)))
    drafts.add(found)
    return {(one.subject_id, one.kind): one for one in found}


def worded(request: dict[str, Any]) -> Step:
    """Both wordings; the checker finds "yes" in every text."""
    prompt = request["messages"][-1]["content"]
    if request["model"] == "checker":
        return reply("Yes.")
    if "NEW QUESTION:" in prompt:
        return reply("NEW QUESTION: With tea, does IL-6 fall?")
    return reply("It must not fall.\n\n**NEW CONTEXT:**\nTea was\ngiven.\n\nIL-6 rose.")


def test_drafts_of_questions_and_contexts(store: Store) -> None:
    drafts = ItemDrafts(store, "tea")
    assert drafts.ids() == [
        "1",
        "2",
    ]  # maybe has no opposite, and without a context there is nothing to reword
    with scripted(answering(worded)) as server:
        found = made(drafts, server)
        prompts = [request.json["messages"][-1]["content"] for request in server.requests]
        assert not drafts.missing("m", KINDS)
        assert drafts.missing("other", ["negation"]) == [("1", "negation"), ("2", "negation")]
    assert found["1", "paraphrase"].text == "With tea, does IL-6 fall?"
    negation = found["1", "negation"]
    assert (negation.text, negation.problem) == ("Tea was given.\n\nIL-6 rose.", "")  # paragraphs stay
    assert negation.original == "Tea was given.\n\nIL-6 fell."
    assert negation.about == "Does IL-6 fall with tea? Gold: yes. The draft must make it no."
    assert "Answer from the text: yes" in next(
        one for one in prompts if "IL-6 fell" in one and "CONTEXT" in one
    )
    assert drafts.counts()["waiting"] == 4
    assert {one.original for one in drafts.drafts() if one.kind == "negation"} == {
        ITEMS[0].text,
        ITEMS[1].text,
    }


@pytest.mark.parametrize(
    ("kind", "said", "problem"),
    [
        ("paraphrase", "With tea, does IL-6 fall?", "no line NEW QUESTION:"),
        ("paraphrase", "NEW QUESTION: does il-6 fall with tea?", "is the original"),
        ("paraphrase", "NEW QUESTION: With tea, IL-6 falls.", "no question mark"),
        ("paraphrase", "NEW QUESTION: Does tea lower it?", "has lost IL-6"),
        ("negation", "NEW CONTEXT:", "no line NEW CONTEXT:"),
        ("negation", "NEW CONTEXT: Tea was given.\nIL-6 fell.", "is the original"),
        ("negation", f"NEW CONTEXT: {'x' * 6000}", "6,000 characters"),
    ],
)
def test_what_is_refused(store: Store, kind: Kind, said: str, problem: str) -> None:
    with scripted(reply(said)) as server:
        one = made(ItemDrafts(store, "tea"), server, kinds=[kind])["1", kind]
    assert problem in one.problem
    assert (one.state, one.failed) == ("refused", False)
    assert "1" not in ItemDrafts(store, "tea").wordings(kind)


def test_what_was_cut_off_is_refused(store: Store) -> None:
    with scripted(reply("NEW CONTEXT: Tea was", finish_reason="length")) as server:
        one = made(ItemDrafts(store, "tea"), server, kinds=["negation"])["1", "negation"]
    assert one.problem == "the answer was cut off"


def test_a_second_model_checks_negations(store: Store) -> None:
    drafts = ItemDrafts(store, "tea", "checker")
    with scripted(answering(worded)) as server:
        wanted = drafts.missing("m", KINDS)
        cost = draft_estimate(drafts, wanted, "m", client(store, server))
        assert (cost.n_instances, cost.calls, len(server.requests)) == (
            4,
            6,
            0,
        )  # two negations, a check each
        found = made(drafts, server)
        assert len(server.requests) == 6
        asked = next(one.json for one in server.requests if one.json["model"] == "checker")
        assert "IL-6 rose." in asked["messages"][-1]["content"]
    # The checker says yes of both: the opposite of item 2's gold only.
    assert found["1", "negation"].problem == "checker answers yes from it, not no"
    assert found["2", "negation"].problem == ""
    assert found["2", "negation"].made_by.checked_by == "checker"
    assert set(drafts.wordings("negation")) == {"2"}
    (refused,) = drafts.drafts("refused")
    assert refused.made_by.checked_by == "checker"
    drafts.accept([refused.id], "Ana")  # a reader knows better
    assert set(drafts.wordings("negation")) == {"1", "2"}


def test_drafts_can_be_checked_later_and_decisions_stay(store: Store) -> None:
    plain, checked = ItemDrafts(store, "tea"), ItemDrafts(store, "tea", "checker")
    with scripted(answering(worded)) as server:
        made(plain, server, kinds=["negation"])
        n_calls = len(server.requests)
        first = plain.drafts()[0]
        plain.accept([first.id], "Ana")
        assert checked.missing("m", ["negation"]) == [("2", "negation")]  # the other is decided on
        made(checked, server, kinds=["negation"])
        assert len(server.requests) == n_calls + 1  # the text itself is in the store
    assert [(one.state, one.made_by.checked_by) for one in plain.drafts()] == [
        ("accepted", ""),
        ("waiting", "checker"),
    ]


def test_a_cap_is_exact_and_the_rest_comes_later(store: Store) -> None:
    drafts = ItemDrafts(store, "tea", "checker")
    with scripted(answering(worded)) as server:
        found = new_drafts(drafts, drafts.missing("m", KINDS), "m", client(store, server, calls=4))
        with pytest.raises(Exception, match="the cap of 4 calls is reached"):
            drafts.add(found)
        assert len(server.requests) == 4
        made(drafts, server)
        assert len(server.requests) == 6
    assert sum(drafts.counts().values()) == 4


def test_the_wordings_of_a_run(store: Store) -> None:
    drafts = ItemDrafts(store, "tea")
    for number, (model, text) in enumerate(
        [("a", "Falls IL-6?"), ("b", "Is IL-6 lower?"), ("a", "IL-6 falls?")]
    ):
        by = MadeBy(model, f"p {number}")
        drafts.add([Draft("1", f"paraphrase:{model}", "", text, made_by=by)])
    # Of each name the latest; item 2 brings its own.
    found = drafts.wordings("paraphrase")
    assert {one: {w.name: (w.text, w.reviewed) for w in some} for one, some in found.items()} == {
        "1": {"paraphrase:a": ("IL-6 falls?", False), "paraphrase:b": ("Is IL-6 lower?", False)},
        "2": {"paraphrase:own": ("Shorter sleep?", True)},
    }
    assert set(drafts.wordings("paraphrase", reviewed_only=True)) == {"2"}
    digest = keep_wordings(store, "tea", found)
    assert digest == wordings_digest(found)
    first, _, last = (one.id for one in drafts.drafts())
    drafts.reject([last], "Ana")
    drafts.accept([first], "Ana", {first: "Does IL-6 fall?"})
    changed = drafts.wordings("paraphrase")
    assert {w.text: w.reviewed for w in changed["1"]} == {"Does IL-6 fall?": True, "Is IL-6 lower?": False}
    assert changed["1"][0].made_by.reviewer == "Ana"
    assert wordings_digest(changed) != digest
    assert kept_wordings(store, digest) == found  # a run that used them can still be read
    delete_item_set(store, "tea")
    with pytest.raises(UnknownNameError):
        ItemDrafts(store, "tea")
    with store.read() as db:
        assert db.execute("SELECT count(*) FROM item_drafts").fetchone() == (0,)


def test_a_review_that_changes_no_text_leaves_the_run_as_it_is(store: Store) -> None:
    drafts = ItemDrafts(store, "tea")
    drafts.add([Draft("1", "negation", "", "IL-6 rose.", made_by=MadeBy("m", "p"))])
    digest = keep_wordings(store, "tea", drafts.wordings("negation"))
    sha256 = item_set(store, "tea").sha256
    before = decisions_about(store, sha256)
    assert not kept_wordings(store, digest)["1"][0].reviewed
    drafts.accept([drafts.drafts()[0].id], "Ana")
    assert wordings_digest(drafts.wordings("negation")) == digest
    (wording,) = kept_wordings(store, digest)["1"]
    assert (wording.reviewed, wording.made_by.reviewer) == (
        True,
        "Ana",
    )  # its figures are of reviewed ones now
    assert decisions_about(store, sha256) != before  # so what is cached of them is made again


def test_only_questions_have_drafts_here(store: Store) -> None:
    add_items(store, "evidence", ITEMS[:2], "evidence")
    with pytest.raises(SettingError, match="not made of questions and contexts"):
        ItemDrafts(store, "evidence")
    with pytest.raises(UnknownNameError):
        kept_wordings(store, "0" * 12)
