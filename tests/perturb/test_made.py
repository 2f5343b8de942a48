"""Wordings that a model makes: what is taken, what is refused, and that the file can be read again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.data.ingest import ingest
from evidencebench_core.data.store import Store, open_store
from evidencebench_core.errors import LLMRejectedError, SettingError
from evidencebench_core.llm import LLM, AnswerCache, Connection, RetryPolicy
from evidencebench_core.perturb import variants_from
from evidencebench_core.perturb.made import lost_terms, made_variants, source_of, written_variants
from tests.factories import tiny_dataset, written
from tests.llm.server import Step, answering, reply, scripted, status


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = open_store(tmp_path / "s.sqlite")
    ingest(store, written(tiny_dataset(), tmp_path / "d.json"), name="tiny")
    return store


def client_of(url: str, store: Store) -> LLM:
    return LLM(Connection(url, "k"), AnswerCache(store), RetryPolicy(attempts=1))


def wording(request: dict[str, Any]) -> Step:
    prompt = request["messages"][-1]["content"]
    number = prompt.partition("in cohort ")[2][:1]
    if "claims the opposite" in prompt:
        return reply(f"HYPOTHESIS: Tea raises blood pressure in cohort {number}.")
    return reply(f"HYPOTHESIS: In cohort {number}, blood pressure is lowered by tea.")


def test_a_file_of_both_kinds(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "v.json"
    with scripted(answering(wording)) as server:
        made = list(made_variants(store, "tiny", "gpt-x", client_of(server.url, store), limit=3))
        assert len(server.requests) == 6
        assert {request.json["temperature"] for request in server.requests} == {0.0}
        again = list(made_variants(store, "tiny", "gpt-x", client_of(server.url, store), limit=3))
        assert len(server.requests) == 6  # all answers are in the store
    assert sorted(made, key=repr) == sorted(again, key=repr)
    assert written_variants(path, made, "gpt-x") == 6
    wordings = variants_from(path)
    assert wordings["negation"]["tiny_1"] == "Tea raises blood pressure in cohort 1."
    assert wordings["paraphrase:gpt-x"]["tiny_2"] == "In cohort 2, blood pressure is lowered by tea."
    made_by = json.loads(path.read_text())["tiny_0"]["made_by"]
    assert made_by["model"] == "gpt-x"
    assert made_by["negation"].startswith("negation 1-")
    assert source_of(path).startswith(f"{path}, made by gpt-x, paraphrase 1-")


@pytest.mark.parametrize(
    ("kind", "said", "problem"),
    [
        ("paraphrase", "Blood pressure falls.", "no line HYPOTHESIS"),
        ("paraphrase", "HYPOTHESIS: tea lowers  blood pressure in cohort 0", "is the original"),
        ("paraphrase", "HYPOTHESIS: Tea lowers blood pressure.", "has lost 0"),
        ("negation", "HYPOTHESIS: Tea raises blood pressure.", ""),
    ],
)
def test_what_is_refused(store: Store, kind: Any, said: str, problem: str) -> None:
    with scripted(reply(said)) as server:
        (one,) = made_variants(store, "tiny", "m", client_of(server.url, store), kinds=[kind], limit=1)
    assert problem in one.problem
    assert (one.text is None) == bool(problem)


def test_a_refused_key_ends_it_after_what_came(store: Store) -> None:
    with scripted(reply("HYPOTHESIS: Other words for 0."), status(401)) as server:
        found = made_variants(
            store, "tiny", "m", client_of(server.url, store), kinds=["negation"], concurrency=1
        )
        assert next(found).text == "Other words for 0."
        with pytest.raises(LLMRejectedError):
            list(found)


def test_nothing_usable_writes_no_file(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="would be empty"):
        written_variants(tmp_path / "v.json", [], "m")
    assert not (tmp_path / "v.json").exists()


@pytest.mark.parametrize(
    ("original", "paraphrase", "lost"),
    [
        ("IL-6 drives COVID-19.", "COVID-19 is driven by IL-6.", ()),
        ("IL-6 drives COVID-19.", "COVID-19 is driven by interleukin 6.", ("IL-6",)),
        ("A 0.3 mg dose (mRNA) helps.", "Help comes from a dose of 0.3 mg mRNA.", ()),
        ("Painters die of cancer.", "Cancer kills those who paint.", ()),  # plain words may change
    ],
)
def test_terms(original: str, paraphrase: str, lost: tuple[str, ...]) -> None:
    assert lost_terms(original, paraphrase) == lost
