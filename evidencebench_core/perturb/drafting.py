"""Wordings that a model writes: drafts, until a person has accepted or rejected each."""

import re
from dataclasses import dataclass
from typing import Final, Literal

from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError
from evidencebench_core.llm import LLM
from evidencebench_core.llm.parse import after_thinking
from evidencebench_core.perturb.wordings import (
    NEGATION,
    PARAPHRASE,
    Wording,
    add_wordings,
    added_wordings,
    wording_problem,
)
from evidencebench_core.runs import Plan, Question, RunStore, chat_plan, chat_spec

DraftKind = Literal["paraphrase", "negation"]
Decision = Literal["waiting", "accepted", "rejected"]
RUN_KIND: Final = "wordings"

_HYPOTHESIS: Final = re.compile(r"\bhypothesis[ *_`]*:[\s*_`\"“]*(.*)", re.IGNORECASE)


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
) -> Plan:
    """A plan for asking a model for a wording of each instance, or of the first ``limit``, not yet asked for."""
    ids = store.ids(dataset, limit)
    hypotheses = {row.id: row.hypothesis for row in store.rows(dataset, ids)}
    spec = chat_spec(RUN_KIND, store.dataset(dataset).sha256, kind, model, [kind])
    return chat_plan(store, spec, ids, lambda unit: Question(kind, {"hypothesis": hypotheses[unit]}), llm)


def drafts(store: Store, dataset: str) -> tuple[Draft, ...]:
    """All drafts of a dataset's hypotheses, run by run, in the order of the file."""
    wordings = (*added_wordings(store, dataset), *added_wordings(store, dataset, rejected=True))
    decisions = {(wording.name, wording.instance_id, wording.made_by): wording.text for wording in wordings}
    hypotheses = {row.id: row.hypothesis for row in store.rows(dataset, store.ids(dataset))}
    all_drafts: list[Draft] = []
    for run in RunStore(store).runs_of(RUN_KIND, store.dataset(dataset).sha256):
        model, kind = run.settings["model"], run.settings["task"]
        name = NEGATION if run.settings["task"] == NEGATION else f"{PARAPHRASE}{model}"
        made_by = f"{model}, {kind} {run.settings['prompts'][kind]}"
        results = RunStore(store).results(run.id)
        for instance_id, original in hypotheses.items():
            result = results.get(instance_id)
            if result is None or isinstance(result, str):
                continue
            lines = _HYPOTHESIS.findall(after_thinking(str(result["text"])) or "")
            text = " ".join(lines[-1].strip(' *_`"”').split()) if lines else ""
            words = decisions.get((name, instance_id, made_by))
            decision: Decision = "waiting" if words is None else "accepted" if words else "rejected"
            problem = wording_problem(original, text)
            all_drafts.append(Draft(instance_id, name, original, text, problem, made_by, decision))
    return tuple(all_drafts)


def decide(store: Store, dataset: str, draft: Draft, person: str, text: str) -> None:
    """Accept a draft in these words, or reject it if there are none. `SettingError` if they are not acceptable."""
    words = " ".join(text.split())
    if words and (problem := wording_problem(draft.original, words)):
        raise SettingError(f"draft of {draft.instance_id}", f"cannot be accepted: {problem}", "Edit it.")
    if not person.strip():
        raise SettingError("the reader", "has no name", "Say who read the draft: it is kept with it.")
    decision = Wording(draft.instance_id, draft.name, words, draft.made_by, person.strip())
    add_wordings(store, dataset, [decision])
