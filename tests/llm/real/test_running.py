"""Whole runs of the command, over the sample data, on servers that no one here wrote."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.data import open_store
from evidencebench_core.retrievers.llm import calls_in
from evidencebench_core.runs import RunStore
from tests.llm.real.conftest import Ended, Server, evidencebench, need_servers
from tests.llm.real.tiny_models import ANSWER

need_servers()

STRATEGIES = ("cot", "section", "guided")
TASKS = {"er@10": 6, "result-er@5": 5}  # instances: one of the six has no result aspects


def ran(server: Server, store: Path, model: str, strategy: str, *more: str, key: str | None = None) -> Ended:
    settings = (f"model={model}", f"strategy={strategy}")
    return evidencebench(server, store, *_words("llm", settings), *more, key=key)


def _words(retriever: str, settings: Iterable[str]) -> list[str]:
    named = [word for setting in settings for word in ("--set", setting)]
    tasks = [word for task in TASKS for word in ("--task", task)]
    return ["run", "--dataset", "sample", "--retriever", retriever, "--json", *tasks, *named]


def outcomes(document: dict[str, Any]) -> dict[str, dict[str, int]]:
    """By task, without the zeros."""
    return {
        task: {kind: number for kind, number in counts.items() if number}
        for task, counts in document["outcomes"].items()
    }


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_model_that_chooses(server: Server, sample: Path, strategy: str) -> None:
    begun = ran(server, sample, server.choosing, strategy, "--limit", "2")
    assert begun.code == 0, begun.err
    ended = ran(server, sample, server.choosing, strategy)
    assert ended.code == 0, ended.err
    print(ended.err, outcomes(ended.document))
    for task, n_instances in TASKS.items():
        found = outcomes(ended.document)[task]
        assert found["selection"] == found["unknown_indices"] == n_instances
    # Every answer ends with the same list: of what is in it, what the paper has is chosen, and that alone.
    runs, run_id = RunStore(open_store(sample)), ended.document["run"]
    for task in TASKS:
        for instance_id, picks in runs.selections(run_id, task).items():
            assert 0 < len(picks) <= 2
            retrieval = runs.retrieval(run_id, task, instance_id)
            assert retrieval is not None
            assert {call.text for call in calls_in(retrieval)} == {"".join(ANSWER)}
            if strategy == "cot":
                assert picks == (1, 2)
    again = ran(server, sample, server.choosing, strategy)
    assert again.document["spending"]["calls"] == 0
    assert again.document["scores"] == ended.document["scores"]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_model_that_talks_nonsense(server: Server, sample: Path, strategy: str) -> None:
    ended = ran(server, sample, server.random, strategy, "--set", "max_tokens=24")
    assert ended.code == 0, ended.err
    print(ended.err, outcomes(ended.document))
    runs, run_id = RunStore(open_store(sample)), ended.document["run"]
    for task, n_instances in TASKS.items():
        found = outcomes(ended.document)[task]
        assert sum(found.get(kind, 0) for kind in ("cut_off", "no_list")) == n_instances
        assert set(found) <= {"cut_off", "no_list"}
        assert set(runs.selections(run_id, task).values()) == {()}
    again = ran(server, sample, server.random, strategy, "--set", "max_tokens=24")
    assert again.document["spending"]["calls"] == 0


def test_answers_are_shared_between_runs(server: Server, sample: Path) -> None:
    one = ran(server, sample, server.choosing, "cot")
    other = ran(server, sample, server.choosing, "cot", "--set", "n_aspects=3")
    assert one.document["run"] != other.document["run"]
    assert (one.document["spending"]["calls"], other.document["spending"]["calls"]) == (11, 0)
    assert other.document["spending"]["cached"] == 11


def test_a_cap_stops_a_run_and_it_goes_on(server: Server, sample: Path) -> None:
    stopped = ran(server, sample, server.choosing, "cot", "--max-calls", "3")
    assert stopped.code == 1
    assert "the cap of 3 calls is reached" in stopped.err
    ended = ran(server, sample, server.choosing, "cot")
    assert ended.code == 0, ended.err
    assert ended.document["spending"]["calls"] == 11 - 3


def test_a_wrong_name_on_transformers(transformers: Server, sample: Path) -> None:
    ended = ran(transformers, sample, "tiny/wrong", "cot")
    print(ended.err)
    assert ended.code == 1
    assert "lists no model of that name" in ended.err
    assert "tiny/choosing" in ended.err


def test_a_wrong_name_on_llama_cpp(llama_cpp: Server, sample: Path) -> None:
    # The server takes its first model for any name, and says so nowhere: nothing to be told by.
    ended = ran(llama_cpp, sample, "wrong", "cot")
    assert ended.code == 0
    assert outcomes(ended.document)["er@10"]["selection"] == 6


def test_a_wrong_key_stops_the_run(llama_cpp: Server, sample: Path) -> None:
    key = "sk-wrong-0123456789abcdef"
    ended = ran(llama_cpp, sample, "choosing", "cot", key=key)
    print(ended.err)
    assert ended.code == 1
    assert "answers 401 (Invalid API key)" in ended.err
    assert "OPENAI_API_KEY" in ended.err
    assert key not in ended.out + ended.err
    assert key.encode() not in b"".join(file.read_bytes() for file in sample.parent.iterdir())
    mended = ran(llama_cpp, sample, "choosing", "cot")
    assert mended.code == 0, mended.err
    said = (mended.out + mended.err).encode()
    assert llama_cpp.key is not None
    assert llama_cpp.key.encode() not in said + b"".join(
        file.read_bytes() for file in sample.parent.iterdir()
    )


def test_a_prompt_that_is_too_long_fails_alone(llama_cpp: Server, sample: Path) -> None:
    ended = ran(llama_cpp, sample, "short-sighted", "cot")
    print(ended.err)
    assert ended.code == 1
    assert "maximum context length is 512" in ended.err
    assert "by sections" in ended.err


def test_a_ranking_by_embeddings(llama_cpp: Server, sample: Path) -> None:
    words = _words("embeddings", ["model=vectors"])
    first = evidencebench(llama_cpp, sample, *words)
    assert first.code == 0, first.err
    print(first.err, first.document["scores"][0])
    assert first.document["spending"]["calls"] > 0
    store = open_store(sample)
    runs = RunStore(store)
    for instance in store.iter("sample"):
        retrieval = runs.retrieval(first.document["run"], "er@10", instance.id)
        assert retrieval is not None
        assert sorted(retrieval.ranking) == list(range(len(instance.sentences)))
        assert len(retrieval.selection) == 10
    second = evidencebench(llama_cpp, sample, *words, "--set", "instruction=er")
    assert second.document["run"] != first.document["run"]
    print(second.err)
    # With an instruction the six hypotheses are new, and no sentence is.
    assert (second.document["spending"]["calls"], second.document["spending"]["failed"]) == (6, 0)
    again = evidencebench(llama_cpp, sample, *words)
    assert again.document["spending"]["calls"] == 0
    assert again.document["scores"] == first.document["scores"]
