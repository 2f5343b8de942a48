"""What a run will take and has taken, in words; what came in so far; addresses; prices as a file."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.leaderboard.runs import OUTCOME_COLUMNS
from components.models.asking import AnswerFeed
from components.models.calls import outcome_line
from components.models.caps import dollars, estimate_text, spent_text
from components.models.prices import own_prices, prices_text
from components.models.server import address_text, checked_address, trial
from evidencebench_core.errors import SettingError
from evidencebench_core.llm import Connection, Price, Spending, prices
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.retrievers.llm import OUTCOME_KINDS, OutcomeCounts
from evidencebench_core.runs import RunEstimate
from tests.llm.server import body, reply, scripted

KEY = "sk-live-0123456789abcdef"


def estimate(**changes: object) -> RunEstimate:
    values: dict[str, object] = {
        "model": "tiny*",
        "n_instances": 96,
        "n_looked_at": 48,
        "calls": 1200,
        "cached": 0,
        "prompt_tokens": 1_000_000,
        "completion_tokens": 200_000,
        "price": None,
    }
    return RunEstimate(**(values | changes))  # type: ignore[arg-type]


def test_an_unknown_price_leaves_tokens_only() -> None:
    said = estimate_text(estimate())
    # 1,200 calls over 96 instances: 12.5, said as 12.
    assert said.startswith("96 instances, about 1,200 calls (12 each), 1,200,000 tokens, the price of tiny")
    assert "is not known: tokens only" in said
    assert "$" not in said
    assert "Told from 48 instances" in said


def test_a_known_price_gives_dollars_and_says_as_of_when() -> None:
    # 1 million prompt tokens at $2 and 0.2 million answer tokens at $5: 2 + 1 = $3
    said = estimate_text(estimate(price=Price(2.0, 5.0, "2025-08"), cached=1, n_looked_at=96))
    assert "$3" in said
    assert "2025" in said
    assert "1 answer in the store cost" in said
    assert "Told from" not in said


def test_nothing_left_to_ask_is_said() -> None:
    assert "every answer is in the store" in estimate_text(estimate(calls=0, cached=5))


def test_spending_tells_unknown_money_from_none() -> None:
    assert spent_text(Spending()) == "0 calls, 0 tokens"
    assert spent_text(Spending(1, prompt_tokens=9, completion_tokens=1, money=None)) == (
        "1 call, 10 tokens, price unknown"
    )
    assert spent_text(Spending(2, cached=3, failed=1, money=0.5)) == (
        "2 calls, 0 tokens, $0.50, 3 from the store, 1 failed call"
    )


@pytest.mark.parametrize(
    ("money", "said"),
    [(None, "price unknown"), (0.0, "$0.00"), (0.0012, "$0.0012"), (12.345, "$12.35"), (1234.5, "$1,234.50")],
)
def test_small_sums_keep_four_decimals(money: float | None, said: str) -> None:
    assert dollars(money) == said


def test_what_came_in_is_told_by_step_and_starts_over() -> None:
    feed = AnswerFeed()
    feed.add("section 1", "a")
    feed.add("section 1", "b")
    feed.add("section 2", "half")
    feed.add("section 2", None)  # the connection broke
    feed.add("section 2", "whole")
    assert feed() == (("section 1", "ab"), ("section 2", "whole"))


@given(st.builds("{}{}".format, st.sampled_from(["http://", "https://a", "HTTP://a/"]), st.text()))
def test_an_address_that_is_taken_shows_as_code_and_holds_no_password(text: str) -> None:
    try:
        taken = checked_address(text)
    except SettingError:
        return
    shown = address_text(Connection(taken))
    assert shown.startswith("`http")
    assert shown.count("`") == 2
    assert not set(taken) & set("@? \n<>") or "/" in taken.partition("://")[2].partition("@")[0]


@pytest.mark.parametrize("text", ["http://localhost:8000/v1", "https://a.b/v1/", "http://[::1]:11434/v1"])
def test_usual_addresses_are_taken_and_shown_as_no_link(text: str) -> None:
    assert checked_address(f" {text} ") == text
    assert address_text(Connection(text)) == f"`{text.rstrip('/')}`"


@pytest.mark.parametrize(
    "text", ["localhost:1", "ftp://a/b", "http://", "http://a:b@c/v1", "http://a/v1?k=v", "http://a:99999/"]
)
def test_other_addresses_are_refused_without_repeating_them(text: str) -> None:
    with pytest.raises(SettingError) as caught:
        checked_address(text)
    assert "a:b" not in str(caught.value)


def test_an_unreachable_server_is_one_line_without_the_key() -> None:
    found = trial(Connection("http://127.0.0.1:9/v1", KEY), "tiny")
    assert not found.ok
    assert "\n" not in found.line
    assert KEY not in found.line


def test_a_model_that_is_not_in_the_list_may_answer_all_the_same() -> None:
    with scripted(body(b'{"data": [{"id": "other"}]}'), reply("ready")) as server:
        found = trial(Connection(server.url), "tiny")
    assert found.ok
    assert found.models == ("other",)
    assert "though it is not in the list" in found.line


def table(rows: list[tuple[object, ...]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["model", "prompt", "completion", "date", "source"])


def test_only_what_differs_from_ours_is_the_users_own() -> None:
    ours = prices(Path("/dev/null"))["gpt-4o-mini"]
    same = ("gpt-4o-mini", ours.prompt, ours.completion, ours.date, ours.source)
    empty = (None, None, None, None, None)
    assert own_prices(table([same, empty, ("local", 0, None, None, "")])) == {"local": Price(0.0, 0.0)}


@pytest.mark.parametrize("row", [("", 1, 1, "", ""), ("m", -1, 1, "", ""), ("m", float("inf"), 1, "", "")])
def test_rows_that_are_no_price_are_refused(row: tuple[object, ...]) -> None:
    with pytest.raises(SettingError):
        own_prices(table([row]))


@given(
    st.dictionaries(
        st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1),
        st.builds(Price, st.floats(0, 1e5), st.floats(0, 1e5), st.just("2026-01"), st.just('a "b" \\ c')),
        max_size=4,
    )
)
def test_prices_come_back_from_their_file(own: dict[str, Price]) -> None:
    import tomllib

    read = tomllib.loads(prices_text(own))["models"]
    assert {name: Price(**entry) for name, entry in read.items()} == own


def test_every_count_of_outcomes_has_a_column_and_the_kinds_come_first() -> None:
    assert sorted(OUTCOME_COLUMNS) == sorted(OutcomeCounts().as_dict())
    assert list(OUTCOME_COLUMNS)[: len(OUTCOME_KINDS)] == list(OUTCOME_KINDS)


def test_what_else_an_answer_was_is_told_beside_its_kind() -> None:
    details = {"outcome": "selection over some-unknown regenerated partly", "n_unknown": "2"}
    assert outcome_line(Retrieval((3, 4), (0.0, 0.0), (3, 4), details=details), 1) == (
        "**a selection** of 2; 2 picks where K is 1: scored by expectation over every K of them; "
        "indices that were not shown: 2, left out; at least one part of the paper, or one point searched for, "
        "was lost; asked once more for fewer"
    )
    plain = Retrieval((3,), (0.0,), (3,), details={"outcome": "selection"})
    assert outcome_line(plain, 1) == "**a selection** of 1"
