"""Runs of questions to a model about items, answers or papers."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Protocol, Self

from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError
from evidencebench_core.llm import LLM, Message, prompt
from evidencebench_core.llm.parse import after_thinking
from evidencebench_core.retrievers import Setting
from evidencebench_core.retrievers.settings import RequestSettings, parameters_of
from evidencebench_core.runs.model import Result, RunInfo, RunSpec
from evidencebench_core.runs.planning import Fresh, Plan, Unit, open_questions
from evidencebench_core.runs.store import RunStore

JUDGEMENTS: Final = "judgements"  # the kind of judges' runs; their subject is what is judged


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatSpec:
    """The identity of a run of questions to a model."""

    kind: str
    subject: str  # digest of what it is about; of a judge's, where that is a run, its id
    task: str
    model: str
    prompts: Mapping[str, str]  # version by name
    request: Mapping[str, Setting]  # of `request_settings`
    settings: Mapping[str, Setting]  # of the task

    @classmethod
    def of(cls, run: RunInfo | RunSpec) -> Self:
        """The identity of this run."""
        values = run.settings["settings"].items()
        settings = {name: tuple(value) if isinstance(value, list) else value for name, value in values}
        return cls(kind=run.kind, subject=run.subject, **{**run.settings, "settings": settings})

    @property
    def run(self) -> RunSpec:
        values = asdict(self)
        return RunSpec(values.pop("kind"), values.pop("subject"), values)


def chat_spec(
    kind: str,
    subject: str,
    task: str,
    model: str,
    prompts: Iterable[str],
    request: Mapping[str, object] | None = None,
    settings: Mapping[str, Setting] | None = None,
) -> ChatSpec:
    """The identity of a run, from the names of its prompts; `SettingError` if no model is named."""
    if not model.strip():
        raise SettingError("model", "is not named", "Name one as the server does.")
    return ChatSpec(
        kind=kind,
        subject=subject,
        task=task,
        model=model.strip(),
        prompts={name: prompt(name).version for name in prompts},
        request=request_settings(request),
        settings=settings or {},
    )


def request_settings(settings: Mapping[str, object] | None = None) -> dict[str, Setting]:
    """All `RequestSettings` in canonical form, with defaults; `SettingError` for an invalid one."""
    return RequestSettings.read("request", settings).values()


def chat_run(store: Store, id_or_prefix: str, kind: str) -> RunInfo:
    """The run with this id or prefix; `SettingError` if it is of another kind."""
    run = RunStore(store).run(id_or_prefix)
    if run.kind != kind:
        raise SettingError(f"run {run.id}", f"is a run of {run.kind}, not of {kind}", "Name one that is.")
    return run


def judge_runs(store: Store, subject: str) -> tuple[RunInfo, ...]:
    """The judges' runs about a set or a run, oldest first."""
    return RunStore(store).runs_of(JUDGEMENTS, subject)


def judge_run(
    store: Store, subject: str, model: str | None = None, task: str | None = None
) -> RunInfo | None:
    """The judge's run with the most answers, then the latest one, of this model and task (None: of any)."""
    runs = [
        run
        for run in judge_runs(store, subject)
        if run.n_answered and model in (None, run.settings["model"]) and task in (None, run.settings["task"])
    ]
    return max(runs, key=lambda run: (run.n_answered, run.created_at), default=None)


@dataclass(frozen=True, slots=True)
class Rewording:
    """A step before a question: a model rewords one of its fields."""

    prompt: str
    field: str
    mark: str  # precedes the new text in the answer
    writer: str  # the model that rewords


class Conversation(Protocol):
    """Whatever a unit asks a model: a `Question`, or several in a row."""

    async def answer(self, llm: LLM, model: str, request: Mapping[str, Setting]) -> Result:
        """The result for the unit; ``request`` is of `request_settings`."""


@dataclass(frozen=True, slots=True)
class Question:
    """A prompt and the values of its fields."""

    prompt: str
    fields: Mapping[str, str]
    rewording: Rewording | None = None

    def messages(self, wording: str = "") -> tuple[Message, ...]:
        """The messages that are sent, with the new ``wording``, if any, of the field that is reworded."""
        changed = {self.rewording.field: wording} if self.rewording and wording else {}
        return prompt(self.prompt).messages(**{**self.fields, **changed})

    async def answer(self, llm: LLM, model: str, request: Mapping[str, Setting]) -> Result:
        """The fields of the model's `Answer`, and its ``wording``; without a usable one the text is empty."""
        step, parameters = self.rewording, parameters_of(model, request)
        if step is None:
            return await _answer_fields(llm, self.messages(), parameters)
        original = self.fields[step.field]
        expected = {"rehearsal": f"{step.mark}: {original} (in other words)"}  # what an estimate assumes
        messages = prompt(step.prompt).messages(**self.fields)
        written = await _answer_fields(llm, messages, parameters_of(step.writer, request) | expected)
        wording = new_wording(step.mark, written, original)
        if not wording:
            return {**written, "text": "", "wording": ""}
        return {**await _answer_fields(llm, self.messages(wording), parameters), "wording": wording}


async def _answer_fields(llm: LLM, messages: Sequence[Message], parameters: Mapping[str, Any]) -> Result:
    return asdict(replace(await llm.chat(messages, **parameters), cached=False))


def chat_plan(
    store: Store,
    spec: ChatSpec,
    units: Sequence[str],
    question: Callable[[str], Conversation],
    llm: LLM | None = None,
    *,
    fresh: Fresh = False,
) -> Plan:
    """Find which units of a run are still open; ``question`` says what a unit asks. Nothing is sent or stored."""
    questions = dict.fromkeys(units, ("",))
    missing, again = open_questions(store, spec.run, questions, fresh)

    async def ask(unit: Unit, _: str, client: LLM) -> Result:
        return await question(unit.id).answer(client, spec.model, spec.request)

    return Plan(
        store=store,
        spec=spec.run,
        missing=missing,
        total=len(questions),
        units=lambda missing: (Unit(unit, {"": None}) for unit in missing),
        ask=ask,
        llm=llm or LLM(store=store),
        fresh=again,
    )


def new_wording(mark: str, written: Result, original: str) -> str:
    """The text after the last mark; empty if there is none, if it was cut off, or if it repeats the original."""
    if written.get("finish_reason") == "length":
        return ""
    answer = after_thinking(str(written["text"])[: 1 << 16]) or ""
    _, *behind = re.split(rf"\b{mark}[ \t*_`]*[:：]", answer)
    text = behind[-1].strip(" \t\n*_`\"'“”") if behind else ""
    return "" if normal_form(text) == normal_form(original) else text


def normal_form(text: str) -> str:
    """A text for comparison: in lower case, with single blanks."""
    return " ".join(text.casefold().split())
