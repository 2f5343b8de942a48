"""A model asked about one instance, in Browse: on a click, while one watches, and what it said."""

from __future__ import annotations

import pytest

from components.app.resources import jobs
from tests.llm.server import Step, reply, scripted, stall, status
from tests.pages.app import App, OpenPage

ANSWER = "0: <img src=x onerror=alert(1)> it names the *cohort*\n3: the result\nDECISION: [0, 3]"
WHERE = {"dataset": "sample_data", "instance": "sample_cohort", "task": "er@10", "r": "llm;model=tiny"}

pytestmark = pytest.mark.usefixtures("own_places", "sample_store")


def browse(open_page: OpenPage, url: str, **changes: str) -> App:
    """An instance in Browse, in a session with that server."""
    return open_page("browse", {"llm.server": url}, **(WHERE | changes))


def test_a_model_is_asked_on_a_click_only_and_then_kept(open_page: OpenPage) -> None:
    with scripted(reply(ANSWER)) as server:
        app = browse(open_page, server.url)
        assert "has not answered this yet. About 1 call" in app.words
        assert "price unknown" in app.words
        assert not server.requests
        app.ask()
        assert "a selection" in app.words
        assert "What each pick of llm model=tiny adds" in app.words
        app.run()
        assert len(server.requests) == 1  # never paid twice


def test_the_models_words_are_shown_as_letters_beside_its_pick(open_page: OpenPage) -> None:
    with scripted(reply(ANSWER)) as server:
        app = browse(open_page, server.url).ask().run(sentence="0")
    words = next(one.value for one in app.markdown if "In its words" in one.value)
    assert r"\<img src\=x onerror\=alert\(1\)\> it names the \*cohort\*" in words
    fold = next(one for one in app.expander if "what it was asked and what it said" in one.label)
    assert any(one.value == ANSWER for one in fold.code)
    assert any("100 + 10 tokens" in one.value for one in fold.markdown)
    fold.toggle[0].set_value(True).run()
    assert any("<hypothesis>" in one.value for one in app.code)


def test_a_huge_answer_is_shown_from_both_ends(open_page: OpenPage) -> None:
    with scripted(reply("begins " + "x" * 400_000 + " ends\nDECISION: [0]")) as server:
        app = browse(open_page, server.url).ask()
    assert "of 400,026 characters are left out in the middle" in app.words
    shown = next(one.value for one in app.code if one.value.startswith("begins"))
    assert shown.endswith(" ends\nDECISION: [0]")
    assert len(shown) < 201_000


def test_a_stopped_question_says_so_and_can_be_asked_again(open_page: OpenPage) -> None:
    with scripted(stall()) as server:
        app = browse(open_page, server.url).press("Ask the model")
        jobs().jobs("ask")[0].cancel()
        assert "was stopped" in app.finish().words
        assert "Try again" in app.labels()


@pytest.mark.parametrize(
    ("step", "name"),
    [
        (reply("I see nothing. DECISION: []"), "chose nothing"),
        (reply("I would rather talk about it."), "no list found"),
        (reply("DECISION: [9999]"), "only indices not shown"),
        (status(400, "no"), "call failed."),
        (reply("Hm", finish_reason="length"), "cut off by the token limit"),
        (reply(None, message={"role": "assistant", "content": None, "refusal": "I cannot."}), "refused"),
    ],
)
def test_what_came_back_is_told_by_name(open_page: OpenPage, step: Step, name: str) -> None:
    with scripted(step) as server:
        assert f"**{name}**" in browse(open_page, server.url).ask().words
