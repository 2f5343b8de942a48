"""Where in a paper a search for sentences matches."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing

from evidencebench_core.data.search import fts_terms


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
