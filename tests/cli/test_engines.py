"""``run`` with an engine: what is printed, and the combinations that make no sense."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.runs.engines.batch_server import answered, batch_server

RUN = ("run", "--dataset", "tiny", "--task", "er@10")
LLM = (*RUN, "--retriever", "llm", "--set", "model=gpt-4o-mini")


def test_by_the_batch_endpoint(command, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-secret")
    with batch_server(lambda _: "DECISION: [5]") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        printed = command(*LLM, "--engine", "batch")
    assert printed.code == 0
    assert "It took 6 calls, 0 answers from the store, 0 failed" in printed.err
    assert "ER@10: the model gave 6 a selection" in printed.out


def test_who_asks_call_by_call_hears_of_batches_under_way(
    command, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with batch_server(lambda _: "DECISION: [5]") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        server.before = {"POST /batches": (401, "no")}.get
        assert command(*LLM, "--engine", "batch").code == 1
        printed = command(*LLM)  # this server answers no single calls
    assert (
        f"1 batch of this run may still be under way at {server.url}: --engine batch goes on" in printed.err
    )


def test_by_files(command, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")  # nobody there is asked
    written = command(*LLM, "--batch-out", tmp_path / "out")
    assert written.code == 0
    (requests,) = (tmp_path / "out").glob("*.jsonl")
    first, file, how, then = written.out.splitlines()
    assert first.endswith(": 0 of 6 instances answered; the next requests are in 1 file:")
    assert (file, "vllm run-batch" in how) == (f"  {requests}", True)
    results = tmp_path / "results.jsonl"
    results.write_bytes(b"\n".join(answered(requests.read_bytes(), lambda _: "DECISION: [5]")[0]))
    words = shlex.split(then.partition(": evidencebench ")[2])  # the next command, as it is printed
    assert words[-2:] == ["--batch-in", "RESULTS"]
    read = command(*words[:-1], results)
    assert read.code == 0
    assert "ER@10: the model gave 6 a selection" in read.out
    assert "next requests" not in read.out
    again = command(*LLM, "--fresh", "--batch-out", tmp_path / "fresh", "--json").document
    assert again["written"] == [str(path) for path in (tmp_path / "fresh").glob("*.jsonl")]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--engine", "ray", "--batch-out", "x"), "--batch-out: is for the engine batch, not ray"),
        (("--engine", "local", "--workers", "2"), "--workers: is for the engine ray, not local"),
        (("--engine", "batch"), "retriever bm25: asks no chat model"),
        (("--batch-in", "missing.jsonl"), "retriever bm25: asks no chat model"),
        (
            ("--retriever", "llm", "--set", "model=m", "--batch-in", "gone.jsonl"),
            "gone.jsonl: cannot be read",
        ),
        (("--ray-address", "nonsense"), "Ray"),
    ],
)
def test_what_makes_no_sense_is_one_line_and_no_run(
    command, tiny: Path, words: tuple[str, ...], problem: str
) -> None:
    printed = command(*RUN, "--retriever", "bm25", *words)
    assert printed.code == 1
    last = printed.err.splitlines()[-1]
    assert last.startswith("evidencebench: ")
    assert problem in last
    assert "already answered" not in printed.err
    assert command("runs", "--json").document == []
