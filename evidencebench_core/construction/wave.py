"""Builds on their way through the stages: what is due of them, and the plans that ask for it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.construction import stages
from evidencebench_core.construction.align import aspect_key, look_unit, window_look
from evidencebench_core.construction.cost import StageRun
from evidencebench_core.construction.from_trials import pool_sha256
from evidencebench_core.construction.reading import paper_of
from evidencebench_core.construction.state import STAGES, AspectDraft, BuildState, Stage
from evidencebench_core.construction.store import add_paper
from evidencebench_core.construction.windows import Window
from evidencebench_core.llm.conversation import Conversation
from evidencebench_core.papers import Paper
from evidencebench_core.runs import ChatPlan, Result, chat_plan

if TYPE_CHECKING:
    from evidencebench_core.construction.pipeline import Construction
    from evidencebench_core.llm import LLM

_RUN_NAMES: Final[tuple[StageRun, ...]] = (*STAGES[: STAGES.index("coverage")], "second")
_READERS: Final = 4  # papers read at once


def stage_unit(state: BuildState, stage: Stage) -> str:
    """The id under which a stage of a build is asked: another one where it is given anything else."""
    fields = json.dumps(dict(stages.fields(stage, state)), sort_keys=True)
    return f"{state.id}\t{hashlib.sha256(fields.encode()).hexdigest()[:16]}"


def look_keys(state: BuildState) -> dict[int, str]:
    """By aspect number what its looks are kept under."""
    pool, context = state.pool.sha256 if state.pool else "", state.context
    return {one.number: f"{state.id}\t{aspect_key(one.text, context, pool)}" for one in state.aspects}


# -- a wave ---------------------------------------------------------------------------------------

_Ask = tuple[StageRun, str, AspectDraft | None, Window | None]  # run, unit, and of a look what it is for


class Wave:
    """Some builds on their way, with what was asked for them already."""

    def __init__(
        self,
        of: Construction,
        ids: Sequence[str],
        only: Stage | None,
        until: Stage | None,
        fresh: bool,
        retry_lost: bool,
        reread: bool,
    ) -> None:
        self.of, self.only, self.fresh, self.retry_lost, self.reread = of, only, fresh, retry_lost, reread
        self.last = _order(until or "coverage")
        self.states = {state.id: state for state in of.states(ids)}
        self.tried: set[tuple[str, str]] = set()
        self.papers: dict[str, str] = {}  # read in this wave, and why one could not be reached

    def plans(
        self,
        llm: LLM | None,
        on_papers: Callable[[int, int], None],
        on_warning: Callable[[str, str], None],
    ) -> Iterator[tuple[Stage, ChatPlan]]:
        under_way: Mapping[str, object] = {}
        try:
            while due := self._due():
                name = min(due, key=_order)
                if name == "pool":
                    self._read_papers(due[name], on_papers)
                    continue
                under_way = due[name]
                for build in under_way if name == "alignment" else ():
                    if warning := self.states[build].warning:
                        on_warning(build, warning)
                self.tried.update((name, unit) for asks in under_way.values() for _, unit, _, _ in asks)
                yield stage_of(name), self._plan(name, under_way, llm)
                self._refresh(under_way)
                under_way = {}
        finally:  # cut short or not
            self._refresh(under_way)
            self.of.remember(self.states.values())

    def _refresh(self, ids: Iterable[str]) -> None:
        for state in self.of.states(ids):
            error = self.papers.get(state.input.paper)
            self.states[state.id] = replace(state, errors={**state.errors, "pool": error}) if error else state

    def _due(self) -> dict[StageRun, dict[str, list[_Ask]]]:
        """By stage the builds for which it is the next, with what is to be asked."""
        due: dict[StageRun, dict[str, list[_Ask]]] = {}
        for state in self.states.values():
            if state.edits.dropped:
                continue
            at = _order(state.position.stage)
            for name in _RUN_NAMES:
                is_wanted = _order(name) <= self.last and self.only in (None, stage_of(name))
                asks = self._asks(state, name) if is_wanted and at >= _order(name) else []
                if asks:
                    due.setdefault(name, {})[state.id] = asks
                if asks or at <= _order(name) < _order("alignment"):
                    break
        return due

    def _asks(self, state: BuildState, name: StageRun) -> list[_Ask]:
        if name == "pool":
            source = state.input.paper
            is_due = self.reread or (state.pool is None and state.no_pool is None)
            return [(name, source, None, None)] if is_due and source not in self.papers else []
        if name in ("alignment", "second"):
            return self._looks(state, name)
        stage = stage_of(name)
        if not state.needs(stage):
            return []
        unit, found = stage_unit(state, stage), state.results.get(stage)
        is_lost = found is not None and found["outcome"] == "failed" and self.retry_lost
        is_due = (found is None or is_lost or self.fresh) and (name, unit) not in self.tried
        return [(name, unit, None, None)] if is_due else []

    def _looks(self, state: BuildState, name: StageRun) -> list[_Ask]:
        if name not in self.of.specs:
            return []
        answered = state.aligned if name == "alignment" else state.second
        asks: list[_Ask] = []
        keys = look_keys(state)
        for aspect, window in state.pairs(second=name == "second"):
            said = answered.get(aspect.number, {}).get(window)
            if said is None or self.fresh or (self.retry_lost and said["failed"]):
                unit = look_unit(keys[aspect.number], window)
                if (name, unit) not in self.tried:
                    asks.append((name, unit, aspect, window))
        return asks

    def _plan(self, name: StageRun, due: Mapping[str, Sequence[_Ask]], llm: LLM | None) -> ChatPlan:
        spec, states = self.of.specs[name], self.states
        units = {
            unit: (build, aspect, window) for build, asks in due.items() for _, unit, aspect, window in asks
        }

        def conversation(unit: str) -> Conversation[Result]:
            build, aspect, window = units[unit]
            state = states[build]
            if aspect is None or window is None or state.pool is None:
                return stages.conversation(stage_of(name), state, spec.settings["model"], spec.settings)
            return window_look(spec.settings, aspect.text, state.context, state.pool.sentences, window)

        def label(unit: str) -> dict[str, Any]:
            build, aspect, window = units[unit]
            of_look = {} if aspect is None else {"aspect": aspect.number, "window": window}
            return {"build": build, "stage": stage_of(name), **of_look}

        again = frozenset(units) if self.retry_lost else frozenset()
        bounds = min(units), max(units)
        plan = chat_plan(
            self.of.store,
            spec,
            tuple(units),
            conversation,
            llm,
            fresh=self.fresh,
            again=again,
            between=bounds,
        )
        return replace(plan, labels=label)

    # -- papers ---------------------------------------------------------------------------------------

    def _read_papers(self, due: Mapping[str, Sequence[_Ask]], report: Callable[[int, int], None]) -> None:
        builds = {self.states[one].input.paper: self.states[one].input for one in due}
        with ThreadPoolExecutor(_READERS) as pool:
            for done, (source, found) in enumerate(
                zip(builds, pool.map(lambda source: paper_of(self.of.store, source), builds), strict=True),
                start=1,
            ):
                self.papers[source] = found if isinstance(found, str) else ""
                if not isinstance(found, str):
                    read, licence = found
                    sha256 = pool_sha256(read) if isinstance(read, Paper) else ""
                    add_paper(self.of.store, self.of.info, source, read, licence, sha256)
                report(done, len(builds))
        self._refresh(due)


def stage_of(name: StageRun) -> Stage:
    return "alignment" if name == "second" else name


def _order(name: StageRun) -> int:
    return STAGES.index(stage_of(name))
