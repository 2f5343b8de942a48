"""Drafts of other wordings that a language model writes; to be read by somebody before they are used."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, cast

from evidencebench_core.llm.conversation import Ask, ChatRequest, Conversation, results
from evidencebench_core.llm.request import Answer
from evidencebench_core.perturb.drafts import Draft, Drafts, Kind
from evidencebench_core.perturb.wordings import LONGEST_WORDING, NEGATION, PARAPHRASE, MadeBy

if TYPE_CHECKING:
    from evidencebench_core.llm.client import LLM

# Numbers and their units, and words with a digit or two capitals: IL-6, BRCA1, 5-HT, 0.3, mRNA.
_TERM: Final = re.compile(r"[^\s()\[\],;:]+")


def new_drafts(
    drafts: Drafts,
    wanted: Sequence[tuple[str, Kind]],
    model: str,
    llm: LLM,
    *,
    fresh: bool = False,
    cancelled: Callable[[], bool] = lambda: False,
) -> Generator[Draft, None, None]:
    """Ask a model for wordings (see `Drafts.missing`), at temperature 0, as they come; none is kept by this.

    Answers are kept in the store, so that going on after a kill asks only for what was under way. Once `cancelled`
    says so nothing more is asked. An error that every further call would meet is raised after what came till then.
    """
    for batch in results(llm, drafts.conversations(wanted, model), fresh=fresh, stopped=cancelled):
        for empty, found in batch:
            yield found if isinstance(found, Draft) else replace(empty, problem=str(found), failed=True)


def written(
    drafts: Drafts,
    empty: Draft,
    request: ChatRequest,
    read: Callable[[str], str | None],
    rehearsal: str = "",
) -> Conversation[Draft]:
    """One call, and the draft that its answer makes; ``read`` has the wording of an answer."""
    kind = cast("Kind", empty.kind)
    (reply,) = yield [Ask(kind, request, rehearsal)]
    answer = cast("Answer", reply)
    text = drafts.tidy(read(answer.text) or "")
    problem = drafts.problem(empty, text)
    if not problem and kind == "paraphrase" and (lost := lost_terms(empty.original, text)):
        problem = f"the paraphrase has lost {', '.join(lost)}"
    if answer.finish_reason == "length":
        problem = "the answer was cut off"
    if problem:
        text = text.encode("utf-8", "replace").decode()[:LONGEST_WORDING]
    made_at = datetime.now(UTC).isoformat(timespec="seconds")
    return replace(
        empty,
        text=text,
        problem=problem,
        made_by=MadeBy(request.model, drafts.prompt_of(kind), made_at),
        state="refused" if problem else "waiting",
    )


def name_of(kind: Kind, model: str) -> str:
    """The name of the wording that a draft by a model becomes."""
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
