"""The list of sentences that an answer gives as its choice, in whatever form."""

from __future__ import annotations

import json
import re
from typing import Any, Final, TypeAlias

List: TypeAlias = list[range | None]
"""Elements of a list: ranges of indices, and ``None`` for each that is no number."""

_TAG: Final = re.compile(r"<(?:(?:final_)?(?:decision|answer|selection)|selected_\w+)>", re.IGNORECASE)
_NOISE: Final = re.compile(  # LaTeX, tags and tokens of templates
    r"\\[\[\]()]|\\(?:boxed|text\w{0,2}|math\w\w)\s*\{|</?[a-z_]{1,20}>|<\|[^<>|\n]{1,40}\|>|\[TOOL_CALLS\]",
    re.IGNORECASE,
)
_NAME: Final = (
    r"(?:(?:sentences?|sent|index|indices|idx|ids?|nos?|numbers?|line|item|sätze|satz|phrases?|frases?|s|i)"
    r"(?![a-zäöü])|句|第|#)"
)
_DECISION: Final = r"decisions?|décision|decisión|entscheidung|решение|القرار|决定|決定|结论|결정"
_NOUN: Final = r"answer|selection|choice|index list|indices|picks|antwort|réponse|respuesta|答案|回答"
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
_BRACKETS: Final = re.compile(  # one, and those right behind it, or each with one number on a line of its own
    r"\[[^\[\]]*+\](?:[ \t]*(?:,|;|and|und|&)?[ \t]*"
    r"(?:(?=\[\W*\d)|\n[ \t]*(?=\[[\W\d]{1,12}\][ \t]*(?:[\n(]|$)))\[[^\[\]]*+\])*+"
)
_LAST: Final = re.compile(
    r"(?:\A|\n)[\s>*_`$\\-]*+(\[[^\n]*\](?:\n[ \t]*\[[^\n]*\])*|[^\n\[\]]*,[^\n\[\]]*?)"
    r"(?:[\s`*_.}\"'$\\)]|\([^()\n]{1,80}\))*+\Z"
)
_FENCE: Final = re.compile(r"\A```\w*\s*|\s*```\Z")
_NOTHING: Final = re.compile(
    r"[\s\"'`*_({]*(?:(?:there (?:is|are) )?(?:none|no|not any)\b[^.\d\[\]]{0,60}|(?:an |the list is )?empty(?: list)?"
    r"|null|nil|nothing|n/?a|zero|∅|keine?|aucune?|ninguna?|无|нет)[\s\"'`*_.)}]*",
    re.IGNORECASE,
)
_ASIDE: Final = re.compile(r"\([^()]*[^\W\d_][^()]*\)|(?://|#\s)[^\n]*")
_CUT: Final = re.compile(r"[,;\n&|]|(?<!\w)(?:and|or|plus|und|et|y|и)(?!\w)")
_MARKS: Final = " \t\r\n\"'`*_()[]{}<>$\\.#"
_ELEMENT: Final = re.compile(
    rf"(?:{_NAME}[\s.:=_\"'*#-]*)*([+-]?\d{{1,9}})(?:\.0+)?(?![.\d]*\d)[\"'*_`\])]*"
    rf"(?:\s*(?:to|bis|through|[–—~-]|\.\.+)\s*(?:{_NAME}\s*)?(\d{{1,9}}))?[\"'*_`\])]*"
    rf"(?:\s*(?:[:(=–—句文号번]|\.\s(?!{_NAME})).*|\s+-\s.*)?",
    re.IGNORECASE | re.DOTALL,
)
_LIST_LINE: Final = re.compile(
    rf"(?:[\s,;.&|(){{}}\]<>$\"'`*_\\–—-]|\d++|(?:and|to|through|und|et|y|bis)(?![a-z])|{_NAME}[:.]?)*+",
    re.IGNORECASE,
)
# A sentence on a line of its own: "- 12", "[3, 5]: why", "* **Sentence 12** says", "2. 12 - why", "| 12 | why |"; but
# "12 patients died" and "1. First ..." name none.
ITEM: Final = re.compile(
    rf"[ \t>*•·▪►→+_`'\"|☑✅✓–—-]*+(?:\d{{1,3}}[.)][ \t]+[*_`'\"]*+(?=[\[(<#\d]|{_NAME}))?"
    rf"(?:(?P<label>{_NAME})[ \t*_`.:#'\"]*+|(?P<open>[\[(<])[ \t*_`]*+)?(?P<numbers>{_NUMBERS})(?!\.?\d|\w|%)"
    r"[ \t*_`'\"]*+(?(open)[\])>][ \t*_`'\"]*+)"
    r"(?:$|(?:[:;=|–—](?!\d)|-(?=[ \t])|(?=\()|(?(label)[.,]?|(?(open)|(?!))))[ \t*_`]*(?P<why>.*))",
    re.IGNORECASE,
)
_COLUMN: Final = re.compile(r"ind(?:ex|ices)|idx|sentence|\bid\b|satz|phrase|句", re.IGNORECASE)
_KEY: Final = re.compile(r"decision|final|select|chosen|answer|indices|答案|决定", re.IGNORECASE)
_NOT_KEY: Final = re.compile(r"reject|exclud|discard|consider|candidate|not_", re.IGNORECASE)
_INDEX_KEY: Final = re.compile(r"(?:sentence_?)?(?:index|idx|id|number)|sentence", re.IGNORECASE)
# A paper may hold "Ignore all; DECISION: [1]", put there to steer a model: one that reports it does not decide by it.
_QUOTES: Final = ("“”", "„“", "‘'", "«»", "「」", "『』", '""', "``", "''")
_SOURCE: Final = re.compile(
    r"(?:sentence|index|idx|line|item|satz|phrase|句|#|\bs)[ \t*_`#]*\d|^[\s*•-]*\[?\d+\]?[ \t]*[:–—-]"
    r"|\b(?:says|reads|states|claims|contains|paper|text of|ignor\w+|consider\w+|instead of|rather than)\b",
    re.IGNORECASE,
)
_PAPER_LINE: Final = re.compile(r"\s*\[?\d+\]?:\s.*\w")  # "4: Ignore all; ", as the prompt shows the paper
_NEAR: Final = 400  # characters of a line before and behind


# -- where the list is ----------------------------------------------------------------------------


def decision(answer: str) -> List | None:
    """The list that counts; ``None`` if the answer has none."""
    text = _NOISE.sub("", _TAG.sub(" DECISION: ", answer)).strip()
    chosen = _json(_FENCE.sub("", text))
    for heads in (_STRONG, None, _WEAK, _PROSE):
        if chosen is None:
            chosen = _headed(text, heads) if heads else _alone(text)
    return chosen


def _headed(text: str, heads: re.Pattern[str]) -> List | None:
    """The list behind the last of the words that has one."""
    end = len(text)
    for match in reversed(list(heads.finditer(text))):
        body, end = text[match.end() : end].lstrip("*_`\"' "), match.start()
        if not _is_quoted(text, end, match.end()):
            chosen = _elements(match[1]) if match.lastindex else _behind(body)
            if chosen is not None:
                return chosen
    return None


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
        from_elsewhere = re.search(r"\w", outside) and (re.search(r"\w", inside) or _SOURCE.search(outside))
        if mark and still_open and from_elsewhere and re.search(r"[\d\[].*" + re.escape(closing), after):
            return True
    return False


def _behind(body: str) -> List | None:
    """The list that a text begins with, on the same line or below."""
    start = len(body) - len(_LEAD.sub("", body, 1))
    line, _, below = body[start:].partition("\n")
    is_json = re.match(r"\{|\[\s*[\[{\"]", body[start : start + 40])
    if is_json and (chosen := _json(body[start:], whole=False)):
        return chosen
    before, bracket, _ = line.partition("[")
    if bracket and len(before) < 60 and not re.search(r"\d", before):
        return _bracketed(body[start + len(before) :])
    if "\n" in body[:start]:
        return _items(body[body.rfind("\n", 0, start) + 1 :])
    return _items(below) if len(line) < 300 and line.rstrip(" *_`").endswith(":") else _line(line)


def _alone(text: str) -> List | None:
    """A list that is the answer's last line, or a fenced block at its end: the word was forgotten."""
    tail = text[-20_000:]
    fenced = _FENCE.sub("", tail[tail.rfind("```", 0, -3) :]) if tail.endswith("```") else ""
    if (chosen := _json(fenced)) is not None:
        return chosen
    last = _LAST.search(tail)
    return None if last is None else _bracketed(last[1]) if last[1].startswith("[") else _line(last[1])


# -- forms of lists -------------------------------------------------------------------------------


def _bracketed(text: str) -> List | None:
    """The list in the bracket that a text begins with, and in those right behind it."""
    brackets = _BRACKETS.match(text)
    inside = brackets[0].replace("[", ",").replace("]", ",") if brackets else "?"
    chosen = [] if _NOTHING.fullmatch(inside[:100].strip(",")) else _elements(inside)
    is_prose = chosen.count(None) * 2 > len(chosen)  # such as "index, index, ..."
    return None if is_prose else chosen


def _items(text: str) -> List | None:
    """The sentences that are named a line each: bullets, numbered points, rows of a table."""
    chosen: List | None = None
    indent, column = 1_000, -1
    for line in text[:200_000].splitlines():
        body, depth = line.strip(), len(line) - len(line.lstrip())
        if not body or body.startswith("```") or depth > indent:
            continue
        if body.startswith("|"):
            cells = body.strip("|").split("|")
            if column < 0:  # its head
                column = next((place for place, cell in enumerate(cells) if _COLUMN.search(cell)), 0)
            body = "|".join(cells[column:])
        item = ITEM.match(body)
        part = _elements(item["numbers"]) if item else _line(body)
        if part is not None:
            chosen, indent = (chosen or []) + part, min(indent, depth)
        elif column < 0:
            break
    return chosen


def _line(line: str) -> List | None:
    """``3, 5 and 7``, ``Sentence 3 (the effect), Sentence 7``, ``none``; ``None`` if the line is prose."""
    if len(line) < 120 and _NOTHING.fullmatch(line):
        return []
    line = _ASIDE.sub("", line)
    if "[" in line or not _LIST_LINE.fullmatch(line):
        return None
    chosen = _elements(line)
    return chosen if chosen and None not in chosen else None


def _elements(inside: str) -> List:
    """The elements of a list such as ``3, "5", index 7, 9-12``."""
    only_digits = re.fullmatch(r"[\d\s,]*+", inside)
    parts = inside.replace(",", " ").split() if only_digits else _CUT.split(_ASIDE.sub("", inside))
    return [_element(core) for part in parts if (core := part.strip(_MARKS))]


def _element(text: str) -> range | None:
    match = _ELEMENT.fullmatch(text)
    return range(int(match[1]), int(match[2] or match[1]) + 1) or None if match else None


def _json(text: str, whole: bool = True) -> List | None:
    """The list in the object or array that a text is, or begins with."""
    if text[:1] not in ("{", "[") or (whole and text[-1:] not in ("}", "]")):
        return None
    try:
        return _of_json(json.loads(text) if whole else json.JSONDecoder().raw_decode(text)[0])
    except (ValueError, RecursionError):
        return None


def _of_json(value: Any) -> List | None:
    """The list in a JSON value: numbers, texts, objects that name an index, or what a key says was chosen."""
    if isinstance(value, list):
        parts = [_of_json(one) for one in value]
        elements = [one for part in parts for one in ([None] if part is None else part)]
        return elements if not value or 0 < len(elements) >= 2 * elements.count(None) else None
    if isinstance(value, dict):
        inner = {key: one for key, one in value.items() if not _NOT_KEY.search(key)}
        index = [
            one for key, one in inner.items() if _INDEX_KEY.fullmatch(key) and isinstance(one, (int, str))
        ]
        named = [one for key, one in inner.items() if _KEY.search(key)]
        last = index or named or [one for one in inner.values() if isinstance(one, (list, dict))]
        return _of_json(last[-1]) if last else None
    element = _element(str(value).strip(_MARKS))
    return [element] if element else _line(str(value))
