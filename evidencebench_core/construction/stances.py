"""Whether study aspects support or refute their hypothesis, asked of a model (construction rule 55)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal, get_args

from evidencebench_core.construction import stages
from evidencebench_core.construction.measure import Share, shares
from evidencebench_core.construction.pipeline import Construction, stage_spec
from evidencebench_core.construction.quality import paper_of
from evidencebench_core.construction.state import BuildState
from evidencebench_core.construction.wave import stage_unit
from evidencebench_core.llm.conversation import Conversation
from evidencebench_core.runs import ChatPlan, ChatRuns, Result, chat_plan

if TYPE_CHECKING:
    from evidencebench_core.llm import LLM

Stance = Literal["supports", "refutes", "neither"]
STANCES: Final[tuple[Stance, ...]] = get_args(Stance)


def stance_plan(
    of: Construction,
    ids: Sequence[str],
    model: str,
    llm: LLM | None = None,
    *,
    fresh: bool = False,
    retry_lost: bool = False,
) -> ChatPlan:
    """Ask a model once about each of these builds that has a hypothesis and aspects; see `chat_plan`."""
    spec = stage_spec(of.info.subject, "stance", model, of.settings.request)
    builds = {
        stage_unit(state, "stance"): state.id
        for state in of.states(ids)
        if state.hypothesis and state.aspects
    }

    def conversation(unit: str) -> Conversation[Result]:
        return stages.conversation("stance", of.state(builds[unit]), model, spec.settings)

    lost = ChatRuns(of.store).results(spec.id) if retry_lost else {}
    again = {unit for unit, said in lost.items() if not isinstance(said, str) and said["outcome"] == "failed"}
    return chat_plan(
        of.store, spec, tuple(builds), conversation, llm, fresh=fresh, again=frozenset(again & builds.keys())
    )


def stances(of: Construction, states: Iterable[BuildState]) -> dict[str, dict[int, Stance]]:
    """By build and aspect number what the model said that was asked last, of the aspects as they stand."""
    runs = [
        run
        for run in ChatRuns(of.store).runs("construction", of.info.subject)
        if run.settings.get("stage") == "stance"
    ]
    results = ChatRuns(of.store).results(runs[-1].id) if runs else {}
    found: dict[str, dict[int, Stance]] = {}
    for state in states if results else ():
        said = results.get(stage_unit(state, "stance"))
        if isinstance(said, Mapping) and said["outcome"] == "done":
            numbers = [one.number for one in state.aspects]
            found[state.id] = dict(zip(numbers, said["stances"], strict=True))
    return found


def stance_shares(
    states: Iterable[BuildState], said: Mapping[str, Mapping[int, Stance]], n_resamples: int = 10_000
) -> dict[Stance, Share]:
    """Shares of the aspects, whole papers being drawn."""
    rows = [
        (paper_of(state), tuple((one == stance, 1) for stance in STANCES))
        for state in states
        for one in said.get(state.id, {}).values()
    ]
    return dict(zip(STANCES, shares(rows, n_resamples), strict=False))
