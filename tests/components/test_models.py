"""A model server's address, what comes of trying it, and what a run will take and has taken, in words."""

import json

import pytest

from components.ask import estimate_text
from components.server import address_text, checked_address, trial
from components.work import spent_text
from evidencebench_core.errors import SettingError
from evidencebench_core.llm import Connection, Spending
from evidencebench_core.runs import RunEstimate
from evidencebench_core.words import dollars
from tests.llm.server import body, scripted

KEY = "sk-live-0123456789abcdef"
WORK = {"model": "tiny*", "n_instances": 96, "calls": 1200, "cached": 1}
RANGE = {
    "low": Spending(1, 0, 800, 100, 2.0),
    "high": Spending(1, 0, 1_000, 500, 4.0),
    "rests_on": {"guesses": 1},
}
TOKENS = {"prompt_tokens": 1_000_000, "completion_tokens": 200_000, **RANGE}


@pytest.mark.parametrize("text", ["http://localhost:8000/v1", "https://a.b/v1/", "http://[::1]:11434/v1"])
def test_usual_addresses_are_taken_and_shown_as_no_link(text: str) -> None:
    assert checked_address(f" {text} ") == text
    assert address_text(Connection(text)) == f"`{text.rstrip('/')}`"


@pytest.mark.parametrize(
    "text",
    [
        *("localhost:1", "ftp://a/b", "http://", "http://a:b@c/v1", "http://a/v1?k=v", "http://a:99999/"),
        *("http://a/`b`", "http://a/<b>", "http://a /v1", "http://a/\nb", "http://a/\u202e"),
    ],
)
def test_other_addresses_are_refused_without_repeating_them(text: str) -> None:
    with pytest.raises(SettingError) as caught:
        checked_address(text)
    assert "a:b" not in str(caught.value)


def test_a_try_lists_the_models_or_says_in_one_line_what_came_back_and_never_the_key() -> None:
    models = body(json.dumps({"data": [{"id": f"tiny-{KEY}"}, {"id": "other"}]}).encode())
    page = body(b"<html><title>Router</title>\n<pre>password: hunter2</pre></html>", "text/html")
    echo = body(f"no {KEY}\nhunter2".encode(), "text/plain", 401)
    with scripted(models, page, echo) as server:
        there = Connection(server.url, KEY)
        assert trial(there, "").models == ("other", "tiny-[key]")
        for connection in (there, there, Connection("http://127.0.0.1:9/v1", KEY)):
            result = trial(connection, "")
            assert not [text for text in ("\n", KEY[:12], "hunter2") if text in result.line]


def test_an_estimate_has_dollars_only_where_the_price_is_known() -> None:
    unknown = estimate_text(RunEstimate(**WORK, **TOKENS, n_looked_at=48, money=None))
    assert all(part in unknown for part in ("about 1,200 calls", "900 to 1", "48 instances"))
    assert "$" not in unknown
    known = estimate_text(
        RunEstimate(**WORK, **TOKENS, n_looked_at=96, money=3.0, price_source="genai of 2026")
    )
    assert all(part in known for part in (r"\$2\.00 to \$4", "of 2026", "1 answer in the store"))


def test_spending_tells_unknown_money_from_none() -> None:
    assert spent_text(Spending()) == "0 calls, 0 tokens"
    assert "price unknown" in spent_text(Spending(1, prompt_tokens=9, completion_tokens=1, money=None))
    spent = spent_text(Spending(2, cached=3, money=0.5))
    assert spent == "2 calls, 0 tokens, $0.50, 3 from the store"
    sums = (0.0, 0.0012, 12.345, 1234.5)
    assert [dollars(money) for money in sums] == ["$0.00", "$0.0012", "$12.35", "$1,234.50"]
