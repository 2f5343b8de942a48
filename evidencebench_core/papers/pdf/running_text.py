"""Lines of print into running text: hyphens at line ends, ligatures, the several hyphens of Unicode."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

_LIGATURES: Final = {
    "\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\ufb05": "st", "\ufb06": "st",
}  # fmt: skip
_PLAIN: Final = str.maketrans({**_LIGATURES, "\u2010": "-", "\u2011": "-", "\u00ad": "-", "\u00a0": " "})
_WORD: Final = re.compile(r"[^\W\d_]+(?:-\w+)*")
_LAST: Final = re.compile(r"([\w'’]+(?:-[\w'’]+)*)-$")
_FIRST: Final = re.compile(r"[\w'’]+")
# Whether a hyphen at a line's end belongs to the word, where the paper itself does not tell: first parts of words
# written with a hyphen more often than not, last parts of such words, what typesetters leave of a word for the
# next line, and words of two words written without one.
_KEPT_AFTER: Final = frozenset(
    """
    age all anti case community cross dose double early eight evidence ex fast first five follow four full
    growth half health high hospital ice large late life long low meta mid nine non one part placebo
    population post pre quasi second self seven sex short single six sleep slow small ten third three time two
    vice well wild year
    """.split()  # noqa: SIM905
)
_KEPT_BEFORE: Final = frozenset(
    """
    adjusted associated based binding blind blinded dependent derived exposed exposure fold free induced level
    matched mediated negative old phase poor positive resistant response rich risk scale specific stage term
    wave year
    """.split()  # noqa: SIM905
)
_BROKEN_ENDS: Final = frozenset(
    """
    able ably al ally ance ant ants ate ated ates ation ations den der ding ed ence ent ents er ers ful ing
    ion ions ity ive less ling ly ment ments ness ning ous red ring sion sions ted ten tic tics ting tion
    tions tive tor tors
    """.split()  # noqa: SIM905
)
_TOGETHER: Final = frozenset(
    """
    although another became become before beside between cannot decrease decreased furthermore himself however
    increase increased moreover outcome outside overall therefore whereas within without
    """.split()  # noqa: SIM905
)
_SUSPENDED_BEFORE: Final = frozenset({"and", "or", "to", "und", "nor", "versus", "vs", "but", "through"})
_ADJECTIVE_ENDS: Final = ("ed", "ing", "ory", "ive", "ent", "ant")  # of long last parts: "site-directed"


class Words:
    """Words of a paper as they stand within its lines, to tell a broken word from one with a hyphen."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.plain: Counter[str] = Counter()
        self.hyphened: Counter[str] = Counter()
        broken = False
        for text in map(plain, texts):
            found = _WORD.findall(text.lower())
            if broken:
                found = found[1:]
            broken = text.endswith("-")
            if broken:
                found = found[:-1]
            for word in found:
                if "-" in word:
                    self.hyphened[word] += 1
                    self.plain.update(part for part in word.split("-") if len(part) > 2)
                else:
                    self.plain[word] += 1

    def keeps_hyphen(self, first: str, second: str) -> bool:
        """Whether "first-" at a line's end before "second" is a word with a hyphen."""
        whole, apart = (first + second).lower(), f"{first}-{second}".lower()
        n_whole, n_apart = self.plain[whole] + (whole in _TOGETHER), self.hyphened[apart]
        if n_whole or n_apart:
            return n_apart > n_whole
        if not second[:1].islower() or not first[-1:].isalpha():
            return True  # "COVID-19", "Mann-Whitney"
        head, tail = first.rsplit("-", 1)[-1], second.lower()
        if head.lower() in _KEPT_AFTER or len(head) == 1 or head.isupper() or "-" in first:
            return True
        if tail in _KEPT_BEFORE:
            return len(head) > 3
        if tail in _BROKEN_ENDS or len(head) < 3 or not self.plain[head.lower()]:
            return False
        return self.plain[tail] > 0 or (len(head) > 3 and len(tail) > 6 and tail.endswith(_ADJECTIVE_ENDS))


def plain(text: str) -> str:
    """Text without ligatures and with one kind of hyphen; minus signs stay, as in the benchmark."""
    return text.translate(_PLAIN)


def running_text(lines: Sequence[str], words: Words) -> str:
    """Lines of one paragraph as one text.

    At a hyphen that ends a line the parts are joined; the hyphen stays where the paper has the word with a
    hyphen elsewhere, and where what follows is no lower-case letter. Without a word in the paper to
    go by, it stays between two words of the paper.
    """
    text = ""
    for line in map(plain, lines):
        if not text:
            text = line
        elif text.endswith("-"):
            text = _join(text, line, words)
        elif text.endswith(("–", "—", "/")) and len(text) > 1 and not text[-2].isspace():
            text += line
        else:
            text = f"{text} {line}"
    return " ".join(text.split())


def _join(text: str, line: str, words: Words) -> str:
    first, second = _LAST.search(text), _FIRST.match(line)
    if first is None or second is None:
        return f"{text} {line}" if text.endswith((" -", "- -")) else text + line
    if second[0].lower() in _SUSPENDED_BEFORE and line[second.end() : second.end() + 1] != "-":
        return f"{text} {line}"
    in_capitals = text.isupper() and line.isupper() and len(second[0]) > 1  # a heading
    if in_capitals and not words.hyphened[f"{first[1]}-{second[0]}".lower()]:
        return text[:-1] + line
    return text + line if words.keeps_hyphen(first[1], second[0]) else text[:-1] + line
