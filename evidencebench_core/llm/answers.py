"""Requests to a model, and its answers, each of which is committed to the store before it is used."""

import asyncio
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from pydantic import TypeAdapter

from evidencebench_core.data.primitives import canonical_text, digest, from_blob, now, to_blob
from evidencebench_core.data.store import Store
from evidencebench_core.errors import LLMError, StoreError
from evidencebench_core.llm.budget import Spending

Role = Literal["system", "user", "assistant"]
_UNLIMITED_ANSWER: Final = 4_096  # tokens reserved for an answer whose request sets no limit
_USUAL_ANSWER: Final = 800


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str
    prompt: str = field(default="", compare=False)  # name and version of its prompt


@dataclass
class Call:
    """One request; ``rehearsal`` is the answer that an estimate assumes."""

    body: dict[str, Any]
    prompt: str = ""  # its name and version
    rehearsal: str = ""
    path: str = "chat/completions"

    def __post_init__(self) -> None:
        fixed = ("model", "messages", "input")
        texts = self.body.get("input") or [turn["content"] for turn in self.body["messages"]]
        self.model: str = self.body["model"]
        self.key = digest(self.body)
        self.parameters = {name: value for name, value in self.body.items() if name not in fixed}
        self.prompt_tokens = estimated_prompt_tokens(texts)
        self.most_prompt_tokens = sum(len(text.encode()) + 16 for text in texts)  # one for each byte
        most = self.body.get("max_tokens") or _UNLIMITED_ANSWER
        self.most_answer_tokens: int = 0 if self.path == "embeddings" else most
        self.usual_answer_tokens = min(_USUAL_ANSWER, self.most_answer_tokens)


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer; tokens as counted by the server, seconds as measured when it was first given."""

    text: str = ""
    finish_reason: str = ""  # "stop", "length" (cut off), "content_filter", ...
    refusal: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float = 0.0
    cached: bool = False  # whether it came from the store
    reasoning: str = ""  # reasoning that the server sends apart from the text
    left_out: tuple[str, ...] = ()  # parameters that the server refused
    key: str = ""  # of request and answer in the store
    model: str = ""
    batch: bool = False  # whether it was first given as part of a batch

    def tokens(self, prompt_tokens: int) -> tuple[int, int]:
        """Tokens of prompt and answer; without the server's counts, ``prompt_tokens`` and an estimate from the text."""
        prompt, completion = self.prompt_tokens, self.completion_tokens
        texts = estimated_tokens(self.text + self.reasoning)
        return prompt_tokens if prompt is None else prompt, texts if completion is None else completion


_ANSWER: Final = TypeAdapter(Answer)
_SPEND: Final = """INSERT INTO llm_spending VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
    calls = calls + excluded.calls, prompt_tokens = prompt_tokens + excluded.prompt_tokens,
    completion_tokens = completion_tokens + excluded.completion_tokens, money = money + excluded.money"""


def valid_text(text: str) -> str:
    """The text with U+FFFD in place of lone surrogates, which cannot be encoded."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def estimated_tokens(text: str) -> int:
    """An estimate: one token for four ASCII characters, one for any other character."""
    n_ascii = len(text.encode("ascii", "ignore"))
    return math.ceil(n_ascii / 4) + len(text) - n_ascii


def estimated_prompt_tokens(texts: Iterable[str]) -> int:
    """The estimate for the texts of a conversation, with four extra tokens for each."""
    return sum(estimated_tokens(text) + 4 for text in texts)


class AnswerStore:
    """Answers by the key of their request, and the cost of a run, in the store; used from one event loop.

    With ``fresh`` older answers are ignored: all of them, or those with the given keys.
    """

    def __init__(self, store: Store | None, fresh: bool | Collection[str] = False, run_id: str = "") -> None:
        self._store, self._fresh, self._run_id = store, fresh, run_id
        self._new: set[str] = set()
        self._writing = asyncio.Lock()
        self._rows: list[tuple[Any, ...]] = []  # of the table llm_answers, not yet committed
        self._cost = Spending()

    def get(self, key: str) -> Answer | None:
        """The answer under a key."""
        is_fresh = self._fresh if isinstance(self._fresh, bool) else key in self._fresh
        if self._store is None or (is_fresh and key not in self._new):
            return None
        with self._store.read() as db:
            row = db.execute("SELECT answer FROM llm_answers WHERE key = ?", (key,)).fetchone()
        return replace(_ANSWER.validate_json(row[0]), cached=True, key=key) if row else None

    async def keep(self, call: Call, address: str, answer: Answer, cost: Spending) -> None:
        """Commit an answer and its cost, in one transaction with others that arrive meanwhile."""
        if self._store is not None and call.key not in self._new:
            self._new.add(call.key)
            kind = (call.prompt, canonical_text(call.parameters), call.prompt_tokens)
            record = _ANSWER.dump_json(answer, exclude_defaults=True).decode()
            self._rows.append((call.key, call.model, address, *kind, to_blob(call.body), record, now()))
        await self.pay(cost)

    async def pay(self, cost: Spending) -> None:
        """Commit a cost and all that is not yet committed; an `LLMError` ends the run if that fails."""
        self._cost = self._cost.plus(cost)
        async with self._writing:
            rows, self._rows, cost, self._cost = self._rows, [], self._cost, Spending()
            if self._store is None or not (rows or cost.calls):
                return
            try:
                await asyncio.to_thread(_write, self._store, rows, self._run_id, cost)
            except StoreError as error:
                problem = f"{error.problem}, so that paid answers could not be kept"
                raise LLMError(error.place, problem, error.remedy, stops_run=True) from error


def _write(store: Store, rows: Sequence[tuple[Any, ...]], run_id: str, cost: Spending) -> None:
    with store.write(durable=True) as db:
        db.executemany("INSERT OR REPLACE INTO llm_answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        if run_id:
            values = (run_id, cost.calls, cost.prompt_tokens, cost.completion_tokens, cost.money)
            db.execute(_SPEND, values)


def spending_of(store: Store, run_id: str) -> Spending:
    """The cost of a run over all its starts."""
    sql = "SELECT calls, 0, prompt_tokens, completion_tokens, money FROM llm_spending WHERE run_id = ?"
    with store.read() as db:
        row = db.execute(sql, (run_id,)).fetchone()
    return Spending(*row) if row else Spending()


def answers_like(store: Store, call: Call) -> tuple[bool, list[tuple[float, int]]]:
    """Whether a call's prompt was answered with its parameters, and the newest 300 such answers, else those to it.

    Each as the prompt's tokens, as a multiple of our estimate, and the answer's tokens.
    """
    sql = (
        "SELECT parameters = ?, prompt_tokens, answer FROM llm_answers WHERE model = ? AND prompt = ?"
        " ORDER BY 1 DESC, created_at DESC LIMIT 300"
    )
    with store.read() as db:
        rows = db.execute(sql, (canonical_text(call.parameters), call.model, call.prompt)).fetchall()
    is_same = bool(rows) and bool(rows[0][0])
    counts = [(n, _ANSWER.validate_json(answer).tokens(n)) for same, n, answer in rows if same or not is_same]
    return is_same, [(prompt / max(1, n), completion) for n, (prompt, completion) in counts]


def request_of(store: Store, key: str) -> dict[str, Any] | None:
    """The body of the request with this key; ``None`` if the store has none."""
    with store.read() as db:
        row = db.execute("SELECT request FROM llm_answers WHERE key = ?", (key,)).fetchone()
    body: dict[str, Any] | None = from_blob(row[0]) if row else None
    return body
