"""Items and a task -> probes: what is sent for each item, as the paper has it or as we do; pure and seeded."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from types import MappingProxyType
from typing import Any, Final, cast
from urllib.parse import quote

from evidencebench_core.errors import SettingError, shown
from evidencebench_core.llm.prompts import prompt
from evidencebench_core.llm.request import Message
from evidencebench_core.perturb.spelling import misspellings
from evidencebench_core.perturb.wordings import NEGATION, PARAPHRASE
from evidencebench_core.reliability.draws import (
    derangement,
    drawn_examples,
    nearest,
    other_items,
    published_examples,
    published_shifts,
    published_shuffle,
)
from evidencebench_core.reliability.items import Item, ItemSet, ItemWording, ItemWordings, Kind, Label
from evidencebench_core.reliability.tasks import ReliabilityTask, task_settings
from evidencebench_core.retrievers.base import Setting
from evidencebench_core.words import enumerated, quantity

_OPPOSITE: Final[Mapping[str, str]] = MappingProxyType({"yes": "no", "no": "yes"})
_MOST_EXAMPLES: Final = 8

BEYOND: Final = "beyond the limit of"
"""How the reason begins for which items after a limit are left out."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A request for an item in a task.

    Attributes
    ----------
    id : str
        Unique in the task: the item's id, after the variant and a blank where there is one.
    variant : str
        The order of the examples (``"NNNY"``), number of errors (``"3"``), place of the own context (``"1"``),
        ``"shuffled"`` or ``"mirror"``, ``"given"`` or ``"exchanged"``, a paraphrase's name; else empty.
    fields : mapping of str to str
        What the prompt is filled with.
    prompt : str
        Its name.
    labels : tuple of str
        What the model can answer; empty for free text.
    expected : str or None
        The label of a right answer; ``None`` for free text and where it is not known.
    gold : "yes", "no" or None
        Of the item, whatever was changed.
    group : str
        What intervals are clustered by; the item's id where it stands for itself.
    references : tuple of str
        What a judge compares a free text with.
    details : mapping of str to JSON-able values
        What was changed: ``examples`` (ids in order), ``errors``, ``digits_changed``, ``capped``, ``place``,
        ``distractors`` (ids), ``other_gold`` (how many of them have the other label), ``context_of`` (an id),
        ``wording``, ``made_by``, ``reviewed``.
    """

    id: str
    item_id: str
    variant: str
    fields: Mapping[str, str]
    prompt: str
    labels: tuple[str, ...]
    expected: str | None
    gold: Label | None
    group: str = ""
    references: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def messages(self, as_published: bool = False) -> tuple[Message, ...]:
        """The conversation; without a system message as published."""
        messages = prompt(self.prompt).messages(**self.fields)
        return tuple(one for one in messages if not (as_published and one.role == "system"))


@dataclass(frozen=True, slots=True)
class Probes:
    """The probes of a task, and why items have none.

    Attributes
    ----------
    probes : tuple of Probe
        Variant by variant, each in the order of the items.
    left_out : mapping of str to str
        By item id, the reason: ``"the answer is maybe"``, ``"no context"``, ``"no paraphrase"``, ... Items are
        those that have probes and these.
    """

    probes: tuple[Probe, ...]
    left_out: Mapping[str, str]


def probes_of(
    items: ItemSet,
    task: ReliabilityTask,
    settings: Mapping[str, object] = MappingProxyType({}),
    *,
    wordings: ItemWordings = MappingProxyType({}),
    examples: ItemSet | None = None,
    limit: int | None = None,
) -> Probes:
    """The probes of a task over an item set.

    Parameters
    ----------
    items : ItemSet
    task : ReliabilityTask
    settings : mapping
        As for `task_settings`; with ``as_published: True`` the paper's construction.
    wordings : mapping, optional
        Added wordings by item id; one replaces that of its name which the item has itself.
    examples : ItemSet, optional
        The set that the setting ``examples_from`` names, and only with it.
    limit : int, optional
        Most items; their probes are the same as without it.

    Raises
    ------
    SettingError
        If a setting is wrong, or the set has not what the task needs; names what is missing, and the numbers.
    """
    if items.kind not in task.prompts:
        remedy = f"Use a set of {' or '.join(task.prompts)}."
        raise SettingError(_place(task, items), f"cannot be run on {items.kind}", remedy)
    build = _Build(items, task, task_settings(task, settings), wordings, examples)
    probes = tuple(_CONSTRUCTIONS[task.name](build)) if build.items else ()
    if not probes:
        reasons = Counter(build.left_out.values()).most_common()
        problem = f"has nothing to ask about {quantity(len(items.items), 'item')}: "
        problem += enumerated([f"{reason} ({n:,})" for reason, n in reasons])
        remedy = f"It needs {enumerated(task.needs)} of an item."
        if "wordings" in task.settings and items.kind == "evidence":
            remedy = (
                "Give its dataset other wordings with `evidencebench make-variants`, and make the set again."
            )
        elif "wordings" in task.settings:
            command = f"evidencebench reliability prepare {shlex.quote(items.name)} --kind {task.name}"
            remedy = f"Have some made: `{command}`."
        raise SettingError(_place(task, items), problem, remedy)
    if limit is not None:
        within = {item.id for item in build.order[:limit]}
        build.left_out |= {one.id: f"{BEYOND} {limit:,}" for one in build.order if one.id not in within}
        probes = tuple([probe for probe in probes if probe.item_id in within])
    return Probes(probes, build.left_out)


def problem_of(
    items: ItemSet,
    task: ReliabilityTask,
    settings: Mapping[str, object] = MappingProxyType({}),
    wordings: ItemWordings = MappingProxyType({}),
) -> str:
    """Why a task cannot be run on an item set, in a line; empty if it can."""
    try:
        probes_of(items, task, settings, wordings=wordings)
    except SettingError as error:
        return str(error)
    return ""


class _Build:
    """The input of a construction; it says in `left_out` which items it leaves out."""

    def __init__(
        self,
        items: ItemSet,
        task: ReliabilityTask,
        settings: Mapping[str, Setting],
        wordings: ItemWordings,
        examples: ItemSet | None,
    ) -> None:
        self.kind, self.task, self.settings, self.examples = items.kind, task, settings, examples
        self.wordings, self.is_published = wordings, settings["as_published"] is True
        reasons = {item.id: _lack(item, task) for item in items.items}
        self.left_out = {item_id: reason for item_id, reason in reasons.items() if reason}
        self.items = [item for item in items.items if not reasons[item.id]]
        self.order = self.items  # in which a limit counts

    @property
    def seed(self) -> int:
        return cast(int, self.settings["seed"])

    def names(self, setting: str) -> tuple[str, ...]:
        return cast("tuple[str, ...]", self.settings[setting])

    def probe(
        self, item: Item, variant: str = "", fields: Mapping[str, str] | None = None, **other: Any
    ) -> Probe:
        """A probe as the baseline would have it, but for the `fields` and `other` attributes given."""
        made = Probe(
            id=f"{quote(variant, safe='/:@')} {item.id}" if variant else item.id,
            item_id=item.id,
            variant=variant,
            fields={"question": item.question, "context": item.text} if fields is None else fields,
            prompt=self.task.prompts[self.kind],
            labels=self.task.labels,
            expected=item.answer,
            gold=item.answer,
            group=item.group or item.id,
        )
        return replace(made, **other) if other else made


def _place(task: ReliabilityTask, items: ItemSet) -> str:
    return f"task {task.name} on item set {shown(items.name)}"


def _lack(item: Item, task: ReliabilityTask) -> str:
    """The reason for which a task leaves an item out; empty if it does not."""
    if item.answer == "maybe":
        return "the answer is maybe"
    return next((f"no {need}" for need in task.needs if not getattr(item, need)), "")


# -- constructions, by task -----------------------------------------------------------------------


def _baseline(build: _Build) -> Iterator[Probe]:
    return map(build.probe, build.items)


def _knowledge(build: _Build) -> Iterator[Probe]:
    return (build.probe(item, fields={"question": item.question}) for item in build.items)


def _wordings(build: _Build, beginning: str, what: str) -> Iterator[tuple[Item, ItemWording, dict[str, Any]]]:
    """Each item with each of its wordings of a kind, and the details to tell of it."""
    wanted = build.settings["wordings"]
    for item in build.items:
        own = [ItemWording(name, text) for name, text in item.wordings.items()]
        by_name = {one.name: one for one in (*own, *build.wordings.get(item.id, ()))}
        mine = [one for one in by_name.values() if one.name.startswith(beginning)]
        mine = [one for one in mine if wanted is None or one.name in build.names("wordings")]
        if not mine:
            build.left_out[item.id] = f"no {what}"
        for one in mine:
            details = {"wording": one.name, "made_by": str(one.made_by), "reviewed": one.reviewed}
            yield item, one, details


def _paraphrase(build: _Build) -> Iterator[Probe]:
    for item, wording, details in _wordings(build, PARAPHRASE, "paraphrase"):
        fields = {"question": wording.text, "context": item.text}
        yield build.probe(item, wording.name, fields, details=details)


def _negation(build: _Build) -> Iterator[Probe]:
    for item, wording, details in _wordings(build, NEGATION, "negation"):
        if build.kind == "evidence":  # a negated hypothesis has the same evidence
            fields = {"question": wording.text, "context": item.text}
            yield build.probe(item, wording.name, fields, details=details)
        else:
            fields = {"question": item.question, "context": wording.text}
            expected = _OPPOSITE[item.answer or ""]
            yield build.probe(item, wording.name, fields, expected=expected, details=details)


def _few_shot(build: _Build) -> Iterator[Probe]:
    orders = _orders(build.names("orders"))
    tested = balanced_items(build.items)
    if not tested:
        n_yes = sum(item.answer == "yes" for item in build.items)
        problem = f"has {n_yes:,} items with the answer yes and {len(build.items) - n_yes:,} with no"
        raise SettingError("task few-shot", problem, "It needs both answers, equally often.")
    inside = {item.id for item in tested}
    build.left_out |= {item.id: "not in the balanced set" for item in build.items if item.id not in inside}
    half = len(tested) // 2
    build.order = [item for pair in zip(tested[:half], tested[half:], strict=True) for item in pair]
    named = build.settings["examples_from"]
    if bool(named) != (build.examples is not None):
        raise SettingError("task few-shot", f"examples_from is {shown(named)}", "Give that item set too.")
    pool = (
        [item for item in build.examples.items if not _lack(item, build.task)] if build.examples else tested
    )
    draw = published_examples if build.is_published else drawn_examples
    texts = {item.id: _example_text(item, build.kind) for item in pool}
    for order, of_items in zip(orders, draw(tested, pool, orders, build.seed), strict=True):
        for item, examples in zip(tested, of_items, strict=True):
            shown_labels = [
                _OPPOSITE[one.answer or ""] if build.settings["label_swap"] else one.answer
                for one in examples
            ]
            text = "\n\n".join(
                f"{texts[one.id]}{(label or '').capitalize()}"
                for one, label in zip(examples, shown_labels, strict=True)
            )
            fields = {"examples": text, "question": item.question, "context": item.text}
            details = {"examples": [one.id for one in examples], "label_swap": build.settings["label_swap"]}
            yield build.probe(item, order, fields, details=details)


def balanced_items(items: Sequence[Item]) -> list[Item]:
    """The first items of each class, as many as the smaller one has: all yes, then all no."""
    classes = [[item for item in items if item.answer == answer] for answer in ("yes", "no")]
    size = min(map(len, classes))
    return classes[0][:size] + classes[1][:size]


def _orders(given: tuple[str, ...]) -> tuple[str, ...]:
    if given == ("all",):
        return tuple("".join(letters) for letters in product("NY", repeat=4))
    orders = tuple(order.upper() for order in given)
    for order in orders:
        if not 1 <= len(order) <= _MOST_EXAMPLES or set(order) - set("YN") or orders.count(order) > 1:
            remedy = "An order is 1 to 8 letters Y and N, the first shown first, and is given once."
            raise SettingError("task few-shot", f"orders cannot have {shown(order)}", remedy)
    return orders


def _example_text(item: Item, kind: Kind) -> str:
    context, question = ("Sentence", "Hypothesis") if kind == "evidence" else ("Context", "Question")
    return f"{context}: {item.text}\n{question}: {item.question}\nAnswer: "


def _spelling(build: _Build) -> Iterator[Probe]:
    numbers, chosen = _numbers(build, "errors"), str(build.settings["field"])
    where = ("question", "context") if chosen == "both" else (chosen,)
    texts = [[item.question if name == "question" else item.text for name in where] for item in build.items]
    keep_digits = build.settings["keep_digits"] is True
    made = [misspellings("\n\n".join(parts), numbers, build.seed, keep_digits) for parts in texts]
    for column, n in enumerate(numbers):
        for item, parts, variants in zip(build.items, texts, made, strict=True):
            misspelt = variants[column]
            fields = {"question": item.question, "context": item.text}
            start = 0
            for name, part in zip(where, parts, strict=True):
                fields[name] = misspelt.text[start : start + len(part)]
                start += len(part) + 2
            details = {
                "errors": misspelt.n_mutated,
                "capped": misspelt.n_mutated < n,
                "digits_changed": misspelt.n_digits,
            }
            yield build.probe(item, str(n), fields, details=details)


def _numbers(build: _Build, setting: str) -> list[int]:
    """Whole numbers of a setting, each once."""
    texts = build.names(setting)
    if wrong := [
        text for text in texts if not (text.isdecimal() and len(text) < 5 and texts.count(text) == 1)
    ]:
        remedy = "Give whole numbers from 0, each once."
        raise SettingError(f"task {build.task.name}", f"{setting} cannot have {shown(wrong[0])}", remedy)
    return [int(text) for text in texts]


def _distraction(build: _Build) -> Iterator[Probe]:
    if build.kind == "evidence":
        for item in build.items:
            if item.answer == "no" and item.neighbour_covers:
                build.left_out[item.id] = "a neighbour of the sentence covers a study aspect"
        build.items = build.order = [item for item in build.items if item.id not in build.left_out]
    items, n = build.items, cast(int, build.settings["distractors"])
    places = range(n + 1) if build.settings["places"] is None else _numbers(build, "places")
    if max(places) > n:
        remedy = f"With {quantity(n, 'distractor')} there are the places 0 to {n}."
        raise SettingError("task distraction", f"places cannot have {max(places)}", remedy)
    if build.is_published:
        shifts = published_shifts(len(items), build.seed)
        others = [[items[(place - shift) % len(items)] for shift in shifts] for place in range(len(items))]
    else:
        others = (nearest if build.settings["near"] else other_items)(items, n, build.seed)
    for place in places:
        for item, distractors in zip(items, others, strict=True):
            shown_items = [*distractors[:place], item, *distractors[place:]]
            context = "\n\n".join(one.passage or one.text for one in shown_items)
            details = {
                "place": place,
                "distractors": [one.id for one in distractors],
                "other_gold": sum(one.answer != item.answer for one in distractors),
            }
            yield build.probe(
                item, str(place), {"question": item.question, "context": context}, details=details
            )


def _unknown(build: _Build) -> Iterator[Probe]:
    items = build.items
    others = (published_shuffle if build.is_published else derangement)(items, build.seed)
    for item, other in zip(items, others, strict=True):
        fields = {"question": item.question, "context": other.passage or other.text}
        yield build.probe(item, "shuffled", fields, expected="unknown", details={"context_of": other.id})
    for item in () if build.is_published else items:
        yield build.probe(item, "mirror", {"question": item.question, "context": item.passage or item.text})


def _freeform(build: _Build) -> Iterator[Probe]:
    return (build.probe(item, expected=None, references=item.long_answer) for item in build.items)


def _question(build: _Build) -> Iterator[Probe]:
    for item in build.items:
        fields = {"answer": item.long_answer[0]}
        yield build.probe(item, fields=fields, expected=None, references=(item.question,))


def _conclusion(build: _Build) -> Iterator[Probe]:
    for item in build.items:
        yield build.probe(item, fields={"context": item.text}, references=item.long_answer)


def _judge(build: _Build) -> Iterator[Probe]:
    for item in build.items:
        fields = {"statement_1": item.question, "statement_2": item.long_answer[0]}
        yield build.probe(item, "given", fields)
    for item in build.items if build.settings["both_orders"] else ():
        fields = {"statement_1": item.long_answer[0], "statement_2": item.question}
        yield build.probe(item, "exchanged", fields)


_CONSTRUCTIONS: Final[Mapping[str, Callable[[_Build], Iterator[Probe]]]] = MappingProxyType(
    {
        "baseline": _baseline,
        "knowledge": _knowledge,
        "paraphrase": _paraphrase,
        "few-shot": _few_shot,
        "spelling": _spelling,
        "negation": _negation,
        "distraction": _distraction,
        "freeform": _freeform,
        "question": _question,
        "conclusion": _conclusion,
        "unknown": _unknown,
        "judge": _judge,
    }
)
