"""Who made a wording: the model and its prompt, when, and who read it since."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields

__all__ = ["MadeBy"]

_LONGEST = 500


@dataclass(frozen=True, slots=True)
class MadeBy:
    """What is known of a wording's origin; empty where it is not.

    Attributes
    ----------
    model : str
        As the server calls it.
    prompt : str
        Name and version of the prompt: ``"negation 1-3fa9c2d1"``.
    made_at : str
        ISO 8601, UTC.
    reviewer : str
        Who accepted it. A wording with a model and without a reviewer was read by nobody yet.
    reviewed_at : str
        ISO 8601, UTC.
    edited : bool
        Whether the reviewer changed the model's words.
    """

    model: str = ""
    prompt: str = ""
    made_at: str = ""
    reviewer: str = ""
    reviewed_at: str = ""
    edited: bool = False

    def __bool__(self) -> bool:
        return bool(self.model or self.prompt or self.reviewer)

    @property
    def needs_review(self) -> bool:
        """Whether a model made it and nobody has accepted it."""
        return bool(self.model) and not self.reviewer

    def as_dict(self) -> dict[str, str | bool]:
        """What is known, as JSON-able values; empty for what is not."""
        known = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in known.items() if value}

    @classmethod
    def from_dict(cls, values: Mapping[str, object]) -> MadeBy:
        """The inverse of `as_dict`; anything else in the mapping is passed over."""
        texts = {
            field.name: value[:_LONGEST]
            for field in fields(cls)
            if isinstance(value := values.get(field.name), str) and field.name != "edited"
        }
        return cls(**texts, edited=values.get("edited") is True)

    def as_json(self) -> str:
        """As the store keeps it; ``""`` if nothing is known."""
        return json.dumps(self.as_dict()) if self else ""

    @classmethod
    def from_json(cls, text: str) -> MadeBy:
        """The inverse of `as_json`."""
        return cls.from_dict(json.loads(text)) if text else cls()

    def __str__(self) -> str:
        """``"gpt-x, negation 1-3fa9c2d1, 2026-01-31; accepted and edited by Ana, 2026-02-01"``."""
        made = ", ".join(filter(None, (self.model, self.prompt, self.made_at[:10])))
        if not self.reviewer:
            return f"{made}; not reviewed" if self.model else made
        how = "accepted and edited" if self.edited else "accepted"
        read = ", ".join(filter(None, (f"{how} by {self.reviewer}", self.reviewed_at[:10])))
        return "; ".join(filter(None, (made, read)))
