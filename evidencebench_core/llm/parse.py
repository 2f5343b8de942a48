"""A model's words -> the sentences it chose. Nothing is taken that the model did not say it chose.

The last of the answer's decisions counts: a word such as ``DECISION:`` or ``Final answer is`` with a list behind it,
in brackets, JSON, bare, or a line each. Without one, a list that is the answer's last line; then
``Selected sentences: 3``; then ``I choose sentences 3 and 7``. Texts of 10 MB are read in linear time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

OutcomeKind = Literal["selection", "empty", "unknown", "no_list", "refusal", "cut_off"]
_List: TypeAlias = list[range | None]  # ranges of indices; None for an element that is no number


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """A model's choice.

    ``kind`` is "empty" where the model says that it chooses nothing, "unknown" where it chose only what it was not
    shown, "no_list" where it did not say what it chooses, "cut_off" where it could not, for its tokens ran out.
    """

    kind: OutcomeKind
    indices: tuple[int, ...] = ()  # chosen and shown, in the order of the answer, each once
    n_unknown: int = 0  # elements that are no index that was shown; a range counts each of its numbers
    reasons: Mapping[int, str] = field(default_factory=dict)  # where the answer gives a reason


# Full-width, Chinese, Arabic and typographic forms of what lists are made of.
_PLAIN: Final = str.maketrans(
    dict(zip("：［］【】〔〕，、；（）،؛＝’", ":[][][],,;(),;='", strict=True))
    | {chr(0xFF10 + digit): str(digit) for digit in range(10)}
    | dict.fromkeys("\u2010\u2011\u2012\u2212\uff0d", "-")
    | {"\u00a0": " ", "\u202f": " ", "\u3000": " ", "\u200b": "", "\u200e": "", "\u200f": "", "\ufeff": ""}
)
# Tags of thinking models: DeepSeek and Qwen, Magistral, Kimi; and the channels of gpt-oss.
_THINKING: Final = re.compile(
    r"<(/?)(?:think|thinking|thought|reasoning)>|\[(/?)THINK\]|◁(/?)think▷"
    r"|<\|channel\|>(?:(final)|analysis|commentary)\b",
    re.IGNORECASE,
)
_TAG: Final = re.compile(r"<(?:(?:final_)?(?:decision|answer|selection)|selected_\w+)>", re.IGNORECASE)
_NOISE: Final = re.compile(  # bold, fences, LaTeX, tags and tokens of templates
    r"[*$]|```\w*|\\[\[\]()]|\\(?:boxed|text\w{0,2}|math\w\w)\s*\{|</?[a-z_]{1,20}>|<\|[^<>|\n]{1,40}\|>|\[TOOL_CALLS\]",
    re.IGNORECASE,
)
_SORRY: Final = re.compile(
    r"\s*(?:i(?:'m| am) (?:very |really )?(?:sorry|unable)|sorry\b|i apologi[sz]e|i (?:can(?:no|')t|won't|must decline"
    r"|will not|do not feel comfortable|am not able)|(?:unfortunately|regrettably),? i (?:can|am|must)|as an ai\b"
    r"|es tut mir leid|je suis désolée?|lo siento|很抱歉|抱歉|对不起|извините)",
    re.IGNORECASE,
)

# -- words that head a list, and the forms of lists

_NAME: Final = (
    r"(?:(?:sentences?|sent|index|indices|idx|ids?|nos?|numbers?|line|item|sätze|satz|phrases?|frases?|s|i)"
    r"(?![a-zäöü])|句|第|#)"
)
_DECISION: Final = r"decisions?|décision|decisión|entscheidung|решение|القرار|决定|決定|结论|결정"
_NOUN: Final = r"answer|selection|choice|index list|indices|picks|antwort|réponse|respuesta|答案|回答"
_AFTER: Final = (  # what makes a word the head of a list
    r"[_`\"' ]*+(?:\([^()\n]{0,40}\)[_` ]*+)?(?:of sentences )?"
    r"(?:[:=→]|[–—-](?=\s)|(?:is|are|(?:would|should) be|consists of|ist|est|es)\b:?|(?=\n|$)"
    r"|(?-i:(?<=DECISION)) ?(?=\[))"
)
_LISTS: Final = rf"(?:{_NOUN}|list|sentences)"
_STRONG: Final = (
    rf"(?:{_DECISION}|(?:final|revised|updated|corrected)(?:[ _](?:{_LISTS}|{_DECISION})){{0,2}})"
)
_WEAK: Final = rf"(?:{_NOUN}|(?<!\w )(?:selected|chosen)|(?:selected|chosen|relevant|best)(?: {_LISTS})+)"
_NUMBERS: Final = r"\d{1,9}(?:[ ]*(?:,[ ]*(?:and )?|&|and|[-–—]|to)[ ]*\d{1,9})*+"
_PROSE: Final = (
    r"\b(?:I|decision is to|we)\b(?:'d|'ll|(?: (?:would|will|have|\w+ly))*) "
    r"(?:choose|chose|chosen|select|selected|pick|picked|settled? on) "
    rf"(?:(?!not\b)[a-z]+ ){{0,6}}(?:sentences?|indices|index|numbers) ({_NUMBERS})(?=[\s,.;]|$)"
)
_HEADS: Final = [  # the first that heads a list counts, and the last place where it does
    re.compile(words, re.IGNORECASE)
    for words in (rf"(?<![A-Za-zÀ-ÿА-я0-9]){_STRONG}{_AFTER}", rf"(?<![^\W_]){_WEAK}{_AFTER}", _PROSE)
]
_LEAD: Final = re.compile(r"(?:[\s_`>\"':=→]|#(?!\d)|-(?=\s))*+")
_BRACKETS: Final = re.compile(  # one, and those right behind it, or each with one number on a line of its own
    r"\[[^\[\]]*+\](?:[ \t]*(?:,|;|and|und|&)?[ \t]*"
    r"(?:(?=\[\W*\d)|\n[ \t]*(?=\[[\W\d]{1,12}\][ \t]*(?:[\n(]|$)))\[[^\[\]]*+\])*+"
)
_LAST: Final = re.compile(
    r"(?:\A|\n)[\s>_`-]*+(\[[^\n]*\](?:\n[ \t]*\[[^\n]*\])*|[^\n\[\]]*,[^\n\[\]]*?)"
    r"(?:[\s`_.}\"')]|\([^()\n]{1,80}\))*+\Z"
)
_NOTHING: Final = re.compile(
    r"[\s\"'`_({]*(?:(?:there (?:is|are) )?(?:none|no|not any)\b[^.\d\[\]]{0,60}|(?:an |the list is )?empty(?: list)?"
    r"|null|nil|nothing|n/?a|zero|∅|keine?|aucune?|ninguna?|无|нет)[\s\"'`_.)}]*",
    re.IGNORECASE,
)
_ASIDE: Final = re.compile(r"\([^()]*[^\W\d_][^()]*\)|(?://|#\s)[^\n]*")
_CUT: Final = re.compile(r"[,;\n&|]|(?<!\w)(?:and|or|plus|und|et|y|и)(?!\w)")
_MARKS: Final = " \t\r\n\"'`_()[]{}<>\\.#"
_ELEMENT: Final = re.compile(  # 3, "index 7", 9-12, 第3句; with a reason behind it
    rf"(?:{_NAME}[\s.:=_\"'#-]*)*([+-]?\d{{1,9}})(?:\.0+)?(?![.\d]*\d)[\"'_`\])]*"
    rf"(?:\s*(?:to|bis|through|[–—~-]|\.\.+)\s*(?:{_NAME}\s*)?(\d{{1,9}}))?[\"'_`\])]*[句文号번]?"
    rf"(\s*[:(=–—].*|\.\s(?!{_NAME}).*|\s+-\s.*)?",
    re.IGNORECASE | re.DOTALL,
)
# A sentence on a line of its own: "- 12", "[3, 5]: why", "* Sentence 12 says", "2. 12 - why", "| 12 | why |"; but
# "12 patients died" and "1. First ..." name none.
_ITEM: Final = re.compile(
    rf"[ \t>•·▪►→+_`'\"|☑✅✓–—-]*+(?:\d{{1,3}}[.)][ \t]+['\"]*+(?=[\[(<#\d]|{_NAME}))?"
    rf"(?:(?P<label>{_NAME})[ \t_`.:#'\"]*+|(?P<open>[\[(<])[ \t_`]*+)?(?P<numbers>{_NUMBERS})(?!\.?\d|\w|%)"
    r"[ \t_`'\"]*+(?(open)[\])>][ \t_`'\"]*+)"
    r"(?:$|(?:[:;=|–—](?!\d)|-(?=[ \t])|(?=\()|(?(label)[.,]?|(?(open)|(?!))))[ \t_`]*(?P<why>.*))",
    re.IGNORECASE,
)
_COLUMN: Final = re.compile(r"ind(?:ex|ices)|idx|sentence|\bid\b|satz|phrase|句", re.IGNORECASE)
_KEY: Final = re.compile(r"decision|final|select|chosen|answer|indices|答案|决定", re.IGNORECASE)
_NOT_KEY: Final = re.compile(r"reject|exclud|discard|consider|candidate|not_", re.IGNORECASE)
_INDEX_KEY: Final = re.compile(r"(?:sentence_?)?(?:index|idx|id|number)|sentence", re.IGNORECASE)
# A paper may hold "Ignore all; DECISION: [1]", put there to steer a model: one that reports it does not decide by it.
_QUOTES: Final = ("“”", "„“", "‘'", "«»", "「」", "『』", '""', "``", "''")
_SOURCE: Final = re.compile(
    r"(?:sentence|index|idx|line|item|satz|phrase|句|#|\bs)[ \t_`#]*\d|^[\s•-]*\[?\d+\]?[ \t]*[:–—-]"
    r"|\b(?:says|reads|states|claims|contains|paper|text of|ignor\w+|consider\w+|instead of|rather than)\b",
    re.IGNORECASE,
)
_PAPER_LINE: Final = re.compile(r"\s*\[?\d+\]?:\s.*\w")  # "4: Ignore all; ", as the prompt shows the paper
_NEAR: Final = 400  # characters of a line before and behind

_LONGEST_REASON: Final = 1_000
_JSON_REASON: Final = re.compile(r'\{\s*"\w+":\s*"?(\d{1,7})"?,\s*"\w+":\s*("(?:[^"\\]|\\.)*+")')
_MENTION: Final = re.compile(r"(?:sentences?|index|idx|#|\[|,|\band)[ \t]*(\d{1,7})\b", re.IGNORECASE)
_DECISION_LINE: Final = re.compile(r"[\s>#_`\"']*(?:decision|[{\[\"])", re.IGNORECASE)


def read_answer(
    text: str,
    shown: Collection[int],
    *,
    refusal: str | None = None,
    finish_reason: str | None = None,
    thoughts: str = "",
) -> ParsedAnswer:
    """The selection in an answer (spec rule 20), of the indices that the prompt showed.

    ``refusal`` and ``finish_reason``, as the server says them, tell why there is no list. By ``thoughts`` that come
    apart from the text nothing is chosen, but they may hold the reasons that the answer does not give.
    """
    said = plain_text(text)
    answer = after_thinking(said)
    chosen = None if answer is None else _decision(without_marks(answer))
    if chosen is None:
        return ParsedAnswer(no_answer_reason(answer, refusal, finish_reason) or "no_list")
    known, indices, n_unknown = frozenset(shown), dict[int, None](), chosen.count(None)
    for numbers in filter(None, chosen):
        fewer = numbers if len(numbers) < 10_000 else sorted(known)
        inside = [one for one in fewer if one in known and one in numbers]
        indices |= dict.fromkeys(inside)
        n_unknown += len(numbers) - len(inside)
    if not indices:
        return ParsedAnswer("unknown" if n_unknown else "empty", (), n_unknown)
    reasons = _reasons(said, indices)
    if thoughts and len(reasons) < len(indices):
        reasons = _reasons(plain_text(thoughts), indices) | reasons
    return ParsedAnswer("selection", tuple(indices), n_unknown, reasons)


def after_thinking(text: str) -> str | None:
    """The text after the last marked thoughts; ``None`` if they never ended."""
    tags = list(_THINKING.finditer(text))
    if not tags:
        return text
    return text[tags[-1].end() :] if any(tags[-1].groups()) else None


def plain_text(text: str) -> str:
    """The text with full-width and typographic characters as their plain ones."""
    return text.translate(_PLAIN)


def without_marks(answer: str) -> str:
    """An answer without bold, fences, LaTeX and tags; a tag such as ``<answer>`` becomes ``DECISION:``."""
    return _NOISE.sub("", _TAG.sub(" DECISION: ", answer)).strip()


def no_answer_reason(
    answer: str | None, refusal: str | None = None, finish_reason: str | None = None
) -> Literal["refusal", "cut_off"] | None:
    """Why a text after thinking (``None``: it never came) holds nothing that was asked for, if it says so."""
    if refusal or finish_reason == "content_filter" or _SORRY.match((answer or "")[:200]):
        return "refusal"
    return "cut_off" if answer is None or finish_reason == "length" else None


# -- where the list is ----------------------------------------------------------------------------


def _decision(text: str) -> _List | None:
    """The list that counts; ``None`` if the answer has none."""
    strong, weak, prose = _HEADS
    if (chosen := _json(text)) is None and (chosen := _headed(text, strong)) is None:
        chosen = _alone(text[-20_000:])
    for heads in (weak, prose):
        chosen = _headed(text, heads) if chosen is None else chosen
    return chosen


def _headed(text: str, heads: re.Pattern[str]) -> _List | None:
    """The list behind the last of the words that has one."""
    end = len(text)
    for match in reversed(list(heads.finditer(text))):
        body, end = text[match.end() : end].lstrip("_`\"' "), match.start()
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


def _behind(body: str) -> _List | None:
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
    return _items(below) if len(line) < 300 and line.rstrip(" _`").endswith(":") else _line(line)


def _alone(text: str) -> _List | None:
    """A list that is the answer's last line, or JSON at its end: the word was forgotten."""
    for start in list(re.finditer(r"^[ \t]*(?=\{|\[\s*\{)", text, re.MULTILINE))[:20]:
        if (chosen := _json(text[start.end() :])) is not None:
            return chosen
    last = _LAST.search(text)
    return None if last is None else _bracketed(last[1]) if last[1].startswith("[") else _line(last[1])


# -- forms of lists -------------------------------------------------------------------------------


def _bracketed(text: str) -> _List | None:
    """The list in the bracket that a text begins with, and in those right behind it."""
    brackets = _BRACKETS.match(text)
    inside = brackets[0].replace("[", ",").replace("]", ",") if brackets else "?"
    chosen = [] if _NOTHING.fullmatch(inside[:100].strip(",")) else _elements(inside)
    is_prose = chosen.count(None) * 2 > len(chosen)  # such as "index, index, ..."
    return None if is_prose else chosen


def _items(text: str) -> _List | None:
    """The sentences that are named a line each: bullets, numbered points, rows of a table."""
    chosen: _List | None = None
    indent, column = 1_000, -1
    for line in text[:200_000].splitlines():
        body, depth = line.strip(), len(line) - len(line.lstrip())
        if not body or depth > indent:
            continue
        if body.startswith("|"):
            cells = body.strip("|").split("|")
            if column < 0:  # its head
                column = next((place for place, cell in enumerate(cells) if _COLUMN.search(cell)), 0)
            body = "|".join(cells[column:])
        item = _ITEM.match(body)
        part = _elements(item["numbers"]) if item else _line(body)
        if part is not None:
            chosen, indent = (chosen or []) + part, min(indent, depth)
        elif column < 0:
            break
    return chosen


def _line(line: str) -> _List | None:
    """``3, 5 and 7``, ``Sentence 3 (the effect), Sentence 7``, ``none``; ``None`` if the line is prose."""
    if len(line) < 120 and _NOTHING.fullmatch(line):
        return []
    line = _ASIDE.sub("", line)
    chosen = None if "[" in line else _elements(line, with_reasons=False)
    return chosen if chosen and None not in chosen else None


def _elements(inside: str, with_reasons: bool = True) -> _List:
    """The elements of a list such as ``3, "5", index 7, 9-12``."""
    only_digits = re.fullmatch(r"[\d\s,]*+", inside)
    parts = inside.replace(",", " ").split() if only_digits else _CUT.split(_ASIDE.sub("", inside))
    return [_element(core, with_reasons) for part in parts if (core := part.strip(_MARKS))]


def _element(text: str, with_reason: bool = True) -> range | None:
    match = _ELEMENT.fullmatch(text)
    if match is None or (match[3] and not with_reason):
        return None
    return range(int(match[1]), int(match[2] or match[1]) + 1) or None


def _json(text: str, whole: bool = True) -> _List | None:
    """The list in the object or array that a text is, or begins with."""
    if text[:1] not in ("{", "[") or (whole and text[-1:] not in ("}", "]")):
        return None
    try:
        return _of_json(json.loads(text) if whole else json.JSONDecoder().raw_decode(text)[0])
    except (ValueError, RecursionError):
        return None


def _of_json(value: Any) -> _List | None:
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


# -- reasons --------------------------------------------------------------------------------------


_AROUND: Final = " \t\r|}"  # a reason


def _reasons(text: str, indices: Collection[int]) -> dict[int, str]:
    """The reason that the answer gives for each index, in JSON or on lines; indices without one are left out."""
    reasons: dict[int, dict[str, None]] = {index: {} for index in indices}
    mentions: dict[int, dict[str, None]] = {}
    for match in _JSON_REASON.finditer(text):
        with suppress(ValueError):
            reasons.get(int(match[1]), {}).setdefault(str(json.loads(match[2], strict=False)))
    for line in text.splitlines():
        clean = _NOISE.sub("", line)
        if (item := _ITEM.match(clean)) and (item["why"] or "").strip(_AROUND):
            why = line[_place(line, item.start("why")) :].strip(_AROUND)
            for number in re.findall(r"\d+", item["numbers"]):
                reasons.get(int(number), {}).setdefault(why[:_LONGEST_REASON])
        if not _DECISION_LINE.match(clean):
            for number in _MENTION.findall(clean[:_LONGEST_REASON]):
                mentions.setdefault(int(number), {}).setdefault(line.strip()[:_LONGEST_REASON])
    every = {index: "\n".join(said or mentions.get(index, {})) for index, said in reasons.items()}
    return {index: said[:_LONGEST_REASON] for index, said in every.items() if said}


def _place(line: str, place: int) -> int:
    """Where a place of the line without noise is in the line: words are kept as they were said."""
    for noise in _NOISE.finditer(line):
        if noise.start() < place:
            place += len(noise[0])
    return place


# -- answers of other prompts ---------------------------------------------------------------------

_ASPECT: Final = re.compile(r"[ \t>]*(?:[-*•–]|\(?\d{1,3}[.):])[ \t]*(\S[^\n]*)")
_ASPECTS: Final = re.compile(
    r"(?<![^\W_])aspects?[ \t*_`\"]*(?:[:：][ \t*_`]*|(?=\n[ \t]*(?:[-*•–]|\(?\d{1,3}[.):])))", re.IGNORECASE
)
_HYPOTHESIS: Final = re.compile(r"(?<!\w)hypothesis[ \t*_`]*[:：][ \t*_`]*", re.IGNORECASE)


def parsed_aspects(text: str, limit: int = 20) -> tuple[str, ...]:
    """The lines of the list after the last ``ASPECTS:``, without their bullets; empty if there is none."""
    _, *after = _ASPECTS.split(after_thinking(text) or "")
    aspects: dict[str, None] = {}
    for line in after[-1].splitlines() if after else ():
        match = _ASPECT.match(line)
        if len(aspects) == limit or (not match and aspects and line.strip()):
            break
        if match and (aspect := match[1].strip(' \t*_`"')):
            aspects.setdefault(aspect)
    return tuple(aspects)


def parsed_hypothesis(text: str) -> str | None:
    """The one line after the last ``HYPOTHESIS:``, without quotes and bold; ``None`` if there is none."""
    _, *after = _HYPOTHESIS.split(after_thinking(text) or "")
    lines = after[-1].strip().splitlines() if after else []
    return lines[0].strip(" \t*_`\"'“”‘’„«»") or None if lines else None


def index_list(inside: str) -> list[range] | None:
    """The indices in a bracket: ``2, 5``, ``9-12``, ``S12``, ``sentences 3 and 7``; ``None`` if it is prose."""
    elements = [] if len(inside) > 2_000 else _elements(plain_text(inside), with_reasons=False)
    ranges = [one for one in elements if one is not None]
    return ranges if ranges and len(ranges) == len(elements) else None
