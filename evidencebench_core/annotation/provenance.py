"""Who made the gold: the key ``construction`` of an instance, written and read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.annotation.model import MODEL, Annotation
from evidencebench_core.data.model import Instance
from evidencebench_core.words import one_line

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store
    from evidencebench_core.runs import RunInfo

_PROPOSED: Final = (
    "Study aspects proposed by a model from the paper: they are no expert's judgement of what matters in it."
)
_SAMPLED: Final = 100  # instances of a dataset that are asked who made them
_OF_OPENAI: Final = re.compile(r"(chatgpt|gpt|o\d|text-davinci|davinci)\b|(chatgpt|gpt)")


def construction_of(
    annotation: Annotation, proposals: Iterable[Annotation] = (), licence: str = ""
) -> dict[str, Any]:
    """How an annotation became gold, for the instance's key ``construction``.

    ``proposals`` are those of models for the paper; the ones that the annotator decided on count as makers.
    """
    if annotation.annotator.startswith(MODEL):
        used, by = [annotation], "nobody"
    else:
        makers = {key.partition("\t")[0] for key in annotation.decisions}
        used = [proposal for proposal in proposals if proposal.annotator in makers]
        by = annotation.annotator
    sources = {str(proposal.origin.get("aspects")) for proposal in used} or {"user"}
    return {
        "version": 1,
        **({"paper_licence": licence} if licence else {}),
        "stages": [{"stage": "alignment", "model": made.origin.get("model", "")} for made in used],
        "aspects": sorted(sources),
        "coverage": {
            "n_aspects": len(annotation.aspects),
            "n_covered": len(annotation.aspects) - len(annotation.uncovered),
        },
        "decisions": {"by": by, "n_decided": len(annotation.decisions)},
        "gold": "every sentence looked at",
    }


@dataclass(frozen=True, slots=True)
class GoldMakers:
    """Who made the gold of a dataset, as far as its instances say; made by `gold_makers`."""

    models: tuple[str, ...]
    share_proposed: float  # of the instances, those with aspects that a model proposed from the paper

    def notes(self, runs: Iterable[RunInfo] = ()) -> tuple[str, ...]:
        """Notes beside scores of these runs on the dataset."""
        models = [str(run.settings.get("model", "")) for run in runs if run.retriever == "llm"]
        share = f"In about {100 * self.share_proposed:.0f}% of the instances: "
        proposed = f"{share if self.share_proposed < 1 else ''}{_PROPOSED}" if self.share_proposed else ""
        return tuple(filter(None, (proposed, family_note(self.models, models))))


def gold_makers(store: Store, dataset: str) -> GoldMakers:
    """Who made the gold of a dataset, from at most 200 of its instances, evenly spread."""
    ids = store.ids(dataset)
    sample = list(store.get_many(dataset, ids[:: max(1, len(ids) // _SAMPLED)]))
    models = dict.fromkeys(model for instance in sample for model in gold_models(instance))
    n_proposed = sum(has_proposed_aspects(instance.construction) for instance in sample)
    return GoldMakers(tuple(models), n_proposed / max(1, len(sample)))


def gold_models(instance: Instance) -> tuple[str, ...]:
    """The models behind the gold, as far as the file says; EvidenceBench's own are not named in its files."""
    if instance.construction or not instance.id.startswith("evidencebench_"):
        return tuple(models_named(instance.construction))
    is_small = re.match(r"evidencebench_(train|dev|test)_", instance.id)
    return ("GPT-4",) if is_small else ("GPT-4o-mini",)


def model_family(model: str) -> str:
    """The makers' name for their models, as far as a model's name tells: ``gpt`` of ``openai/gpt-4o-mini``."""
    name = model.rsplit("/", 1)[-1].casefold()
    if _OF_OPENAI.match(name):
        return "gpt"
    letters = re.match(r"[a-z]+", name)
    return letters[0] if letters else name


def family_note(makers: Iterable[str], models: Iterable[str]) -> str:
    """A warning where a model is of a family that made the gold; ``""`` where none is."""
    families = {model_family(maker): maker for maker in makers}
    kin = dict.fromkeys(model for model in models if model_family(model) in families)
    if not kin:
        return ""
    by = ", ".join(dict.fromkeys(families[model_family(model)] for model in kin))
    return (
        f"The gold was made with {one_line(by)}, and {one_line(', '.join(kin))} is of the same family:"
        " gold and run may share their mistakes, which makes the run look better than it is."
    )


def models_named(construction: Mapping[str, Any]) -> list[str]:
    """The models of its stages, each once; the key comes from a file, and may hold anything."""
    stages = construction.get("stages")
    names = [value_in(stage, "model") for stage in stages] if isinstance(stages, list) else []
    return list(dict.fromkeys(name for name in names if isinstance(name, str) and name))


def has_proposed_aspects(construction: Mapping[str, Any]) -> bool:
    """Whether a model proposed study aspects from the paper, so that no review is behind them."""
    sources = construction.get("aspects")
    return isinstance(sources, list) and "model" in sources


def value_in(mapping: object, name: str) -> object:
    return mapping.get(name) if isinstance(mapping, Mapping) else None
