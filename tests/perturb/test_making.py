"""Wordings that a model makes: what is taken, what is refused, and that the file can be read again."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.data import Store
from evidencebench_core.errors import LLMRejectedError
from evidencebench_core.llm import LLM, Connection, Limits
from evidencebench_core.perturb import KINDS, Draft, HypothesisDrafts, Kind, MadeBy
from evidencebench_core.perturb.making import lost_terms, new_drafts
from evidencebench_core.runs.estimate import draft_estimate
from tests.factories import store_with, tiny_dataset
from tests.llm.server import Step, answering, reply, scripted, status


@pytest.fixture
def drafts(tmp_path: Path) -> HypothesisDrafts:
    return HypothesisDrafts(store_with(tiny_dataset(), tmp_path), "tiny")


def made_by(
    drafts: HypothesisDrafts,
    url: str,
    model: str = "m",
    kinds: Sequence[Kind] = KINDS,
    limit: int | None = None,
) -> Iterator[Draft]:
    return new_drafts(drafts, drafts.missing(model, kinds, limit), model, client_of(url, drafts.store))


def client_of(url: str, store: Store) -> LLM:
    return LLM(Connection(url, "k"), store, limits=Limits(concurrency=1))


def wording(request: dict[str, Any]) -> Step:
    prompt = request["messages"][-1]["content"]
    number = prompt.partition("in cohort ")[2][:1]
    if "claims the opposite" in prompt:
        return reply(f"HYPOTHESIS: Tea raises blood pressure in cohort {number}.")
    return reply(f"HYPOTHESIS: In cohort {number}, blood pressure is lowered by tea.")


def test_drafts_of_both_kinds(drafts: HypothesisDrafts) -> None:
    with scripted(answering(wording)) as server:
        made = list(made_by(drafts, server.url, "gpt-x", limit=3))
        assert len(server.requests) == 6
        assert {request.json["temperature"] for request in server.requests} == {0.0}
        again = list(made_by(drafts, server.url, "gpt-x", limit=3))
        assert len(server.requests) == 6  # all answers are in the store
    texts = {(one.subject_id, one.name): one.text for one in made}
    assert texts == {(one.subject_id, one.name): one.text for one in again}
    assert texts["tiny_1", "negation"] == "Tea raises blood pressure in cohort 1."
    assert texts["tiny_2", "paraphrase:gpt-x"] == "In cohort 2, blood pressure is lowered by tea."
    prompts = {(one.kind, one.made_by.prompt.partition("-")[0]) for one in made}
    assert prompts == {("negation", "negation 1"), ("paraphrase", "paraphrase 1")}
    assert all(one.made_by.model == "gpt-x" and one.made_by.needs_review for one in made)


def test_what_is_known_is_not_asked_for(drafts: HypothesisDrafts) -> None:
    by = {kind: MadeBy("m", drafts.prompt_of(kind)) for kind in KINDS}
    known = (("tiny_0", "negation"), ("tiny_1", "negation"), ("tiny_1", "paraphrase:m"))
    drafts.add(
        Draft(one, name, "", "x", made_by=by["negation" if name == "negation" else "paraphrase"])
        for one, name in known
    )
    wanted = drafts.missing("m", KINDS, 3)
    with scripted(answering(wording)) as server:
        client = client_of(server.url, drafts.store)
        planned = draft_estimate(drafts, wanted, "m", client)
        made = list(new_drafts(drafts, wanted, "m", client))
        after = draft_estimate(drafts, wanted, "m", client)
        fresh = draft_estimate(drafts, wanted, "m", client, fresh=True)
    # Of three instances' six wordings three are known: tiny_0 lacks one, tiny_1 none, tiny_2 both.
    lacking = {("tiny_0", "paraphrase"), ("tiny_2", "paraphrase"), ("tiny_2", "negation")}
    assert {(one.subject_id, one.kind) for one in made} == lacking
    assert (planned.n_instances, planned.n_looked_at, planned.calls, planned.cached) == (3, 3, 3, 0)
    assert planned.completion_tokens == 450  # 150 each
    assert planned.prompt_tokens > 3 * 100  # the prompts alone have some 150 words
    assert (after.calls, after.cached, after.prompt_tokens) == (0, 3, 0)
    assert (fresh.calls, fresh.cached) == (3, 0)


def test_a_failed_call_is_no_refusal(drafts: HypothesisDrafts) -> None:
    with scripted(status(400, "no")) as server:
        (one,) = made_by(drafts, server.url, kinds=["negation"], limit=1)
    assert (one.failed, one.text) == (True, "")


@pytest.mark.parametrize(
    ("kind", "said", "problem"),
    [
        ("paraphrase", "Blood pressure falls.", "no line HYPOTHESIS"),
        ("paraphrase", "HYPOTHESIS: tea lowers  blood pressure in cohort 0", "is the original"),
        ("paraphrase", "HYPOTHESIS: Tea lowers blood pressure.", "has lost 0"),
        ("negation", "HYPOTHESIS: Tea raises blood pressure.", ""),
    ],
)
def test_what_is_refused(drafts: HypothesisDrafts, kind: Any, said: str, problem: str) -> None:
    with scripted(reply(said)) as server:
        (one,) = made_by(drafts, server.url, kinds=[kind], limit=1)
    assert problem in one.problem
    assert (one.state == "refused") == bool(problem)
    assert not one.failed
    assert one.made_by.prompt == drafts.prompt_of(kind)
    assert one.text == (" ".join(said.removeprefix("HYPOTHESIS: ").split()) if "HYPOTHESIS" in said else "")


def test_a_refused_key_ends_it_after_what_came(drafts: HypothesisDrafts) -> None:
    with scripted(reply("HYPOTHESIS: Other words for 0."), status(401)) as server:
        found = made_by(drafts, server.url, kinds=["negation"])
        assert next(found).text == "Other words for 0."
        with pytest.raises(LLMRejectedError):
            list(found)


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
