"""Wordings that a model writes: drafts, until a person has accepted or rejected each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError
from evidencebench_core.llm import LLM, prompt
from evidencebench_core.llm.parse import parsed_hypothesis
from evidencebench_core.perturb import (
    NEGATION,
    PARAPHRASE,
    Wording,
    add_wordings,
    added_wordings,
    wording_problem,
)
from evidencebench_core.runs.plan import ChatPlan, ask_model, chat_plan, parameters_of, request_settings
from evidencebench_core.runs.store import Result, RunSpec, RunStore

DraftKind = Literal["paraphrase", "negation"]
Decision = Literal["waiting", "accepted", "rejected"]
RUN_KIND: Final = "wordings"


@dataclass(frozen=True, slots=True)
class Draft:
    """One wording that a model wrote; an accepted draft's words may have been edited since."""

    instance_id: str
    name: str  # of the wording that it becomes: "negation", "paraphrase:gpt-x"
    original: str
    text: str
    problem: str  # the objection of our checks, empty without one
    made_by: str  # model and prompt
    decision: Decision


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
        return await ask_model(client, messages, parameters_of(model, request))

    return chat_plan(store, spec, ids, ask, llm)


def drafts(store: Store, dataset: str) -> tuple[Draft, ...]:
    """All drafts of a dataset's hypotheses, run by run, in the order of the file."""
    decisions: dict[tuple[str, str, str], Decision] = {}
    for wording in (*added_wordings(store, dataset), *added_wordings(store, dataset, rejected=True)):
        place = (wording.name, wording.instance_id, wording.made_by)
        decisions[place] = "accepted" if wording.text else "rejected"
    hypotheses = {row.id: row.hypothesis for row in store.rows(dataset, store.ids(dataset))}
    all_drafts: list[Draft] = []
    runs = RunStore(store)
    for run in runs.runs_of(RUN_KIND, store.dataset(dataset).sha256):
        kind, model = run.settings["kind"], run.settings["model"]
        name = NEGATION if kind == NEGATION else f"{PARAPHRASE}{model}"
        made_by = f"{model}, {run.settings['prompt']}"
        results = runs.results(run.id)
        for instance_id, original in hypotheses.items():
            result = results.get(instance_id)
            if result is None or isinstance(result, str):
                continue
            text = " ".join((parsed_hypothesis(str(result["text"])) or "").split())
            problem = wording_problem(original, text)
            decision = decisions.get((name, instance_id, made_by), "waiting")
            all_drafts.append(Draft(instance_id, name, original, text, problem, made_by, decision))
    return tuple(all_drafts)


def decide(store: Store, dataset: str, draft: Draft, person: str, text: str) -> None:
    """Accept a draft in these words; without any it is rejected. `SettingError` if nobody may read them so."""
    words = " ".join(text.split())
    if words and (problem := wording_problem(draft.original, words)):
        raise SettingError(f"draft of {draft.instance_id}", f"cannot be accepted: {problem}", "Edit it.")
    if not person.strip():
        raise SettingError("the reader", "has no name", "Say who read the draft: it is kept with it.")
    decision = Wording(draft.instance_id, draft.name, words, draft.made_by, person.strip())
    add_wordings(store, dataset, [decision])
