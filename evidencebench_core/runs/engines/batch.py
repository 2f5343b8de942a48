"""Answers from a server's batch endpoint, or from files that carry the same requests and results.

A pass drives every open conversation as far as the store and the results at hand go, and writes what it still has to
ask as lines of JSON. Once these are answered, another pass goes further. So nothing is held in memory but the paper in
hand, and a run that was killed begins like any other pass.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, cast

from evidencebench_core.errors import (
    BudgetReachedError,
    LLMCancelledError,
    LLMError,
    LLMRejectedError,
    LLMUnreachableError,
    RetrieverError,
    SettingError,
)
from evidencebench_core.llm import Answer, Ask, ChatRequest
from evidencebench_core.llm.answers import record_of
from evidencebench_core.llm.budget import Reservation
from evidencebench_core.llm.conversation import result_of
from evidencebench_core.llm.replies import RawReply, Setback, read
from evidencebench_core.llm.request import json_bytes, request_key
from evidencebench_core.runs.engines.batch_files import Asked, Lines, Requests, move_into
from evidencebench_core.runs.plan import Plan
from evidencebench_core.words import quantity

if TYPE_CHECKING:
    from evidencebench_core.llm.client import LLM
    from evidencebench_core.runs.engines import Answered
    from evidencebench_core.runs.plan import AnyPlan, AnyQuestion

_TOGETHER: Final = 200  # questions whose answers go to the store at once


@dataclass
class BatchEngine:
    """Asks in batches: as cheap as the server makes them, and done within a day.

    Attributes
    ----------
    out : Path, optional
        Where the files of the next requests go; without it the server's batch endpoint is asked.
    into : tuple of Path
        Files with results, in any order.
    poll : float
        Seconds between looks at the batches under way.
    note : str
        How the batches are, in a line for people.
    several : bool
        Whether plans are executed one after the other, and a file may be of any: those of none are then ``foreign``.
    written : list of Path
        The files of requests that were put into ``out``.
    foreign : mapping of Path to SettingError
        Files without a result for any plan so far.
    unused : mapping of Path to (int, int)
        By file how many of its answers belong to nothing that was asked, and how many results are there twice; files
        without either are absent.
    """

    out: Path | None = None
    into: tuple[Path, ...] = ()
    poll: float = 15.0
    several: bool = False
    note: str = field(default="", init=False)
    written: list[Path] = field(default_factory=list, init=False)
    foreign: dict[Path, SettingError] = field(default_factory=dict, init=False)
    unused: dict[Path, tuple[int, int]] = field(default_factory=dict, init=False)
    _met: set[Path] = field(default_factory=set, init=False)  # files of some plan

    def check(self, plan: AnyPlan) -> None:
        if isinstance(plan, Plan) and plan.spec.retriever != "llm":
            raise SettingError(
                f"retriever {plan.spec.retriever}",
                "asks no chat model, so it cannot be run in batches",
                "Leave out --engine batch.",
            )
        for path in self.into:
            if not path.exists():
                raise SettingError(str(path), "cannot be read: there is no such file", "Check its name.")

    def answers(
        self, plan: AnyPlan, questions: Iterable[AnyQuestion], stopped: Callable[[], bool]
    ) -> Iterator[Sequence[Answered]]:
        """As `Engine.answers`. The batches under way are in the store: another call goes on with them."""
        llm = cast("LLM", plan.llm)
        llm.budget.in_batches = True
        self.note, self.written = "", []
        with ExitStack() as held:
            folder = Path(held.enter_context(TemporaryDirectory(prefix="evidencebench-batch-")))
            lines = held.enter_context(closing(Lines(folder / "lines.sqlite")))
            endpoint = None
            if self.out is None and not self.into:
                from evidencebench_core.runs.engines.batch_endpoint import BatchEndpoint

                endpoint = held.enter_context(closing(BatchEndpoint(self, plan, llm, stopped)))
            submit = endpoint.submit if endpoint else self._file_writer(plan.run_id)
            work = _Work(plan, llm, lines, Requests(folder / "requests.jsonl", submit))
            held.enter_context(suppress(LLMCancelledError))
            doubles = {path: lines.read(path, str(path)) for path in self.into}
            while True:
                for _ in endpoint.fetch(lines) if endpoint else ():
                    yield []
                work.number, unanswered = work.number + 1, dict[tuple[str, str], None]()
                yield from work.answered(itertools.takewhile(lambda _: not stopped(), questions), unanswered)
                if stopped():
                    return
                for path, n_doubles in doubles.items():
                    self._check_source(work, path, n_doubles)
                n_asked = work.requests.finish()
                if endpoint:
                    endpoint.settle()
                if not n_asked or endpoint is None:
                    yield []  # with the last note
                    if work.ended is not None:
                        raise work.ended
                    return
                questions = _again(plan, unanswered)

    def _check_source(self, work: _Work, path: Path, n_doubles: int) -> None:
        try:
            counts = work.n_unused(str(path)), n_doubles
            self.unused.pop(path, None)
            self.unused.update({path: counts} if any(counts) else {})
        except SettingError as error:
            if not self.several:
                raise
            self.foreign.update({} if path in self._met else {path: error})
        else:
            self._met.add(path)
            self.foreign.pop(path, None)

    def _file_writer(self, run_id: str) -> Callable[[Path, int], None]:
        n_left = 0

        def write(path: Path, n_lines: int) -> None:
            nonlocal n_left
            n_left += n_lines
            if self.out is None:
                self.note = f"{quantity(n_left, 'request')} left: --batch-out DIR writes them"
            else:
                self.written.append(move_into(self.out, path, run_id, len(self.written) + 1))

        return write


def custom_id(request: ChatRequest) -> str:
    """The name of a request in files: of all that is asked, and of no address, date or run (construction rule 68)."""
    return request_key(request.kind, request.parts()[""], "")


def _again(plan: AnyPlan, unanswered: Collection[tuple[str, str]]) -> Iterator[AnyQuestion]:
    ids = dict.fromkeys(instance_id for instance_id, _ in unanswered)
    for instance_id, questions in plan.questions(list(ids)):
        yield from (one for one in questions if (instance_id, one.task) in unanswered)


@dataclass
class _Work:
    """The conversations of one run: what is known, what is asked."""

    plan: AnyPlan
    llm: LLM
    lines: Lines
    requests: Requests
    number: int = -1  # of the pass
    ended: LLMError | None = None  # why nothing more is asked
    _errors: dict[str, LLMError] = field(default_factory=dict)
    _reasons: dict[str, str] = field(default_factory=dict)  # why the last attempt failed
    _reserved: dict[str, Reservation] = field(default_factory=dict)
    _attempts: int = 3  # batches that a request takes part in before it is given up

    def answered(
        self, questions: Iterable[AnyQuestion], unanswered: dict[tuple[str, str], None]
    ) -> Iterator[list[Answered]]:
        """The answers that there are, each kept before it is yielded; the other questions go into ``unanswered``."""
        batch: list[Answered] = []
        for question in questions:
            answer = self._answer(question)
            if answer is None:
                unanswered[question.instance_id, question.task] = None
            else:
                batch.append((question, answer))
            if len(batch) >= _TOGETHER:
                yield batch
                batch = []
        yield batch

    def _answer(self, question: AnyQuestion) -> Any:
        """The answer to a question, why there is none, or ``None``: it has to wait for what is asked now."""
        try:
            return result_of(self.plan.conversation(question), lambda ask: self._reply(question, ask))
        except (LLMError, RetrieverError) as error:
            if getattr(error, "stops_run", False):
                raise
            return error

    def n_unused(self, source: str) -> int:
        """How many answers of a file belong to nothing that was asked; `SettingError` if all of them do."""
        ids, n_used, n_results = self.lines.unused(source)
        n_known = len(self.llm.answers.known(ids)) if self.llm.answers else 0
        if n_results and not n_used and not n_known:
            raise SettingError(
                source,
                f"belongs to another run: none of its {quantity(n_results, 'result')} answers a request of"
                f" run {self.plan.run_id}",
                "Check the file, the run's settings and its data.",
            )
        return len(ids) - n_known

    def _reply(self, question: AnyQuestion, ask: Ask) -> Answer | LLMError | None:
        request = cast("ChatRequest", ask.request)
        if error := self._errors.get(key := self.llm.key(request)):
            return error
        asked, result = self.lines.asked(key), self.lines.take(custom_id(request)) or self.lines.take(key)
        if (not self.plan.fresh or asked.kept) and (known := self.llm.known(request)):
            if self.number == 0:
                self.llm.budget.count(cached=1)
            answer: Answer = replace(known, cached=not asked.kept)
            return answer
        reply = None if result is None else self._read(key, request, result)
        if reply is None and asked.last < self.number and self.ended is None:
            if asked.times < self._attempts:
                self._ask(key, request, asked.times + 1, self.plan.about(question) | {"step": ask.step})
            else:
                reason = self._reasons.get(key, "the last one has no result of it")
                reply = self._error(LLMUnreachableError, f"no answer in {asked.times} batches: {reason}")
        if isinstance(reply, LLMError):
            self._errors[key] = reply
            self.llm.budget.count(failed=1)
        return reply

    def _ask(self, key: str, request: ChatRequest, times: int, about: Mapping[str, Any]) -> None:
        """Write a request into the next file, unless a cap forbids it."""
        budget = self.llm.budget
        if budget.capped:
            try:
                n_prompt, most = request.prompt_tokens, request.max_tokens
                self._reserved[key] = budget.reserve(request.model, n_prompt, most)
            except BudgetReachedError as error:
                self.ended = error
                return
        body, _ = self.llm.fitting(request.body(), request.model)
        self.lines.set_asked(key, Asked(times, self.number))
        name = {"custom_id": custom_id(request)}
        line = name | {"method": "POST", "url": f"/v1{request.path}", "body": body}
        self.requests.add(json_bytes(line) + b"\n", json_bytes(name | dict(about)) + b"\n")

    def _read(self, key: str, request: ChatRequest, result: dict[str, Any]) -> Answer | LLMError | None:
        """The reply in a result line; ``None``: it is to be asked again."""
        response = result.get("response")
        response = response if isinstance(response, dict) else {}
        status, body = response.get("status_code"), response.get("body")
        status = status if isinstance(status, int) else 0  # a line that expired, or was cancelled, has none
        if not body or result.get("error"):
            status, body = max(status, 500), body or {"error": result.get("error")}
        sent, left_out = self.llm.fitting(request.body(), request.model)
        reservation = self._reserved.pop(key, None)
        try:
            parts, _ = read(
                request, RawReply(status, {}, json_bytes(body)), (*request.body(), "max_completion_tokens")
            )
        except Setback as setback:
            if reservation is not None:
                self.llm.budget.release(reservation)
            return self._put_off(key, request, setback, sent)
        answer = replace(self.llm.without_keys(parts[""]), left_out=left_out)
        return self._paid(key, request, answer, reservation)

    def _put_off(
        self, key: str, request: ChatRequest, setback: Setback, sent: dict[str, Any]
    ) -> LLMError | None:
        """The error of a request that is given up; ``None``: it is to be asked again."""
        self._reasons[key] = setback.reason
        if setback.action == "without" and setback.name in sent:
            self.llm.not_taken[request.model].add(setback.name)
            self._attempts += 1
        if setback.action in ("without", "again", "wait"):
            return None
        rejected = self._error(LLMRejectedError, setback.reason, setback.remedy)
        if setback.action == "end_run":
            rejected.stops_run, self.ended = True, rejected
            return None
        return rejected

    def _paid(
        self, key: str, request: ChatRequest, answer: Answer, reservation: Reservation | None
    ) -> Answer:
        budget, text = self.llm.budget, answer.text + answer.reasoning
        if reservation is None:
            reservation = budget.reserve(request.model, request.prompt_tokens, capped=False)
        budget.settle(reservation, answer.prompt_tokens, answer.completion_tokens, text=text)
        answer = replace(answer, batch=True)
        if self.llm.answers is not None:
            self.llm.answers.keep(
                [
                    record_of(key, request.model, json_bytes(request.body()), answer),
                    (custom_id(request), request.model, b"", {"same_as": key}),
                ]
            )
        self.lines.set_asked(key, Asked(kept=True))
        return replace(answer, key=key)

    def _error(self, kind: type[LLMError], problem: str, remedy: str = "") -> LLMError:
        remedy = remedy or "Start the run again to try once more."
        return self.llm.error(kind, problem, remedy, model="batch")
