"""Characters that draw nothing and yet change what is read, or what a terminal does, made visible."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["visible"]

# Control characters, overrides and isolates of writing direction, tags and other characters that draw
# nothing, and halves of surrogate pairs.
_ODD: Final = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f"
)
_FOUND: Final = re.compile(f"[{_ODD}]")


def visible(text: str) -> str:
    """The text with such characters written out, as in ``[U+202E]``; tabs and line ends stay."""
    return text if text.isascii() and text.isprintable() else _FOUND.sub(_named, text)


def _named(found: re.Match[str]) -> str:
    return f"[U+{ord(found[0]):04X}]"
