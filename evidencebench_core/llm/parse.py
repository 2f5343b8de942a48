"""A model's words -> the sentences it chose. Nothing is taken that the model did not say it chose.

The last ``DECISION:`` with a list counts; without one, a list that stands alone as the last line. Around and
in the list every habit of models is put up with: fences, bold, quotes, ranges, words, JSON, full-width
brackets. Texts of 10 MB are read in linear time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from evidencebench_core.llm.indices import Indices, indices_in
from evidencebench_core.llm.reasoning import reasoning_in

__all__ = ["OutcomeKind", "ParsedAnswer", "parsed", "parsed_aspects", "parsed_hypothesis"]

OutcomeKind = Literal["selection", "empty", "unknown", "no_list", "refusal", "cut_off"]


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """What a model chose.

    Attributes
    ----------
    kind : {"selection", "empty", "unknown", "no_list", "refusal", "cut_off"}
        ``"empty"``: the model says that it chooses nothing. ``"unknown"``: it chose, but only what it was
        not shown. ``"no_list"``: it did not say what it chooses. ``"cut_off"``: nor could it, for its
        tokens ran out.
    indices : tuple of int
        Chosen and shown, in the order of the answer, each once.
    n_unknown : int
        Elements of the list that are no index that was shown; a range counts each of its numbers.
    reasoning_by_index : mapping of int to str
        What the answer says of a chosen sentence, where it says something.
    shifted : int
        What was added to the model's numbers because it said outright that it counts from 1 (or 0) where the
        prompt counts from 0 (or 1); else 0.
    """

    kind: OutcomeKind
    indices: tuple[int, ...] = ()
    n_unknown: int = 0
    reasoning_by_index: Mapping[int, str] = field(default_factory=dict)
    shifted: int = 0


# The word in any case, in the languages that answers come in; full-width forms are made plain before.
_MARKER: Final = re.compile(
    r"(?<![^\W_])(?:decision|décision|decisión|decisão|decisione|entscheidung|beslissing|решение|决定|决策|決定|判断|結論|결정)"
    r"(?![^\W\d_])",
    re.IGNORECASE,
)
_LIST: Final = re.compile(r"\[([^\[\]]*+)\]")
_BETWEEN_LISTS: Final = re.compile(r"[ \t]*(?:(?:,|;|and|und|et|y|&)[ \t]*)?", re.IGNORECASE)
_PLAIN: Final = str.maketrans(
    {
        "：": ":",
        "［": "[",
        "］": "]",
        "【": "[",
        "】": "]",
        "〔": "[",
        "〕": "]",
        "，": ",",
        "、": ",",
        "；": ";",
    }
    | {chr(0xFF10 + digit): str(digit) for digit in range(10)}
    | {"（": "(", "）": ")", "\u00a0": " ", "\u200b": "", "\ufeff": ""}
)
_NOTHING: Final = re.compile(
    r"[\s\"'`*_(){}.:=-]*(?:none|null|nil|empty|nothing|n/?a|no|zero|keine?|aucune?|ninguna?|nenhuma?|无|無|なし|нет|없음)"
    r"(?: (?:of (?:the|these) )?(?:relevant |suitable )?"
    r"(?:sentences?|selections?|indices|evidence|list))?[\s\"'`*_(){}.!]*",
    re.IGNORECASE,
)
# A line without brackets that is nothing but numbers: "3, 5 and 7-9".
_BARE: Final = re.compile(
    r"(?:[\s,;()\[\]{}\"'`*_.#&-]|–|—|\d+|and|to|und|et|y|sentences?|index|indices|idx|no\b|id)*+",
    re.IGNORECASE,
)
_LABEL: Final = re.compile(
    r"[\s*_`>#\"'{$\\-]*(?:(?:the )?(?:my )?(?:final |selected |chosen |relevant |best )*"
    r"(?:answer|list|indices|index list|sentences|selection|output|result|choice|picks?|evidence"
    r"|antwort|réponse|respuesta"
    r"|答案|回答|ответ)"
    r"(?: (?:is|are|indices|sentences|list|selection))?[*_`\"' ]*[:=][\s*_`\"']*)?(?:\\?boxed\{)?",
    re.IGNORECASE,
)
_BASE: Final = re.compile(
    r"\b([01])[- ]?(?:based|indexed)\b"
    r"|\b(?:counting|starting|numbered) (?:from|at) ([01])\b",
    re.I,
)
_COLON: Final = re.compile(r"[\s*_`\"']*+(?:\([^()\n]{0,40}\)[\s*_`]*+)?[:=][ \t*_`\"']*+")
_HEAD: Final = re.compile(r"[\s*_`\"'#$\\]*+(?:\([^()\n]{0,40}\)[\s*_`]*+)?[:=\[]")
_THINKING: Final = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_SORRY: Final = re.compile(
    r"\s*(?:i'?m (?:very |really )?(?:sorry|unable)|i am (?:very |really )?(?:sorry|unable)|sorry\b"
    r"|i apologi[sz]e|i (?:can(?:no|')t|won't|"
    r"must decline|will not|do not feel comfortable|am not able)"
    r"|(?:unfortunately|regrettably),? i (?:can|am|must)"
    r"|as an ai\b"
    r"|es tut mir leid|je suis désolée?|lo siento|desculpe|很抱歉|抱歉|对不起|申し訳|извините|죄송)",
    re.IGNORECASE,
)
_NEAR: Final = 60  # characters between the word and its list that are not taken for prose
_TRIED: Final = 50  # lists looked at after one DECISION


def parsed(
    text: str,
    shown: Collection[int],
    *,
    refusal: str | None = None,
    finish_reason: str | None = None,
) -> ParsedAnswer:
    """The selection in an answer (spec rule 20).

    Parameters
    ----------
    text : str
        The whole answer.
    shown : collection of int
        The indices that the prompt showed.
    refusal, finish_reason : str, optional
        As the server says them; they tell why there is no list.

    Returns
    -------
    ParsedAnswer
    """
    known = shown if isinstance(shown, (set, frozenset, range)) else frozenset(shown)
    said = text.translate(_PLAIN)
    answer, thinks_still = _after_thinking(said)
    found = None if thinks_still else _decided(answer)
    if found is None:
        return ParsedAnswer(_without_list(answer, refusal, finish_reason, thinks_still))
    words, chosen = found
    shift = _shift(words, known)
    indices, n_unknown = chosen.among(known, shift)
    if indices:
        reasons = reasoning_in(said, indices, -shift)
        return ParsedAnswer("selection", indices, n_unknown, reasons, shift)
    return ParsedAnswer("unknown" if n_unknown else "empty", (), n_unknown, {}, shift)


def _after_thinking(text: str) -> tuple[str, bool]:
    """What follows the last thoughts that are marked as such, and whether they never ended."""
    last = None
    for match in _THINKING.finditer(text):
        last = match
    if last is None:
        return text, False
    return ("", True) if not last[1] else (text[last.end() :], False)


def _without_list(
    text: str, refusal: str | None, finish_reason: str | None, thinks_still: bool
) -> OutcomeKind:
    if refusal or finish_reason == "content_filter":
        return "refusal"
    if finish_reason == "length" or thinks_still:
        return "cut_off"
    if _SORRY.match(text.replace("’", "'")[:200]):
        return "refusal"
    return "cut_off" if _breaks_off(text) else "no_list"


def _breaks_off(text: str) -> bool:
    """Whether the text ends within the list of its last DECISION."""
    last = None
    for match in _MARKER.finditer(text):
        last = match
    if last is None:
        return False
    tail = text[last.end() :]
    start = tail.find("[")
    return 0 <= start <= _NEAR and "]" not in tail[start:] and _BARE.fullmatch(tail[start:]) is not None


def _decided(text: str) -> tuple[str, Indices] | None:
    """The words around the list that counts, and what is in it."""
    markers = list(_MARKER.finditer(text))
    ends = [marker.start() for marker in markers[1:]] + [len(text)] * bool(markers)
    spans = [(marker.end(), end) for marker, end in zip(markers, ends, strict=True)]
    said = [span for span in spans if _HEAD.match(text, *span)]
    for start, end in (*reversed(said), *reversed(spans)):  # then those in mid-sentence: "my decision is [3]"
        if found := _list_after(text, start, end):
            return found
    return None if _unfinished(text, markers) else _list_alone(text)


def _unfinished(text: str, markers: list[re.Match[str]]) -> bool:
    return bool(markers) and _breaks_off(text)


def _list_after(text: str, start: int, end: int) -> tuple[str, Indices] | None:
    first = text.find("[", start, end)
    line_end = text.find("\n", start, end)
    bare = _bare_list(text, start, end)
    if bare is not None and (first < 0 or 0 <= line_end < first):
        return text[start : start + _NEAR], bare
    if first < 0:
        return None
    whole = _from_json(text, first, end)
    if whole is not None and len(_without_marks(text[start:first])) <= _NEAR:
        return text[start:first] + " " + text[first : first + 1], whole
    best = None
    for start_of, end_of, chosen in _lists(text, first, end):
        best = (text[max(start, start_of - 200) : start_of] + " " + _remark(text, end_of, end), chosen)
        if (
            start_of - start <= _NEAR
            or len(_without_marks(text[start : min(start_of, start + 500)])) <= _NEAR
        ):
            break
        if "\n\n" in text[end_of : end_of + 400]:
            break
    return best


def _remark(text: str, start: int, end: int) -> str:
    """A parenthesis right behind the list, such as ``(1-based)``."""
    behind = text[start : min(end, start + 60)].lstrip(" *_`")
    return behind.partition(")")[0] if behind.startswith("(") else ""


def _without_marks(text: str) -> str:
    return re.sub(r"[\s*_`:=>#\"'{\\$-]+", " ", text[:2_000]).strip()


def _from_json(text: str, start: int, end: int) -> Indices | None:
    """A list that is JSON and more than plain numbers: objects, texts, lists within."""
    if text[start + 1 : start + 40].lstrip()[:1] not in ("{", '"', "["):
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(text[start:end])
    except (ValueError, RecursionError):
        return None
    return Indices.of_json(value)


def _lists(text: str, start: int, end: int) -> Iterator[tuple[int, int, Indices]]:
    """Lists of indices; neighbours such as ``[3], [5]`` are one."""
    tried, position = 0, start
    while tried < _TRIED and (match := _LIST.search(text, position, end)):
        tried, position = tried + 1, match.end()
        chosen = _content(match[1])
        if chosen is None:
            continue
        together = [chosen]
        while (gap := _BETWEEN_LISTS.match(text, position, end)) and (
            after := _LIST.match(text, gap.end(), end)
        ):
            more = _content(after[1])
            if more is None:
                break
            together.append(more)
            position = after.end()
        yield match.start(), position, Indices.joined(together)


def _content(inside: str) -> Indices | None:
    """What is between two brackets, unless it is prose."""
    if _is_nothing(inside):
        return Indices()
    chosen = indices_in(inside)
    return chosen if chosen.is_list else None


def _is_nothing(text: str) -> bool:
    return not text.strip("\\ \t\r\n,`*\"'") or (len(text) < 80 and _NOTHING.fullmatch(text) is not None)


def _bare_list(text: str, start: int, end: int) -> Indices | None:
    """``DECISION: 3, 5``, ``DECISION: none``, or one index a line below it."""
    head = _COLON.match(text, start, end)
    if head is None:
        return None
    line_end = text.find("\n", head.end(), end)
    line = text[head.end() : end if line_end < 0 else line_end]
    if line.strip(" \t\r*_`"):
        if len(line) < 80 and _NOTHING.fullmatch(line.strip()):
            return Indices()
        if not _BARE.fullmatch(line) or not re.search(r"\d", line) or "[" in line:
            return None
        return _only_indices(line.strip(" \t\r.*_`(){}"))
    gathered: list[str] = []
    for raw in text[head.end() : min(end, head.end() + 100_000)].splitlines():
        one = raw.strip(" \t\r*_`-•.")
        if not one:
            if gathered:
                break
            continue
        if not _BARE.fullmatch(one) or not re.search(r"\d", one) or "[" in one:
            break
        gathered.append(one)
    return _only_indices(",".join(gathered)) if gathered else None


def _only_indices(text: str) -> Indices | None:
    chosen = indices_in(text)
    return chosen if chosen.is_list else None


def _list_alone(text: str) -> tuple[str, Indices] | None:
    """A list that is the answer's last line, or a fenced or JSON block at its end: the word was forgotten."""
    tail = text.rstrip().removesuffix("```").rstrip(" \t\r\n`*_.}\"'$\\")
    if not tail.endswith("]"):
        return None
    start = tail.rfind("\n", 0, _opening(tail)) + 1
    line = tail[start:]
    label = _LABEL.match(line)
    body = line[label.end() :] if label else line
    if not body.startswith("["):
        return None
    whole = _from_json(body, 0, len(body))
    if whole is not None:
        return line[:_NEAR], whole
    found = next(iter(_lists(body, 0, len(body))), None)
    if found is None or found[0] != 0 or found[1] != len(body):
        return None
    return line[:_NEAR], found[2]


def _opening(text: str) -> int:
    """Where the bracket that the text ends with was opened; 0 if nowhere."""
    depth = 0
    for match in reversed(list(re.finditer(r"[\[\]]", text))):
        depth += 1 if match[0] == "]" else -1
        if depth == 0:
            return match.start()
    return 0


def _shift(words: str, shown: Collection[int]) -> int:
    """What to add because the model says by itself that it counts otherwise than the prompt."""
    match = _BASE.search(words)
    if match is None or not shown:
        return 0
    first, said = min(shown), int(match[1] or match[2])
    return first - said if first in (0, 1) else 0


_ASPECT: Final = re.compile(r"[ \t>]*(?:[-*•–]|\(?\d{1,3}[.):])[ \t]*(\S[^\n]*)")
_ASPECTS: Final = re.compile(r"aspects?[ \t*_`]*:[ \t*_`]*", re.IGNORECASE)
_HYPOTHESIS: Final = re.compile(r"(?<!\w)hypothesis[ \t*_`]*[:：][ \t*_`]*", re.IGNORECASE)


def parsed_aspects(text: str, limit: int = 20) -> tuple[str, ...]:
    """The lines of the list after the last ``ASPECTS:``, without their bullets; empty if there is none."""
    answer, thinks_still = _after_thinking(text)
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
    answer, thinks_still = _after_thinking(text)
    starts = list(_HYPOTHESIS.finditer(answer))
    if thinks_still or not starts:
        return None
    after = answer[starts[-1].end() :].strip()
    line = after.splitlines()[0] if after else ""
    return line.strip(" \t*_`\"'“”‘’„«»") or None
