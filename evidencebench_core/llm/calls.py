"""One call: attempts, waits and fields left out, until there is a reply or a reason why not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.errors import LLMAnswerError, LLMError, LLMRejectedError, LLMUnreachableError
from evidencebench_core.llm.limiter import Timeouts
from evidencebench_core.llm.replies import Setback, delta_text, has_model, read
from evidencebench_core.llm.request import Answer, ChatRequest, Request, json_bytes

if TYPE_CHECKING:
    from evidencebench_core.llm.client import LLM

OnDelta = Callable[[str | None], None]
"""Given a piece of text as it comes; ``None``: the answer starts over, as the connection broke."""

STREAM: Final = {"stream": True, "stream_options": {"include_usage": True}}
_BAD_ANSWERS: Final = 3  # replies that are no answer, after which the call is given up
_LOST_IN_ROW: Final = 3  # calls given up with no success between, after which the run is
_AWAY: Final = frozenset({0, 502, 503, 520, 521, 522, 523, 529})  # no matter what is asked


class Call:
    """A request on its way to a server, within the limits and caps of an `LLM`; its reply is kept under ``keys``."""

    def __init__(
        self, llm: LLM, request: Request, keys: Mapping[str, str], on_delta: OnDelta | None = None
    ) -> None:
        self._llm, self._request, self._keys, self._on_delta = llm, request, keys, on_delta
        self._attempts, self._timeouts = llm.limits.attempts, llm.timeouts
        self._body: Mapping[str, Any] = request.body() | ({} if on_delta is None else STREAM)
        self._any_delta = False
        self._left = self._timeouts.total
        self._attempt = self._n_bad = 0

    async def parts(self) -> dict[str, Any]:
        """The parts of the server's reply, kept, or an `LLMError`."""
        while True:
            self._attempt += 1
            try:
                return await self._tried()
            except Setback as setback:
                await self._recover(setback)

    async def _tried(self) -> dict[str, Any]:
        llm, request, now = self._llm, self._request, asyncio.get_running_loop().time
        fields, left_out = llm.fitting(self._body, request.model)
        n_prompt, most = request.prompt_tokens, request.max_tokens
        async with llm.limiter.slot(n_prompt + llm.budget.answer_tokens(most)) as slot:
            # Not before its turn: what waits takes nothing from a cap that calls before it could use up.
            reservation, began = llm.budget.reserve(request.model, n_prompt, most), now()
            try:
                timeouts = Timeouts(min(self._timeouts.first_byte, self._left), self._left)
                follow = None if self._on_delta is None else self._follow
                reply = await llm.sender.send(
                    request.path, json_bytes(fields), timeouts=timeouts, on_event=follow
                )
                llm.limiter.learn(slot, reply.headers)
                parts, counts = read(request, reply, fields)
            except Setback as setback:
                if setback.unusable and llm.limiter.answered:  # it was usable before
                    setback.action = "again"
                setback.reason = llm.connection.scrubbed(setback.reason)
                llm.budget.release(reservation, setback.perhaps_billed)
                llm.limiter.setback(slot, setback)
                raise
            except BaseException:  # cut off
                llm.budget.release(reservation, perhaps_billed=True)
                raise
            finally:
                seconds = now() - began
                self._left -= seconds
            llm.answering.add(request.model)
            answer = llm.without_keys(parts[""]) if isinstance(request, ChatRequest) else Answer("")
            used = llm.budget.settle(reservation, *counts, seconds, answer.text + answer.reasoning)
            llm.limiter.success(slot, used)
            if isinstance(request, ChatRequest):
                if self._on_delta is not None and not self._any_delta and answer.text:
                    self._on_delta(answer.text)
                key, n = self._keys[""] if llm.answers else "", self._attempt
                parts[""] = replace(answer, seconds=seconds, attempts=n, left_out=left_out, key=key)
            # Within its slot: a kill costs no more answers than there are calls at once.
            await llm.keep(request, parts, self._keys)
            return parts

    def _follow(self, event: dict[str, Any]) -> None:
        if self._on_delta is not None and (piece := delta_text(event)):
            self._any_delta = True
            self._on_delta(piece)

    async def _recover(self, setback: Setback) -> None:
        """Prepare the next attempt, or give the call up."""
        llm, limiter, status, action = self._llm, self._llm.limiter, setback.status, setback.action
        if self._any_delta and self._on_delta is not None:
            self._any_delta = False
            self._on_delta(None)
        if action == "without" or (action == "wait" and self._attempts > 1):
            self._attempt -= 1
            if action == "without":
                llm.not_taken[self._request.model].add(setback.name)
            return
        if action not in ("again", "wait"):
            raise self._error(LLMRejectedError, setback, setback.reason, action == "end_run")
        last = self._attempt >= self._attempts
        reason = setback.reason + (f" (tried {self._attempt} times)" if self._attempt > 1 else "")
        if status == 500 and (self._attempt > 1 or limiter.gone or last):
            await self._check_listed(setback)
        if status == 200:
            self._n_bad += 1
            if self._n_bad >= min(_BAD_ANSWERS, self._attempts):
                raise self._error(LLMAnswerError, setback, reason)
            self._body = {name: value for name, value in self._body.items() if name not in STREAM}
        if self._left <= 0:
            problem = f"{setback.reason}; the {self._timeouts.total:,.0f} s for a call are used up"
            raise self._error(LLMUnreachableError, setback, problem)
        # Where the server is gone it is tried on, by this call or others, and the limiter says when to give up.
        gone = limiter.gone and (status in _AWAY or limiter.busy)
        if last and (self._attempts == 1 or not gone):
            limiter.lost_in_row += 1
            raise self._error(LLMUnreachableError, setback, reason, limiter.lost_in_row >= _LOST_IN_ROW)
        await limiter.pause(self._attempt, setback.headers)

    async def _check_listed(self, setback: Setback) -> None:
        """Give up where a server (``transformers serve``) fails on a model that it never answered with nor lists."""
        model = self._request.model
        if model in self._llm.answering:
            return
        try:
            listed = await self._llm.models()
        except LLMError:
            return
        if listed and not has_model(listed, model):
            setback.remedy = (
                f"Check the model's name; listed are: {', '.join(listed[:5])}{', …' * (len(listed) > 5)}"
            )
            problem = f"{setback.reason}, and it lists no model of that name"
            raise self._error(LLMRejectedError, setback, problem, True) from None

    def _error(
        self, kind: type[LLMError], setback: Setback, problem: str, stops_run: bool = False
    ) -> LLMError:
        return self._llm.error(kind, problem, setback.remedy, stops_run, self._request.model)
