"""What reading a paper may cost. Uploads are untrusted: each bound turns a bomb into one line of text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from evidencebench_core.errors import PaperError

MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one paper.

    Attributes
    ----------
    max_bytes : int
        Of the file as it comes.
    max_seconds : float
        Wall clock (and processor time) of the child process; only `read_paper_apart` can keep to it.
    max_memory : int
        Bytes of address space of the child process, where the system has such a limit.
    max_sentences : int
        Of the candidate pool; the longest paper of the benchmark has 794.
    max_characters : int
        Of the candidate pool.
    max_depth : int
        How deep elements or objects may stand in each other.
    max_nodes : int
        Elements and pieces of text of an XML or HTML file.
    max_inflated : int
        Bytes that any one part of a compressed file (DOCX, PDF) may grow to.
    max_ratio : int
        How many times larger than its compressed form a part may grow, beyond the first MiB.
    """

    max_bytes: int = 25 * MIB
    max_seconds: float = 20.0
    max_memory: int = 1024 * MIB
    max_sentences: int = 5000
    max_characters: int = 2_000_000
    max_depth: int = 200
    max_nodes: int = 500_000
    max_inflated: int = 64 * MIB
    max_ratio: int = 200

    def check_size(self, n_bytes: int, place: str) -> None:
        """Refuse a file that is too large, by a `PaperError`."""
        if n_bytes > self.max_bytes:
            problem = f"has {n_bytes / MIB:,.1f} MiB, and at most {self.max_bytes / MIB:,.1f} MiB are read"
            raise PaperError(place, problem, "Give the paper alone, without supplements, or as text.")


DEFAULT_LIMITS: Final = Limits()
