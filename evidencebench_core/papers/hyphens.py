"""Lines of print into running text: hyphens at line ends, ligatures, the several hyphens of Unicode."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from evidencebench_core.data.files import vocabulary

_LIGATURES: Final = {sign: unicodedata.normalize("NFKC", sign) for sign in map(chr, range(0xFB00, 0xFB07))}
_PLAIN: Final = str.maketrans({**_LIGATURES, "\u2010": "-", "\u2011": "-", "\u00ad": "-", "\u00a0": " "})
_WORD: Final = re.compile(r"[^\W\d_]+(?:-\w+)*")
_LAST: Final = re.compile(r"([\w'’]+(?:-[\w'’]+)*)-$")
_FIRST: Final = re.compile(r"[\w'’]+")
_KEEPS_HYPHEN: Final = frozenset(vocabulary("abbreviations.toml")["keeps_hyphen"])
_CONJUNCTIONS: Final = frozenset(vocabulary("abbreviations.toml")["conjunctions"])
# Endings of long second parts of words with a hyphen: "site-directed".
_ADJECTIVE: Final = re.compile(r"\w{3,}(?:ed|ing|ory|ive|ent|ant)")


class Words:
    """Words of a paper as they stand within its lines, to tell a broken word from one with a hyphen."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.plain: Counter[str] = Counter()
        self.hyphened: Counter[str] = Counter()
        is_broken = False
        for text in map(without_ligatures, texts):
            words = _WORD.findall(text.lower())[is_broken:]
            is_broken = text.endswith("-")
            for word in words[:-1] if is_broken else words:
                if "-" in word:
                    self.hyphened[word] += 1
                    self.plain.update(part for part in word.split("-") if len(part) > 2)
                else:
                    self.plain[word] += 1

    def keeps_hyphen(self, first: str, second: str) -> bool:
        """Whether "first-" at a line's end before "second" is a word with a hyphen."""
        n_plain = self.plain[(first + second).lower()]
        n_hyphened = self.hyphened[f"{first}-{second}".lower()]
        if n_plain or n_hyphened:
            return n_hyphened > n_plain
        if not second[:1].islower() or not first[-1:].isalpha():
            return True  # "COVID-19", "Mann-Whitney"
        head, tail = first.rsplit("-", 1)[-1], second.lower()
        if head.lower() in _KEEPS_HYPHEN or len(head) == 1 or head.isupper() or "-" in first:
            return True
        if len(head) < 3 or not self.plain[head.lower()]:
            return False
        is_word = self.plain[tail] > 0 and len(tail) > 3
        return is_word or (len(head) > 3 and len(tail) > 6 and _ADJECTIVE.fullmatch(tail) is not None)


def without_ligatures(text: str) -> str:
    """Text without ligatures and with one kind of hyphen; minus signs stay, as in the benchmark."""
    return text.translate(_PLAIN)


def joined_lines(lines: Sequence[str], words: Words) -> tuple[str, list[int]]:
    """Lines of one paragraph as one text, broken words joined, and where in it each line begins."""
    text = ""
    starts: list[int] = []
    for line in lines:
        line_text = " ".join(without_ligatures(line).split())
        if text.endswith("-"):
            text = _join(text, line_text, words)
        elif not text or (text.endswith(("–", "—", "/")) and len(text) > 1 and not text[-2].isspace()):
            text += line_text
        else:
            text = f"{text} {line_text}".rstrip()
        starts.append(len(text) - len(line_text))
    return text, starts


def _join(text: str, line: str, words: Words) -> str:
    first, second = _LAST.search(text), _FIRST.match(line)
    if first is None or second is None:
        return f"{text} {line}" if text.endswith(" -") else text + line
    if second[0].lower() in _CONJUNCTIONS and line[second.end() : second.end() + 1] != "-":
        return f"{text} {line}"  # "pre- and post-test"
    return text + line if words.keeps_hyphen(first[1], second[0]) else text[:-1] + line
