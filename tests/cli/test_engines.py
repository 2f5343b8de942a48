"""``run`` with an engine: what is said, and the combinations that make no sense."""

from __future__ import annotations

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


def test_batches_under_way_are_told_to_who_asks_call_by_call(
    command, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with batch_server(lambda _: "DECISION: [5]") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        server.before = {"POST /batches": (401, "no")}.get
        assert command(*LLM, "--engine", "batch").code == 1
        printed = command(*LLM)  # this server answers no single calls
    assert "1 batch of this run may still be under way: --engine batch goes on with them" in printed.err


def test_by_files(command, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")  # nobody there is asked
    written = command(*LLM, "--batch-out", tmp_path / "out")
    assert written.code == 0
    (requests,) = (tmp_path / "out").glob("*.jsonl")
    assert f"6 requests in 1 file in {tmp_path / 'out'} (the last is {requests.name})" in written.err
    results = tmp_path / "results.jsonl"
    results.write_bytes(b"\n".join(answered(requests.read_bytes(), lambda _: "DECISION: [5]")[0]))
    read = command(*LLM, "--batch-in", results)
    assert read.code == 0
    assert "ER@10: the model gave 6 a selection" in read.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--engine", "ray", "--batch-out", "x"), "--batch-out: is for the engine batch, not ray"),
        (("--engine", "local", "--workers", "2"), "--workers: is for the engine ray, not local"),
        (("--batch-in", "missing.jsonl"), "retriever bm25: asks no chat model"),
        (("--ray-address", "nonsense"), "Ray"),
    ],
)
def test_what_makes_no_sense_is_one_line(command, tiny: Path, words: tuple[str, ...], said: str) -> None:
    printed = command(*RUN, "--retriever", "bm25", *words)
    assert printed.code == 1
    last = printed.err.splitlines()[-1]
    assert last.startswith("evidencebench: ")
    assert said in last
