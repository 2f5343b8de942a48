"""A server with the endpoints of OpenAI's batches: files, batches and their content.

A batch is carried out when it is looked at for the first time; its results come in the opposite order. ``say`` makes
the body of an answer, or a status with an error, of the body of a request.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from email.parser import BytesParser
from typing import Any

from tests.llm.server import Handler, body, completion, scripted, status

Said = str | dict[str, Any] | tuple[int, dict[str, Any]] | None


@dataclass
class BatchServer:
    """What it was given, and how it answers."""

    say: Callable[[dict[str, Any]], Said]
    url: str = ""
    files: dict[str, tuple[str, bytes]] = field(default_factory=dict)  # name and content by id
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)  # method and path
    hold: bool = False  # batches stay in progress
    before: Callable[[str], tuple[int, str] | None] = lambda _: None  # a failure in the place of the answer
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def asked(self) -> list[dict[str, Any]]:
        """The bodies of all requests in all batches."""
        return [
            json.loads(line)["body"]
            for batch in self.batches.values()
            for line in self.files[batch["input_file_id"]][1].splitlines()
        ]

    def add_file(self, name: str, content: bytes) -> str:
        file_id = f"file-{next(self.numbers)}"
        self.files[file_id] = (name, content)
        return file_id

    def file(self, file_id: str) -> dict[str, Any]:
        name, content = self.files[file_id]
        facts = {"bytes": len(content), "created_at": 1, "filename": name, "purpose": "batch"}
        return {"id": file_id, "object": "file", "status": "processed", **facts}

    def begin(self, request: dict[str, Any]) -> dict[str, Any]:
        batch_id = f"batch_{next(self.numbers)}"
        facts = {"id": batch_id, "object": "batch", "created_at": 1, "status": "validating"}
        self.batches[batch_id] = {**request, **facts}
        return self.batches[batch_id]

    def look(self, batch_id: str) -> dict[str, Any]:
        batch = self.batches[batch_id]
        if batch["status"] == "validating" and not self.hold:
            done, failed = answered(self.files[batch["input_file_id"]][1], self.say)
            batch["status"] = "completed"
            counts = {"completed": len(done), "failed": len(failed)}
            batch["request_counts"] = {"total": len(done) + len(failed), **counts}
            for name, lines in (("output_file_id", done), ("error_file_id", failed)):
                if lines:
                    batch[name] = self.add_file(f"{name}.jsonl", b"\n".join(reversed(lines)) + b"\n")
        return batch


def answered(requests: bytes, say: Callable[[dict[str, Any]], Said]) -> tuple[list[bytes], list[bytes]]:
    """The result lines of a file of requests, and those of errors."""
    done, failed = [], []
    for line in requests.splitlines():
        request = json.loads(line)
        said = say(request["body"])
        if said is None:  # it expired
            error = {"code": "batch_expired", "message": "This request could not be executed in time."}
            result = {"id": "r", "custom_id": request["custom_id"], "response": None, "error": error}
            failed.append(json.dumps(result).encode())
            continue
        code, answer = said if isinstance(said, tuple) else (200, said)
        answer = completion(answer) if isinstance(answer, str) else answer
        response = {"status_code": code, "request_id": "q", "body": answer}
        result = {"id": "r", "custom_id": request["custom_id"], "response": response, "error": None}
        (done if code == 200 else failed).append(json.dumps(result, ensure_ascii=False).encode())
    return done, failed


@contextmanager
def batch_server(say: Callable[[dict[str, Any]], Said]) -> Iterator[BatchServer]:
    state = BatchServer(say)

    def step(handler: Handler) -> None:
        what = f"{handler.command} {handler.path.partition('?')[0].removeprefix('/v1')}"
        state.requests.append(what)
        if failure := state.before(what):
            status(*failure)(handler)
            return
        content = result(what, handler)
        if content is None:
            status(404, "no such thing")(handler)
        else:
            body(content)(handler)

    def result(what: str, handler: Handler) -> bytes | None:
        document: Any = None
        if what == "POST /files":
            document = state.file(state.add_file(*uploaded(handler.headers, handler.content)))
        elif match := re.fullmatch(r"GET /files/([^/]+)/content", what):
            return state.files[match[1]][1]
        elif what == "POST /batches":
            document = state.begin(handler.request_json)
        elif what == "GET /batches":
            document = {"object": "list", "data": list(state.batches.values()), "has_more": False}
        elif (match := re.fullmatch(r"GET /batches/([^/]+)", what)) and match[1] in state.batches:
            document = state.look(match[1])
        return None if document is None else json.dumps(document).encode()

    with scripted(step) as server:
        state.url = server.url
        yield state


def uploaded(headers: Message, body: bytes) -> tuple[str, bytes]:
    """Name and content of the file in a form."""
    form = BytesParser().parsebytes(f"Content-Type: {headers['Content-Type']}\r\n\r\n".encode() + body)
    for part in form.get_payload():
        assert isinstance(part, Message)
        if name := part.get_filename():
            content = part.get_payload(decode=True)
            assert isinstance(content, bytes)
            return name, content
    raise AssertionError("no file in it")
