"""How many files and functions of the core three paths pass: usage: python -m benchmarks.paths PAPER.pdf

From a hypothesis to picks and what they are worth; one call of ``run --retriever llm`` to a server that answers
at once; a PDF to a paper (parent and child in one process).
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CORE = "evidencebench_core"


@contextlib.contextmanager
def traced() -> Iterator[set[CodeType]]:
    """The code of the core that runs in the block, whatever the thread; imports aside."""
    passed: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and f"/{CORE}/" in frame.f_code.co_filename:
            passed.add(frame.f_code)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield passed
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]


def told(title: str, work: Callable[[], object]) -> None:
    """Do the work twice, trace the second time (imports are done), print the counts."""
    work()
    with traced() as passed:
        work()
    functions = {(code.co_filename, code.co_qualname) for code in passed if not code.co_name.startswith("<")}
    print(f"{title:32} {len({file for file, _ in functions}):4} files {len(functions):5} functions")


def highlights() -> None:
    """What Browse asks of the core for one retriever."""
    from evidencebench_core import make_retriever, open_store, query_of, task_named
    from evidencebench_core.metrics import aspect_recall, marginal_gains, random_expectation

    instance = open_store().get("sample_data", "sample_cohort")
    task = task_named("er@10")
    retrieval = make_retriever("bm25").retrieve(
        query_of(instance, task.focus, task.budget_for(instance.evidence))
    )
    covers = instance.evidence.covers(task.focus)
    marginal_gains(retrieval.selection, covers)
    aspect_recall(retrieval.selection, covers)
    random_expectation(len(instance.sentences), covers, 10)


class Handler(BaseHTTPRequestHandler):
    """Answers every chat alike."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        message = {"role": "assistant", "content": "DECISION: [1, 2]"}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        reply = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        content = json.dumps({**reply, "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def one_call() -> Callable[[], object]:
    """``run`` of one instance and task with another model each time: a new run, a new call."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    os.environ["OPENAI_BASE_URL"] = f"http://127.0.0.1:{server.server_address[1]}/v1"
    models = iter("abc")

    def work() -> None:
        command("run", "--dataset", "sample_data", "--retriever", "llm", "--set", f"model={next(models)}",
                "--limit", "1", "--task", "er@10", "--json")  # fmt: skip

    return work


def command(*words: str) -> None:
    """Call the command, keep its output to itself."""
    from evidencebench_core.cli import main

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
        code = main(words)
    if code:
        raise SystemExit(f"{words}: {said.getvalue()}")


def upload(pdf: Path) -> Callable[[], object]:
    """What the parent does, and in this process what its child does."""
    from evidencebench_core.papers import read_paper_apart
    from evidencebench_core.papers.pdf import paper_of_pdf

    content = pdf.read_bytes()
    return lambda: (read_paper_apart(content, pdf.name), paper_of_pdf(content, pdf.name))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"EVIDENCEBENCH_STORE": f"{folder}/s.sqlite", "EVIDENCEBENCH_CACHE": f"{folder}/cache"}
        command("ingest", str(ROOT / "sample_data" / "sample_data.json"))
        told("hypothesis to highlights", highlights)
        told("run --retriever llm, one call", one_call())
        told("PDF to paper", upload(Path(sys.argv[1])))


if __name__ == "__main__":
    main()
