"""Wordings that a model writes: drafts, until a person has accepted or rejected each."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError
from evidencebench_core.llm.parse import parsed_hypothesis
from evidencebench_core.llm.prompts import prompt
from evidencebench_core.perturb import (
    NEGATION,
    PARAPHRASE,
    Wording,
    add_wordings,
    added_wordings,
    wording_problem,
)
from evidencebench_core.runs.chat import asked, parameters_of, request_settings
from evidencebench_core.runs.plan import ChatPlan, chat_plan
from evidencebench_core.runs.spec import RunSpec
from evidencebench_core.runs.store import Result, RunStore

if TYPE_CHECKING:
    from evidencebench_core.llm import LLM

DraftKind = Literal["paraphrase", "negation"]
RUN_KIND: Final = "wordings"
# Numbers and their units, and words with a digit or two capitals: IL-6, BRCA1, 5-HT, 0.3, mRNA.
_TERM: Final = re.compile(r"[^\s()\[\],;:]+")


@dataclass(frozen=True, slots=True)
class Draft:
    """One wording that a model wrote; ``problem`` is the objection of our checks, empty without one.

    ``decision`` says what became of it; an accepted draft's words may have been edited since.
    """

    instance_id: str
    name: str  # of the wording that it becomes: "negation", "paraphrase:gpt-x"
    original: str
    text: str
    problem: str
    made_by: str  # model and prompt
    decision: Literal["waiting", "accepted", "rejected"]


def draft_plan(
    store: Store, dataset: str, kind: DraftKind, model: str, llm: LLM | None = None, limit: int | None = None
) -> ChatPlan:
    """What a model is still to be asked for: a wording of each instance, or of the first so many."""
    if not model.strip():
        raise SettingError("model", "is not named", "Choose a model.")
    ids = store.ids(dataset, limit)
    hypotheses = {row.id: row.hypothesis for row in store.rows(dataset, ids)}
    request = request_settings()
    settings = {"kind": kind, "model": model, "prompt": str(prompt(kind)), **request}
    spec = RunSpec(RUN_KIND, store.dataset(dataset).sha256, settings)

    async def ask(client: LLM, unit: str) -> Result:
        messages = prompt(kind).messages(hypothesis=hypotheses[unit])
        return await asked(client, messages, parameters_of(model, request))

    return chat_plan(store, spec, ids, ask, llm)


def drafts(store: Store, dataset: str) -> tuple[Draft, ...]:
    """All drafts of a dataset's hypotheses, run by run, in the order of the file."""
    runs = RunStore(store).runs_of(RUN_KIND, store.dataset(dataset).sha256)
    accepted = {(one.name, one.instance_id): one.made_by for one in added_wordings(store, dataset)}
    rejected = {
        (one.name, one.instance_id): one.made_by for one in added_wordings(store, dataset, rejected=True)
    }
    ids = store.ids(dataset)
    hypotheses = {row.id: row.hypothesis for row in store.rows(dataset, ids)} if runs else {}
    every: list[Draft] = []
    for run in runs:
        kind, model = run.settings["kind"], run.settings["model"]
        name = NEGATION if kind == "negation" else PARAPHRASE + model
        made_by = f"{model}, {run.settings['prompt']}"
        results = RunStore(store).results(run.id)
        for instance_id in ids:
            result = results.get(instance_id)
            if result is not None and not isinstance(result, str):
                key, original = (name, instance_id), hypotheses[instance_id]
                text, problem = _read(result, original, kind)
                is_accepted, is_rejected = accepted.get(key) == made_by, rejected.get(key) == made_by
                decision: Literal["waiting", "accepted", "rejected"]
                decision = "accepted" if is_accepted else "rejected" if is_rejected else "waiting"
                every.append(Draft(instance_id, name, original, text, problem, made_by, decision))
    return tuple(every)


def decide(store: Store, dataset: str, draft: Draft, person: str, text: str) -> None:
    """Accept a draft in these words; without any it is rejected. `SettingError` if nobody may read them so."""
    words = " ".join(text.split())
    if words and (problem := wording_problem(draft.original, words)):
        raise SettingError(f"draft of {draft.instance_id}", f"cannot be accepted: {problem}", "Edit it.")
    if not person.strip():
        raise SettingError("the reader", "has no name", "Say who read the draft: it is kept with it.")
    decision = Wording(draft.instance_id, draft.name, words, draft.made_by, person.strip())
    add_wordings(store, dataset, [decision])


def _read(result: Result, original: str, kind: str) -> tuple[str, str]:
    """The wording in an answer, and what speaks against it."""
    text = " ".join((parsed_hypothesis(str(result["text"])) or "").split())
    problem = wording_problem(original, text)
    if not problem and kind == "paraphrase" and (lost := lost_terms(original, text)):
        problem = f"the paraphrase has lost {', '.join(lost)}"
    return text, problem


def lost_terms(original: str, paraphrase: str) -> tuple[str, ...]:
    """Terms that a paraphrase does not have: words with a digit, or with two capitals or one inside."""
    there = {term.casefold() for term in _terms(paraphrase)}
    return tuple(dict.fromkeys(term for term in _terms(original) if term.casefold() not in there))


def _terms(text: str) -> Collection[str]:
    words: Sequence[str] = [word.strip(".'\"“”‘’!?") for word in _TERM.findall(text)]
    return [word for word in words if any(map(str.isdigit, word)) or any(map(str.isupper, word[1:]))]
