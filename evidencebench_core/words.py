"""Numbers, long texts and odd characters, the same on a page, in the terminal and in a report."""

import re
import textwrap
from collections.abc import Sequence
from math import isnan
from typing import Any, Final

# Control characters, overrides and isolates of writing direction, tags and other characters that draw
# nothing, and halves of surrogate pairs.
_ODD: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_BREAKS: Final = re.compile(r"[\t\n\v\f\r\x85\u2028\u2029]+")


def quantity(number: int, noun: str) -> str:
    """``1 instance``, ``96 batches``, ``107,461 instances``."""
    return f"{number:,} {noun}{'' if number == 1 else 'es' if noun.endswith('ch') else 's'}"


def dollars(money: float | None) -> str:
    """``$1.20``, with four decimals below ten cents; ``price unknown`` for ``None``."""
    if money is None:
        return "price unknown"
    return f"${money:,.2f}" if money >= 0.1 or money == 0 else f"${money:,.4f}"


def value_text(value: Any, percent: bool = False) -> str:
    """A value in a table; ``–`` where there is none, a list in percent is an interval."""
    if value is None or (isinstance(value, float) and isnan(value)):
        text = "–"
    elif isinstance(value, list | tuple):
        text = (" to " if percent else ", ").join(value_text(part, percent) for part in value)
    elif isinstance(value, bool):
        text = "yes" if value else "no"
    elif isinstance(value, float):
        text = f"{100 * value:.1f}" if percent else f"{value:.4g}"
    else:
        text = f"{value:,}" if isinstance(value, int) else str(value)
    return one_line(text)


def signed_points(difference: float) -> str:
    """A difference of shares in points: ``+7.1``, ``−7.1``."""
    return f"{100 * difference:+.1f}".replace("-", "−")


def p_text(value: Any) -> str:
    """A p-value in a table."""
    return "< 0.0001" if isinstance(value, float) and value < 0.0001 else value_text(value)


def range_text(low: float, high: float) -> str:
    """A share in percent where it is known, otherwise ``at least 84.1%, at most 91.0%``."""
    return f"{100 * low:.1f}%" if low == high else f"at least {100 * low:.1f}%, at most {100 * high:.1f}%"


def enumerated(parts: Sequence[str]) -> str:
    """``wine, stomach and risk``."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def clipped_text(text: str, limit: int) -> str:
    """At most so many characters, the last one an ellipsis where something was cut."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def visible(text: str) -> str:
    """The text with what draws nothing, or steers a terminal, written out (``[U+202E]``); tabs and line ends stay."""
    if text.isascii() and text.isprintable():
        return text
    return _ODD.sub(lambda match: f"[U+{ord(match[0]):04X}]", text)


def one_line(text: str) -> str:
    """`visible`, with a blank for line ends and tabs."""
    return visible(_BREAKS.sub(" ", text))


def file_stem(text: str) -> str:
    """A name for a file, of letters, digits and hyphens: ``evidence-tea-and-blood-pressure``."""
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-").lower()[:80]


def wrapped(text: str, width: int, margin: str = "", below: str | None = None) -> list[str]:
    """Lines of running text: the first after the margin, the others after ``below``, or as many blanks."""
    return textwrap.wrap(
        one_line(text),
        width=max(width, len(margin) + 20),
        initial_indent=margin,
        subsequent_indent=" " * len(margin) if below is None else below,
        break_on_hyphens=False,
    )
