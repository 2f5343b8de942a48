"""Builds carried through their stages: what is due is derived from what is stored, and asked as chat runs.

A stage of a construction is one chat run; its settings hold stage, versions, model and parameters, and its ids begin
with the build's and end with a digest of what the stage is given. So a change makes another id of what depends on it
and leaves the rest, and a kill, a cap or another engine needs nothing of its own (rules 20 to 23).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.construction import stages
from evidencebench_core.construction.align import alignment_spec, look_unit
from evidencebench_core.construction.cost import StageCost, StageRun, stage_costs
from evidencebench_core.construction.decisions import decisions_of, edits_of
from evidencebench_core.construction.reading import pool_of
from evidencebench_core.construction.review import Review
from evidencebench_core.construction.state import (
    STAGES,
    BuildInput,
    BuildState,
    ConstructionSettings,
    Edits,
    Position,
    Stage,
    StageResult,
)
from evidencebench_core.construction.store import (
    ConstructionInfo,
    build_ids,
    build_inputs,
    construction_info,
    keep_positions,
    paper_ids,
    paper_record,
    position_counts,
    position_problems,
    positions,
    unknown_positions,
)
from evidencebench_core.construction.wave import Wave, look_keys, stage_of, stage_unit
from evidencebench_core.construction.windows import Window
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError
from evidencebench_core.llm.prompts import prompt_version
from evidencebench_core.runs import ChatPlan, ChatRuns, ChatRunSpec, Result, request_settings

if TYPE_CHECKING:
    from evidencebench_core.llm import LLM

ASKED_ONCE: Final[tuple[Stage, ...]] = tuple(
    stage for stage in STAGES if stage not in ("pool", "alignment", "coverage")
)
WAVE: Final = 200
"""Builds that are carried on together: what is in memory at once."""

_Windows = dict[int, dict[Window, StageResult]]
_MOST_DERIVED: Final = 1_000  # builds that `funnel` looks at again itself
_LAST: Final = "\U0010ffff"


@dataclass(frozen=True)
class Construction:
    """A construction with its settings; made by `construction`."""

    store: Store
    info: ConstructionInfo
    settings: ConstructionSettings

    @property
    def name(self) -> str:
        return self.info.name

    @cached_property
    def specs(self) -> Mapping[StageRun, ChatRunSpec]:
        """The chat run of each stage that asks; ``second``: of the second model's looks."""
        of, subject = self.settings, self.info.subject
        specs: dict[StageRun, ChatRunSpec] = {
            stage: stage_spec(subject, stage, of.model, of.request) for stage in ASKED_ONCE
        }
        specs["alignment"] = alignment_spec(subject, of.align_model or of.model, of.profile, of.request)
        if of.second_model:
            specs["second"] = alignment_spec(subject, of.second_model, of.profile, of.request)
        return specs

    @cached_property
    def fingerprint(self) -> str:
        """Of all that decides where a build stands, but for what is stored of it."""
        runs = {name: dict(spec.settings) for name, spec in self.specs.items()}
        document = {"runs": runs, **asdict(replace(self.settings, request={}))}
        return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:16]

    # -- what is stored -------------------------------------------------------------------------------

    def ids(self) -> tuple[str, ...]:
        return build_ids(self.store, self.name)

    def state(self, build_id: str) -> BuildState:
        """A build with all that is stored of it; `UnknownNameError` for one that is not there."""
        return next(self.states([build_id]))

    def states(self, ids: Iterable[str] | None = None) -> Iterator[BuildState]:
        """The same of these builds or of all, one after the other."""
        return (one.state for one in self.reviews(ids))

    def reviews(self, ids: Iterable[str] | None = None) -> Iterator[Review]:
        """These builds or all with what people decided of them, one after the other."""
        wanted = self.ids() if ids is None else tuple(ids)
        for start in range(0, len(wanted), WAVE):
            some = wanted[start : start + WAVE]
            decided = decisions_of(self.store, self.info, some)
            for build in build_inputs(self.store, self.info, some):
                edits = edits_of(decided.get(build.id, ()))
                found = self._state(build, replace(edits, dropped=False))  # what is stored, dropped or not
                yield Review(replace(found, edits=edits), decided.get(build.id, ()))

    def paper_ids(self) -> dict[str, str]:
        """By build the id of its paper; one whose paper was not read is not there."""
        papers = paper_ids(self.store, self.info)
        inputs = build_inputs(self.store, self.info, self.ids())
        return {one.id: papers[one.paper] for one in inputs if one.paper in papers}

    def _state(self, build: BuildInput, edits: Edits) -> BuildState:
        record = paper_record(self.store, self.info, build.paper)
        pool, no_pool = pool_of(build, record)
        state = BuildState(build, self.settings, edits, pool, no_pool)
        while (at := state.position).status == "due" and at.stage in ASKED_ONCE:
            unit = stage_unit(state, at.stage)
            found = self._results(at.stage, unit, unit).get(unit)
            if found is None:
                break
            if isinstance(found, str):
                return replace(state, errors={**state.errors, at.stage: found})
            state = replace(state, results={**state.results, at.stage: found})
        return self._with_looks(state) if at.stage == "alignment" else state

    def _with_looks(self, state: BuildState) -> BuildState:
        aligned, errors = self._looks(state, "alignment")
        second, more = self._looks(state, "second") if "second" in self.specs else ({}, {})
        return replace(state, aligned=aligned, second=second, errors={**state.errors, **more, **errors})

    def _looks(self, state: BuildState, name: StageRun) -> tuple[_Windows, dict[Stage, str]]:
        stored = self._results(name, f"{state.id}\t", f"{state.id}\t{_LAST}")
        found: _Windows = {}
        errors: dict[Stage, str] = {}
        wanted = self.settings.windows(len(state.pool.sentences) if state.pool else 0)
        for number, key in look_keys(state).items():
            for window in wanted:
                said = stored.get(look_unit(key, window))
                if isinstance(said, str):
                    errors["alignment"] = said
                elif said is not None:
                    found.setdefault(number, {})[window] = said
        return found, errors

    def _results(self, name: StageRun, first: str, last: str) -> dict[str, Result | str]:
        return ChatRuns(self.store).results_between(self.specs[name].id, first, last)

    # -- where builds stand ---------------------------------------------------------------------------

    def remember(self, states: Iterable[BuildState]) -> None:
        """Keep where these builds stand, for `funnel` and the next run."""
        found = {state.id: state.position for state in states}
        keep_positions(self.store, self.info, self.fingerprint, found)

    def positions(self, status: str | None = None) -> dict[str, Position]:
        """Where builds stand, as far as it is remembered for these settings: all, or those of one status."""
        return positions(self.store, self.info, self.fingerprint, status)

    def problems(self, limit: int = 10) -> dict[str, str]:
        """Problems of the builds that do not go on, by id: the first so many."""
        return position_problems(self.store, self.info, self.fingerprint, limit)

    def open_ids(self) -> tuple[str, ...]:
        """The builds that are neither kept nor dropped, as far as it is remembered."""
        remembered = self.positions()
        return tuple(
            one for one in self.ids() if one not in remembered or remembered[one].status in ("due", "failed")
        )

    def costs(
        self,
        ids: Sequence[str] | None = None,
        *,
        only: Stage | None = None,
        until: Stage | None = None,
        fresh: bool = False,
        retry_lost: bool = False,
    ) -> dict[StageRun, StageCost]:
        """The cost that is left, by stage, if nothing more is dropped: an upper bound; the options of `plans`.

        Of very many builds some are looked at, evenly spread; the others are taken to be like these.
        """
        wanted = self.open_ids() if ids is None else tuple(ids)
        some = wanted[:: max(1, -(-len(wanted) // _MOST_DERIVED))]
        found = stage_costs(
            self.states(some), only=only, until=until or "coverage", fresh=fresh, retry_lost=retry_lost
        )
        return {stage: cost.times(len(wanted) / len(some)) for stage, cost in found.items()}

    def changes(self) -> dict[Stage, tuple[str, ...]]:
        """The stages that are asked otherwise than before and were not asked so yet, and what has changed."""
        runs = ChatRuns(self.store).runs("construction", self.info.subject)
        found: dict[Stage, tuple[str, ...]] = {}
        for name, spec in self.specs.items():
            of = [one for one in runs if one.settings.get("stage") == spec.settings["stage"]]
            if name != "second" and of and spec.id not in {one.id for one in of}:
                before, now = of[-1].settings, json.loads(json.dumps(spec.settings))
                found[stage_of(name)] = tuple(key for key in now if now[key] != before.get(key))
        return found

    def funnel(self) -> StageFunnel:
        """How many builds stand where. Those of which nothing is remembered are looked at, if they are few."""
        unknown = unknown_positions(self.store, self.info, self.fingerprint)
        due = tuple(self.positions("due"))  # of which a run that was killed may have carried some on
        for some in (unknown, due):
            if len(some) <= _MOST_DERIVED:
                self.remember(self.states(some))
        unknown = unknown if len(unknown) > _MOST_DERIVED else ()
        counts = position_counts(self.store, self.info, self.fingerprint)
        return StageFunnel(counts, len(unknown))

    # -- what is due ----------------------------------------------------------------------------------

    def plans(  # noqa: PLR0913 - what is run, and how it is asked
        self,
        llm: LLM | None = None,
        *,
        ids: Sequence[str] | None = None,
        only: Stage | None = None,
        until: Stage | None = None,
        fresh: bool = False,
        retry_lost: bool = False,
        reread: bool = False,
        wave: int = WAVE,
        on_papers: Callable[[int, int], None] = lambda _, __: None,
        on_warning: Callable[[str, str], None] = lambda _, __: None,
    ) -> Iterator[tuple[Stage, ChatPlan]]:
        """Plans that carry builds on, stage by stage; each is to be executed before the next is asked for.

        Papers are read in between. What a plan leaves without an answer is not planned again.

        Parameters
        ----------
        llm : LLM, optional
            How the server is asked; see `chat_plan`.
        ids : sequence of str, optional
            Only these builds.
        only, until : str, optional
            Only this stage, or none after it.
        fresh : bool
            Ask again for what has a result.
        retry_lost : bool
            Ask again where an answer could not be read, or was refused.
        reread : bool
            Read the papers again; what depends on one that is read otherwise than before is asked again.
        wave : int
            Builds that are carried on together.
        on_papers : callable
            Given papers read and papers in all, of those that a plan waits for.
        on_warning : callable
            Given a build's id and a line on what a person should check before its looks are paid for.
        """
        wanted = self.ids() if fresh or retry_lost or reread else self.open_ids()
        chosen = frozenset(wanted if ids is None else ids)
        wanted = tuple(one for one in wanted if one in chosen)
        for start in range(0, len(wanted), wave):
            some = wanted[start : start + wave]
            work = Wave(self, some, only, until, fresh, retry_lost, reread)
            yield from work.plans(llm, on_papers, on_warning)


@dataclass(frozen=True, slots=True)
class StageFunnel:
    """Builds by stage, status and reason."""

    counts: Mapping[tuple[str, str, str], int]
    n_unknown: int  # builds of which nothing is known with the present settings

    @property
    def n_builds(self) -> int:
        return sum(self.counts.values()) + self.n_unknown

    def rows(self) -> list[dict[str, Any]]:
        """For every stage how many builds reach it, pass, are dropped by reason, wait to be asked, and failed."""
        rows = []
        reaching = sum(self.counts.values())
        for stage in STAGES:
            of = {key[1:]: n for key, n in self.counts.items() if key[0] == stage}
            dropped = {reason: n for (status, reason), n in of.items() if status == "dropped"}
            waiting = {
                status: sum(n for (one, _), n in of.items() if one == status) for status in ("due", "failed")
            }
            passed = reaching - sum(dropped.values()) - sum(waiting.values())
            rows.append({"stage": stage, "in": reaching, "kept": passed, "dropped": dropped, **waiting})
            reaching = passed
        return rows


def construction(store: Store, name: str, settings: ConstructionSettings | None = None) -> Construction:
    """A construction of the store, with the settings that it was last run with unless others are given.

    Raises
    ------
    UnknownNameError
        If there is none of that name.
    SettingError
        If it was never run and no settings are given.
    """
    info = construction_info(store, name)
    chosen = settings or info.settings
    if chosen is None:
        raise SettingError(f"construction {name}", "was never run", "Run it: say --model NAME.")
    return Construction(store, info, chosen)


def stage_spec(subject: str, stage: Stage, model: str, request: Mapping[str, Any]) -> ChatRunSpec:
    """The chat run of a stage that asks once."""
    settings = {
        "stage": stage,
        "stage_version": stages.STAGE_VERSION[stage],
        "prompts": [prompt_version(name) for name in stages.PROMPTS[stage]],
        "model": model,
        **request_settings(request),
    }
    return ChatRunSpec("construction", subject, settings)
