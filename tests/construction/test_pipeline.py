"""Builds through all stages, by a server whose answers are known: the state that comes out equals the one by hand."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.construction import (
    BuildInput,
    BuildState,
    ConstructionSettings,
    Stage,
    StageResult,
    stages,
)
from evidencebench_core.construction.pipeline import Construction, construction
from evidencebench_core.construction.store import add_builds, use_settings
from evidencebench_core.data.store import Store
from evidencebench_core.llm import LLM, AnswerCache, Budget, Connection, Limits, Message
from evidencebench_core.llm.conversation import Conversation
from evidencebench_core.runs import asked, execute, request_with
from tests.construction.test_align import Look
from tests.llm.server import Step, answering, reply, scripted

TITLE = "Study of tea"
WORDS = {"blood": (3, 7, 19), "weight": (22,), "sleep": ()}  # 2 of 3 aspects: 67 percent


def paper_text(words: Mapping[str, Sequence[int]]) -> str:
    """24 sentences, the title first; a sentence is a source of an aspect if it holds its word."""
    of = {index: word for word, indices in words.items() for index in indices}
    lines = [f"Alpha{i} beta{i} gamma{i} {of.get(i, 'nothing')} of it." for i in range(1, 24)]
    return f"{TITLE}\n\n{' '.join(lines)}"


@pytest.fixture(autouse=True)
def _simple_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prompts that name their stage, and answers in JSON: the stages' own are tested where they are written."""
    names: tuple[Stage, ...] = (
        "boundary", "suitability", "motive", "hypothesis", "aspects", "leak", "results",
    )  # fmt: skip
    monkeypatch.setattr(stages, "STAGE_VERSION", dict.fromkeys(names, 1))
    monkeypatch.setattr(stages, "PROMPTS", dict.fromkeys(names, ()))
    monkeypatch.setattr(stages, "fields", fields)
    monkeypatch.setattr(stages, "conversation", conversation)


def fields(stage: Stage, state: BuildState) -> Mapping[str, str]:
    aspects = "\n".join(one.text for one in state.drafted)
    by_stage = {
        "boundary": " ".join(state.input.paragraph),
        "motive": f"{state.summary} {state.input.context_before}",
        "hypothesis": f"{state.question} {state.summary}",
        "leak": f"{state.summary} {aspects}",
        "results": aspects,
    }
    return {"text": by_stage.get(stage, state.summary)}


def conversation(
    stage: Stage, state: BuildState, model: str, settings: Mapping[str, Any]
) -> Conversation[StageResult]:
    text = f"STAGE {stage} {fields(stage, state)['text']}"
    said = yield from asked(request_with(model, settings, (Message("user", text),)), stage)
    try:
        return {"outcome": "done", **said, **json.loads(said["text"])}
    except ValueError:
        return {"outcome": "failed", **said}


def good(sent: Mapping[str, Any]) -> Step:
    text = sent["messages"][-1]["content"]
    if not text.startswith("STAGE "):
        return reply(Look(dict(sent)).answer())
    stage = text.split()[1]
    answers: dict[str, Any] = {
        "boundary": {"summary": "Tea lowers blood pressure and weight, and brings sleep."},
        "motive": {"question": "Is tea good?"},
        "hypothesis": {"hypothesis": "Tea is good."},
        "aspects": {"aspects": [{"text": f"It is about {word}"} for word in WORDS]},
        "leak": {"leaked": []},
        "results": {"results": [0, 1]},
    }
    return reply(json.dumps(answers.get(stage, {})))


class Lab:
    """A construction and the server that answers for it."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store, self.folder = store, folder
        self.n_calls = 0
        self.stages = Counter[str]()

    def add(self, build_id: str, words: Mapping[str, Sequence[int]] = WORDS, **more: Any) -> None:
        path = self.folder / f"{build_id}.txt"
        path.write_text(paper_text(words))
        given = more if more else {"paragraph": ("Before it.", "Tea is good [1]."), "citing": 1}
        add_builds(self.store, "lab", [BuildInput(build_id, str(path), **given)])

    def run(
        self,
        settings: ConstructionSettings | None = None,
        step: Callable[[Mapping[str, Any]], Step] = good,
        budget: Budget | None = None,
        **more: Any,
    ) -> Construction:
        use_settings(self.store, "lab", settings or ConstructionSettings("m", coverage=60))
        lab = construction(self.store, "lab")
        self.stages.clear()
        with scripted(answering(step)) as server:
            llm = LLM(Connection(server.url, "s"), AnswerCache(self.store), budget, Limits(first_wait=0.001))
            try:
                for stage, plan in lab.plans(llm, **more):
                    self.stages[stage] += len(plan.missing)
                    *_, _ = execute(plan)
            finally:
                self.n_calls = len(server.requests)
        return lab


@pytest.fixture
def lab(store: Store, tmp_path: Path) -> Iterator[Lab]:
    folder = tmp_path / "papers"
    folder.mkdir()
    return Lab(store, folder)


def test_a_build_from_a_review_equals_the_one_by_hand(lab: Lab) -> None:
    lab.add("a")
    made = lab.run()
    state = made.state("a")
    assert state.position.status == "kept"
    assert (state.hypothesis, state.question) == ("Tea is good.", "Is tea good?")
    assert [(one.number, one.is_result) for one in state.aspects] == [(0, True), (1, True), (2, False)]
    assert state.covers() == {0: {3, 7, 19}, 1: {22}, 2: frozenset()}
    assert lab.n_calls == 7 + 3 * 5  # rule 33: C = 7 + A W(24)
    lab.run()
    assert lab.n_calls == 0


def test_given_texts_are_not_asked_for(lab: Lab) -> None:
    lab.add("a", summary="Tea lowers blood pressure.", hypothesis="Tea is good.")
    lab.run()
    assert lab.n_calls == 3 + 3 * 5  # rule 33
    lab.add("b", hypothesis="Tea is good.", aspects=("It is about blood", "It is about weight"))
    made = lab.run()
    assert lab.n_calls == 1 + 2 * 5
    assert [one.source for one in made.state("b").aspects] == ["user", "user"]
    assert made.state("b").summary == "It is about blood. It is about weight."
