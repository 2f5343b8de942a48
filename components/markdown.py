"""Untrusted text in places where Streamlit reads Markdown: labels, captions, messages."""

from __future__ import annotations

import re

from evidencebench_core.words import visible

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")
# What is acted on after escapes are gone: GitHub's Markdown makes links, Streamlit arrows, `≥`, dashes, its logo.
_AFTER_ESCAPES = re.compile(
    r"(?i:https?(?=:)|www(?=\.))|(?<=[-.\w+])(?=@[-\w]+\.\w)|(?<!\S)[-<>~](?=[-=>]{1,2}(?!\S))|:(?=streamlit:)"
)
_JOINER = "\u2060"  # takes no room, breaks no line, and a browser's search passes over it


def literal(text: str, limit: int | None = None) -> str:
    """Markdown that reads as ``text`` letter by letter, on one line.

    CommonMark lets a backslash take the meaning from any ASCII punctuation, which also disarms
    what Streamlit adds (``:red[...]``, ``:material/...:``, ``$...$``). Bare addresses and ``->``, which would
    become links and arrows all the same, are broken by an invisible word joiner. Overrides of writing direction
    are written out (`visible`). Texts over ``limit`` characters end in an ellipsis.
    """
    line = visible(_CONTROL.sub(" ", text))
    if limit is not None and len(line) > limit:
        line = line[: limit - 1].rstrip() + "…"
    line = _AFTER_ESCAPES.sub(lambda match: match[0] + _JOINER, line)
    return _PUNCTUATION.sub(r"\\\1", line)
