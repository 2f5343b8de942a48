"""Servers that misbehave, each met by a fresh process: an answer, or one line that says why there is none."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.data.store import open_store
from evidencebench_core.llm import AnswerCache
from tests.llm import server as s
from tests.llm.asker import KEY

ASKER = Path(__file__).with_name("asker.py")
GOOD = json.dumps(s.completion("DECISION: [1]")).encode()
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
EVENT = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    + b'data: {"choices": [{"delta": {"content": "DEC"}}]}\n\n'
)


def started(url: str, store: Path, n: int = 1, **options: object) -> subprocess.Popen[str]:
    command = [sys.executable, str(ASKER), url, str(store), str(n), json.dumps(options)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finished(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert KEY not in out + errors
    result: dict[str, Any] = json.loads(out)
    return result


def outcome(server: s.Scripted, store: Path, **options: object) -> dict[str, Any]:
    result = finished(started(server.url, store, **options))
    assert result["calls"] + result["failed"] == 1
    (only,) = result["outcomes"]
    if "line" in only:
        assert "\n" not in only["line"]
        assert AnswerCache(open_store(store)).records([]) == {}
    return dict(only)


OVERLOADED = b'{"error": {"message": "overloaded", "code": 503}}'
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
    "not HTTP": (s.reset(b"SSH-2.0-OpenSSH\r\n"),),
}
ANSWERS = {
    "JSON called text": s.body(GOOD, "text/plain"),
    "10 MB of answer": s.reply("x" * 10_000_000 + "\nDECISION: [1]"),
}


@pytest.mark.parametrize("fault", [*SURVIVED, *ANSWERS])
def test_survived(fault: str, tmp_path: Path) -> None:
    steps = (*SURVIVED.get(fault, ()), ANSWERS.get(fault, s.reply()))
    with s.scripted(*steps) as server:
        answer = outcome(server, tmp_path / "s")
        assert answer["text"].endswith("DECISION: [1]")
        assert answer["attempts"] == len(server.requests) == len(steps)
        again = finished(started(server.url, tmp_path / "s"))
        assert (again["calls"], again["cached"]) == (0, 1)
        assert again["outcomes"][0]["text"] == answer["text"]
        assert len(server.requests) == len(steps)  # paid once


STALL: dict[str, object] = {"stall_seconds": 0.1, "attempts": 2}
SLOW: dict[str, object] = {"total_seconds": 0.3, "attempts": 1}
REJECTED, UNREACHABLE, NO_ANSWER = "LLMRejectedError", "LLMUnreachableError", "LLMAnswerError"
MISSING = s.status(404, "The model `scripted` does not exist")
TOO_LONG = s.status(400, "This model's maximum context length is 4096 tokens", code="context_length_exceeded")
TOO_LATE = s.status(429, headers={"Retry-After": "3600"})
NO_MONEY = s.status(429, "quota", code="insufficient_quota")

GIVEN_UP: dict[str, tuple[s.Step, dict[str, object], str, str]] = {
    "401": (s.status(401, f"Incorrect API key provided: {KEY}"), {}, REJECTED, "answers 401"),
    "403": (s.status(403), {}, REJECTED, "answers 403"),
    "404": (MISSING, {}, REJECTED, "does not exist"),
    "no money": (NO_MONEY, {}, REJECTED, "balance"),
    "elsewhere": (s.body(b"", code=308, Location="https://example.org/"), {}, REJECTED, "example.org"),
    "context length": (TOO_LONG, {}, REJECTED, "maximum context length is 4096"),
    "500 without end": (s.status(500, "boom"), {"attempts": 3}, UNREACHABLE, "(boom) (tried 3 times)"),
    "a wait beyond the limit": (TOO_LATE, {"total_seconds": 30}, UNREACHABLE, "asks to wait 3,600 s"),
    "stall before the headers": (s.stall(), STALL, UNREACHABLE, "time limit"),
    "stall in the body": (s.stall(HEAD + b"{"), STALL, UNREACHABLE, "time limit"),
    "slow drip of the body": (s.drip(b" "), {"total_seconds": 0.3}, UNREACHABLE, "time limit"),
    "slow drip of the headers": (s.drip(b"X-A: b\r\n", b"HTTP/1.1 200 OK\r\n"), SLOW, UNREACHABLE, ""),
    "HTML that claims success": (s.html(200), {}, NO_ANSWER, "text/html"),
    "a picture": (s.body(b"\x89PNG", "image/png"), {}, NO_ANSWER, "image/png"),
    "truncated JSON for ever": (s.body(GOOD[:-30]), {}, NO_ANSWER, "not whole JSON"),
    "no choices for ever": (s.body(b'{"choices": []}'), {}, NO_ANSWER, "no choices"),
    "an endless answer": (s.drip(b" " * 65_536), {"largest_answer": 1 << 20}, NO_ANSWER, "larger than"),
    "deep nesting": (s.body(b"[" * 200_000), {}, NO_ANSWER, "JSON"),
}


@pytest.mark.parametrize("fault", GIVEN_UP)
def test_given_up(fault: str, tmp_path: Path) -> None:
    step, options, kind, words = GIVEN_UP[fault]
    with s.scripted(step) as server:
        error = outcome(server, tmp_path / "s", **options)
    assert error["error"] == kind
    assert error["stops_run"] == (kind == REJECTED and fault != "context length")
    assert words in error["line"]


@pytest.mark.parametrize("broken", [s.reset(EVENT), s.stream(s.delta("DEC"), done=False), s.stall(EVENT)])
def test_a_stream_that_breaks_starts_over(broken: s.Step, tmp_path: Path) -> None:
    whole = s.stream(s.delta("DECISION: "), s.delta("[1]"), s.delta(None, "stop"))
    with s.scripted(broken, whole) as server:
        found = outcome(server, tmp_path / "s", stream=True, stall_seconds=0.2)
    assert found["text"] == "DECISION: [1]"
    assert found["pieces"] in (["DEC", None, "DECISION: ", "[1]"], ["DECISION: ", "[1]"])


def test_nothing_listens(tmp_path: Path) -> None:
    with s.scripted(s.reply()) as server:
        url = server.url
    result = finished(started(url, tmp_path / "s", attempts=2))
    assert "connection refused" in result["outcomes"][0]["line"]


def echo() -> s.Step:
    """Answers with the question."""
    return s.answering(lambda request: s.reply(f"To {request['messages'][0]['content']}"))


def test_two_processes_share_answers(tmp_path: Path) -> None:
    n = 60
    with s.scripted(echo()) as server:
        both = [started(server.url, tmp_path / "s", n, threads=8) for _ in range(2)]
        results = [finished(process) for process in both]
        assert len(server.requests) == n  # each question was paid for by one of the two
    assert sum(result["calls"] for result in results) == n
    assert sum(result["cached"] for result in results) == n
    for result in results:
        assert [one["text"] for one in result["outcomes"]] == [f"To Question {i}" for i in range(n)]
