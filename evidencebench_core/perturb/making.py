"""Drafts of other wordings that a language model writes; to be read by somebody before they are used."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Generator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Literal, cast

from evidencebench_core.data.store import Store
from evidencebench_core.llm.conversation import Ask, Conversation, results
from evidencebench_core.llm.parse import parsed_hypothesis
from evidencebench_core.llm.prompts import prompt
from evidencebench_core.llm.request import Answer, ChatRequest
from evidencebench_core.perturb.drafts import Draft, DraftState
from evidencebench_core.perturb.wordings import (
    LONGEST_WORDING,
    NEGATION,
    PARAPHRASE,
    MadeBy,
    wording_problem,
)

if TYPE_CHECKING:
    from evidencebench_core.llm.client import LLM

Kind = Literal["paraphrase", "negation"]
KINDS: Final[tuple[Kind, ...]] = ("paraphrase", "negation")
DRAFT_TOKENS: Final = 150  # of an answer, before one is known: a sentence or two of thought and the wording
# Numbers and their units, and words with a digit or two capitals: IL-6, BRCA1, 5-HT, 0.3, mRNA.
_TERM: Final = re.compile(r"[^\s()\[\],;:]+")


def prompt_of(kind: Kind) -> str:
    """Name and version of the prompt that makes a kind: ``"negation 1-3fa9c2d1"``."""
    return f"{kind} {prompt(kind).version}"


def new_drafts(  # noqa: PLR0913 - what is asked, and how
    store: Store,
    dataset: str,
    model: str,
    llm: LLM,
    *,
    kinds: Sequence[Kind] = KINDS,
    limit: int | None = None,
    known: Container[tuple[str, str]] = (),
    fresh: bool = False,
    cancelled: Callable[[], bool] = lambda: False,
) -> Generator[Draft, None, None]:
    """Ask a model for wordings of every hypothesis, at temperature 0, as they come.

    Answers are kept in the store, so that going on after a kill asks only for what was under way. A wording that is
    empty or the original again is refused, and so is a paraphrase that has lost a term (`lost_terms`). Instance
    ids with kinds in `known` are not asked for; once `cancelled` says so nothing more is. An error that every
    further call would meet is raised after what came till then.
    """
    wanted = (
        ((row, kind), draft_conversation(row.id, row.hypothesis, kind, model))
        for row in store.rows(dataset, store.ids(dataset, limit))
        for kind in kinds
        if (row.id, kind) not in known
    )
    for batch in results(llm, wanted, fresh=fresh, stopped=cancelled):
        for (row, kind), found in batch:
            if isinstance(found, Draft):
                yield found
            else:
                name = _name(kind, model)
                yield Draft(row.id, name, row.hypothesis, "", str(found), failed=True)


def draft_conversation(instance_id: str, original: str, kind: Kind, model: str) -> Conversation[Draft]:
    """One call, and the draft that its answer makes."""
    asked = prompt(kind)
    (reply,) = yield [Ask(kind, ChatRequest(model, asked.messages(hypothesis=original)))]
    text = " ".join((parsed_hypothesis(cast("Answer", reply).text) or "").split())
    made_by = MadeBy(model, prompt_of(kind), datetime.now(UTC).isoformat(timespec="seconds"))
    problem = wording_problem(original, text)
    if not problem and kind == "paraphrase" and (lost := lost_terms(original, text)):
        problem = f"the paraphrase has lost {', '.join(lost)}"
    if problem:
        text = text.encode("utf-8", "replace").decode()[:LONGEST_WORDING]
    state: DraftState = "refused" if problem else "waiting"
    return Draft(instance_id, _name(kind, model), original, text, problem, made_by, state)


def _name(kind: Kind, model: str) -> str:
    return NEGATION if kind == "negation" else PARAPHRASE + model


def lost_terms(original: str, paraphrase: str) -> tuple[str, ...]:
    """Terms that a paraphrase does not have: words with a digit, or with two capitals or one inside.

    Other words may change; whether they were terms only a reader can tell.
    """
    there = {term.casefold() for term in _terms(paraphrase)}
    return tuple(dict.fromkeys(term for term in _terms(original) if term.casefold() not in there))


def _terms(text: str) -> list[str]:
    words = (word.strip(".'\"“”‘’!?") for word in _TERM.findall(text))
    return [word for word in words if any(map(str.isdigit, word)) or any(map(str.isupper, word[1:]))]
