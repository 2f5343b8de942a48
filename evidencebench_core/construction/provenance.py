"""How an instance was made, from its key ``construction``, in one line (construction rule 38)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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


def _of(value: object, *path: str) -> object:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _text(before: str, value: object) -> str:
    return f"{before}{clipped_text(one_line(value), 80)}" if isinstance(value, str) and value.strip() else ""
