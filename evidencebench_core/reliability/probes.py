"""The questions ("probes") that each of RAmBLA's tasks makes of items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, cast

from evidencebench_core.errors import SettingError
from evidencebench_core.perturb.spelling import misspellings
from evidencebench_core.reliability.draws import balanced_items, drawn_examples, drawn_others
from evidencebench_core.reliability.items import Item

_OPPOSITE: Final[Mapping[str | None, str]] = {"yes": "no", "no": "yes"}


@dataclass(frozen=True, slots=True)
class Probe:
    """A question to a model about an item."""

    item: Item
    variant: str = ""  # the order of the examples, the number of errors, the place of the right context, ...
    fields: Mapping[str, str] = field(default_factory=dict)  # of the prompt
    expected: str | None = None  # the label of a right answer; None for free text
    reworded: Literal["", "question", "context"] = ""  # the field that a model rewords first
    details: Mapping[str, Any] = field(default_factory=dict)  # what was changed, as JSON values

    @property
    def id(self) -> str:
        """Unique in the task."""
        return f"{self.variant} {self.item.id}".strip()


@dataclass(slots=True)
class Draft:
    """The input of a task's function, which adds to `left_out` the items that it leaves out."""

    items: list[Item]
    settings: Mapping[str, Any]
    left_out: dict[str, str]


def plain_probes(draft: Draft) -> Iterator[Probe]:
    for item in draft.items:
        yield Probe(item, fields=_fields(item), expected=item.answer)


def _fields(item: Item, **changed: str) -> dict[str, str]:
    return {"question": item.question, "context": item.text, **changed}


def paraphrase_probes(draft: Draft) -> Iterator[Probe]:
    for item in draft.items:
        names = [name for name in item.wordings if name.startswith("paraphrase")]
        for name in names:
            fields = _fields(item, question=item.wordings[name])
            yield Probe(item, name, fields, item.answer, details={"wording": name})
        if not names:
            yield Probe(item, "paraphrase", _fields(item), item.answer, "question")


def negation_probes(draft: Draft) -> Iterator[Probe]:
    """The context says the opposite, and so should the answer."""
    for item in draft.items:
        text = item.wordings.get("negation", "")
        fields = _fields(item, context=text or item.text)
        yield Probe(item, "negation", fields, _OPPOSITE[item.answer], "" if text else "context")


def few_shot_probes(draft: Draft) -> Iterator[Probe]:
    orders = tuple(dict.fromkeys(order.upper() for order in draft.settings["orders"]))
    tested = balanced_items(draft.items)
    if not tested:
        n_yes = sum(item.answer == "yes" for item in draft.items)
        problem = f"has {n_yes:,} items with the answer yes and {len(draft.items) - n_yes:,} with no"
        raise SettingError("task few-shot", problem, "It needs both answers, equally often.")
    inside = {item.id for item in tested}
    for item in draft.items:
        if item.id not in inside:
            draft.left_out[item.id] = "not in the balanced set"
    half = len(tested) // 2
    draft.items = [item for pair in zip(tested[:half], tested[half:], strict=True) for item in pair]
    examples = drawn_examples(tested, orders, draft.settings["seed"])
    for order in orders:
        for item, by_answer in zip(tested, examples, strict=True):
            rest = {letter: iter(members) for letter, members in by_answer.items()}
            chosen = [next(rest[letter]) for letter in order]
            text = "\n\n".join(map(_example, chosen))
            details = {"examples": [example.id for example in chosen]}
            yield Probe(item, order, _fields(item, examples=text), item.answer, details=details)


def _example(item: Item) -> str:
    return f"Context: {item.text}\nQuestion: {item.question}\nAnswer: {str(item.answer).capitalize()}"


def spelling_probes(draft: Draft) -> Iterator[Probe]:
    names = tuple(dict.fromkeys(draft.settings["errors"]))
    numbers = [int(name) for name in names]
    seed, keep_digits = draft.settings["seed"], draft.settings["keep_digits"]
    texts = [misspellings(item.text, numbers, seed, keep_digits) for item in draft.items]
    for column, name in enumerate(names):
        for item, variants in zip(draft.items, texts, strict=True):
            variant = variants[column]
            details = {"errors": variant.n_mutated, "digits_changed": variant.n_digits}
            yield Probe(item, name, _fields(item, context=variant.text), item.answer, details=details)


def distraction_probes(draft: Draft) -> Iterator[Probe]:
    n = cast(int, draft.settings["distractors"])
    others = drawn_others(draft.items, n, draft.settings["seed"], "distraction")
    for place in range(n + 1):
        for item, distractors in zip(draft.items, others, strict=True):
            contexts = [*distractors[:place], item, *distractors[place:]]
            fields = _fields(item, context="\n\n".join(context.text for context in contexts))
            details = {"place": place, "distractors": [other.id for other in distractors]}
            yield Probe(item, str(place), fields, item.answer, details=details)


def unknown_probes(draft: Draft) -> Iterator[Probe]:
    """The context of another item ("shuffled"), and the right one ("mirror")."""
    others = drawn_others(draft.items, 1, draft.settings["seed"], "unknown")
    for item, (other,) in zip(draft.items, others, strict=True):
        fields = _fields(item, context=other.text)
        yield Probe(item, "shuffled", fields, "unknown", details={"context_of": other.id})
    for item in draft.items:
        yield Probe(item, "mirror", _fields(item), item.answer)


def free_text_probes(draft: Draft) -> Iterator[Probe]:
    for item in draft.items:
        yield Probe(item, fields=_fields(item, answer="".join(item.long_answer[:1])))


def pair_probes(draft: Draft) -> Iterator[Probe]:
    for item in draft.items:
        fields = {"statement_1": item.question, "statement_2": item.long_answer[0]}
        yield Probe(item, fields=fields, expected=item.answer)
