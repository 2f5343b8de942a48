"""Texts as a page may have them: escaped, and with what cannot be seen made visible."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import Final

from evidencebench_core.export.visible import visible

__all__ = ["clipped", "element", "joined", "preformatted", "safe"]

_BLANK: Final = re.compile(r"[\t\n\v\f\r\x85\u2028\u2029]+")


def safe(text: str) -> str:
    """Text for an element or a quoted attribute, on one line; ``U+202E`` is written out, not obeyed."""
    return escape(visible(_BLANK.sub(" ", text)))


def preformatted(text: str) -> str:
    """The same with its lines kept, for ``<pre>``."""
    return escape(visible("\n".join(text.splitlines()).expandtabs(4)))


def clipped(text: str, limit: int) -> str:
    """At most so many characters, the last one an ellipsis where something was cut."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def element(tag: str, content: str, css: str = "", **attributes: str) -> str:
    """An element around content that is markup already; attributes are escaped."""
    given = {"class": css} if css else {}
    given |= {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
    words = "".join(f' {name}="{safe(value)}"' for name, value in given.items())
    return f"<{tag}{words}>{content}</{tag}>"


def joined(parts: Iterable[str], between: str = "") -> str:
    """The parts that are not empty."""
    return between.join(part for part in parts if part)
