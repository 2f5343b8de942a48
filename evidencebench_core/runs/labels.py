"""A model's words -> a label of a closed list, or why there is none."""

import re
from collections.abc import Collection, Mapping
from typing import Final

from evidencebench_core.llm.parse import after_thinking, no_answer_reason
from evidencebench_core.runs.model import Result

Labels = Collection[str] | Mapping[str, str]
"""The labels, in lower case, or the label by each word that states it ("supported": "supports")."""

_NO_INFORMATION: Final = re.compile(
    r"\bnot (?:\w+ ){0,3}(?:enough|sufficient) information|\binsufficient information"
    r"|\bcan ?not be (?:determined|answered)|\bi do(?: not|n.?t) know|\bnot relevant\b"
)
_NO_OF_A_NOUN: Final = re.compile(  # "no evidence", "table no. 5"; the words named here begin a clause instead
    r"\bno(?=[ \t]+(?!(?:and|as|based|because|but|however|i|in|it|not|on|or|since|the|there|they|this|we)\b)\w)"
    r"|(?<=\w )no(?=\. ?\d)"
)
_NOT: Final = r"\b(?:not|never|cannot|neither|nor|whether|\w+n't)(?: [\w']+){0,6}? "
_AROUND: Final = " \t\r\n*_`\"'.;,!()[]<>"


def label_of(result: Result | str, labels: Labels, mark: str = "") -> tuple[str | None, str]:
    """The label in a stored result and ``""``, or ``None`` and the reason why there is none.

    Reasons: "failed" (the result is an error), "cut_off" (whatever stands there: it may have gone on), "refusal",
    "empty", "no_label" (also of any text where no labels are given).
    """
    if isinstance(result, str):
        return None, "failed"
    answer = after_thinking(str(result["text"]))
    reason = no_answer_reason(answer, result.get("refusal"), result.get("finish_reason"))
    is_read = bool(labels) and result.get("finish_reason") not in ("length", "content_filter")
    if is_read and not result.get("refusal") and (label := read_label(answer or "", labels, mark)):
        return label, ""
    return None, reason or ("no_label" if answer and answer.strip() else "empty")


def read_label(text: str, labels: Labels, mark: str = "") -> str | None:
    """The label that an answer states, else the one that it begins with, else the only one in it.

    Where a ``mark`` was asked for ("LABEL"), only what stands behind the last ``LABEL:`` is read; without one the
    whole answer must be a label. One that is denied ("not yes") does not count, nor do those of a choice ("yes or
    no") or the "no" of "no evidence"; "not enough information" is unknown.
    """
    forms = labels if isinstance(labels, Mapping) else {label: label for label in labels}
    plain = (after_thinking(text) or "").lower().replace("’", "'")
    if mark:
        _, *behind = re.split(rf"^[ \t>#*_`]*{mark.lower()}[ \t*_`]*:", plain, flags=re.MULTILINE)
        if not behind:
            return forms.get(plain.strip(_AROUND))
        plain = behind[-1].strip().partition("\n")[0]
    return _stated_label(re.sub(r"[*_\"“”`]", "", plain), forms)


def _stated_label(plain: str, forms: Mapping[str, str]) -> str | None:
    words = "|".join(sorted(map(re.escape, forms), key=len, reverse=True))
    label, choice = rf"\b({words})\b", rf"\b(?:{words})(?:, ?(?:{words})){{0,5}},? ?(?:%s) ?(?:{words})\b"
    plain = _NO_OF_A_NOUN.sub("not", re.sub(choice % r"/|\bor\b", "", plain))
    plain = re.sub(choice % r"\band\b", "", plain)
    if "unknown" in forms:
        plain = _NO_INFORMATION.sub("unknown", plain)
    denials = re.findall(rf"{_NOT}{label}|{label} (?:is|was) (?:not|wrong)\b", plain)
    denied = {before or behind for before, behind in denials}
    for place in (r"\b(?:answer|decision|conclusion)(?: is)?[\s:]*", r"\A\W*(?:\d{1,2}[.)]\W*)?", ""):
        stated = [forms[word] for word in re.findall(place + label, plain) if word not in denied]
        if stated and (place or len(set(stated)) == 1):
            return stated[-1]
    return None
