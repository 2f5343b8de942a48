"""Parts of a zip file of strangers, inflated within bounds. File names in it never become paths."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import IO, Final

from evidencebench_core.errors import PaperError, shown
from evidencebench_core.papers.limits import MIB, Limits

__all__ = ["Archive"]

_MOST_PARTS: Final = 10_000
_AT_A_TIME: Final = 64 * 1024


class Archive:
    """A zip file in memory.

    Raises
    ------
    PaperError
        If it is none, or has very many parts.
    """

    def __init__(self, content: bytes, limits: Limits, place: str) -> None:
        self.limits, self.place = limits, place
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OverflowError) as broken:
            raise PaperError(
                place, f"is no whole zip file ({shown(str(broken))})", "Download or save it again."
            ) from broken
        self.names = frozenset(self._zip.namelist())
        if len(self._zip.infolist()) > _MOST_PARTS:
            raise PaperError(place, f"has more than {_MOST_PARTS:,} parts", "That is no paper.")

    def part(self, name: str) -> bytes:
        """One part, inflated.

        What the zip says of sizes is not believed: inflating stops where a bound is passed.

        Raises
        ------
        PaperError
            If it grows too large, or is damaged or encrypted.
        """
        try:
            with self._zip.open(name) as source:
                return self._bounded(source, self._zip.getinfo(name).compress_size, name)
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            RuntimeError,
            NotImplementedError,
            KeyError,
        ) as broken:
            raise PaperError(
                self.place,
                f"has a part that cannot be read ({shown(str(broken))})",
                "Save it again, unlocked.",
            ) from broken

    def _bounded(self, source: IO[bytes], packed: int, name: str) -> bytes:
        most = min(self.limits.max_inflated, max(MIB, packed * self.limits.max_ratio))
        pieces: list[bytes] = []
        size = 0
        while piece := source.read(_AT_A_TIME):
            size += len(piece)
            if size > most:
                raise PaperError(
                    self.place,
                    f"has a part ({shown(name)}) that grows beyond {most / MIB:,.0f} MiB when it is unpacked",
                    "That is how zip bombs look, so it is not read. Save the paper as PDF or text.",
                )
            pieces.append(piece)
        return b"".join(pieces)
