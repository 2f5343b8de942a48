"""Where an answer says what it chose: the last ``DECISION`` with a list, or a list that stands alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from evidencebench_core.llm.brackets import LIST, from_brackets, from_json, from_line, lists_in, only_numbers
from evidencebench_core.llm.indices import Indices
from evidencebench_core.llm.items import items_in
from evidencebench_core.llm.quoted import is_quoted
from evidencebench_core.llm.said import without_tail


class Decision(NamedTuple):
    """The words around the list that counts, and what is in it."""

    words: str
    indices: Indices


class _Span(NamedTuple):
    """A marker's word, what follows up to the next one, and whether the word heads it."""

    word: int
    start: int
    end: int
    heads: bool


# The word in any case, in the languages that answers come in; full-width forms are made plain before.
_MARKER: Final = re.compile(
    r"(?:(?<![A-Za-zÀ-ÖØ-öø-ÿА-я])(?:decisions?|décision|decisión|decisão|decisione|entscheidung|beslissing|beslut"
    r"|decyzja|karar|keputusan|решение)|القرار|决定|决策|決定|決策|判断|结论|結論|결정)(?![^\W\d_])",
    re.IGNORECASE,
)
_HEAD: Final = re.compile(r"[\s*_`\"'#$\\]*+(?:\([^()\n]{0,40}\)[\s*_`]*+)?[:=→—–-]")
_BRACKET: Final = re.compile(r"[\s*_`\"'#$\\]*+\[")
_ALONE_IN_LINE: Final = re.compile(r"[\s#>*_`-]*+(?:\d{1,2}\.\s)?(?:(?:my|the|final)\s+)*+", re.IGNORECASE)
_LINE_END: Final = re.compile(r"[ \t*_`#]*+(?=\n|$)")
_COLON: Final = re.compile(r"[\s*_`\"']*+(?:\([^()\n]{0,40}\)[\s*_`]*+)?[:=→][ \t*_`\"'→]*+")
_MARKS: Final = re.compile(r"[\s*_`:=>#\"'{}\\$(→—–-]+")
_LATEX: Final = re.compile(r"\\?\\(?:boxed|text(?:bf|rm)?|math(?:bf|rm|tt))[ \t]*\{")
_TAG: Final = re.compile(r"<(/?)(?:final_)?decision>", re.IGNORECASE)
# The word right before a list that is meant as one; "the trial [12]" is a reference.
_INTRODUCED: Final = re.compile(
    r"(?:(?<![^\W_])(?:is|are|be|was|as|follows|following|these|those|sentences?|ind(?:ex|ices|exes)|ids?|numbers|list"
    r"|answer|selection|selected|selecting|select|choose|choosing|chosen|choice|pick|picks|picked|final|with|thus"
    r"|therefore|hence|so|only|just|namely|includes?|including|keep|retain|take|set|best"
    r"|ist|sind|wähle|lautet|sätze|est|sont|choisis|phrases|son|es|elijo|são|é)"
    r"|[^\x00-\u024f])[ \t*_`\"',$\\(]*\Z",
    re.IGNORECASE,
)
_LABEL: Final = re.compile(
    r"[\s*_`>#\"'{$\\-]*(?:(?:the )?(?:my )?(?:final |selected |chosen |relevant |best )*"
    r"(?:answer|list|indices|index list|sentences|selection|output|result|choice|picks?|evidence"
    r"|antwort|réponse|respuesta|答案|回答|ответ)"
    r"(?: (?:is|are|indices|sentences|list|selection))?[*_`\"' ]*[:=]?[\s*_`\"'$(\\]*)?",
    re.IGNORECASE,
)
_NEAR: Final = 60  # characters between the word and its list that are not taken for prose


def decision_in(text: str) -> Decision | None:
    """The decision of an answer without its thoughts; ``None`` if it states none."""
    text = _TAG.sub(lambda tag: "" if tag[1] else "DECISION:", _LATEX.sub("", without_tail(text)))
    spans = list(_spans(text))
    headed = [span for span in spans if span.heads]
    for span in (*reversed(headed), *reversed(spans)):  # then those in mid-sentence: "my decision is [3]"
        if (found := _after(text, span)) and not is_quoted(text, span.word, span.start):
            return found
    return None if breaks_off(text) else _alone(text)


def breaks_off(text: str) -> bool:
    """Whether the text ends within the list of its last DECISION."""
    last = None
    for match in _MARKER.finditer(text):
        last = match
    if last is None:
        return False
    tail = text[last.end() :]
    start = tail.find("[")
    return 0 <= start <= _NEAR and "]" not in tail[start:] and only_numbers(tail[start:])


def _spans(text: str) -> Iterator[_Span]:
    markers = list(_MARKER.finditer(text))
    ends = [marker.start() for marker in markers[1:]] + [len(text)] * bool(markers)
    for marker, end in zip(markers, ends, strict=True):
        start = marker.end()
        heads = _HEAD.match(text, start, end) is not None
        if not heads and _BRACKET.match(text, start, end):
            heads = marker[0].isupper()
        if not heads and (_LINE_END.match(text, start, end) or _BRACKET.match(text, start, end)):
            line = text.rfind("\n", max(0, marker.start() - 100), marker.start()) + 1
            heads = _ALONE_IN_LINE.fullmatch(text, line, marker.start()) is not None
        yield _Span(marker.start(), start, end, heads)


def _after(text: str, span: _Span) -> Decision | None:
    _, start, end, heads = span
    colon = _COLON.match(text, start, end)
    if heads and (written := _written_out(text, colon.end() if colon else start, end)):
        return Decision(text[start : start + _NEAR], written)
    first = text.find("[", start, end)
    brace = text.find("{", start, end if first < 0 else first)
    for opening in (brace, first):
        if opening >= 0 and not _MARKS.sub("", text[start : min(opening, start + 200)]):
            whole = from_json(text, opening, end)
            if whole is not None:
                return Decision(text[start : opening + 1], whole)
    if first < 0 or (not heads and not text[start:first].strip(" *_`")):  # "a decision [3]" is a reference
        return None
    return _bracketed(text, start, first, end)


def _written_out(text: str, start: int, end: int) -> Indices | None:
    """``DECISION: 3, 5``, ``DECISION: none``, or an index a line below it."""
    line_end = text.find("\n", start, end)
    line_end = end if line_end < 0 else line_end
    line = text[start:line_end]
    if line.strip(" \t\r*_`#:"):
        chosen = from_line(line)
        return chosen if chosen is not None or not _opens(line) else _items(text, line_end, end)
    first, after = "", line_end
    while not first and after < end:  # the first line with text
        after, begin = text.find("\n", after + 1, end), after + 1
        after = end if after < 0 else after
        first = text[begin:after].strip(" \t\r*_`>")
    if LIST.fullmatch(first):
        return None
    return _items(text, after if _opens(first) else line_end, end) or from_line(first)


def _opens(line: str) -> bool:
    """Whether a line leads to those below it: ``I select these sentences:``."""
    return len(line) < 300 and line.rstrip(" \t\r*_`").endswith(":") and not re.search(r"[\d\[]", line)


def _items(text: str, start: int, end: int) -> Indices | None:
    """The sentences that are named a line each, unless a list of them follows."""
    found = items_in(text, start, end)
    if found is None:
        return None
    chosen, last = found
    return _list_line(text[last:end]) or chosen


def _list_line(text: str) -> Indices | None:
    """The last line that is a list and nothing else, below one written out."""
    for line in reversed(text[-4_000:].splitlines()):
        label = _LABEL.match(line)
        body = line[label.end() if label else 0 :].strip(" \t*_`.")
        if (match := LIST.fullmatch(body)) and (chosen := from_brackets(match[1])) is not None:
            return chosen
    return None


def _bracketed(text: str, start: int, first: int, end: int) -> Decision | None:
    """The first list close to the word, or the last of the paragraph in which it explains itself."""
    best = None
    for start_of, end_of, chosen in lists_in(text, first, end):
        between = text[max(start, start_of - 300) : start_of]
        if not _introduces(between):
            continue
        words = text[max(start, start_of - 200) : start_of] + " " + _remark(text, end_of, end)
        best = Decision(words, chosen)
        if (
            start_of - start <= _NEAR
            or len(_MARKS.sub(" ", text[start : min(start_of, start + 500)])) <= _NEAR
        ):
            break
        if "\n\n" in text[end_of : end_of + 400]:
            break
    return best


def _introduces(between: str) -> bool:
    """Whether the words before a list make it one that was chosen, and no reference in prose."""
    line = between.rpartition("\n")[2]
    bare = _MARKS.sub("", line)
    return (
        not bare
        or line.rstrip(" \t*_`\"'$\\(")[-1:] in (":", "=", "→", "-", "–", "—", ")")
        or bool(_INTRODUCED.search(line))
    )


def _remark(text: str, start: int, end: int) -> str:
    """A parenthesis right behind the list, such as ``(1-based)``."""
    behind = text[start : min(end, start + 60)].lstrip(" *_`")
    return behind.partition(")")[0] if behind.startswith("(") else ""


def _alone(text: str) -> Decision | None:
    """A list that is the answer's last line, or a fenced or JSON block at its end: the word was forgotten."""
    if (said := _json_object(text)) is not None:
        return said
    tail = without_tail(text).removesuffix("```").rstrip(" \t\r\n`*_.}\"'$\\)")
    if not tail.endswith("]"):
        return None
    start = tail.rfind("\n", 0, _opening(tail)) + 1
    line = tail[start:]
    label = _LABEL.match(line)
    body = line[label.end() :] if label else line
    if not body.startswith("["):
        return None
    whole = from_json(body, 0, len(body))
    if whole is not None:
        return Decision(line[:_NEAR], whole)
    found = next(iter(lists_in(body, 0, len(body))), None)
    if found is None or found[0] != 0 or found[1] != len(body):
        return None
    return Decision(line[:_NEAR], found[2])


def _json_object(text: str) -> Decision | None:
    """An answer that is one JSON object, in a fence or not: its list, or what one of its texts says."""
    body = without_tail(text).strip().removeprefix("```json").strip("` \t\r\n")
    if not (body.startswith("{") and body.endswith("}")):
        return None
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if (whole := Indices.of_json(value)) is not None:
        return Decision("", whole)
    texts = [one for one in value.values() if isinstance(one, str) and not one.lstrip().startswith("{")]
    return next(filter(None, map(decision_in, reversed(texts))), None)


def _opening(text: str) -> int:
    """Where the bracket that the text ends with was opened; 0 if nowhere."""
    depth = 0
    for match in reversed(list(re.finditer(r"[\[\]]", text))):
        depth += 1 if match[0] == "]" else -1
        if depth == 0:
            return match.start()
    return 0
