"""How the gold of an instance was made, in one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evidencebench_core.annotation.provenance import has_proposed_aspects, models_named, value_in
from evidencebench_core.words import clipped_text, one_line


def provenance_line(construction: Mapping[str, Any]) -> str:
    """Source, licence, models, coverage and who decided, for people; ``""`` where nothing is said."""
    coverage, decisions = construction.get("coverage"), construction.get("decisions")
    parts = [
        _phrase("from ", value_in(construction.get("review"), "title")),
        _phrase("paper under ", construction.get("paper_licence")),
        _phrase("with ", ", ".join(models_named(construction))),
        _phrase("decided by ", value_in(decisions, "by")),
        _consensus_text(construction.get("consensus")),
    ]
    n_covered, n_aspects = (value_in(coverage, name) for name in ("n_covered", "n_aspects"))
    if type(n_covered) is int and type(n_aspects) is int:
        parts.append(f"{n_covered:,} of {n_aspects:,} aspects covered")
    if has_proposed_aspects(construction):
        parts.append("aspects proposed by a model")
    text = "; ".join(filter(None, parts))
    return f"Made {text}." if text else ""


def _consensus_text(consensus: object) -> str:
    names, kappa, n_open = (value_in(consensus, name) for name in ("of", "kappa", "n_open"))
    if not isinstance(names, list):
        return ""
    figures = [f"kappa {kappa:.2f}"] if isinstance(kappa, float) else []
    figures += [f"{n_open:,} of their differences open"] if type(n_open) is int else []
    return _phrase("a consensus of ", f"{' and '.join(map(str, names))} ({', '.join(figures)})")


def _phrase(before: str, value: object) -> str:
    return f"{before}{clipped_text(one_line(value), 80)}" if isinstance(value, str) and value.strip() else ""
