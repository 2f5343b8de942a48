"""Limits that all calls share, in virtual time: minutes of waiting, servers that go and come back."""

from __future__ import annotations

from collections import deque

import pytest

from evidencebench_core.errors import (
    BudgetReachedError,
    LLMError,
    LLMRejectedError,
    LLMUnreachableError,
    SettingError,
)
from evidencebench_core.llm import Answer, Budget, Limits, Timeouts
from evidencebench_core.llm.limiter import wait_asked_for
from evidencebench_core.llm.replies import RawReply, Setback
from tests.llm.virtual import Call, Outcome, VirtualServer, reply, status

REFUSED = Setback("nothing listens there (connection refused)")


def all_answered(outcomes: list[Outcome]) -> bool:
    return all(isinstance(outcome, Answer) for outcome in outcomes)


class Bucket:
    """A server that allows so many tokens in any minute, with 7,000 for a call."""

    def __init__(self, limit: int, says: str) -> None:
        self.limit, self.says = limit, says
        self.taken = deque[float]()
        self.n_refused = 0

    def __call__(self, call: Call) -> tuple[float, RawReply]:
        while self.taken and self.taken[0] <= call.now - 60:
            self.taken.popleft()
        left = self.limit - 7_000 * len(self.taken)
        headers = {}
        if "limits" in self.says:
            reset = f"{60 - (call.now - self.taken[0]):.3f}s" if self.taken else "0s"
            headers = {"x-ratelimit-remaining-tokens": str(left), "x-ratelimit-reset-tokens": reset}
            if "only" not in self.says:
                headers["x-ratelimit-limit-tokens"] = str(self.limit)
        if left < 7_000:
            self.n_refused += 1
            if "retry-after" in self.says:
                headers["retry-after"] = "3"
            return 0.1, status(429, "Rate limit reached for tokens per min", headers)
        self.taken.append(call.now)
        return 2.0, reply(headers, prompt_tokens=6_980, completion_tokens=20)


@pytest.mark.parametrize(
    "says", ["nothing", "retry-after", "limits", "limits, retry-after", "only what is left, limits"]
)
@pytest.mark.parametrize("concurrency", [8, 32])
def test_a_limit_of_tokens_a_minute_fails_no_call(says: str, concurrency: int) -> None:
    # 8 calls of 7,000 fit into 60,000 a minute; so the last of 40 begins in the fifth, after 240 s.
    server = VirtualServer(bucket := Bucket(60_000, says))
    assert all_answered(server.asked(40, Limits(concurrency), words=6_970))
    assert 240 <= server.ended_at < 300
    assert bucket.n_refused < 150  # each costs nothing
    assert any("waiting" in note and "tokens" in note for _, note in server.notes)
    assert server.budget.spent.calls == 40


@pytest.mark.parametrize("kind", ["requests", "tokens"])
def test_what_the_server_says_is_left_is_kept_to_until_it_is_reset(kind: str) -> None:
    # Somebody else has used up most of the minute: five calls of 1,000 tokens are left, and all again after 90 s.
    n_left, began = {"requests": 6, "tokens": 6_000}[kind], [0.0]

    def behaviour(call: Call) -> tuple[float, RawReply]:
        if call.now - began[0] >= 90:
            began[0] = call.now
        n_before = sum(began[0] <= one.now for one in server.calls) * (1 if kind == "requests" else 1_000)
        if n_before > n_left:
            return 0.1, status(429, "too many")
        reset = round(1e3 * (90 - call.now + began[0]))
        left = {"remaining": str(n_left - n_before), "reset": f"{reset // 60_000}m{reset % 60_000}ms"}
        return 1.0, reply(
            {f"x-ratelimit-{name}-{kind}": value for name, value in left.items()}, prompt_tokens=990
        )

    server = VirtualServer(behaviour)
    assert all_answered(server.asked(15, Limits(2), words=985))
    assert len(server.calls) == 15  # none was refused
    assert 180 < server.ended_at < 200
    assert f"the server allows no more {kind} for now" in server.notes[0][1]


@pytest.mark.parametrize(
    "says",
    [("0", "20h"), ("0", "soon"), ("0", ""), ("none", "1s"), ("0", "-5s"), ("0", "2026-11-22T10:00:00Z")],
)
def test_what_is_left_is_no_reason_to_wait_where_it_makes_no_sense(says: tuple[str, str]) -> None:
    headers = dict(zip(("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"), says, strict=True))
    server = VirtualServer(lambda call: (1.0, reply(headers)))
    assert all_answered(server.asked(3, Limits(1)))
    assert server.ended_at == 3


def test_a_limit_of_tokens_that_is_set_is_kept() -> None:
    server = VirtualServer(bucket := Bucket(60_000, "nothing"))
    assert all_answered(server.asked(24, Limits(32, tokens_per_minute=60_000), words=6_970))
    assert bucket.n_refused == 0
    assert server.ended_at == pytest.approx(122, abs=1)
    assert "60,000 tokens a minute are used up" in server.notes[0][1]


def test_a_call_larger_than_the_limit_goes_alone() -> None:
    server = VirtualServer(lambda call: (1.0, reply()))
    assert all_answered(server.asked(3, Limits(8, tokens_per_minute=1_000), words=7_000))
    assert [call.now for call in server.calls] == pytest.approx([0, 60, 120], abs=0.1)


@pytest.mark.parametrize("learnt", [True, False])
def test_requests_a_minute(learnt: bool) -> None:
    headers = {"x-ratelimit-limit-requests": "10"} if learnt else {}
    limits = Limits(1) if learnt else Limits(30, requests_per_minute=10)
    server = VirtualServer(lambda call: (0.5, reply(headers)))
    assert all_answered(server.asked(30, limits))
    starts = [call.now for call in server.calls]
    assert all(later - first >= 59.99 for first, later in zip(starts, starts[10:], strict=False))
    assert server.ended_at < 130


@pytest.mark.parametrize("chance", [0.0, 0.9])
def test_no_more_calls_at_once_than_allowed(chance: float) -> None:
    server = VirtualServer(
        lambda call: (1.0, status(503) if call.number % 3 == 1 and call.attempt < 3 else reply())
    )
    assert all_answered(server.asked(50, Limits(7, first_wait=0.1), chance=chance))
    assert server.most_at_once == 7


def test_fewer_at_once_after_a_429_and_more_again_with_success() -> None:
    def behaviour(call: Call) -> tuple[float, RawReply]:
        return 1.0, status(429, headers={"retry-after": "5"}) if call.now < 1 else reply()

    server = VirtualServer(behaviour)
    assert all_answered(server.asked(200, Limits(16)))
    second = [call for call in server.calls if 5 <= call.now < 6.5]
    assert len(second) == 8  # sixteen were refused, once
    assert (
        max(sum(call.now == now for call in server.calls) for now in {call.now for call in server.calls})
        == 16
    )


def test_429_is_not_for_ever() -> None:
    server = VirtualServer(lambda call: (0.1, status(429, "slow down")))
    outcomes = server.asked(20, Limits(8, give_up=300))
    assert all(isinstance(outcome, LLMUnreachableError) and outcome.stops_run for outcome in outcomes)
    assert 250 < server.ended_at < 330
    asks = VirtualServer(lambda call: (0.1, status(429, "daily", {"retry-after": "3600"})))
    (error,) = asks.asked(1, Limits())
    assert "asks to wait 3,600 s" in str(error)
    # A server that is busy (503) and says for how long is waited for like one that allows no more.
    busy = VirtualServer(
        lambda call: (1.0, reply() if call.now > 200 else status(503, "", {"retry-after": "20"}))
    )
    assert all_answered(busy.asked(20, Limits()))
    assert "the server asks to wait" in busy.notes[0][1]
    assert asks.ended_at < 1


def test_a_request_that_the_limit_can_never_take_fails_alone() -> None:
    refusal = status(429, "Request too large for m: Limit 30000, Requested 35000")
    server = VirtualServer(lambda call: (0.1, refusal if call.number == 1 else reply()))
    outcomes = server.asked(3, Limits())
    assert [isinstance(outcome, LLMRejectedError) for outcome in outcomes] == [False, True, False]


def test_a_server_that_dies_in_mid_run_and_comes_back_fails_no_call() -> None:
    def behaviour(call: Call) -> tuple[float, RawReply | Setback]:
        return (0.0, REFUSED) if 10 < call.now < 200 else (1.0, reply())

    server = VirtualServer(behaviour)
    assert all_answered(server.asked(400, Limits(8)))
    during = [call for call in server.calls if 10 < call.now < 200]
    assert len(during) < 8 + 20  # those under way, and a probe now and then
    assert server.ended_at < 200 + 30 + 50
    assert any("nothing listens" in n and "giving up in 8 min" in n for _, n in server.notes)
    assert server.budget.spent.failed == 0


@pytest.mark.parametrize("failure", [REFUSED, status(502, "Bad Gateway")])
def test_a_server_that_stays_away_ends_the_run(failure: RawReply | Setback) -> None:
    server = VirtualServer(lambda call: (1.0, reply()) if call.now < 10 else (0.0, failure))
    outcomes = server.asked(400, Limits(8, give_up=120))
    lost = [outcome for outcome in outcomes if isinstance(outcome, LLMError)]
    assert len(lost) == 400 - 80
    assert all(error.stops_run for error in lost)
    assert 130 <= server.ended_at < 165


def test_a_server_that_was_never_there_is_given_up_soon() -> None:
    server = VirtualServer(lambda call: (0.0, REFUSED))
    outcomes = server.asked(40, Limits(8))
    assert all(isinstance(outcome, LLMUnreachableError) and outcome.stops_run for outcome in outcomes)
    assert 25 <= server.ended_at < 40
    assert "connection refused" in str(outcomes[0])


@pytest.mark.parametrize("n_others", [40, 0])
def test_a_question_that_always_fails_is_given_up_alone(n_others: int) -> None:
    server = VirtualServer(lambda call: (0.5, reply() if call.number != 1 else status(500, "boom")))
    outcomes = server.asked(2 + n_others, Limits(2))
    assert isinstance(outcomes[1], LLMUnreachableError)
    assert not outcomes[1].stops_run
    assert "(boom) (tried 8 times)" in str(outcomes[1])
    assert all_answered([outcomes[0], *outcomes[2:]])


def test_calls_that_fail_one_after_the_other_end_the_run() -> None:
    server = VirtualServer(lambda call: (0.5, reply() if call.number == 0 else status(500)))
    outcomes = server.asked(8, Limits(1, give_up=10_000))
    assert isinstance(outcomes[0], Answer)
    assert all(isinstance(outcome, LLMUnreachableError) for outcome in outcomes[1:])
    assert any(isinstance(outcome, LLMError) and outcome.stops_run for outcome in outcomes)


def test_a_cap_in_calls_is_used_up_before_it_ends_the_run() -> None:
    # Those that wait for their turn take nothing from it.
    server = VirtualServer(lambda call: (1.0, reply()), budget=Budget(calls=20))
    outcomes = server.asked(100, Limits(2))
    assert all_answered(outcomes[:20])
    assert all(isinstance(outcome, BudgetReachedError) for outcome in outcomes[20:])
    assert (len(server.calls), server.ended_at) == (20, 10.0)
    assert server.budget.spent.failed == 0


def test_the_time_of_a_call_is_that_of_its_attempts() -> None:
    broken = Setback("nothing came within the time limit", perhaps_billed=True)
    server = VirtualServer(lambda call: (900.0, broken))
    (error,) = server.asked(1, Limits(), timeouts=Timeouts(900, 1800))
    assert len(server.calls) == 2
    assert "1,800 s for a call are used up" in str(error)
    assert server.budget.spent.perhaps_billed == 2
    # Waits are not of it: ten minutes of them, and half a minute for the call.
    server = VirtualServer(lambda call: (1.0, status(503) if 0 < call.now < 200 else reply()))
    assert all_answered(server.asked(2, Limits(1), timeouts=Timeouts(30, 30)))
    assert server.ended_at > 200


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "2.5", "retry-after-ms": "300"}, 0.3),
        ({"retry-after": "Thu, 01 Jan 1970 00:16:50 GMT"}, 10.0),  # the clock stands at 1000 s
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({}, None),
    ],
)
def test_waits_that_are_asked_for(
    headers: dict[str, str], seconds: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evidencebench_core.llm.limiter.time.time", lambda: 1_000.0)
    assert wait_asked_for(headers) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "settings", [{"concurrency": 0}, {"requests_per_minute": -1}, {"give_up": float("inf")}]
)
def test_limits_that_are_none(settings: dict[str, float]) -> None:
    with pytest.raises(SettingError, match=next(iter(settings))):
        Limits(**settings)  # type: ignore[arg-type]
