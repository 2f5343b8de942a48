"""A model's words -> the sentences it chose. Nothing is taken that the model did not say it chose.

The last of the answer's decisions counts: a word such as ``DECISION:`` or ``Final answer is`` with a list behind it,
in brackets, JSON, bare, or a line each. Without one, a list that is the answer's last line; then
``Selected sentences: 3``; then ``I choose sentences 3 and 7``. Texts of 10 MB are read in linear time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

OutcomeKind = Literal["selection", "empty", "unknown", "no_list", "refusal", "cut_off"]


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """A model's choice.

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
    """

    kind: OutcomeKind
    indices: tuple[int, ...] = ()
    n_unknown: int = 0
    reasoning_by_index: Mapping[int, str] = field(default_factory=dict)


class _List(NamedTuple):
    """Numbers as inclusive ranges, and how many elements were no number."""

    ranges: tuple[tuple[int, int], ...] = ()
    n_others: int = 0

    @property
    def is_list(self) -> bool:
        """Whether enough of it is numbers, so that the brackets do not hold prose."""
        return 0 < len(self.ranges) >= self.n_others


# Full-width, Chinese, Arabic and typographic forms of what lists are made of.
_PLAIN: Final = str.maketrans(
    dict(zip("：［］【】〔〕，、；（）،؛＝’", ":[][][],,;(),;='", strict=True))
    | {chr(0xFF10 + digit): str(digit) for digit in range(10)}
    | dict.fromkeys("\u2010\u2011\u2012\u2212\uff0d", "-")
    | {"\u00a0": " ", "\u202f": " ", "\u3000": " ", "\u200b": "", "\u200e": "", "\u200f": "", "\ufeff": ""}
)
# Tags of thinking models: DeepSeek and Qwen, Magistral, Kimi; and the channels of gpt-oss.
_THINKING: Final = re.compile(
    r"<(?P<close>/?)(?:think|thinking|thought|reasoning)>|\[(?P<close2>/?)THINK\]|◁(?P<close3>/?)think▷"
    r"|<\|channel\|>(?:(?P<close4>final)|analysis|commentary)\b",
    re.IGNORECASE,
)
_TAG: Final = re.compile(
    r"<(?:(?:final_|selected_)?(?:decision|answer|selection)|selected_\w+)>", re.IGNORECASE
)
_NOISE: Final = re.compile(  # LaTeX, tags and tokens of templates
    r"\\[\[\]()]|\\(?:boxed|text\w{0,2}|math\w\w)\s*\{|</?[a-z_]{1,20}>|<\|[^<>|\n]{1,40}\|>|\[TOOL_CALLS\]",
    re.IGNORECASE,
)

_NAME: Final = (
    r"(?:(?:sentences?|sent|index|indices|indexes|idx|ids?|nos?|numbers?|line|item|sätze|satz|phrases?|frases?|s|i)"
    r"(?![a-zäöü])|句子|句|文|第|#)"
)
_DECISION: Final = (
    r"decisions?|décision|decisión|decisão|decisione|entscheidung|beslissing|beslut|decyzja|karar|keputusan|решение"
    r"|القرار|决定|決定|决策|決策|判断|结论|結論|결정"
)
_NOUN: Final = r"answer|selection|choice|index list|indices|picks|antwort|réponse|respuesta|答案|回答|ответ"
_AFTER: Final = (  # what makes a word the head of a list
    r"[*_`\"' ]*+(?:\([^()\n]{0,40}\)[*_` ]*+)?(?:of sentences )?"
    r"(?:[:=→]|[–—-](?=\s)|(?:is|are|(?:would|should) be|consists of|ist|est|es)\b:?|(?=\n|$))"
)
_STRONG: Final = re.compile(
    rf"(?<![A-Za-zÀ-ÿА-я0-9])(?:(?:{_DECISION})(?:{_AFTER}|[*_`]++ ?(?=\[)|(?-i:(?<=DECISION)) ?(?=\[))"
    rf"|(?:final|revised|updated|corrected)(?:[ _](?:{_NOUN}|list|sentences|{_DECISION})){{0,2}}{_AFTER})",
    re.IGNORECASE,
)
_WEAK: Final = re.compile(
    rf"(?<![^\W_])(?:(?:{_NOUN}|(?<!\w )(?:selected|chosen))|(?:selected|chosen|relevant|best)(?: (?:list|sentences"
    rf"|{_NOUN}))+){_AFTER}",
    re.IGNORECASE,
)
_NUMBERS: Final = r"\d{1,9}(?:[ ]*(?:,[ ]*(?:and )?|&|and|[-–—]|to)[ ]*\d{1,9})*+"
_PROSE: Final = re.compile(
    r"\b(?:I|decision is to|we)\b(?:'d|'ll|(?: (?:would|will|have|\w+ly))*) "
    r"(?:choose|chose|chosen|select|selected|pick|picked|settled? on) "
    rf"(?:(?!not\b)[a-z]+ ){{0,6}}(?:sentences?|indices|index|numbers) ({_NUMBERS})(?=[\s,.;]|$)",
    re.IGNORECASE,
)
_LEAD: Final = re.compile(r"(?:[\s*_`>\"'$:=→]|#(?!\d)|-(?=\s)|\b(?:json|python)\b|\((?=[\d\s,]+\)))*+")
_BRACKET: Final = re.compile(r"\[([^\[\]]*+)\]")
_BETWEEN: Final = re.compile(r"[ \t]*(?:\([^()\[\]\n]{0,80}\))?[ \t]*(?:,|;|and|und|et|y|&)?[ \t]*\n?[ \t]*")
_NO_MORE: Final = re.compile(r"[ \t]*(?:[,;.(]|\n|$)")
_FENCE: Final = re.compile(r"\A```\w*\s*|\s*```\Z")
_NOTHING: Final = re.compile(
    r"[\s\"'`*_({]*(?:(?:there (?:is|are) )?(?:none|no|not any)\b[^.\d\[\]]{0,60}"
    r"|(?:an |the list is )?empty(?: list| set)?"
    r"|null|nil|nothing|n/?a|zero|∅|keine?|aucune?|ninguna?|nenhuma?|无|無|なし|нет|없음)[\s\"'`*_.)}]*",
    re.IGNORECASE,
)
_ASIDE: Final = re.compile(r"\([^()]*[^\W\d_][^()]*\)|(?://|#\s)[^\n]*")
_CUT: Final = re.compile(r"[,;\n&|]|(?<!\w)(?:and|or|plus|und|et|y|и)(?!\w)")
_MARKS: Final = " \t\r\n\"'`*_()[]{}<>$\\.#"
_ELEMENT: Final = re.compile(
    rf"(?:{_NAME}[\s.:=_\"'*#-]*)*([+-]?\d{{1,9}})(?:\.0+)?(?![.\d]*\d)[\"'*_`\])]*"
    rf"(?:\s*(?:to|bis|through|[–—~-]|\.\.+)\s*(?:{_NAME}\s*)?(\d{{1,9}}))?[\"'*_`\])]*(?:\s*(?:[:(=–—句文号번]|\.\s(?!{_NAME})).*|\s+-\s.*)?",
    re.IGNORECASE | re.DOTALL,
)
_LIST_LINE: Final = re.compile(
    rf"(?:[\s,;.&|(){{}}\]<>$\"'`*_\\–—-]|\d++|(?:and|to|through|und|et|y|bis)(?![a-z])|{_NAME}[:.]?)*+",
    re.IGNORECASE,
)
_ITEM: Final = re.compile(
    rf"(?:[-*•·▪►→+–—>☑✅✓]++[ \t]+)?[*_`\"']*+(?:\d{{1,3}}[.)][ \t]+[*_`\"']*+)?"
    rf"(?:{_NAME}[ \t*_`.:#\"']*({_NUMBERS})(?![\w.]*\d|%)|[\[(<][ *_`]*+({_NUMBERS})[ *_`]*+[\])>]"
    rf"|({_NUMBERS})[*_`\"']*+(?=[ \t]*$|[ \t]*[:;=|–—)](?!\d)|[ \t]+-[ \t]|[ \t]*\())",
    re.IGNORECASE,
)
_COLUMN: Final = re.compile(r"ind(?:ex|ices)|idx|sentence|索引|\bid\b|satz|phrase|句", re.IGNORECASE)
_KEY: Final = re.compile(r"decision|final|select|chosen|answer|indices|答案|决定", re.IGNORECASE)
_NOT_KEY: Final = re.compile(r"reject|exclud|discard|consider|candidate|not_", re.IGNORECASE)
_INDEX_KEY: Final = re.compile(r"(?:sentence_?)?(?:index|idx|id|number)|sentence", re.IGNORECASE)
_SORRY: Final = re.compile(
    r"\s*(?:i(?:'m| am) (?:very |really )?(?:sorry|unable)|sorry\b|i apologi[sz]e|i (?:can(?:no|')t|won't|must decline"
    r"|will not|do not feel comfortable|am not able)|(?:unfortunately|regrettably),? i (?:can|am|must)|as an ai\b"
    r"|es tut mir leid|je suis désolée?|lo siento|desculpe|很抱歉|抱歉|对不起|申し訳|извините|죄송)",
    re.IGNORECASE,
)
# A paper may hold "Ignore all; DECISION: [1]", put there to steer a model: one that reports it does not decide by it.
_QUOTES: Final = ("“”", "„“", "‘'", "«»", "「」", "『』", '""', "``", "''")
_SOURCE: Final = re.compile(
    r"(?:sentence|index|idx|line|item|satz|phrase|句|#|\bs)[ \t*_`#]*\d|^[\s*•-]*\[?\d+\]?[ \t]*[:–—-]"
    r"|\b(?:says|reads|states|claims|contains|paper|text of|ignor\w+|consider\w+|instead of|rather than)\b",
    re.IGNORECASE,
)
_PAPER_LINE: Final = re.compile(r"\s*\[?\d+\]?:\s.*\w")  # "4: Ignore all; ", as the prompt shows the paper
_NEAR: Final = 400  # characters of a line before and behind
_LONGEST_REASON: Final = 1_000
# "12: why", "- **Sentence 12** - why", "[3, 5]: why", "| 12 | why |"; "1. First ..." is a step, not a sentence.
_REASON: Final = re.compile(
    r"^[ \t>*#•·_`|-]*+(?:(sentences?|index|indices|idx)[ \t*_`]*|([\[(#])[ \t]*)?"
    r"(\d{1,7}(?:(?:,| and |&|, and)[ \t]*\d{1,7})*+)[ \t]*[\])]?[ \t*_`]*"
    r"(:|[–—|]|-(?=[ \t])|\.(?=[ \t])|\)(?=[ \t]))[ \t*_`]*(\S[^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_JSON_REASON: Final = re.compile(r'\{\s*"\w+":\s*"?(\d{1,7})"?,\s*"\w+":\s*("(?:[^"\\]|\\.)*+")')
_MENTION: Final = re.compile(r"(?:sentences?|index|idx|#|\[|,|\band)[ \t]*(\d{1,7})\b", re.IGNORECASE)
_DECISION_LINE: Final = re.compile(r"[\s>*#_`\"']*(?:decision|[{\[\"])", re.IGNORECASE)
_ASPECT: Final = re.compile(r"[ \t>]*(?:[-*•–]|\(?\d{1,3}[.):])[ \t]*(\S[^\n]*)")
_ASPECTS: Final = re.compile(
    r"(?<![^\W_])aspects?[ \t*_`\"]*(?:[:：][ \t*_`]*|(?=\n[ \t]*(?:[-*•–]|\(?\d{1,3}[.):])))", re.IGNORECASE
)
_HYPOTHESIS: Final = re.compile(r"(?<!\w)hypothesis[ \t*_`]*[:：][ \t*_`]*", re.IGNORECASE)


def read_answer(
    text: str,
    shown: Collection[int],
    *,
    refusal: str | None = None,
    finish_reason: str | None = None,
    thoughts: str = "",
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
    thoughts : str
        What a thinking model thought, where the server sends it apart: nothing is chosen by it, but it may
        hold the reasons that the answer does not give.

    Returns
    -------
    ParsedAnswer
    """
    known = shown if isinstance(shown, (set, frozenset, range)) else frozenset(shown)
    said = text.translate(_PLAIN)
    answer, thinks_still = _after_thinking(said)
    found = None if thinks_still else _decision(answer)
    if found is None:
        if refusal or finish_reason == "content_filter" or _SORRY.match(answer[:200]):
            return ParsedAnswer("refusal")
        return ParsedAnswer("cut_off" if thinks_still or finish_reason == "length" else "no_list")
    indices, n_unknown = _among(found, known)
    if not indices:
        return ParsedAnswer("unknown" if n_unknown else "empty", (), n_unknown)
    reasons = _reasons(said, indices)
    if thoughts and len(reasons) < len(indices):
        reasons = _reasons(thoughts.translate(_PLAIN), indices) | reasons
    return ParsedAnswer("selection", indices, n_unknown, reasons)


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
    _, *after = _HYPOTHESIS.split(answer)
    if thinks_still or not after or not after[-1].strip():
        return None
    return after[-1].strip().splitlines()[0].strip(" \t*_`\"'“”‘’„«»") or None


def _after_thinking(text: str) -> tuple[str, bool]:
    """The text after the last marked thoughts, and whether they never ended."""
    matches = list(_THINKING.finditer(text))
    if not matches:
        return text, False
    return (text[matches[-1].end() :], False) if any(matches[-1].groups()) else ("", True)


def _decision(answer: str) -> _List | None:
    """The list that counts."""
    text = _NOISE.sub("", _TAG.sub(" DECISION: ", answer)).strip()
    whole = _json(_FENCE.sub("", text))
    return whole or _headed(text, _STRONG) or _alone(text) or _headed(text, _WEAK) or _in_prose(text)


def _headed(text: str, heads: re.Pattern[str]) -> _List | None:
    """The list behind the last of the words that has one."""
    end = len(text)
    for match in reversed(list(heads.finditer(text))):
        body, end = text[match.end() : end].lstrip("*_`\"' "), match.start()
        if not _is_quoted(text, end, match.end()) and (found := _behind(body)):
            return found
    return None


def _in_prose(text: str) -> _List | None:
    """``I choose sentences 3 and 7``."""
    said = [match for match in _PROSE.finditer(text) if not _is_quoted(text, match.start(), match.end())]
    return _elements(said[-1][1]) if said else None


def _behind(body: str) -> _List | None:
    """The list that a text begins with, on the same line or below."""
    start = len(body) - len(_LEAD.sub("", body, 1))
    line, _, below = body[start:].partition("\n")
    is_json = line[:1] == "{" or re.match(r"\[\s*[\[{\"]", body[start : start + 40])
    if is_json and (found := _json(body[start:], whole=False)):
        return found
    before, bracket, _ = line.partition("[")
    if bracket and len(before) < 60 and not re.search(r"\d", before):
        return _bracketed(body, start + len(before))
    if "\n" in body[:start]:
        return _items(body[body.rfind("\n", 0, start) + 1 :])
    return _items(below) if len(line) < 300 and line.rstrip(" *_`").endswith(":") else _line(line)


def _bracketed(text: str, start: int) -> _List | None:
    """The list in the bracket at ``start``, with those right behind it."""
    parts: list[_List] = []
    while match := _BRACKET.match(text, start):
        is_empty = not match[1].strip(_MARKS + ",") or _NOTHING.fullmatch(match[1][:100])
        part = _List() if is_empty else _elements(match[1])
        if (parts and not _NO_MORE.match(text, match.end())) or (not is_empty and not part.is_list):
            break
        parts.append(part)
        between = _BETWEEN.match(text, match.end())
        if between is None or ("\n" in between[0] and len(part.ranges) != 1):
            break
        start = between.end()
    return _joined(parts) if parts else None


def _items(text: str) -> _List | None:
    """The sentences that are named a line each: bullets, numbered points, rows of a table."""
    found: list[_List] = []
    column, indent = None, None
    for line in text[:200_000].splitlines():
        body, depth = line.strip(), len(line) - len(line.lstrip())
        if not body or body.startswith("```") or (indent is not None and depth > indent):
            continue
        if body.startswith("|"):
            cells = [cell.strip(_MARKS) for cell in body.strip("|").split("|")]
            if column is None:
                named = [place for place, cell in enumerate(cells) if _COLUMN.search(cell)]
                column = named[0] if named else 0
            if column < len(cells) and (match := _ELEMENT.fullmatch(cells[column])):
                found.append(_elements(match[0]))
            continue
        match = _ITEM.match(body)
        one = _line(body) or (_elements(match[1] or match[2] or match[3]) if match else None)
        if one is None or not one.ranges:
            return _joined(found) if found else one
        found.append(one)
        indent = depth if indent is None else min(indent, depth)
    return _joined(found) if found else None


def _line(line: str) -> _List | None:
    """``3, 5 and 7``, ``Sentence 3 (the effect), Sentence 7``, ``none``; ``None`` if the line is prose."""
    if len(line) < 120 and _NOTHING.fullmatch(line):
        return _List()
    line = _ASIDE.sub("", line)
    if "[" in line or not re.search(r"\d", line) or not _LIST_LINE.fullmatch(line):
        return None
    found = _elements(line)
    return found if found.ranges and not found.n_others else None


def _alone(text: str) -> _List | None:
    """A list that is the answer's last line, or a fenced block at its end: the word was forgotten."""
    tail = text[-20_000:]
    fenced = tail[tail.rfind("```", 0, -3) :] if tail.endswith("```") else ""
    if found := _json(_FENCE.sub("", fenced)):
        return found
    tail = tail.rstrip(" \t\r\n`*_.}\"'$\\)")
    last = tail.rpartition("\n")[2].strip(_MARKS)
    if last.count(",") and (found := _line(last)):
        return found
    first = tail.find("[", tail.rfind("\n", 0, max(0, tail.rfind("["))) + 1)
    alone = first >= 0 and tail.endswith("]") and not tail[:first].rpartition("\n")[2].strip(_MARKS + ">-")
    return _bracketed(tail, first) if alone else None


def _elements(inside: str) -> _List:
    """The elements of a list such as ``3, "5", index 7, 9-12``."""
    if re.fullmatch(r"[\d\s,]*+", inside):
        numbers = inside.replace(",", " ").split()
        short = tuple((int(one), int(one)) for one in numbers if len(one) < 10)
        return _List(short, len(numbers) - len(short))
    ranges: list[tuple[int, int]] = []
    n_others = 0
    for element in _CUT.split(_ASIDE.sub("", inside)):
        core = element.strip(_MARKS)
        match = _ELEMENT.fullmatch(core)
        low, high = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if low <= high:
            ranges.append((low, high))
        else:
            n_others += bool(core)
    return _List(tuple(ranges), n_others)


def _joined(parts: Iterable[_List]) -> _List:
    every = tuple(parts)
    return _List(tuple(one for part in every for one in part.ranges), sum(part.n_others for part in every))


def _among(found: _List, shown: Collection[int]) -> tuple[tuple[int, ...], int]:
    """The indices that were shown, each once, in the order given; and how many elements were not."""
    hits: dict[int, None] = {}
    n_unknown = found.n_others
    for low, high in found.ranges:
        numbers = range(low, high + 1)
        fewer = numbers if len(numbers) < 10_000 else sorted(shown)
        inside = [one for one in fewer if one in shown and one in numbers]
        n_unknown += len(numbers) - len(inside)
        hits.update(dict.fromkeys(inside))
    return tuple(hits), n_unknown


def _json(text: str, whole: bool = True) -> _List | None:
    """The list in the object or array that a text is, or begins with."""
    if text[:1] not in ("{", "[") or (whole and text[-1:] not in ("}", "]")):
        return None
    try:
        return _of_value(json.loads(text) if whole else json.JSONDecoder().raw_decode(text)[0])
    except (ValueError, RecursionError):
        return None


def _of_value(value: Any) -> _List | None:
    """The list in a JSON value: numbers, texts, objects that name an index, or what a key says was chosen."""
    if isinstance(value, str):
        match = _ELEMENT.fullmatch(value.strip(_MARKS))
        return _json(value.strip()) or (_elements(match[0].partition(":")[0]) if match else _line(value))
    if isinstance(value, list):
        parts = [_of_value(one) for one in value]
        found = _joined(_List((), 1) if part is None else part for part in parts)
        return found if found.is_list or not value else None
    if isinstance(value, dict):
        return _of_object(value)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and value == value // 1
    return _List(((int(value),) * 2,)) if is_number else None


def _of_object(value: dict[str, Any]) -> _List | None:
    for key, inner in value.items():
        if _INDEX_KEY.fullmatch(key) and isinstance(inner, (int, str)):
            return _of_value(inner)
    if value and all(key.isdigit() for key in value):  # {"3": "why", "7": "why"}
        return _elements(",".join(value))
    chosen = other = None
    for key, inner in value.items():
        found = None if _NOT_KEY.search(key) else _List() if inner is None else _of_value(inner)
        if found is not None and _KEY.search(key):
            chosen = found
        elif found is not None and isinstance(inner, (list, dict)):
            other = found
    return other if chosen is None else chosen


def _is_quoted(text: str, start: int, end: int) -> bool:
    """Whether the words from ``start`` to ``end``, with what they head, are a quotation within their line.

    A whole line in quotes is the answer's own; so is a quotation that begins with the words, unless the line says
    that it is from the paper. A line as the prompt shows those of the paper, with more to come, is a quotation too.
    """
    before = text[max(0, start - _NEAR) : start].rpartition("\n")[2]
    after, _, more = text[end : end + _NEAR].partition("\n")
    if _PAPER_LINE.match(before) and more.strip():
        return True
    before = re.sub(r"(?<=\w)'(?=\w)", "", before)  # an apostrophe
    for opening, closing in _QUOTES:
        outside, mark, inside = before.rpartition(opening)
        still_open = before.count(opening) % 2 if opening == closing else closing not in inside
        if not mark or not still_open or not re.search(r"[\d\[].*" + re.escape(closing), after):
            continue
        if re.search(r"\w", outside) and (re.search(r"\w", inside) or _SOURCE.search(outside)):
            return True
    return False


def _reasons(text: str, indices: Collection[int]) -> dict[int, str]:
    """The reason that the answer gives for each index, in JSON or on lines; indices without one are left out."""
    lines: dict[int, dict[str, None]] = {index: {} for index in indices}
    for match in _JSON_REASON.finditer(text):
        if int(match[1]) in lines:
            lines[int(match[1])].setdefault(str(json.loads(match[2], strict=False)))
    for match in _REASON.finditer(text):
        named, bracket, numbers, mark, said = match.groups()
        if mark not in (".", ")") or named or bracket:
            for number in map(int, re.findall(r"\d+", numbers)):
                if number in lines:
                    lines[number].setdefault(said.strip(" \t\r|")[:_LONGEST_REASON])
    for line in text.splitlines() if not all(lines.values()) else ():
        for number in map(int, _MENTION.findall(line[:_LONGEST_REASON])):
            if not lines.get(number, True) and not _DECISION_LINE.match(line):
                lines[number].setdefault(line.strip()[:_LONGEST_REASON])
    return {index: "\n".join(said)[:_LONGEST_REASON] for index, said in lines.items() if said}
