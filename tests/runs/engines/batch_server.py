"""A server with the endpoints of OpenAI's batches: files, batches and their content.

A batch is carried out when it is looked at for the first time; its results come in the opposite order. ``say`` makes
the body of an answer, or a status with an error, of the body of a request; ``None`` is one that expired.
"""

import itertools
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.llm.server import Handler, body, completion, scripted, status

Said = str | dict[str, Any] | tuple[int, dict[str, Any]] | None


@dataclass
class BatchServer:
    """What it was given, and how it answers."""

    say: Callable[[dict[str, Any]], Said]
    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)  # method and path
    hold: bool = False  # batches stay in progress
    before: Callable[[str], tuple[int, str] | None] = lambda _: None  # a failure in the place of the answer
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def asked(self) -> list[dict[str, Any]]:
        """The bodies of all requests in all batches."""
        lines = [line for batch in self.batches.values() for line in self.lines(batch)]
        return [line["body"] for line in lines]

    def lines(self, batch: dict[str, Any]) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]

    def add_file(self, content: bytes) -> str:
        file_id = f"file-{next(self.numbers)}"
        self.files[file_id] = content
        return file_id

    def look(self, batch_id: str) -> dict[str, Any]:
        batch = self.batches[batch_id]
        if batch["status"] == "validating" and not self.hold:
            results = [self.result(line) for line in self.lines(batch)]
            done = [result for result in results if (result["response"] or {}).get("status_code") == 200]
            failed = [result for result in results if result not in done]
            batch["status"] = "completed"
            counts = {"completed": len(done), "failed": len(failed)}
            batch["request_counts"] = {"total": len(results), **counts}
            for name, lines in (("output_file_id", done), ("error_file_id", failed)):
                if lines:
                    texts = [json.dumps(line, ensure_ascii=False) for line in reversed(lines)]
                    batch[name] = self.add_file("\n".join(texts).encode())
        return batch

    def result(self, line: dict[str, Any]) -> dict[str, Any]:
        """The line of results of a line of requests."""
        said = self.say(line["body"])
        if said is None:
            error = {"code": "batch_expired", "message": "This request could not be executed in time."}
            return {"custom_id": line["custom_id"], "response": None, "error": error}
        code, answer = said if isinstance(said, tuple) else (200, said)
        answer = completion(answer) if isinstance(answer, str) else answer
        response = {"status_code": code, "request_id": "q", "body": answer}
        return {"custom_id": line["custom_id"], "response": response, "error": None}

    def reply(self, what: str, handler: Handler) -> bytes | None:
        """The body of a reply; ``None`` where there is nothing at that path."""
        document: Any = None
        if what == "POST /files":
            form = re.search(rb'filename="[^"]*".*?\r\n\r\n(.*?)\r\n--', handler.content, re.DOTALL)
            assert form
            facts = {"bytes": 1, "created_at": 1, "filename": "f", "purpose": "batch", "status": "processed"}
            document = {"id": self.add_file(form[1]), "object": "file", **facts}
        elif match := re.fullmatch(r"GET /files/([^/]+)/content", what):
            return self.files[match[1]]
        elif what == "POST /batches":
            facts = {"id": f"batch_{next(self.numbers)}", "created_at": 1, "status": "validating"}
            document = self.batches[facts["id"]] = {**handler.request_json, "object": "batch", **facts}
        elif what == "GET /batches":
            document = {"object": "list", "data": list(self.batches.values()), "has_more": False}
        elif match := re.fullmatch(r"GET /batches/([^/]+)", what):
            document = self.look(match[1])
        return None if document is None else json.dumps(document).encode()


@contextmanager
def batch_server(say: Callable[[dict[str, Any]], Said]) -> Iterator[BatchServer]:
    state = BatchServer(say)

    def step(handler: Handler) -> None:
        what = f"{handler.command} {handler.path.partition('?')[0].removeprefix('/v1')}"
        state.requests.append(what)
        failure = state.before(what)
        content = None if failure else state.reply(what, handler)
        (body(content) if content else status(*(failure or (404, "no such thing"))))(handler)

    with scripted(step) as server:
        state.url = server.url
        yield state
