"""How an instance was made, from its key ``construction``, in one line (construction rule 38)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from evidencebench_core.data.model import Instance
from evidencebench_core.words import clipped_text, one_line


def provenance_line(construction: Mapping[str, Any]) -> str:
    """Source, licence, models, coverage and who decided; ``""`` where nothing is said. Whatever is odd is left out."""
    parts = [
        _text("from ", _of(construction, "review", "title")),
        _text("profile ", construction.get("profile")),
        _text("paper under ", construction.get("paper_licence")),
    ]
    stages = construction.get("stages")
    models = (
        [_of(one, "model") for one in stages if isinstance(one, Mapping)] if isinstance(stages, list) else []
    )
    parts.append(_text("models ", ", ".join(dict.fromkeys(one for one in models if isinstance(one, str)))))
    n_covered, n_aspects = (_of(construction, "coverage", name) for name in ("n_covered", "n_aspects"))
    if type(n_covered) is int and type(n_aspects) is int:
        parts.append(f"{n_covered:,} of {n_aspects:,} aspects covered")
    parts.append(_text("decided by ", _of(construction, "decisions", "by")))
    parts.append(_text("work ", _of(construction, "decisions", "mode")))
    said = "; ".join(filter(None, parts))
    return f"Made {said}." if said else ""


_GOLD_STAGES: Final = frozenset({"aspects", "results", "alignment"})
_OF_OPENAI: Final = re.compile(r"(chatgpt|gpt|o\d|text-davinci|davinci)\b|(chatgpt|gpt)")


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
