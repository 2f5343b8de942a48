"""Picks with what counted for each: a strip of the groups of features, and the features on request."""

from __future__ import annotations

from components.widgets.why_list.why_list import Why, why_list, whys_of

__all__ = ["Why", "why_list", "whys_of"]
