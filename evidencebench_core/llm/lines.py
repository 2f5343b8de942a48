"""Other answers of a model: points to look for, and a hypothesis in other words."""

from __future__ import annotations

import re
from typing import Final

from evidencebench_core.llm.said import after_thinking

_ASPECT: Final = re.compile(r"[ \t>]*(?:[-*•–]|\(?\d{1,3}[.):])[ \t]*(\S[^\n]*)")
_ASPECTS: Final = re.compile(
    r"(?<![^\W_])aspects?[ \t*_`\"]*(?:[:：][ \t*_`]*|(?=\n[ \t]*(?:[-*•–]|\(?\d{1,3}[.):])))", re.IGNORECASE
)
_HYPOTHESIS: Final = re.compile(r"(?<!\w)hypothesis[ \t*_`]*[:：][ \t*_`]*", re.IGNORECASE)


def parsed_aspects(text: str, limit: int = 20) -> tuple[str, ...]:
    """The lines of the list after the last ``ASPECTS:``, without their bullets; empty if there is none."""
    answer, thinks_still = after_thinking(text)
    starts = list(_ASPECTS.finditer(answer))
    if thinks_still or not starts:
        return ()
    found: dict[str, None] = {}
    for line in answer[starts[-1].end() :].splitlines():
        if match := _ASPECT.match(line):
            found.setdefault(match[1].strip(' \t*_`"'))
        elif found and line.strip():
            break
        if len(found) == limit:
            break
    return tuple(one for one in found if one)


def parsed_hypothesis(text: str) -> str | None:
    """The one line after the last ``HYPOTHESIS:``, without quotes and bold; ``None`` if there is none."""
    answer, thinks_still = after_thinking(text)
    starts = list(_HYPOTHESIS.finditer(answer))
    if thinks_still or not starts:
        return None
    after = answer[starts[-1].end() :].strip()
    line = after.splitlines()[0] if after else ""
    return line.strip(" \t*_`\"'“”‘’„«»") or None
