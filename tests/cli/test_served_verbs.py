"""``run --retriever llm`` and ``make-variants``: what is said before and after, caps, and what came back."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from evidencebench_core.retrievers.llm import OUTCOME_KINDS
from tests.llm.server import Scripted, Step, answering, body, reply, scripted, status

RUN = ("run", "--dataset", "tiny", "--retriever", "llm", "--task", "er@10")
MODEL = (*RUN, "--set", "model=gpt-4o-mini")
MINE = (*MODEL, "--set", "strategy=cot", "--set", "prompt=mine")
BM25 = ("run", "--dataset", "tiny", "--retriever", "bm25", "--task", "er@10")
VARIANTS = ("make-variants", "--dataset", "tiny")
ECHOED = 'sk-test-SECRET/+abc"XYZ'

pytestmark = pytest.mark.usefixtures("tiny")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Scripted]:
    """Answers everything with sentence 5."""
    with scripted(reply("5: the size\nDECISION: [5]"), listed=()) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-secret")
        yield running


@pytest.fixture
def prompts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the user's prompts."""
    monkeypatch.setenv("EVIDENCEBENCH_PROMPTS", str(tmp_path))
    return tmp_path


# -- run ----------------------------------------------------------------------------------------------------


def test_before_and_after(command, server: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = command(*MODEL)
    assert printed.code == 0
    assert "To ask gpt-4o-mini: about 6 calls for 6 instances" in printed.err
    assert "about $" in printed.err
    # The scripted server counts 100 tokens of prompt and 10 of answer a call.
    assert "It took 6 calls, 0 answers from the store, 0 failed; 660 tokens (600 of prompts)" in printed.err
    assert "ER@10: the model gave 6 a selection" in printed.out
    assert "sk-secret" not in printed.out + printed.err
    assert "Nothing is left to ask gpt-4o-mini.\n" in command(*MODEL).err
    assert len(server.requests) == 6
    listed = command("runs").out
    assert "er@10: the model gave 6 a selection" in listed
    assert "llm model=gpt-4o-mini" in listed
    assert "earlier prompts" not in listed
    assert "the model gave 6" in command("score", listed.splitlines()[1].split()[0]).out
    monkeypatch.setattr("evidencebench_core.retrievers.llm.strategies.prompt_version", lambda _: "9-later")
    assert "asked with earlier prompts (cot, regenerate" in command("runs").out


@pytest.mark.parametrize(
    ("listed", "noted"),
    [
        ((), False),
        (("gpt-4o-mini",), False),
        (("gpt-4o-mini:2024-07-18", "other"), False),
        (("qwen.gguf",), True),
    ],
)
def test_a_model_that_the_server_does_not_list_is_noted_before_it_is_asked(
    command, monkeypatch: pytest.MonkeyPatch, listed: tuple[str, ...], noted: bool
) -> None:
    with scripted(reply("DECISION: [5]"), listed=listed) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        printed, again = command(*MODEL), command(*MODEL)
    assert printed.code == 0
    note = f"{server.url} does not list gpt-4o-mini, but qwen.gguf: it may refuse, or answer with another"
    assert (note in printed.err) == noted
    assert "does not list" not in again.err  # nothing is asked


def test_as_json(command, server: Scripted) -> None:
    document = command.json(*MODEL, "--limit", "2")
    assert document["estimate"]["calls"] == document["spending"]["calls"] == 2
    assert document["outcomes"]["er@10"]["selection"] == 2
    assert document["settings"]["prompts"]
    (scored,) = command.json("score", document["run"])
    assert scored["outcomes"] == document["outcomes"]["er@10"]
    assert set(scored["outcomes"]) >= set(OUTCOME_KINDS)


@pytest.mark.parametrize("concurrency", ["1", "8"])
def test_a_cap_is_exact_and_what_was_answered_is_kept(command, server: Scripted, concurrency: str) -> None:
    printed = command(*MODEL, "--max-calls", "2", "--concurrency", concurrency)
    assert printed.code == 1
    assert "the cap of 2 calls is reached" in printed.err.splitlines()[-1]
    assert "It took 2 calls" in printed.err
    assert len(server.requests) == 2
    assert command.json("runs")[0]["tasks"] == {"er@10": 2}
    assert command(*MODEL).code == 0
    assert len(server.requests) == 6
    assert command(*MODEL, "--fresh").code == 0
    assert len(server.requests) == 12


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (RUN, "has no model"),
        ((*MODEL, "--set", "strategy=icl"), "icl has no examples"),
        ((*MODEL, "--set", "strategy=cots"), "Did you mean 'cot'?"),
        (MINE, "unknown field $gold"),
    ],
)
def test_what_cannot_be_run_asks_nothing(
    command, server: Scripted, prompts: Path, words: tuple[str, ...], problem: str
) -> None:
    (prompts / "mine.txt").write_text("version: 1\n=== user ===\n$hypothesis $sentences $gold")
    assert problem in command.failure(*words)
    assert server.requests == []
    assert command.json("runs") == []


@pytest.mark.parametrize("address", ["nonsense", "ftp://host/v1", "http://no-such-host.invalid/v1"])
def test_an_address_that_can_be_none_is_refused_before_anything_else(
    command, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    for words in (MODEL, (*VARIANTS, "--model", "m")):
        assert command.failure(*words).startswith(f"evidencebench: {address}: ")
    assert command.json("runs") == []


def test_a_server_that_refuses_is_noted_before_the_estimate(command, monkeypatch: pytest.MonkeyPatch) -> None:
    with scripted(status(401, "no such key")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        first, second, *_ = command(*MODEL, "--concurrency", "1").err.splitlines()
    assert "no such key" in first
    assert second.startswith("To ask gpt-4o-mini")


@pytest.mark.parametrize(
    "echo",
    [
        status(401, f"Incorrect API key provided: {ECHOED}."),
        status(400, f"Incorrect API key provided: {quote(ECHOED, safe='')}."),
        status(400, json.dumps({"key": ECHOED})),
        status(403, f"No access for {ECHOED[4:14]}"),
        status(400, "x" * 286 + ECHOED),  # where long messages are cut
        body(f"<html>Forbidden for {ECHOED}</html>".encode(), "text/html", 403),
        body(f"bad gateway: {ECHOED}".encode(), "text/html"),
        reply("DECISION: [5]"),
    ],
)
def test_the_key_is_nowhere(
    command, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, echo: Step
) -> None:
    caplog.set_level("DEBUG")
    with scripted(echo) as server:
        address = server.url.replace("http://", "http://user:p4ssw0rd@") + "?token=querySECRET"
        monkeypatch.setenv("OPENAI_BASE_URL", address)
        monkeypatch.setenv("OPENAI_API_KEY", ECHOED)
        printed = command(*MODEL, "--concurrency", "1", "--limit", "1")
        listed = command("runs", "--json")
        assert server.requests[0].headers["authorization"] == f"Bearer {ECHOED}"
    store = Path(os.environ["EVIDENCEBENCH_STORE"])
    kept = b"".join(path.read_bytes() for path in store.parent.glob(f"{store.name}*")).decode("latin-1")
    assert kept
    for text in (printed.out, printed.err, listed.out, caplog.text, kept):
        assert "SECRET" not in text
        assert "p4ssw0rd" not in text


def test_a_run_says_which_prompt_it_used(command, server: Scripted, prompts: Path) -> None:
    documents = []
    for text in ("$hypothesis\n$sentences", "$hypothesis\n\n$sentences"):
        (prompts / "mine.txt").write_text(f"version: 4\n=== user ===\n{text}")
        documents.append(command.json(*MINE, "--limit", "1"))
    assert "prompt=mine" in documents[0]["label"]
    assert documents[0]["run"] != documents[1]["run"]  # the text changed: another version, another run
    versions = {one for run in documents for one in run["settings"]["prompts"] if one.startswith("mine 4-")}
    assert len(versions) == 2


def test_a_price_that_is_not_known_is_said_with_the_place_for_it(command, server: Scripted) -> None:
    words = (*RUN, "--set", "model=mine")
    printed = command(*words, "--limit", "1")
    assert "at a price that is not known (put it into " in printed.err
    assert "prices.toml" in printed.err
    capped = command(*words, "--max-cost", "1")
    assert capped.code == 1
    assert "the price of mine is not known. Put it into " in capped.err.splitlines()[-1]


# -- make-variants ------------------------------------------------------------------------------------------


def rewording(suffix: str) -> Step:
    def say(request):
        number = request["messages"][-1]["content"].partition("in cohort ")[2][:1]
        return reply(f"HYPOTHESIS: Cohort {number} drinks tea {suffix}.")

    return answering(say)


def test_made_variants_are_run(command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "v.json"
    with scripted(rewording("without effect")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        document = command.json(*VARIANTS, "--model", "m", "--out", file)
    assert (document["written"], document["refused"]) == (12, [])
    assert document["spending"]["calls"] == document["drafts"]["waiting"] == 12
    assert len(json.loads(file.read_text())) == 6
    ran = command(*BM25, "--variants", file, "--variant", "negation", "--json")
    assert ran.document["variant"] == "negation"
    assert ran.document["tasks"]["er@10"] == 6
    assert "12 of them a model made and nobody reviewed" in ran.err


@pytest.fixture
def _drafts(command, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Six drafts by model m, all refused for characters that cannot be printed."""
    with scripted(rewording("\x1b[31m without effect")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        words = (*VARIANTS, "--model", "m", "--kind", "negation", "--out", tmp_path / "v.json")
        printed = command(*words)
    assert printed.code == 1
    assert "To ask m: about 6 calls for 6 wordings, " in printed.err
    assert "at a price that is not known" in printed.err
    assert "6 wordings refused" in printed.out
    assert "tiny_0, negation: the wording has characters that cannot be printed" in printed.out


@pytest.mark.usefixtures("_drafts")
def test_drafts_are_reviewed_on_the_command_line(command, tmp_path: Path) -> None:
    listed = command(*VARIANTS, "--list", "refused").out
    assert "[U+001B][31m" in listed  # spelt out: nothing reaches the terminal itself
    assert "\x1b" not in listed
    assert listed.count("problem:  the wording has characters that cannot be printed") == 6
    assert command(*VARIANTS, "--list").out == "No drafts are waiting\n"
    drafts = command.json(*VARIANTS, "--list", "all")
    assert [one["instance"] for one in drafts] == [f"tiny_{n}" for n in range(6)]
    number, other = (str(one["id"]) for one in drafts[:2])
    counts = command.json(*VARIANTS, "--accept", number, "--text", "Tea is idle.", "--reviewer", "Ana")
    assert counts == {"waiting": 0, "refused": 5, "accepted": 1, "rejected": 0}
    assert "1 draft rejected" in command(*VARIANTS, "--reject", other, "--reviewer", "Ana").out
    assert command.json(*BM25, "--variant", "negation")["tasks"] == {"er@10": 1}
    out = tmp_path / "out.json"
    assert command.json(*VARIANTS, "--export", out)["written"] == 1
    made_by = json.loads(out.read_text())["tiny_0"]["made_by"]["negation"]
    assert (made_by["model"], made_by["reviewer"], made_by["edited"]) == ("m", "Ana", True)
    assert "1 decision taken back" in command(*VARIANTS, "--take-back", number).out
    assert command(*VARIANTS, "--export", tmp_path / "none.json").code == 1


@pytest.mark.usefixtures("_drafts")
@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("99",), "draft 99"),
        (("one",), "is no id"),
        (("all",), "no drafts are waiting"),
        (("1", "2", "--text", "x"), "is for one draft"),
        (("1", "--reviewer", " "), "has no name"),
    ],
)
def test_reviews_that_cannot_be(command, words: tuple[str, ...], problem: str) -> None:
    printed = command(*VARIANTS, "--accept", *words)
    assert printed.code == 1
    assert problem in printed.err
