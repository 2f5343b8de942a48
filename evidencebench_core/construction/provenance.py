"""How an instance was made, from its key ``construction``, in one line (construction rule 38)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.data.model import Instance
from evidencebench_core.words import clipped_text, one_line

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store
    from evidencebench_core.runs import RunInfo


def provenance_line(construction: Mapping[str, Any]) -> str:
    """Source, licence, models, coverage and who decided; ``""`` where nothing is said. Whatever is odd is left out."""
    parts = [
        _text("from ", _of(construction, "review", "title")),
        _text("profile ", construction.get("profile")),
        _text("paper under ", construction.get("paper_licence")),
    ]
    stages = construction.get("stages")
    lines = stages if isinstance(stages, list) else []
    for before, is_second in (("models ", False), ("compared with ", True)):
        models = [_of(one, "model") for one in lines if (_of(one, "stage") == "second") is is_second]
        parts.append(_text(before, ", ".join(dict.fromkeys(one for one in models if isinstance(one, str)))))
    n_covered, n_aspects = (_of(construction, "coverage", name) for name in ("n_covered", "n_aspects"))
    if type(n_covered) is int and type(n_aspects) is int:
        parts.append(f"{n_covered:,} of {n_aspects:,} aspects covered")
    sources = construction.get("aspects")
    if isinstance(sources, list) and "model" in sources:
        parts.append("aspects proposed by a model")
    parts.append(_text("decided by ", _of(construction, "decisions", "by")))
    parts.append(_text("work ", _of(construction, "decisions", "mode")))
    said = "; ".join(filter(None, parts))
    return f"Made {said}." if said else ""


_GOLD_STAGES: Final = frozenset({"aspects", "results", "alignment"})
_OF_OPENAI: Final = re.compile(r"(chatgpt|gpt|o\d|text-davinci|davinci)\b|(chatgpt|gpt)")


_SAMPLED: Final = 100  # instances of a dataset that are asked who made them
PROPOSED_NOTE: Final = (
    "Study aspects proposed by a model from the paper: they are no expert's judgement of what matters in it."
)


@dataclass(frozen=True, slots=True)
class GoldMakers:
    """Who made the gold of a dataset, as far as its instances say; made by `gold_makers`.

    Attributes
    ----------
    models : tuple of str
        That decomposed and aligned.
    share_proposed : float
        Of the instances, those with study aspects that a model proposed from the paper.
    """

    models: tuple[str, ...]
    share_proposed: float

    def notes(self, runs: Iterable[RunInfo] = ()) -> tuple[str, ...]:
        """Notes beside scores of these runs on the dataset (rules 40 and 48)."""
        asked = (run.settings.get("model") for run in runs if run.retriever == "llm")
        some = (
            f"In about {100 * self.share_proposed:.0f}% of the instances: " if self.share_proposed < 1 else ""
        )
        proposed = some + PROPOSED_NOTE if self.share_proposed else ""
        return tuple(filter(None, (proposed, family_note(self.models, map(str, filter(None, asked))))))


def gold_makers(store: Store, dataset: str) -> GoldMakers:
    """Who made the gold of a dataset, from at most 200 of its instances, evenly spread."""
    ids = store.ids(dataset)
    some = list(store.get_many(dataset, ids[:: max(1, len(ids) // _SAMPLED)]))
    models = dict.fromkeys(model for one in some for model in gold_models(one))
    return GoldMakers(tuple(models), sum(map(has_proposed_aspects, some)) / max(1, len(some)))


def has_proposed_aspects(instance: Instance) -> bool:
    """Whether a model proposed study aspects from the paper, so that no review is behind them."""
    sources = instance.construction.get("aspects")
    return isinstance(sources, list) and "model" in sources


def gold_models(instance: Instance) -> tuple[str, ...]:
    """The models that decomposed and aligned the gold, as far as its file says; EvidenceBench's own is of GPT-4."""
    stages = instance.construction.get("stages")
    if not isinstance(stages, list):
        return ("GPT-4",) if instance.id.startswith("evidencebench_") and not instance.construction else ()
    of_gold = (one for one in stages if _of(one, "stage") in _GOLD_STAGES)
    return tuple(
        dict.fromkeys(name for one in of_gold if isinstance(name := _of(one, "model"), str) and name)
    )


def model_family(model: str) -> str:
    """The makers' name for their models, as far as a model's name tells: ``gpt`` of ``openai/gpt-4o-mini``."""
    name = model.rsplit("/", 1)[-1].casefold()
    if _OF_OPENAI.match(name):
        return "gpt"
    letters = re.match(r"[a-z]+", name)
    return letters[0] if letters else name


def family_note(makers: Iterable[str], models: Iterable[str]) -> str:
    """A warning where a model is of a family that made the gold (rule 48); ``""`` where none is."""
    families = {model_family(one): one for one in makers}
    kin = dict.fromkeys(one for one in models if model_family(one) in families)
    if not kin:
        return ""
    by = ", ".join(dict.fromkeys(families[model_family(one)] for one in kin))
    return (
        f"The gold was made with {one_line(by)}, and {one_line(', '.join(kin))} is of the same family:"
        " gold and run may share their mistakes, which makes the run look better than it is."
    )


def _of(value: object, *path: str) -> object:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _text(before: str, value: object) -> str:
    return f"{before}{clipped_text(one_line(value), 80)}" if isinstance(value, str) and value.strip() else ""
