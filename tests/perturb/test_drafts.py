"""Wordings by a model: written once, read by a person, used only when accepted."""

from pathlib import Path

import pytest

from evidencebench_core.data import Store
from evidencebench_core.errors import SettingError
from evidencebench_core.llm import LLM, Connection
from evidencebench_core.perturb import Draft, decide, draft_plan, drafts, hypothesis_variants, remove_wording
from evidencebench_core.runs import execute
from tests.factories import raw_instance, store_with
from tests.llm.server import answering, reply, scripted

HYPOTHESES = {"a": "Tea lowers IL-6.", "b": "Wine harms.", "c": "Salt helps."}
ANSWERS = {
    "Tea": 'So.\n**HYPOTHESIS:** "Tea reduces interleukin."\nDone.',
    "Wine": "HYPOTHESIS: Wine does damage.",
    "Salt": "No.",
}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    dataset = {name: raw_instance(8, {"x": [4]}, hypothesis=text) for name, text in HYPOTHESES.items()}
    return store_with(dataset, tmp_path, "three")


@pytest.fixture
def written(store: Store) -> tuple[Draft, ...]:
    def answer(sent: dict[str, object]) -> object:
        return reply(next(text for word, text in ANSWERS.items() if word in str(sent["messages"])))

    with scripted(answering(answer)) as server:  # type: ignore[arg-type]
        llm = LLM(Connection(server.url, "secret"), store)
        for _ in range(2):  # the second time nothing is left to ask
            list(execute(draft_plan(store, "three", "paraphrase", "tiny", llm)))
        assert len(server.requests) == 3
    return drafts(store, "three")


def test_only_an_accepted_draft_is_a_wording(store: Store, written: tuple[Draft, ...]) -> None:
    lost, fine, empty = written
    assert [draft.name for draft in written] == ["paraphrase:tiny"] * 3
    assert (fine.text, fine.problem, fine.decision) == ("Wine does damage.", "", "waiting")
    assert (empty.text, empty.problem != "") == ("", True)
    assert hypothesis_variants(store, "three") == {}
    decide(store, "three", fine, "Ana", fine.text)
    decide(store, "three", lost, "Ana", "Tea reduces IL-6.")
    decide(store, "three", empty, "Ana", "")
    texts = {"a": "Tea reduces IL-6.", "b": "Wine does damage."}
    assert hypothesis_variants(store, "three") == {"paraphrase:tiny": texts}
    assert [draft.decision for draft in drafts(store, "three")] == ["accepted", "accepted", "rejected"]
    remove_wording(store, "three", "b", "paraphrase:tiny")
    remove_wording(store, "three", "c", "paraphrase:tiny")
    assert [draft.decision for draft in drafts(store, "three")] == ["accepted", "waiting", "waiting"]


def test_what_is_refused(store: Store, written: tuple[Draft, ...]) -> None:
    fine = written[1]
    for person, text in (("", fine.text), ("Ana", "wine harms")):
        with pytest.raises(SettingError):
            decide(store, "three", fine, person, text)
    with pytest.raises(SettingError):
        draft_plan(store, "three", "negation", " ")
