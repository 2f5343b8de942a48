"""Other wordings of hypotheses that a language model makes; to be read by somebody before they are used."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Generator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal, Protocol

from evidencebench_core.data.store import Store
from evidencebench_core.errors import LLMCancelledError, LLMError, SettingError
from evidencebench_core.llm.lines import parsed_hypothesis
from evidencebench_core.llm.parallel import in_parallel
from evidencebench_core.llm.prices import estimated_prompt_tokens
from evidencebench_core.llm.prompts import prompt
from evidencebench_core.llm.request import Answer, ChatRequest
from evidencebench_core.perturb.made_by import MadeBy
from evidencebench_core.perturb.variants_file import (
    LONGEST_WORDING,
    NEGATION,
    PARAPHRASE,
    Wordings,
    variants_document,
    write_variants,
)

__all__ = [
    "KINDS",
    "Asks",
    "Kind",
    "Knows",
    "MadeVariant",
    "PlannedVariants",
    "lost_terms",
    "made_variants",
    "planned_variants",
    "prompt_of",
    "wording_problem",
    "written_variants",
]

Kind = Literal["paraphrase", "negation"]
KINDS: Final[tuple[Kind, ...]] = ("paraphrase", "negation")
_TOKENS: Final = 150  # of an answer, before one is known: a sentence or two of thought and the wording
_LOOKED_AT: Final = 50  # instances; those between are taken to be like them

# Numbers and their units, and words with a digit or two capitals: IL-6, BRCA1, 5-HT, 0.3, mRNA.
_TERM: Final = re.compile(r"[^\s()\[\],;:]+")


class Asks(Protocol):
    """What is asked of `evidencebench_core.llm.LLM`."""

    def chat(
        self, request: ChatRequest, fresh: bool = False, on_delta: Callable[[str | None], None] | None = None
    ) -> Answer: ...

    def close(self) -> None: ...


class Knows(Protocol):
    """Tells whether a request is answered already, as `evidencebench_core.llm.LLM` does."""

    def cached(self, request: ChatRequest) -> bool: ...


@dataclass(frozen=True, slots=True)
class MadeVariant:
    """One wording, or why there is none.

    Attributes
    ----------
    instance_id, kind : str
        ``kind`` is ``"paraphrase"`` or ``"negation"``.
    original : str
    text : str or None
        ``None``: there is no wording that could be used.
    problem : str
        Why not.
    said : str
        The wording that was refused, if there was one.
    failed : bool
        Whether the call failed: then nothing was refused, and it may be asked again.
    made_by : MadeBy
    """

    instance_id: str
    kind: Kind
    original: str
    text: str | None = None
    problem: str = ""
    said: str = ""
    failed: bool = False
    made_by: MadeBy = field(default_factory=MadeBy)

    @property
    def name(self) -> str:
        """Of the wording in the store: paraphrases go under the model's name."""
        return NEGATION if self.kind == "negation" else PARAPHRASE + self.made_by.model


@dataclass(frozen=True, slots=True)
class PlannedVariants:
    """What `made_variants` will take; tokens are estimates.

    Attributes
    ----------
    n_wordings, n_instances : int
        To be made, and for how many instances.
    n_looked_at : int
        Of how many instances the prompts were made; the others are taken to be like these.
    calls, cached : int
        To the server, and answered from the store.
    prompt_tokens, completion_tokens : int
        Of the calls; an answer is taken to have 150 tokens.
    """

    n_wordings: int
    n_instances: int
    n_looked_at: int
    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int


def prompt_of(kind: Kind) -> str:
    """Name and version of the prompt that makes a kind: ``"negation 1-3fa9c2d1"``.

    Raises
    ------
    SettingError
        If the user's own prompt of that name is none.
    """
    return f"{kind} {prompt(kind).version}"


def planned_variants(  # noqa: PLR0913 - what `made_variants` is given
    store: Store,
    dataset: str,
    model: str,
    client: Knows,
    *,
    kinds: Sequence[Kind] = KINDS,
    limit: int | None = None,
    known: Container[tuple[str, str]] = (),
    fresh: bool = False,
) -> PlannedVariants:
    """What `made_variants` with the same arguments would take. Nothing is sent.

    Raises
    ------
    UnknownNameError
        If there is no such dataset.
    SettingError
        If a prompt cannot be used.
    """
    prompts = {kind: prompt(kind) for kind in kinds}
    wanted = {
        one: tuple(kind for kind in kinds if (one, kind) not in known) for one in store.ids(dataset, limit)
    }
    wanted = {one: left for one, left in wanted.items() if left}
    n_wordings = sum(map(len, wanted.values()))
    looked_at = tuple(wanted)[:: max(1, -(-len(wanted) // _LOOKED_AT))]
    calls = cached = tokens = 0
    for row in store.rows(dataset, looked_at):
        for kind in wanted[row.id]:
            request = ChatRequest(model, prompts[kind].messages(hypothesis=row.hypothesis))
            if not fresh and client.cached(request):
                cached += 1
            else:
                calls, tokens = calls + 1, tokens + estimated_prompt_tokens(request.messages)
    factor = n_wordings / (calls + cached) if calls + cached else 0.0
    all_calls = round(calls * factor)
    return PlannedVariants(
        n_wordings,
        len(wanted),
        len(looked_at),
        all_calls,
        n_wordings - all_calls,
        round(tokens * factor),
        all_calls * _TOKENS,
    )


def made_variants(  # noqa: PLR0913 - what is asked, and how
    store: Store,
    dataset: str,
    model: str,
    client: Asks,
    *,
    kinds: Sequence[Kind] = KINDS,
    limit: int | None = None,
    concurrency: int = 8,
    known: Container[tuple[str, str]] = (),
    fresh: bool = False,
    cancelled: Callable[[], bool] = lambda: False,
) -> Generator[MadeVariant, None, None]:
    """Ask a model for wordings of every hypothesis, at temperature 0, as they come.

    Answers are kept by the client, so that going on after a kill costs nothing twice. A wording that is
    empty or the original again is refused, and so is a paraphrase that has lost a term (`lost_terms`).

    Parameters
    ----------
    known : container of (str, str)
        Instance ids with kinds that are not asked for.
    cancelled : callable
        Once it says so nothing more is asked; what is under way may end, and still comes.

    Raises
    ------
    UnknownNameError
        If there is no such dataset.
    LLMError
        After what came till then, if every further call would fail in the same way.
    """
    ended: list[LLMError] = []
    prompts = {kind: prompt(kind) for kind in kinds}
    versions = {kind: prompt_of(kind) for kind in kinds}

    def work(item: tuple[str, str, Kind]) -> MadeVariant | None:
        instance_id, original, kind = item
        if ended:
            return None
        request = ChatRequest(model, prompts[kind].messages(hypothesis=original))
        try:
            answer = client.chat(request, fresh=fresh)
        except LLMCancelledError:
            return None
        except LLMError as error:
            if error.stops_run:
                ended.append(error)
                return None
            return MadeVariant(instance_id, kind, original, problem=str(error), failed=True)
        said = " ".join((parsed_hypothesis(answer.text) or "").split())
        made_by = MadeBy(model, versions[kind], datetime.now(UTC).isoformat(timespec="seconds"))
        problem = wording_problem(original, said) or _lost(original, said, kind)
        if problem:
            said = said.encode("utf-8", "replace").decode()[:LONGEST_WORDING]
            return MadeVariant(instance_id, kind, original, None, problem, said, made_by=made_by)
        return MadeVariant(instance_id, kind, original, said, made_by=made_by)

    def items() -> Generator[tuple[str, str, Kind], None, None]:
        ids = store.ids(dataset, limit)
        for row in store.rows(dataset, ids):
            for kind in kinds:
                if ended:
                    return
                if (row.id, kind) in known:
                    continue
                yield row.id, row.hypothesis, kind

    batches = in_parallel(
        work, items(), concurrency, stopped=cancelled, stop=lambda: None, close=client.close
    )
    for batch in batches:
        yield from (one for one in batch if one is not None)
    if ended:
        raise ended[0]


def lost_terms(original: str, paraphrase: str) -> tuple[str, ...]:
    """Terms that a paraphrase does not have: words with a digit, or with two capitals or one inside.

    Other words may change; whether they were terms only a reader can tell.
    """
    there = {term.casefold() for term in _terms(paraphrase)}
    return tuple(dict.fromkeys(term for term in _terms(original) if term.casefold() not in there))


def written_variants(path: Path, variants: Sequence[MadeVariant]) -> int:
    """Write a variants file (see `variants_file`); returns how many wordings are in it.

    Paraphrases go under the model's name. Of every wording it is said which model and which prompt made it,
    and when.

    Raises
    ------
    SettingError
        If there is nothing to write, or it cannot be written.
    """
    wordings: Wordings = {}
    made_by: dict[str, dict[str, MadeBy]] = {}
    for one in variants:
        if one.text is not None:
            wordings.setdefault(one.name, {})[one.instance_id] = one.text
            made_by.setdefault(one.name, {})[one.instance_id] = one.made_by
    if not wordings:
        raise SettingError(str(path), "would be empty: no usable wording came", "Try another model.")
    write_variants(path, variants_document(wordings, made_by))
    return sum(map(len, wordings.values()))


def wording_problem(original: str, text: str) -> str:
    """What speaks against a text as another wording of a hypothesis, whoever wrote it; empty if nothing."""
    if not text:
        return "the answer has no line HYPOTHESIS:"
    if len(text) > LONGEST_WORDING:
        return f"the wording has {len(text):,} characters"
    if not text.isprintable():
        return "the wording has signs that cannot be printed"
    if " ".join(text.split()).casefold().rstrip(".") == " ".join(original.split()).casefold().rstrip("."):
        return "the wording is the original"
    return ""


def _lost(original: str, text: str, kind: Kind) -> str:
    lost = lost_terms(original, text) if kind == "paraphrase" else ()
    return f"the paraphrase has lost {', '.join(lost)}" if lost else ""


def _terms(text: str) -> list[str]:
    words = (word.strip(".'\"“”‘’!?") for word in _TERM.findall(text))
    return [word for word in words if _is_term(word)]


def _is_term(word: str) -> bool:
    return any(character.isdigit() for character in word) or any(
        character.isupper() for character in word[1:]
    )
