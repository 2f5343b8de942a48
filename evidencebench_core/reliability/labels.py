"""A model's words -> a label of a closed list."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from evidencebench_core.llm.parse import after_thinking

_NO_INFORMATION: Final = re.compile(
    r"\bnot (?:\w+ ){0,3}(?:enough|sufficient) information|\binsufficient information"
    r"|\bcan ?not be (?:determined|answered)|\bi do(?: not|n.?t) know|\bnot relevant\b"
)
_NO_OF_A_NOUN: Final = re.compile(  # "no evidence", "table no. 5"; the words named here begin a clause instead
    r"\bno(?=[ \t]+(?!(?:and|as|based|because|but|however|i|in|it|not|on|or|since|the|there|they|this|we)\b)\w)"
    r"|(?<=\w )no(?=\. ?\d)"
)
_NOT: Final = r"\b(?:not|never|cannot|neither|nor|whether|\w+n't)(?: [\w']+){0,6}? "


def read_label(text: str, labels: Sequence[str]) -> str | None:
    """The label, of some in lower case, that a raw answer states, else begins with, else the only one in it.

    A label that is denied ("not yes") does not count, nor do those of a choice ("yes or no") or the "no" of "no
    evidence"; "not enough information" is unknown.
    """
    plain = (after_thinking(text) or "").lower().replace("’", "'")
    plain = re.sub(r"[*_\"“”`]", "", plain)
    words = "|".join(sorted(map(re.escape, labels), key=len, reverse=True))
    label, choice = rf"\b({words})\b", rf"\b(?:{words})(?:, ?(?:{words})){{0,5}},? ?(?:%s) ?(?:{words})\b"
    plain = _NO_OF_A_NOUN.sub("not", re.sub(choice % r"/|\bor\b", "", plain))
    plain = re.sub(choice % r"\band\b", "", plain)
    if "unknown" in labels:
        plain = _NO_INFORMATION.sub("unknown", plain)
    denials = re.findall(rf"{_NOT}{label}|{label} (?:is|was) (?:not|wrong)\b", plain)
    denied = {before or behind for before, behind in denials}
    for place in (r"\b(?:answer|decision|conclusion)(?: is)?[\s:]*", r"\A\W*(?:\d{1,2}[.)]\W*)?", ""):
        found = [name for name in re.findall(place + label, plain) if name not in denied]
        if found and (place or len(set(found)) == 1):
            return str(found[-1])
    return None
