"""The part of an answer that counts: plain characters, no thoughts, no tokens of the model's template."""

from __future__ import annotations

import re
from typing import Final

# Full-width, Chinese, Arabic and typographic forms of what lists are made of.
_PLAIN: Final = str.maketrans(
    dict(zip("：［］【】〔〕，、；（）،؛＝", ":[][][],,;(),;=", strict=True))
    | {chr(0xFF10 + digit): str(digit) for digit in range(10)}
    | dict.fromkeys("\u2010\u2011\u2012\u2212\uff0d", "-")
    | {"\u00a0": " ", "\u202f": " ", "\u3000": " ", "\u200b": "", "\u200e": "", "\u200f": "", "\ufeff": ""}
)

# Tags of thinking models: DeepSeek and Qwen, Magistral, Kimi; and the channels of gpt-oss.
_THINKING: Final = re.compile(
    r"<(?P<close>/?)(?:think|thinking|thought|reasoning)>"
    r"|\[(?P<close2>/?)THINK\]"
    r"|◁(?P<close3>/?)think▷"
    r"|<\|channel\|>(?:(?P<close4>final)|analysis|commentary)\b",
    re.IGNORECASE,
)
_CLOSING_TAG: Final = re.compile(r"</?[A-Za-z_]{1,20}>|<\|[^<>|]{1,40}\|>|<[｜▁A-Za-z_]{1,40}>")
_TAGS_AT_END: Final = 6


def plain(text: str) -> str:
    """The text with ASCII digits, brackets, commas and hyphens in the place of their other forms."""
    return text.translate(_PLAIN)


def after_thinking(text: str) -> tuple[str, bool]:
    """The text after the last marked thoughts, and whether they never ended."""
    last = None
    for match in _THINKING.finditer(text):
        last = match
    if last is None:
        return text, False
    return (text[last.end() :], False) if any(last.groups()) else ("", True)


def without_tail(text: str) -> str:
    """The text without blanks, closing tags and end-of-turn tokens at its end."""
    for _ in range(_TAGS_AT_END):
        text = text.rstrip()
        start = text.rfind("<", max(0, len(text) - 50)) if text.endswith(">") else -1
        if start < 0 or not _CLOSING_TAG.fullmatch(text, start):
            break
        text = text[:start]
    return text
