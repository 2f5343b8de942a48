"""Papers that a reader brought and chose to keep, in the store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from evidencebench_core.data.primitives import from_blob, now, to_blob
from evidencebench_core.data.store import Store
from evidencebench_core.errors import PaperError, UnknownNameError
from evidencebench_core.papers.blocks import clean_text
from evidencebench_core.papers.paper import Paper

_LONGEST_NAME: Final = 300
_COLUMNS: Final = "id, name, hypothesis, paper_id, title, n_sentences, added_at"
_SHOWN: Final = f"{_COLUMNS}, ifnull(length(pdf), 0)"
OWN: Final = "own:"
"""How the key of a kept paper begins."""


@dataclass(frozen=True, slots=True)
class OwnPaper:
    """A kept paper, without its text."""

    id: int  # never used again, also after the paper was removed
    name: str  # by the reader; several may have the same
    hypothesis: str  # the one it was last looked at with
    paper_id: str
    title: str
    n_sentences: int
    added_at: str  # ISO 8601, UTC
    pdf_bytes: int  # of the PDF that was kept with it; 0 without one

    @property
    def key(self) -> str:
        """Its key in annotations."""
        return f"{OWN}{self.id}"


class OwnPapers:
    """The own papers of a `Store`; `UnknownNameError` for one that is not there."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def save(self, paper: Paper, name: str = "", hypothesis: str = "", pdf: bytes = b"") -> OwnPaper:
        """Keep a paper, with the PDF it was read from if that is given; the title is its name where none is."""
        shown_name = _checked_name(name or paper.title or paper.paper_id)
        values = (shown_name, hypothesis.strip(), paper.paper_id, paper.title, len(paper.sentences), now())
        insert = f"INSERT INTO own_papers ({_COLUMNS}, body, pdf) VALUES (NULL{', ?' * 8})"
        with self.store.write() as db:
            number = db.execute(insert, (*values, to_blob(paper.as_dict()), pdf or None)).lastrowid
        return self.get(int(number or 0))

    def all(self) -> tuple[OwnPaper, ...]:
        """All own papers, the newest first."""
        with self.store.read() as db:
            rows = db.execute(f"SELECT {_SHOWN} FROM own_papers ORDER BY id DESC").fetchall()
        return tuple([OwnPaper(*row) for row in rows])

    def get(self, number: int) -> OwnPaper:
        return OwnPaper(*self._row(number, _SHOWN))

    def paper(self, number: int) -> Paper:
        """The whole paper."""
        return Paper.from_dict(from_blob(self._row(number, "body")[0]))

    def pdf(self, number: int) -> bytes:
        """The PDF that was kept with it; empty without one."""
        return self._row(number, "pdf")[0] or b""

    def _row(self, number: int, columns: str) -> tuple[Any, ...]:
        with self.store.read() as db:
            rows = db.execute(f"SELECT {columns} FROM own_papers WHERE id = ?", (number,)).fetchall()
        if not rows:
            remedy = "It may have been removed elsewhere."
            raise UnknownNameError(f"own paper {number}", "is not in the store", remedy)
        return tuple(rows[0])

    def rename(self, number: int, name: str) -> OwnPaper:
        """Give it another name."""
        return self._updated(number, "name", _checked_name(name))

    def set_hypothesis(self, number: int, hypothesis: str) -> OwnPaper:
        """Keep the hypothesis it is looked at with."""
        return self._updated(number, "hypothesis", hypothesis.strip())

    def _updated(self, number: int, column: str, value: str) -> OwnPaper:
        with self.store.write() as db:
            db.execute(f"UPDATE own_papers SET {column} = ? WHERE id = ?", (value, number))
        return self.get(number)

    def remove(self, number: int) -> None:
        """Forget a paper and what was marked in it."""
        self.get(number)
        with self.store.write() as db:
            db.execute("DELETE FROM own_papers WHERE id = ?", (number,))
            db.execute("DELETE FROM annotations WHERE paper = ?", (f"{OWN}{number}",))


def _checked_name(name: str) -> str:
    stripped = clean_text(name)[:_LONGEST_NAME].strip()
    if not stripped:
        raise PaperError("the name of the paper", "is empty", "Give it a name.")
    return stripped
