"""Items and a task -> probes: what is sent for each item, as the paper has it or as we do; pure and seeded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from evidencebench_core.llm.prompts import prompt
from evidencebench_core.llm.request import Message
from evidencebench_core.perturb.wordings import Wordings
from evidencebench_core.reliability.items import ItemSet, Label
from evidencebench_core.reliability.tasks import ReliabilityTask


@dataclass(frozen=True, slots=True)
class Probe:
    """What is sent for an item in a task.

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
        By item id, the reason: ``"the answer is maybe"``, ``"no context"``, ``"no paraphrase"``, ...
    """

    probes: tuple[Probe, ...]
    left_out: Mapping[str, str]


def probes_of(
    items: ItemSet,
    task: ReliabilityTask,
    settings: Mapping[str, object] = MappingProxyType({}),
    *,
    wordings: Wordings = MappingProxyType({}),
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
        Added wordings by name (``"paraphrase:..."``, ``"negation"``), then by item id; they come before those
        that the items have themselves.
    examples : ItemSet, optional
        Where few-shot examples come from; the set itself if left out.
    limit : int, optional
        Most items; their probes are the same as without it.

    Raises
    ------
    SettingError
        If a setting is wrong, or the set has not what the task needs; names what is missing, and the numbers.
    """
    raise NotImplementedError
