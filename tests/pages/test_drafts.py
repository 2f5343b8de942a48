"""Wording: a model writes drafts in the background, somebody reads them, and only then they are wordings."""

from __future__ import annotations

import json
from typing import Any

import pytest

from components.app.resources import jobs
from evidencebench_core.data import Store
from evidencebench_core.perturb import (
    Draft,
    Drafts,
    HypothesisDrafts,
    MadeBy,
    added_wordings,
    hypothesis_variants,
)
from tests.llm.server import Step, answering, reply, scripted, status
from tests.pages.app import App, OpenPage, listing, with_server

pytestmark = pytest.mark.usefixtures("own_places", "sample_store")

MAKE = {"dataset": "sample_data", "part": "make"}
HOSTILE = "<img src=x onerror=alert(1)> ![i](http://evil.example/x.png) **b** :red[r]"
NIGHT = ("sample_cohort", "paraphrase", "Night work and diabetes.", "")
SALT = ("sample_trial", "paraphrase", "Salt and pressure.", "")


@pytest.fixture
def drafts(sample_store: Store) -> Drafts:
    return HypothesisDrafts(sample_store, "sample_data")


def worded(request: dict[str, Any]) -> Step:
    """Keeps every word of the hypothesis, so that no term is lost."""
    prompt = request["messages"][-1]["content"]
    hypothesis = prompt.partition("<hypothesis>\n")[2].partition("\n</hypothesis>")[0]
    kind = "Not so" if "claims the opposite" in prompt else "In short"
    return reply(f"HYPOTHESIS: {kind}: {hypothesis}")


def add(drafts: Drafts, *texts: tuple[str, str, str, str]) -> None:
    """Drafts of instance, kind, text and problem."""
    made_by = MadeBy("tiny", "paraphrase 1-abc", "2026-01-31T10:00:00+00:00")
    drafts.add(
        Draft(one, kind if kind == "negation" else "paraphrase:tiny", "", text, problem, made_by)
        for one, kind, text, problem in texts
    )


def reviewing(open_page: OpenPage, author: str = "Ana", **params: str) -> App:
    return open_page("wording", {"author": author}, dataset="sample_data", part="review", **params)


# -- writing --------------------------------------------------------------------------------------------


def test_without_a_model_the_server_can_be_chosen_there(open_page: OpenPage) -> None:
    app = open_page("wording", **MAKE)
    assert app.named("expander", "No model yet").proto.expanded
    assert "Try the connection" in app.labels()
    assert "Write drafts" not in app.labels()


def test_drafts_are_estimated_written_and_wait(open_page: OpenPage, sample_store: Store) -> None:
    with scripted(answering(worded)) as server:
        app = open_page("wording", with_server(server.url), **MAKE)
        # Six instances, a paraphrase and a negation each.
        assert "12 wordings, about 12 calls" in app.words
        assert "the price of tiny is not known" in app.words
        assert not server.requests
        app.ask("Write drafts")
        assert "12 drafts. Asked: 12 calls, 1,320 tokens, price unknown." in app.words
        assert "**12 waiting to be read**" in app.words
        assert "Every instance chosen has such drafts already" in app.words
        assert app.named("button", "Write drafts").disabled
        assert not added_wordings(sample_store, "sample_data")  # no wording yet
        assert app.press("Review").address["part"] == "review"
        assert "Waiting (12)" in app.segmented_control[1].options
        assert len(server.requests) == 12


def test_a_cap_stops_it_and_the_rest_comes_later(open_page: OpenPage, drafts: Drafts) -> None:
    with scripted(answering(worded)) as server:
        app = open_page("wording", with_server(server.url, calls="3"), **MAKE).ask("Write drafts")
        (job,) = jobs().jobs("drafts")
        assert job.status.state == "stopped"
        assert "the cap of 3 calls is reached" in job.status.note
        assert drafts.counts()["waiting"] == len(server.requests) == 3
        app.session_state["kept.llm.cap.calls"] = ""
        assert "9 wordings, about 9 calls" in app.run().words
        app.ask("Write drafts")
        assert drafts.counts()["waiting"] == len(server.requests) == 12


def test_refused_wordings_and_failed_calls_are_counted(open_page: OpenPage, drafts: Drafts) -> None:
    def say(request: dict[str, Any]) -> Step:
        negation = "claims the opposite" in request["messages"][-1]["content"]
        return status(400, "no such thing") if negation else reply("I would rather not.")

    with scripted(answering(say)) as server:
        app = open_page("wording", with_server(server.url), **MAKE).ask("Write drafts")
    assert "0 drafts, 6 refused by the checks, 6 failed." in app.words
    assert "The first failed call:" in app.words
    assert "6 wordings, about 6 calls" in app.words  # failed calls can be tried again
    assert drafts.counts()["refused"] == 6


def test_a_cap_in_dollars_needs_a_price(open_page: OpenPage) -> None:
    with scripted(listing(reply("x"))) as server:
        app = open_page("wording", with_server(server.url, money="1.0"), **MAKE)
    assert "A cap in dollars needs the model's price" in app.words
    assert app.named("button", "Write drafts").disabled


# -- reading --------------------------------------------------------------------------------------------


def test_without_drafts_it_says_where_they_come_from(open_page: OpenPage) -> None:
    assert reviewing(open_page).press("Write some with a model").address["part"] == "make"


def test_accept_edit_reject_and_undo(open_page: OpenPage, sample_store: Store, drafts: Drafts) -> None:
    add(drafts, NIGHT, SALT, ("sample_animal", "paraphrase", "Fumes and tumours.", ""))
    app = reviewing(open_page)
    assert "**1 to 3 of 3**" in app.words
    assert "**1 to 2 of 2**" in app.press("Accept").words
    wording = added_wordings(sample_store, "sample_data")["paraphrase:tiny"]["sample_cohort"]
    assert (wording.text, wording.made_by.reviewer) == (NIGHT[2], "Ana")

    assert app.press("Edit").text_area[0].value == "Salt and pressure."
    app.text_area[0].set_value("Salt and blood pressure.").run()
    app.press("Accept these words")
    wordings = hypothesis_variants(sample_store, "sample_data")["paraphrase:tiny"]
    assert wordings == {"sample_cohort": NIGHT[2], "sample_trial": "Salt and blood pressure."}
    assert drafts.drafts("accepted")[1].made_by.edited

    assert "Everything that waited has been read" in app.press("Reject").words
    assert "**1 to 1 of 1**" in app.press("Undo").words
    assert drafts.counts()["waiting"] == 1
    app = open_page("wording", dataset="sample_data", part="wordings", name="paraphrase:tiny")
    assert "Click a name to read them" in app.words
    assert app.labels("download_button") == ["Download variants file"]
    app = open_page("browse", dataset="sample_data", instance="sample_cohort", h=NIGHT[2], r="lead")
    assert "Made by: tiny, paraphrase 1-abc, 2026-01-31; accepted by Ana" in app.words


def test_a_page_is_accepted_at_once_but_for_what_would_replace_a_wording(
    open_page: OpenPage, sample_store: Store, drafts: Drafts
) -> None:
    replacing = ("sample_cohort", "negation", "Night work prevents diabetes.", "")  # the data brings one
    add(drafts, NIGHT, replacing, SALT)
    app = reviewing(open_page)
    assert "Would take the place of a negation that came with the data" in app.words
    app.press("Accept 2 shown")
    assert drafts.counts() == {"waiting": 1, "refused": 0, "accepted": 2, "rejected": 0}
    app.press("Undo 2")
    assert drafts.counts()["waiting"] == 3
    assert not added_wordings(sample_store, "sample_data")


def test_nothing_is_decided_without_a_name(open_page: OpenPage, drafts: Drafts) -> None:
    add(drafts, NIGHT, SALT)
    app = reviewing(open_page, author="")
    assert all(app.named("button", name).disabled for name in ("Accept", "Reject", "Accept 2 shown"))
    app.text_input[0].set_value("Ben").run()
    assert not app.named("button", "Accept").disabled


def test_refused_ones_can_be_fixed(open_page: OpenPage, drafts: Drafts) -> None:
    unread = ("sample_trial", "paraphrase", "", "the answer has no line HYPOTHESIS:")
    add(drafts, ("sample_cohort", "paraphrase", "Diabetes.", "the paraphrase has lost 2"), unread)
    app = reviewing(open_page, drafts="refused")
    assert "the paraphrase has lost 2" in app.words
    assert "No wording could be read from the answer" in app.words
    assert app.labels().count("Accept") == 1  # there is nothing to accept in the other
    app.press("Edit", 1)
    app.text_area[0].set_value("").run()
    assert "there are no words" in app.press("Accept these words").words
    app.text_area[0].set_value("Salt, in other words.").run()
    app.press("Accept these words")
    assert drafts.drafts("accepted")[0].edited == "Salt, in other words."
    app.press("Undo")
    assert drafts.counts()["refused"] == 2


def test_the_way_through_many(open_page: OpenPage, sample_store: Store, drafts: Drafts) -> None:
    ids, kinds = sample_store.ids("sample_data"), ("paraphrase", "negation")
    add(drafts, *((one, kind, f"{one} {kind}", "") for one in ids for kind in kinds))
    app = reviewing(open_page)
    for label, shown in (("Next", "2 to 11"), ("Next 10", "12 to 12"), ("Back", "11 to 12")):
        assert f"**{shown} of 12**" in app.press(label).words
    assert app.address["at"] == "10"
    assert "**12 to 12 of 12**" in reviewing(open_page, at="999", drafts="nonsense").words


def test_a_hostile_draft_is_shown_as_letters(open_page: OpenPage, drafts: Drafts) -> None:
    add(drafts, ("sample_cohort", "paraphrase", HOSTILE, HOSTILE))
    app = reviewing(open_page, drafts="refused")
    shown = [one.value for one in app.markdown if "onerror" in one.value]
    assert len(shown) == 2  # the draft and what the checks said
    for value in shown:
        for escaped in (r"\<img src\=x onerror\=alert\(1\)\>", r"\!\[i\]", r"\:red\[r\]"):
            assert escaped in value


def test_a_file_that_a_model_wrote_comes_to_review(
    open_page: OpenPage, sample_store: Store, drafts: Drafts
) -> None:
    app = open_page("wording", dataset="sample_data", part="wordings")
    made_by = {"paraphrase:gpt": {"model": "gpt", "prompt": "p 1"}}
    entry = {"paraphrases": {"hand": "By hand.", "gpt": "By gpt."}, "made_by": made_by}
    content = json.dumps({"sample_cohort": entry}).encode()
    app.get("file_uploader")[0].set_value(("v.json", content, "application/json")).run()
    words = app.press("Keep these wordings").words
    assert "1 wordings kept beside" in words
    assert "1 more wait" in words
    variants = hypothesis_variants(sample_store, "sample_data")
    assert variants["paraphrase:hand"] == {"sample_cohort": "By hand."}
    assert "paraphrase:gpt" not in variants
    assert drafts.counts()["waiting"] == 1
