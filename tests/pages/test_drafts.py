"""Wording: a model writes drafts in the background, somebody reads them, and only then they are wordings."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from components.app.resources import jobs
from evidencebench_core.data import Store
from evidencebench_core.perturb import Draft, Drafts, MadeBy, added_wordings, hypothesis_variants
from tests.llm.server import Step, answering, reply, scripted, status
from tests.pages.asking import SECRET, click, listing, said, with_model
from tests.pages.conftest import OpenPage, address
from tests.pages.waiting import jobs_ended

pytestmark = pytest.mark.usefixtures("own_places")

HOSTILE = "<img src=x onerror=alert(1)> ![i](http://evil.example/x.png) **b** :red[r]"


def worded(request: dict[str, Any]) -> Step:
    """Keeps every word of the hypothesis, so that no term is lost."""
    prompt = request["messages"][-1]["content"]
    hypothesis = prompt.partition("<hypothesis>\n")[2].partition("\n</hypothesis>")[0]
    kind = "Not so" if "claims the opposite" in prompt else "In short"
    return reply(f"HYPOTHESIS: {kind}: {hypothesis}")


def making(open_page: OpenPage, server_url: str, **caps: str) -> AppTest:
    """The part where drafts are written, in a session with that server."""
    return with_model(open_page("wording", dataset="sample_data", part="make"), server_url, **caps)


def drafted(store: Store, *texts: tuple[str, str, str, str]) -> Drafts:
    """Drafts of instance, kind, text and problem."""
    drafts = Drafts(store, "sample_data")
    made_by = MadeBy("tiny", "paraphrase 1-abc", "2026-01-31T10:00:00+00:00")
    drafts.add(
        Draft(one, kind if kind == "negation" else "paraphrase:tiny", "", text, problem, made_by)
        for one, kind, text, problem in texts
    )
    return drafts


def reviewing(open_page: OpenPage, author: str = "Ana", **params: str) -> AppTest:
    app = open_page("wording", dataset="sample_data", part="review", **params)
    app.session_state["kept.author"] = author
    app.run()
    assert not app.exception
    return app


def button(app: AppTest, label: str, place: int = 0) -> Any:
    return [one for one in app.button if one.label == label][place]


def press(app: AppTest, label: str, place: int = 0) -> None:
    button(app, label, place).click().run()
    assert not app.exception


# -- writing --------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("sample_store")
def test_without_a_model_the_server_can_be_chosen_there(open_page: OpenPage) -> None:
    app = open_page("wording", dataset="sample_data", part="make")
    assert any("No model yet" in one.label and one.proto.expanded for one in app.expander)
    assert "Try the connection" in [one.label for one in app.button]
    assert "Write drafts" not in [one.label for one in app.button]


def test_drafts_are_estimated_written_and_wait(open_page: OpenPage, sample_store: Store) -> None:
    with scripted(answering(worded)) as server:
        app = making(open_page, server.url)
        # Six instances, a paraphrase and a negation each.
        assert "12 wordings, about 12 calls" in said(app)
        assert "the price of tiny is not known" in said(app)
        assert not server.requests
        click(app, "Write drafts")
        jobs_ended()
        assert len(server.requests) == 12
        app.run()
        assert "12 drafts. Asked: 12 calls, 1,320 tokens, price unknown." in said(app)
        assert "**12 waiting to be read**" in said(app)
        assert "Every instance chosen has such drafts already" in said(app)
        assert button(app, "Write drafts").disabled
        assert not added_wordings(sample_store, "sample_data")  # no wording yet
        press(app, "Review")
        assert address(app)["part"] == "review"
        assert "Waiting (12)" in app.segmented_control[1].options
        assert len(server.requests) == 12


def test_a_cap_stops_it_and_the_rest_comes_later(open_page: OpenPage, sample_store: Store) -> None:
    with scripted(answering(worded)) as server:
        app = making(open_page, server.url, calls="3")
        click(app, "Write drafts")
        jobs_ended()
        (job,) = jobs().jobs("drafts")
        assert job.status.state == "stopped"
        assert "the cap of 3 calls is reached" in job.status.note
        assert Drafts(sample_store, "sample_data").counts()["waiting"] == len(server.requests) == 3
        app.session_state["kept.llm.cap.calls"] = ""
        app.run()
        assert "9 wordings, about 9 calls" in said(app)
        click(app, "Write drafts")
        jobs_ended()
        assert Drafts(sample_store, "sample_data").counts()["waiting"] == len(server.requests) == 12


def test_refused_wordings_and_failed_calls_are_counted(open_page: OpenPage, sample_store: Store) -> None:
    def say(request: dict[str, Any]) -> Step:
        prompt = request["messages"][-1]["content"]
        if "claims the opposite" in prompt:
            return status(400, "no such thing")
        return reply("I would rather not.")

    with scripted(answering(say)) as server:
        app = making(open_page, server.url)
        click(app, "Write drafts")
        jobs_ended()
        app.run()
        assert "0 drafts, 6 refused by the checks, 6 failed." in said(app)
        assert "The first failed call:" in said(app)
        assert "6 wordings, about 6 calls" in said(app)  # failed calls can be tried again
    assert Drafts(sample_store, "sample_data").counts()["refused"] == 6


def test_a_refused_key_is_said_and_leaks_nowhere(
    open_page: OpenPage, sample_store: Store, logged: io.StringIO
) -> None:
    with scripted(status(401, f"Incorrect API key provided: {SECRET}")) as server:
        app = making(open_page, server.url)
        app.session_state[f"kept.llm.key.{server.url}"] = SECRET
        app.run()
        click(app, "Write drafts")
        jobs_ended()
        app.run()
        assert "answers 401" in said(app)
        assert server.requests[0].headers["authorization"] == f"Bearer {SECRET}"
        assert SECRET not in said(app) + logged.getvalue() + str(address(app)) + str(jobs().jobs())
    for path in sample_store.path.parent.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes()


@pytest.mark.usefixtures("sample_store")
def test_a_cap_in_dollars_needs_a_price(open_page: OpenPage) -> None:
    with scripted(listing(reply("x"))) as server:
        app = making(open_page, server.url, money="1.0")
        assert "A cap in dollars needs the model's price" in said(app)
        assert button(app, "Write drafts").disabled


# -- reading --------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("sample_store")
def test_without_drafts_it_says_where_they_come_from(open_page: OpenPage) -> None:
    app = reviewing(open_page)
    press(app, "Write some with a model")
    assert address(app)["part"] == "make"


def test_accept_edit_reject_and_undo(open_page: OpenPage, sample_store: Store) -> None:
    drafts = drafted(
        sample_store,
        ("sample_cohort", "paraphrase", "Night work and diabetes.", ""),
        ("sample_trial", "paraphrase", "Salt and pressure.", ""),
        ("sample_animal", "paraphrase", "Fumes and tumours.", ""),
    )
    app = reviewing(open_page)
    assert "**1 to 3 of 3**" in said(app)
    press(app, "Accept")
    assert "**1 to 2 of 2**" in said(app)
    wordings = hypothesis_variants(sample_store, "sample_data")
    assert wordings["paraphrase:tiny"] == {"sample_cohort": "Night work and diabetes."}
    assert (
        added_wordings(sample_store, "sample_data")["paraphrase:tiny"]["sample_cohort"].made_by.reviewer
        == "Ana"
    )

    press(app, "Edit")
    assert app.text_area[0].value == "Salt and pressure."
    app.text_area[0].set_value("Salt and blood pressure.").run()
    press(app, "Accept these words")
    wordings = hypothesis_variants(sample_store, "sample_data")
    assert wordings["paraphrase:tiny"]["sample_trial"] == "Salt and blood pressure."
    assert drafts.drafts("accepted")[1].made_by.edited

    press(app, "Reject")
    assert "Everything that waited has been read" in said(app)
    press(app, "Undo")
    assert drafts.counts()["waiting"] == 1
    assert "**1 to 1 of 1**" in said(app)


def test_a_page_is_accepted_at_once_but_for_what_would_replace_a_wording(
    open_page: OpenPage, sample_store: Store
) -> None:
    drafts = drafted(
        sample_store,
        ("sample_cohort", "paraphrase", "Night work and diabetes.", ""),
        ("sample_cohort", "negation", "Night work prevents diabetes.", ""),  # the data brings one
        ("sample_trial", "paraphrase", "Salt and pressure.", ""),
    )
    app = reviewing(open_page)
    assert "Would take the place of a negation that came with the data" in said(app)
    press(app, "Accept 2 shown")
    assert drafts.counts() == {"waiting": 1, "refused": 0, "accepted": 2, "rejected": 0}
    press(app, "Undo 2")
    assert drafts.counts()["waiting"] == 3
    assert not added_wordings(sample_store, "sample_data")


def test_nothing_is_decided_without_a_name(open_page: OpenPage, sample_store: Store) -> None:
    drafted(sample_store, ("sample_cohort", "paraphrase", "A.", ""), ("sample_trial", "paraphrase", "B.", ""))
    app = reviewing(open_page, author="")
    assert all(button(app, name).disabled for name in ("Accept", "Reject", "Accept 2 shown"))
    app.text_input[0].set_value("Ben").run()
    assert not button(app, "Accept").disabled


def test_refused_ones_can_be_fixed(open_page: OpenPage, sample_store: Store) -> None:
    drafts = drafted(
        sample_store,
        ("sample_cohort", "paraphrase", "Diabetes.", "the paraphrase has lost 2"),
        ("sample_trial", "paraphrase", "", "the answer has no line HYPOTHESIS:"),
    )
    app = reviewing(open_page, drafts="refused")
    assert "the paraphrase has lost 2" in said(app)
    assert "No wording could be read from the answer" in said(app)
    assert (
        len([one for one in app.button if one.label == "Accept"]) == 1
    )  # there is nothing to accept in the other
    press(app, "Edit", 1)
    app.text_area[0].set_value("").run()
    press(app, "Accept these words")
    assert any("there are no words" in one.value for one in app.toast)
    app.text_area[0].set_value("Salt, in other words.").run()
    press(app, "Accept these words")
    assert drafts.drafts("accepted")[0].edited == "Salt, in other words."
    press(app, "Undo")
    assert drafts.counts()["refused"] == 2


def test_the_way_through_many(open_page: OpenPage, sample_store: Store) -> None:
    ids = sample_store.ids("sample_data")
    drafted(
        sample_store,
        *((one, kind, f"{one} {kind}", "") for one in ids for kind in ("paraphrase", "negation")),
    )
    app = reviewing(open_page)
    assert "**1 to 10 of 12**" in said(app)
    press(app, "Next")
    assert ("**2 to 11 of 12**" in said(app), address(app)["at"]) == (True, "1")
    press(app, "Next 10")
    assert "**12 to 12 of 12**" in said(app)
    assert button(app, "Next").disabled
    press(app, "Back")
    assert "**11 to 12 of 12**" in said(app)
    app = reviewing(open_page, at="999", drafts="nonsense")
    assert "**12 to 12 of 12**" in said(app)


def test_a_hostile_draft_is_shown_as_letters(open_page: OpenPage, sample_store: Store) -> None:
    drafted(sample_store, ("sample_cohort", "paraphrase", HOSTILE, HOSTILE))
    app = reviewing(open_page, drafts="refused")
    shown = [one.value for one in app.markdown if "onerror" in one.value]
    assert len(shown) == 2  # the draft and what the checks said
    for value in shown:
        assert r"\<img src\=x onerror\=alert\(1\)\>" in value
        assert r"\!\[i\]" in value
        assert r"\:red\[r\]" in value


# -- the wordings there are ----------------------------------------------------------------------------------


def test_wordings_tell_who_made_them_and_can_be_taken_along(open_page: OpenPage, sample_store: Store) -> None:
    drafts = drafted(sample_store, ("sample_cohort", "paraphrase", "Night work and diabetes.", ""))
    drafts.accept([drafts.drafts()[0].id], "Ana")
    app = open_page("wording", dataset="sample_data", part="wordings", name="paraphrase:tiny")
    assert not app.exception
    assert "Click a name to read them" in said(app)
    assert [one.label for one in app.get("download_button")] == ["Download variants file"]
    app = open_page(
        "browse", dataset="sample_data", instance="sample_cohort", h="Night work and diabetes.", r="lead"
    )
    assert "Made by: tiny, paraphrase 1-abc, 2026-01-31; accepted by Ana" in said(app)


def test_a_file_that_a_model_wrote_comes_to_review(open_page: OpenPage, sample_store: Store) -> None:
    app = open_page("wording", dataset="sample_data", part="wordings")
    content = {
        "sample_cohort": {
            "paraphrases": {"hand": "By hand.", "gpt": "By gpt."},
            "made_by": {"paraphrase:gpt": {"model": "gpt", "prompt": "p 1"}},
        }
    }
    app.get("file_uploader")[0].set_value(("v.json", json.dumps(content).encode(), "application/json")).run()
    click(app, "Keep these wordings")
    assert any("1 wordings kept beside" in one.value and "1 more wait" in one.value for one in app.toast)
    assert "gpt" not in str(hypothesis_variants(sample_store, "sample_data")["paraphrase:hand"])
    assert "paraphrase:gpt" not in hypothesis_variants(sample_store, "sample_data")
    assert Drafts(sample_store, "sample_data").counts()["waiting"] == 1
