"""Where in a paper a search for sentences is met."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from evidencebench_core.data.query import fts_terms

_MARKS: Final = "\x02", "\x03"  # before and behind what was searched for
_TOKENS: Final = 40  # of a sentence that are shown


@dataclass(frozen=True, slots=True)
class Hit:
    """The first of a paper's sentences that has the most of what was searched for."""

    sentence: int
    parts: tuple[tuple[str, bool], ...]  # its text, shortened, each part with whether it was searched for


def sentence_hits(papers: Mapping[str, Sequence[str]], words: str) -> dict[str, Hit]:
    """The best hit in each paper (sentences by any key), by the rules of `Filter.sentences`; none where it has none."""
    terms = fts_terms(words)
    if not terms:
        return {}
    places = [(key, index) for key, sentences in papers.items() for index in range(len(sentences))]
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE VIRTUAL TABLE s USING fts5 (text, tokenize = 'unicode61 remove_diacritics 2')")
        db.executemany(
            "INSERT INTO s VALUES (?)",
            ((text.encode("utf-8", "replace").decode(),) for its in papers.values() for text in its),
        )
        counts: Counter[int] = Counter()
        for term in terms:
            counts.update(row for (row,) in db.execute("SELECT rowid - 1 FROM s WHERE s MATCH ?", (term,)))
        best: dict[str, int] = {}
        for row in sorted(counts, key=lambda row: (-counts[row], row)):
            best.setdefault(places[row][0], row)
        sql = f"SELECT snippet(s, 0, ?, ?, '…', {_TOKENS}) FROM s WHERE s MATCH ? AND rowid = ?"
        any_term = " OR ".join(terms)
        return {
            key: Hit(places[row][1], _parts(db.execute(sql, (*_MARKS, any_term, row + 1)).fetchone()[0]))
            for key, row in best.items()
        }


def _parts(marked: str) -> tuple[tuple[str, bool], ...]:
    pieces = re.split(f"{_MARKS[0]}([^{_MARKS[1]}]*){_MARKS[1]}", marked)
    return tuple((piece, place % 2 == 1) for place, piece in enumerate(pieces) if piece)
