"""A figure with what it stands on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value, its 95% interval and how many things are behind it.

    ``value`` is ``None`` where the figure is undefined, ``low`` and ``high`` where there are fewer than two
    clusters, or all are alike. All three are in the unit of the figure: shares are 0 to 1.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0

    def text(self, *, scale: float = 100.0, decimals: int = 1, unit: str = "%", sign: bool = False) -> str:
        """``48.7% (44.3 to 52.9)``, without the brackets where there is no interval; ``–`` where undefined."""
        if self.value is None:
            return "–"
        form = f"{'+' if sign else ''},.{decimals}f"
        text = f"{_rounded(self.value * scale, decimals):{form}}{unit}"
        if self.low is None or self.high is None:
            return text
        low, high = (_rounded(end * scale, decimals) for end in (self.low, self.high))
        return f"{text} ({low:{form}} to {high:{form}})"

    def as_dict(self) -> dict[str, Any]:
        """JSON-able values."""
        return {"value": self.value, "low": self.low, "high": self.high, "n": self.n}


def _rounded(value: float, decimals: int) -> float:
    """Rounded, and never minus zero."""
    return round(value, decimals) + 0.0
