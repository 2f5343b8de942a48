"""Bounds on the reading of a paper. Uploads are untrusted: each bound turns a bomb into one line of text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from evidencebench_core.errors import PaperError

MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one paper."""

    max_bytes: int = 25 * MIB  # of the file as it comes
    max_seconds: float = 20.0  # of the child process, by the clock and of the processor
    max_memory: int = 1024 * MIB  # its address space, where the system has such a limit
    max_sentences: int = 5000  # of the candidate pool; the longest paper of the benchmark has 794
    max_characters: int = 2_000_000  # of the candidate pool
    max_depth: int = 200  # how deep elements or objects may stand in each other
    max_pixels: int = 8_000_000  # of the image of a page
    max_nodes: int = 500_000  # elements and pieces of text of an XML or HTML file
    max_inflated: int = 64 * MIB  # what any one part of a compressed file (DOCX, PDF) may grow to
    max_ratio: int = (
        200  # how many times larger than its compressed form a part may grow, beyond the first MiB
    )

    def check_size(self, n_bytes: int, place: str) -> None:
        """Refuse a file that is too large, by a `PaperError`."""
        if n_bytes > self.max_bytes:
            problem = f"has {n_bytes / MIB:,.1f} MiB, and at most {self.max_bytes / MIB:,.1f} MiB are read"
            raise PaperError(place, problem, "Give the paper alone, without supplements, or as text.")


DEFAULT_LIMITS: Final = Limits()
