"""What a person types to search for, as an expression of FTS5, and where in a paper it is met.

Words must all occur: "a quoted phrase" as it stands (with punctuation and case ignored, as everywhere), and the last
word, if it is not quoted, may be the beginning of a word. Anything may be typed; text without a letter or digit asks
for nothing.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Final

_WORDS: Final = re.compile(r'"([^"]*)"?|([^\s"]+)')
_SNIPPET: Final = (
    "snippet(s, 0, char(2), char(3), '…', 40)"  # of at most 40 words, hits between the two characters
)


@dataclass(frozen=True, slots=True)
class Hit:
    """The first of a paper's sentences that has the most of what was searched for."""

    sentence: int
    parts: tuple[tuple[str, bool], ...]  # its text, shortened, each part with whether it was searched for


def fts_terms(words: str) -> list[str]:
    """The words and phrases of user input, each an FTS5 expression that cannot be a syntax error."""
    cleaned = words.replace("\x00", " ").encode("utf-8", "replace").decode()
    terms: list[str] = []
    last_is_open = False
    for match in _WORDS.finditer(cleaned):
        phrase, word = match[1], match[2]
        term = phrase if word is None else word
        if any(char.isalnum() for char in term):
            terms.append(f'"{term}"')
            last_is_open = word is not None and match.end() == len(cleaned)
    if last_is_open:
        terms[-1] += "*"
    return terms


def sentence_hits(papers: Mapping[str, Sequence[str]], words: str) -> dict[str, Hit]:
    """The best hit in each paper (sentences by any key); none where it has none."""
    hits: dict[str, Hit] = {}
    terms = fts_terms(words)
    with closing(sqlite3.connect(":memory:")) as db:
        for key, sentences in papers.items() if terms else ():
            db.execute("DROP TABLE IF EXISTS s")
            db.execute("CREATE VIRTUAL TABLE s USING fts5 (text, tokenize = 'unicode61 remove_diacritics 2')")
            texts = [
                (index, text.encode("utf-8", "replace").decode()) for index, text in enumerate(sentences)
            ]
            db.executemany("INSERT INTO s (rowid, text) VALUES (?, ?)", texts)
            counts: Counter[int] = Counter()
            for term in terms:
                counts.update(row for (row,) in db.execute("SELECT rowid FROM s WHERE s MATCH ?", (term,)))
            if counts:
                best = min(counts, key=lambda row: (-counts[row], row))
                sql = f"SELECT {_SNIPPET} FROM s WHERE s MATCH ? AND rowid = ?"
                marked = db.execute(sql, (" OR ".join(terms), best)).fetchone()[0]
                pieces = re.split("\x02([^\x03]*)\x03", marked)
                parts = [(piece, place % 2 == 1) for place, piece in enumerate(pieces) if piece]
                hits[key] = Hit(best, tuple(parts))
    return hits
