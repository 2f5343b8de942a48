"""``run --retriever llm`` and ``make-variants``: what is said before and after, caps, and what came back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.llm.server import Scripted, answering, reply, scripted, status

RUN = ("run", "--dataset", "tiny", "--retriever", "llm", "--task", "er@10")
MODEL = ("--set", "model=gpt-4o-mini")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Scripted]:
    """Answers everything with sentence 5."""
    with scripted(reply("5: the size\nDECISION: [5]")) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-secret")
        yield running


def test_before_and_after(command, tiny: Path, server: Scripted) -> None:
    printed = command(*RUN, *MODEL)
    assert printed.code == 0
    assert "To ask gpt-4o-mini: about 6 calls for 6 instances" in printed.err
    assert "about $" in printed.err
    # The scripted server counts 100 tokens of prompt and 10 of answer a call.
    assert "It took 6 calls, 0 answers from the store, 0 failed; 660 tokens (600 of prompts)" in printed.err
    assert "ER@10: the model gave 6 a selection" in printed.out
    assert "sk-secret" not in printed.out + printed.err
    again = command(*RUN, *MODEL)
    assert "Nothing to ask" in again.err
    assert len(server.requests) == 6
    listed = command("runs")
    assert "er@10: the model gave 6 a selection" in listed.out
    assert "llm model=gpt-4o-mini" in listed.out
    assert "the model gave 6" in command("score", listed.out.splitlines()[1].split()[0]).out


def test_as_json(command, tiny: Path, server: Scripted) -> None:
    document = command(*RUN, *MODEL, "--limit", "2", "--json").document
    assert document["estimate"]["calls"] == 2
    assert document["spending"]["calls"] == 2
    assert document["outcomes"]["er@10"]["selection"] == 2
    assert document["settings"]["prompts"]


def test_a_cap_is_one_line_and_what_was_answered_is_kept(command, tiny: Path, server: Scripted) -> None:
    printed = command(*RUN, *MODEL, "--max-calls", "2", "--concurrency", "1")
    assert printed.code == 1
    assert "the cap of 2 calls is reached" in printed.err.splitlines()[-1]
    assert "It took 2 calls" in printed.err
    assert command("runs", "--json").document[0]["tasks"] == {"er@10": 2}
    assert command(*RUN, *MODEL).code == 0
    assert len(server.requests) == 6


def test_fresh_asks_again(command, tiny: Path, server: Scripted) -> None:
    command(*RUN, *MODEL)
    assert command(*RUN, *MODEL, "--fresh").code == 0
    assert len(server.requests) == 12


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (RUN, "has no model"),
        ((*RUN, *MODEL, "--set", "strategy=icl"), "icl has no examples"),
        ((*RUN, *MODEL, "--set", "strategy=cots"), "Did you mean cot?"),
        (("run", "--dataset", "tiny", "--retriever", "lead", "--max-cost", "1"), "--max-cost"),
    ],
)
def test_what_cannot_be_run_asks_nothing(
    command, tiny: Path, server: Scripted, words: tuple[str, ...], problem: str
) -> None:
    printed = command(*words)
    assert printed.code == 1
    assert problem in printed.err
    assert server.requests == []
    assert command("runs", "--json").document == []


@pytest.mark.parametrize("words", [("--max-cost", "-1"), ("--max-calls", "0"), ("--concurrency", "x")])
def test_wrong_usage(command, tiny: Path, words: tuple[str, ...]) -> None:
    assert command(*RUN, *MODEL, *words).code == 2


def test_a_refused_key(command, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with scripted(status(401, "Incorrect API key provided: sk-secret-secret")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-secret")
        printed = command(*RUN, *MODEL, "--concurrency", "1")
        assert len(server.requests) == 1
    assert printed.code == 1
    assert "secret" not in printed.err


def test_made_variants_are_run(command, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "v.json"

    def say(request):
        prompt = request["messages"][-1]["content"]
        number = prompt.partition("in cohort ")[2][:1]
        return reply(f"HYPOTHESIS: Cohort {number} drinks tea without effect.")

    with scripted(answering(say)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        printed = command("make-variants", "--dataset", "tiny", "--model", "m", "--out", file, "--json")
        assert printed.code == 0
        assert (printed.document["written"], printed.document["refused"]) == (12, [])
        assert printed.document["spending"]["calls"] == 12
    assert len(json.loads(file.read_text())) == 6
    ran = command(
        "run",
        "--dataset",
        "tiny",
        "--retriever",
        "bm25",
        "--variants",
        file,
        "--variant",
        "negation",
        "--json",
    )
    assert ran.document["variant"] == "negation"
    assert ran.document["tasks"]["er@10"] == 6
