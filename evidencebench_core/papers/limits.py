"""Bounds on the reading of a paper: uploads are untrusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from evidencebench_core.errors import PaperError

MIB: Final = 1024 * 1024
MAX_SENTENCES: Final = 5000  # of a candidate pool; the longest paper of the benchmark has 794
MAX_CHARACTERS: Final = 2_000_000
MAX_PIXELS: Final = 8_000_000  # of the image of a page


@dataclass(frozen=True, slots=True)
class Limits:
    """What the reading of one paper may take."""

    max_bytes: int = 25 * MIB  # of the file as it comes
    max_seconds: float = 20.0  # of the child process, by the clock and of the processor
    max_memory: int = 1024 * MIB  # its address space, where the system has such a limit

    def check_size(self, n_bytes: int, place: str) -> None:
        """`PaperError` for a file that is too large."""
        if n_bytes > self.max_bytes:
            problem = f"has {n_bytes / MIB:,.1f} MiB, and at most {self.max_bytes / MIB:,.1f} MiB are read"
            raise PaperError(place, problem, "Give the paper alone, without supplements, or as text.")


DEFAULT_LIMITS: Final = Limits()
