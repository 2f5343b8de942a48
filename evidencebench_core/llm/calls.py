"""One call: attempts, waits and fields left out, until there is a reply or a reason why not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.errors import LLMAnswerError, LLMError, LLMRejectedError, LLMUnreachableError
from evidencebench_core.llm.limiter import Slot, Timeouts
from evidencebench_core.llm.prices import estimated_prompt_tokens, estimated_tokens
from evidencebench_core.llm.replies import (
    Failure,
    Unusable,
    Verdict,
    chat_answer,
    delta_text,
    failure_of,
    has_model,
    vectors_of,
    verdict,
)
from evidencebench_core.llm.request import Answer, ChatRequest, Reply, Request, Vectors, json_bytes
from evidencebench_core.llm.sender import ConnectionBroken, RawReply

if TYPE_CHECKING:
    from evidencebench_core.llm.client import LLM

OnDelta = Callable[[str | None], None]
"""Given a piece of text as it comes; ``None``: the answer starts over, as the connection broke."""

_BAD_ANSWERS: Final = 3  # replies that are no answer, after which the call is given up
_LOST_IN_ROW: Final = 3  # calls given up with no success between, after which the run is
_AWAY: Final = frozenset({0, 502, 503, 520, 521, 522, 523, 529})  # no matter what is asked
_STREAM: Final = {"stream": True, "stream_options": {"include_usage": True}}
_NO_ANSWER: Final = Verdict("again", "Ask again, or check the server.", perhaps_billed=True)


@dataclass(frozen=True, slots=True)
class _Setback:
    """An attempt failed, and another may not; status 200 for a reply that is no answer, 0 for none."""

    reason: str
    said: Verdict
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)


class Call:
    """A request on its way to a server, within the limits and caps of an `LLM`."""

    def __init__(
        self,
        llm: LLM,
        request: Request,
        on_delta: OnDelta | None = None,
        attempts: int | None = None,
        timeouts: Timeouts | None = None,
    ) -> None:
        self._llm, self._request, self._on_delta = llm, request, on_delta
        self._place = f"{request.model} at {llm.connection.address}"
        self._attempts, self._timeouts = attempts or llm.limits.attempts, timeouts or llm.timeouts
        self._body: Mapping[str, Any] = request.body() | ({} if on_delta is None else _STREAM)
        self._any_delta = False
        self._left = self._timeouts.total
        self._attempt = self._n_bad = self._last_status = 0

    async def reply(self) -> Reply:
        """The server's reply, or an `LLMError`."""
        while True:
            self._attempt += 1
            outcome = await self._outcome()
            if not isinstance(outcome, _Setback):
                self._llm.answering.add(self._request.model)
                return outcome
            if self._any_delta and self._on_delta is not None:
                self._any_delta = False
                self._on_delta(None)
            if outcome.said.action == "without":
                self._attempt -= 1
                self._llm.fields.leave_out(self._request.model, outcome.said.field)
            elif outcome.said.action == "wait" and self._attempts > 1:
                self._attempt -= 1
            else:
                await self._before_next(outcome)

    # -- one attempt ---------------------------------------------------------------------------

    async def _outcome(self) -> Reply | _Setback:
        llm, request, now = self._llm, self._request, asyncio.get_running_loop().time
        if isinstance(request, ChatRequest):
            n_prompt, most = estimated_prompt_tokens(request.messages), request.max_tokens
        else:
            n_prompt, most = sum(map(estimated_tokens, request.texts)), 0
        fields, left_out = llm.fields.fitting(self._body, request.model)
        async with llm.limiter.slot(n_prompt + llm.budget.answer_tokens(most)) as slot:
            # Not before its turn: what waits takes nothing from a cap that calls before it could use up.
            reservation, began = llm.budget.reserve(request.model, n_prompt, most), now()
            answered, billed = False, True  # if it is cut off
            try:
                outcome = await self._sent(fields, slot)
                seconds = now() - began
                if isinstance(outcome, _Setback):
                    billed = outcome.said.perhaps_billed
                    self._report(slot, outcome)
                    return outcome
                answered = True
                llm.limiter.success()
            except LLMError as error:
                billed = False
                if not error.stops_run:
                    llm.limiter.success()
                raise
            finally:
                self._left -= now() - began
                if not answered:
                    llm.budget.release(reservation, billed)
            reply, counted = outcome
            if isinstance(reply, Answer):
                counts, text = (counted, reply.completion_tokens), reply.text + reply.reasoning
            else:
                counts, text = (counted, 0), ""
            llm.limiter.count(slot, llm.budget.settle(reservation, *counts, seconds, text))
        if not isinstance(reply, Answer):
            return reply
        if self._on_delta is not None and not self._any_delta and reply.text:
            self._on_delta(reply.text)
        left_out = tuple(name for name in left_out if name not in _STREAM)
        return replace(reply, seconds=seconds, attempts=self._attempt, left_out=left_out)

    async def _sent(self, fields: Mapping[str, Any], slot: Slot) -> tuple[Reply, int | None] | _Setback:
        """The reply and its prompt's tokens as the server counts them, or why there is none."""
        llm, request = self._llm, self._request
        timeouts = Timeouts(min(self._timeouts.first_byte, self._left), self._left)
        follow = None if self._on_delta is None else self._follow
        try:
            reply = await llm.sender.send(
                request.path, json_bytes(fields), timeouts=timeouts, on_event=follow
            )
            llm.limiter.learn(slot, reply.headers)
            result: Answer | tuple[Vectors, int | None] | Failure
            if reply.status >= 300:
                result = failure_of(reply.body)
            elif isinstance(request, ChatRequest):
                result = chat_answer(reply.headers, reply.body)
            else:
                result = vectors_of(reply.headers, reply.body, len(request.texts))
        except ConnectionBroken as broken:
            if broken.for_good and not llm.limiter.answered:
                place = llm.connection.address
                raise llm.error(LLMRejectedError, place, broken.reason, broken.remedy, True) from broken
            said = Verdict("again", broken.remedy, perhaps_billed=broken.perhaps_billed)
            return _Setback(broken.reason, said)
        except Unusable as unusable:
            return _Setback(f"the reply is no answer: {unusable}", _NO_ANSWER, 200)
        if not isinstance(result, Failure):
            return (result, result.prompt_tokens) if isinstance(result, Answer) else result
        reason, said, status = refusal(reply, result, tuple(fields))
        if said.action in ("again", "wait", "without"):
            return _Setback(reason, said, status, reply.headers)
        if said.action == "filtered" and isinstance(request, ChatRequest):
            return Answer("", "content_filter"), None
        raise llm.error(LLMRejectedError, self._place, reason, said.remedy, said.action == "end_run")

    def _follow(self, data: str) -> None:
        if self._on_delta is not None and (piece := delta_text(data)):
            self._any_delta = True
            self._on_delta(piece)

    def _report(self, slot: Slot, setback: _Setback) -> None:
        """Tell the limiter of a failure; a server that answers, whatever it says, is there."""
        limiter, reason = self._llm.limiter, self._llm.connection.scrubbed(setback.reason)
        if setback.said.action == "wait":
            limiter.hold(slot, setback.headers, reason)
        elif setback.said.action != "again":
            limiter.success()
        elif setback.status != 200:
            limiter.failure(slot, reason)

    async def _before_next(self, setback: _Setback) -> None:
        """Wait for the next attempt, or give the call up."""
        limiter, remedy = self._llm.limiter, setback.said.remedy
        last = self._attempt >= self._attempts
        reason = setback.reason + (f" (tried {self._attempt} times)" if self._attempt > 1 else "")
        if setback.status == 500 and (self._last_status == 500 or limiter.gone or last):
            await self._check_listed(setback)
        self._last_status = setback.status
        if setback.status == 200:
            self._n_bad += 1
            if self._n_bad >= min(_BAD_ANSWERS, self._attempts):
                raise self._llm.error(LLMAnswerError, self._place, reason, remedy)
            self._body = {name: value for name, value in self._body.items() if name not in _STREAM}
        if self._left <= 0:
            problem = f"{setback.reason}; the {self._timeouts.total:,.0f} s for a call are used up"
            raise self._llm.error(LLMUnreachableError, self._place, problem, remedy)
        # Where the server is gone it is tried on, by this call or others, and the limiter says when to give up.
        gone = limiter.gone and (setback.status in _AWAY or limiter.busy)
        if last and (self._attempts == 1 or not gone):
            limiter.lost_in_row += 1
            ends = limiter.lost_in_row >= _LOST_IN_ROW
            raise self._llm.error(LLMUnreachableError, self._place, reason, remedy, ends)
        await limiter.pause(limiter.wait_after(self._attempt, setback.headers))

    async def _check_listed(self, setback: _Setback) -> None:
        """Give up where a server (``transformers serve``) fails on a model that it never answered with nor lists."""
        model = self._request.model
        if model in self._llm.answering:
            return
        try:
            listed = await self._llm.models()
        except LLMError:
            return
        if listed and not has_model(listed, model):
            problem = f"{setback.reason}, and it lists no model of that name"
            names = f"{', '.join(listed[:5])}{', …' * (len(listed) > 5)}"
            remedy = f"Check the model's name; listed are: {names}"
            raise self._llm.error(LLMRejectedError, self._place, problem, remedy, True) from None


def refusal(reply: RawReply, failure: Failure, sent: tuple[str, ...]) -> tuple[str, Verdict, int]:
    """A server's refusal in words, the verdict on it, and its status."""
    status = reply.status if reply.status >= 300 else failure.status or 500
    said = verdict(status, failure, sent)
    if status == 503 and "retry-after" in reply.headers:
        said = replace(said, action="wait")
    words = failure.message
    if status < 400:
        words = f"go to {reply.headers.get('location', 'elsewhere')}"
    return f"answers {status} ({words})", said, status
