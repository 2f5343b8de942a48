"""User input as an FTS5 expression, and where in a paper it matches.

Words must all occur, "a quoted phrase" as it stands; the last word, if it is not quoted, may be the beginning of one.
"""

import re
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from typing import Final

_WORDS: Final = re.compile(r'"([^"]*)"?|([^\s"]+)')


def fts_terms(words: str) -> list[str]:
    """The words and phrases of user input, each an FTS5 expression that cannot be a syntax error."""
    cleaned = words.replace("\x00", " ").encode("utf-8", "replace").decode()
    matches = [match for match in _WORDS.finditer(cleaned) if any(map(str.isalnum, match[0]))]
    terms = [f'"{match[1] or match[2]}"' for match in matches]
    if matches and matches[-1][2] and cleaned.endswith(matches[-1][2]):
        terms[-1] += "*"
    return terms


def best_sentence(sentences: Sequence[str], words: str) -> int | None:
    """Index of the first of a paper's sentences that has the most of the words; ``None`` where none has any."""
    counts: Counter[int] = Counter()
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE VIRTUAL TABLE s USING fts5 (text, tokenize = 'unicode61 remove_diacritics 2')")
        texts = [(index, text.encode("utf-8", "replace").decode()) for index, text in enumerate(sentences)]
        db.executemany("INSERT INTO s (rowid, text) VALUES (?, ?)", texts)
        for term in fts_terms(words):
            counts.update(row for (row,) in db.execute("SELECT rowid FROM s WHERE s MATCH ?", (term,)))
    return min(counts, key=lambda index: (-counts[index], index), default=None)
