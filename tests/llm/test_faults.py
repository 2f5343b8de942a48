"""Whatever a server does wrong: survived where it can be, else one line that says what, and nothing kept."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.data.store import open_store
from evidencebench_core.errors import LLMAnswerError, LLMError, LLMRejectedError, LLMUnreachableError
from evidencebench_core.llm import (
    LLM,
    Answer,
    AnswerCache,
    ChatRequest,
    Connection,
    Limits,
    Message,
    Timeouts,
)
from tests.llm import server as s

ASKER = Path(__file__).with_name("asker.py")
KEY = "sk-verysecret0123456789"
REQUEST = ChatRequest("scripted", (Message("user", "Question"),))
GOOD = json.dumps(s.completion("DECISION: [1]")).encode()
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
EVENT = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    + b'data: {"choices": [{"delta": {"content": "DEC"}}]}\n\n'
)


class Asked:
    """What became of a question, with a log that shows no key."""

    def __init__(
        self,
        server: s.Scripted,
        store: Path,
        caplog: pytest.LogCaptureFixture,
        timeouts: Timeouts,
        **how: Any,
    ) -> None:
        self.answers = AnswerCache(open_store(store))
        limits = Limits(attempts=how.pop("attempts", 8), first_wait=0.001, give_up=how.pop("give_up", 5))
        self.llm = LLM(Connection(server.url, KEY), self.answers, limits=limits, timeouts=timeouts)
        with caplog.at_level(logging.DEBUG):
            self.outcome: Answer | LLMError = asyncio.run(self._outcome(**how))
        assert KEY not in caplog.text

    async def _outcome(self, **how: Any) -> Answer | LLMError:
        async with self.llm:
            try:
                return await self.llm.reply(REQUEST, **how)
            except LLMError as error:
                return error


def choice(**fields: object) -> s.Step:
    return s.body(json.dumps({"choices": [{"index": 0, **fields}]}).encode())


OVERLOADED = b'{"error": {"message": "overloaded", "code": 503}}'
ANSWERED = {"role": "assistant", "content": "DECISION: [1]"}
# the failures before the answer; each is one attempt more
SURVIVED: dict[str, tuple[s.Step, ...]] = {
    "429 with Retry-After": (s.status(429, headers={"Retry-After": "0"}),),
    "a storm of 500": (s.status(500), s.status(503), s.html(502)) * 2,
    "reset before the answer": (s.reset(),),
    "reset in the headers": (s.reset(b"HTTP/1.1 200 O"),),
    "reset in the body": (s.reset(HEAD + b'{"choices"'),),
    "cut off": (s.truncated(GOOD, 40),),
    "truncated JSON of the right length": (s.body(GOOD[:-30]),),
    "no choices": (s.body(b'{"choices": []}'),),
    "a failure under status 200": (s.body(OVERLOADED),),
    "a failure in the choice": (
        choice(error={"code": 502, "message": "no"}, finish_reason="error", message=ANSWERED),
    ),
    "no content": (s.reply(""),),
    "null content": (s.reply(None),),
    "thoughts only": (choice(message={"content": "", "reasoning": "hm"}, finish_reason="stop"),),
    "not HTTP": (s.reset(b"SSH-2.0-OpenSSH\r\n"),),
    "no gzip where it says so": (s.body(GOOD, Content_Encoding="gzip"),),
}
ANSWERS = {
    "JSON called text": s.body(GOOD, "text/plain"),
    "gzip": s.body(gzip.compress(GOOD), Content_Encoding="gzip"),
    "10 MB of answer": s.reply("x" * 10_000_000 + "\nDECISION: [1]"),
}
FREE = {
    "429 with Retry-After": 1,
    "a storm of 500": 1,
}  # requests that are no attempts; the other asks for the models


@pytest.mark.parametrize("fault", [*SURVIVED, *ANSWERS])
def test_survived(fault: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    steps = (*SURVIVED.get(fault, ()), ANSWERS.get(fault, s.reply()))
    with s.scripted(*steps) as server:
        asked = Asked(server, tmp_path / "s", caplog, Timeouts())
        assert isinstance(asked.outcome, Answer), asked.outcome
        assert asked.outcome.text.endswith("DECISION: [1]")
        assert (
            asked.outcome.attempts
            == len(server.requests) - FREE.get(fault, 0)
            == len(steps) - FREE.get(fault, 0)
        )
        again = Asked(server, tmp_path / "s", caplog, Timeouts())
        assert isinstance(again.outcome, Answer)
        assert again.outcome.cached
        assert len(server.requests) == len(steps)  # paid once


ONCE: dict[str, Any] = {"attempts": 1}
MISSING = s.status(404, "The model `scripted` does not exist")
TOO_LONG = s.status(400, "This model's maximum context length is 4096 tokens", code="context_length_exceeded")
TOO_LATE = s.status(429, headers={"Retry-After": "3600"})
NO_MONEY = s.status(429, "quota", code="insufficient_quota")
REJECTED, UNREACHABLE, NO_ANSWER = LLMRejectedError, LLMUnreachableError, LLMAnswerError

GIVEN_UP: dict[str, tuple[s.Step, dict[str, Any], type[LLMError], str]] = {
    "401": (s.status(401, f"Incorrect API key provided: {KEY}"), {}, REJECTED, "answers 401"),
    "403": (s.status(403), {}, REJECTED, "answers 403"),
    "404": (MISSING, {}, REJECTED, "does not exist"),
    "no money": (NO_MONEY, {}, REJECTED, "balance"),
    "elsewhere": (s.body(b"", code=308, Location="https://example.org/"), {}, REJECTED, "example.org"),
    "context length": (TOO_LONG, {}, REJECTED, "maximum context length is 4096"),
    "500 without end": (s.status(500, "boom"), {"attempts": 3}, UNREACHABLE, "(boom) (tried 3 times)"),
    "a wait beyond the limit": (TOO_LATE, {}, UNREACHABLE, "asks to wait 3,600 s"),
    "stall before the headers": (s.stall(), ONCE, UNREACHABLE, "time limit"),
    "stall in the body": (s.stall(HEAD + b"{"), ONCE, UNREACHABLE, "time limit"),
    "slow drip of the body": (s.drip(b" "), {}, UNREACHABLE, "1 s for a call are used up"),
    "slow drip of the headers": (s.drip(b"X-A: b\r\n", b"HTTP/1.1 200 OK\r\n"), {}, UNREACHABLE, ""),
    "HTML that claims success": (s.html(200), {}, NO_ANSWER, "text/html"),
    "a picture": (s.body(b"\x89PNG", "image/png"), {}, NO_ANSWER, "image/png"),
    "truncated JSON for ever": (s.body(GOOD[:-30]), {}, NO_ANSWER, "not whole JSON"),
    "no choices for ever": (s.body(b'{"choices": []}'), {}, NO_ANSWER, "no choices"),
    "no content for ever": (s.reply(" "), {}, NO_ANSWER, "no content, and ended with 'stop'"),
    "an endless answer": (s.drip(b" " * (1 << 20)), {}, NO_ANSWER, "larger than"),
    "an endless error": (s.drip(b"x" * 65_536, b"HTTP/1.1 404 No\r\n\r\n"), {}, REJECTED, "answers 404"),
    "deep nesting": (s.body(b"[" * 200_000), {}, NO_ANSWER, "JSON"),
}


@pytest.mark.parametrize("fault", GIVEN_UP)
def test_given_up(fault: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    step, options, kind, words = GIVEN_UP[fault]
    timeouts = Timeouts(0.1 if "stall" in fault else 30, 1 if "drip" in fault else 30)
    with s.scripted(step) as server:
        asked = Asked(server, tmp_path / "s", caplog, timeouts, **options)
    assert type(asked.outcome) is kind
    assert isinstance(asked.outcome, LLMError)
    stops = kind is REJECTED and fault != "context length"
    assert asked.outcome.stops_run == (stops or fault == "a wait beyond the limit")
    assert words in (line := str(asked.outcome))
    assert KEY not in line
    assert "\n" not in line
    assert asked.answers.known([asked.llm.key(REQUEST)]) == frozenset()


@pytest.mark.parametrize("broken", [s.reset(EVENT), s.stream(s.delta("DEC"), done=False), s.stall(EVENT)])
def test_a_stream_that_breaks_starts_over(
    broken: s.Step, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    whole = s.stream(s.delta("DECISION: "), s.delta("[1]"), s.delta(None, "stop"))
    pieces: list[str | None] = []
    with s.scripted(broken, whole) as server:
        asked = Asked(server, tmp_path / "s", caplog, Timeouts(0.3, 30), on_delta=pieces.append)
    assert isinstance(asked.outcome, Answer)
    assert asked.outcome.text == "DECISION: [1]"
    assert pieces in (["DEC", None, "DECISION: ", "[1]"], ["DECISION: ", "[1]"])


def test_nothing_listens(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with s.scripted(s.reply()) as server:
        pass
    asked = Asked(server, tmp_path / "s", caplog, Timeouts(), give_up=0.2)
    assert isinstance(asked.outcome, LLMUnreachableError)
    assert "connection refused" in str(asked.outcome)
    assert asked.outcome.stops_run


def test_a_500_on_a_model_that_is_not_listed_ends_the_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for listed, stops in ((["other"], True), (["scripted:latest"], False)):
        with s.scripted(s.status(500, "boom"), listed=listed) as server:
            asked = Asked(server, tmp_path / "s", caplog, Timeouts(), attempts=3)
        assert isinstance(asked.outcome, LLMError)
        assert asked.outcome.stops_run == stops
        assert ("listed are: other" in str(asked.outcome)) == stops


def echo() -> s.Step:
    """Answers with the question."""
    return s.answering(lambda request: s.reply(f"To {request['messages'][0]['content']}"))


def test_two_processes_share_answers(tmp_path: Path) -> None:
    n = 60
    with s.scripted(echo()) as server:
        command = [sys.executable, str(ASKER), server.url, str(tmp_path / "s"), str(n)]
        both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        results = [json.loads(process.communicate(timeout=120)[0]) for process in both]
        assert len(server.requests) == n  # each question was paid for by one of the two
    assert sum(result["calls"] for result in results) == n
    assert sum(result["cached"] for result in results) == n
    for result in results:
        assert result["texts"] == [f"To Question {i}" for i in range(n)]
