"""Servers that misbehave, each met by a fresh process: an answer, or one line that says why there is none."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections import Counter
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
ANSWERED = {"text": "DECISION: [1]", "cached": False}


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


SURVIVED: dict[str, tuple[tuple[s.Step, ...], int]] = {
    "429 with Retry-After": ((s.status(429, headers={"Retry-After": "0"}), s.reply()), 2),
    "a storm of 500": ((*[s.status(500), s.status(503), s.html(502)] * 2, s.reply()), 7),
    "reset before the answer": ((s.reset(), s.reply()), 2),
    "reset in the headers": ((s.reset(b"HTTP/1.1 200 O"), s.reply()), 2),
    "reset in the body": ((s.reset(HEAD + b'{"choices"'), s.reply()), 2),
    "cut off": ((s.truncated(GOOD, 40), s.reply()), 2),
    "truncated JSON of the right length": ((s.body(GOOD[:-30]), s.reply()), 2),
    "no choices": ((s.body(b'{"choices": []}'), s.reply()), 2),
    "a failure under status 200": (
        (s.body(b'{"error": {"message": "overloaded", "code": 503}}'), s.reply()),
        2,
    ),
    "not HTTP": ((s.reset(b"SSH-2.0-OpenSSH\r\n"), s.reply()), 2),
    "JSON called text": ((s.body(GOOD, "text/plain"),), 1),
    "10 MB of answer": ((s.reply("x" * 10_000_000 + "\nDECISION: [1]"),), 1),
}


@pytest.mark.parametrize("fault", SURVIVED)
def test_survived(fault: str, tmp_path: Path) -> None:
    steps, attempts = SURVIVED[fault]
    with s.scripted(*steps) as server:
        found = outcome(server, tmp_path / "s")
        assert found["text"].endswith("DECISION: [1]")
        assert (found["attempts"], len(server.requests)) == (attempts, attempts)
        again = outcome_cached(server, tmp_path / "s")
        assert again["text"] == found["text"]
        assert len(server.requests) == attempts  # paid once


def outcome_cached(server: s.Scripted, store: Path) -> dict[str, Any]:
    result = finished(started(server.url, store))
    assert (result["calls"], result["cached"]) == (0, 1)
    return dict(result["outcomes"][0])


STALL: dict[str, object] = {"stall_seconds": 0.1, "attempts": 2}

GIVEN_UP: dict[str, tuple[s.Step, dict[str, object], str, str, bool]] = {
    "401": (s.status(401, f"Incorrect API key provided: {KEY}"), {}, "LLMRejectedError", "answers 401", True),
    "403": (s.status(403), {}, "LLMRejectedError", "answers 403", True),
    "404": (
        s.status(404, "The model `scripted` does not exist"),
        {},
        "LLMRejectedError",
        "does not exist",
        True,
    ),
    "no money": (s.status(429, "quota", code="insufficient_quota"), {}, "LLMRejectedError", "balance", True),
    "context length": (
        s.status(400, "This model's maximum context length is 4096 tokens", code="context_length_exceeded"),
        {},
        "LLMRejectedError",
        "maximum context length is 4096",
        False,
    ),
    "500 without end": (
        s.status(500, "boom"),
        {"attempts": 3},
        "LLMUnreachableError",
        "(boom) (tried 3 times)",
        False,
    ),
    "a wait beyond the limit": (
        s.status(429, headers={"Retry-After": "3600"}),
        {"total_seconds": 30},
        "LLMUnreachableError",
        "asks to wait 3,600 s",
        False,
    ),
    "stall before the headers": (s.stall(), STALL, "LLMUnreachableError", "time limit", False),
    "stall in the body": (s.stall(HEAD + b"{"), STALL, "LLMUnreachableError", "time limit", False),
    "slow drip of the body": (
        s.drip(b" "),
        {"total_seconds": 0.3},
        "LLMUnreachableError",
        "time limit",
        False,
    ),
    "slow drip of the headers": (
        s.drip(b"X-A: b\r\n", b"HTTP/1.1 200 OK\r\n"),
        {"total_seconds": 0.3, "attempts": 1},
        "LLMUnreachableError",
        "",
        False,
    ),
    "HTML that claims success": (s.html(200), {}, "LLMAnswerError", "text/html", False),
    "a picture": (s.body(b"\x89PNG", "image/png"), {}, "LLMAnswerError", "image/png", False),
    "truncated JSON for ever": (s.body(GOOD[:-30]), {}, "LLMAnswerError", "not whole JSON", False),
    "no choices for ever": (s.body(b'{"choices": []}'), {}, "LLMAnswerError", "no choices", False),
    "an endless answer": (
        s.drip(b" " * 65_536),
        {"largest_answer": 1 << 20},
        "LLMAnswerError",
        "larger than",
        False,
    ),
    "deep nesting": (s.body(b"[" * 200_000), {}, "LLMAnswerError", "JSON", False),
    "elsewhere": (
        s.body(b"", code=308, Location="https://example.org/"),
        {},
        "LLMRejectedError",
        "example.org",
        True,
    ),
}


@pytest.mark.parametrize("fault", GIVEN_UP)
def test_given_up(fault: str, tmp_path: Path) -> None:
    step, options, kind, words, stops_run = GIVEN_UP[fault]
    with s.scripted(step) as server:
        found = outcome(server, tmp_path / "s", **options)
    assert (found["error"], found["stops_run"]) == (kind, stops_run)
    assert words in found["line"]


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


def test_killed_and_resumed(tmp_path: Path) -> None:
    n, asked, let_go = 30, threading.Event(), threading.Event()

    def answer(request: dict[str, Any]) -> s.Step:
        question = request["messages"][0]["content"]
        if question == "Question 11" and not let_go.is_set():

            def pause(handler: s.Handler) -> None:
                asked.set()
                handler.wait_for_client()

            return pause
        return s.reply(f"To {question}")

    with s.scripted(s.answering(answer)) as server:
        first = started(server.url, tmp_path / "s", n)
        assert asked.wait(60)
        first.kill()
        first.communicate()
        let_go.set()
        result = finished(started(server.url, tmp_path / "s", n, threads=4))
        questions = Counter(request.json["messages"][0]["content"] for request in server.requests)
    assert [one["text"] for one in result["outcomes"]] == [f"To Question {i}" for i in range(n)]
    assert (result["cached"], result["calls"]) == (11, 19)
    assert questions == {f"Question {i}": 2 if i == 11 else 1 for i in range(n)}  # 11 was never answered


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
