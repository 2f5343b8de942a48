"""The bytes of a dataset file: decompressed, hashed and watched while they are read."""

from __future__ import annotations

import gzip
import hashlib
import os
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from evidencebench_core.data.files import NONBLOCK
from evidencebench_core.errors import StreamError

CHUNK: Final = 1 << 20
_ZSTD_FEED: Final = 1 << 10  # a zstd block says up to 128 KiB in 4 bytes: 1 KiB in is 32 MiB out at most
_FREE_CONTENT: Final = 64 << 20  # bytes that may come of however little
_MOST_GROWTH: Final = 200  # times that a file may grow beyond that; datasets grow 5 to 20 times
_GZIP_MAGIC: Final = b"\x1f\x8b"
_ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"


class Source:
    """An open dataset file; iterating gives its content, decompressed, in chunks, once.

    Use it as a context manager. The format is told by the first bytes, never by the name.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.n_content = 0
        self._digest = hashlib.sha256()
        try:
            self._file: BinaryIO = open(  # noqa: SIM115
                path, "rb", buffering=0, opener=lambda name, flags: os.open(name, flags | NONBLOCK)
            )
        except OSError as error:
            raise _not_readable(path, error) from error
        self._before = os.fstat(self._file.fileno())
        if not stat.S_ISREG(self._before.st_mode):
            self._file.close()
            raise StreamError(str(path), "is not a regular file", "Give a JSON file, plain, gzip or zstd.")
        self.n_bytes = self._before.st_size
        magic = self._file.read(4)
        self._file.seek(0)
        self._is_gzip, self._is_zstd = magic[:2] == _GZIP_MAGIC, magic == _ZSTD_MAGIC
        self.compressed = self._is_gzip or self._is_zstd

    @property
    def bytes_read(self) -> int:
        return self._file.tell()

    @property
    def sha256(self) -> str:
        """Hash of the content, once it has been iterated over."""
        return self._digest.hexdigest()

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __iter__(self) -> Iterator[bytes]:
        chunks = self._gzip() if self._is_gzip else self._zstd() if self._is_zstd else self._plain()
        try:
            for chunk in chunks:
                self._digest.update(chunk)
                self.n_content += len(chunk)
                if self.n_content > _FREE_CONTENT + _MOST_GROWTH * self.bytes_read:
                    problem = f"grows to more than {_MOST_GROWTH} times its size when it is decompressed"
                    raise StreamError(str(self.path), problem, "Decompress it yourself if you trust it.")
                yield chunk
        except OSError as error:
            raise _not_readable(self.path, error) from error

    def check_unchanged(self) -> None:
        now = os.fstat(self._file.fileno())
        same_file = now.st_size == self._before.st_size and now.st_mtime_ns == self._before.st_mtime_ns
        if not same_file:
            raise change_error(self.path)

    def _plain(self) -> Iterator[bytes]:
        while chunk := self._file.read(CHUNK):
            yield chunk

    def _gzip(self) -> Iterator[bytes]:
        try:
            with gzip.GzipFile(fileobj=self._file, mode="rb") as reader:
                while chunk := reader.read(CHUNK):
                    yield chunk
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise self._damage_error("gzip", error) from error

    def _zstd(self) -> Iterator[bytes]:
        import zstandard

        frame = zstandard.ZstdDecompressor().decompressobj()
        whole = True
        try:
            while data := self._file.read(_ZSTD_FEED):
                while data:
                    if whole:  # the frame before has ended: this is the next one
                        frame = zstandard.ZstdDecompressor().decompressobj()
                    if chunk := frame.decompress(data):
                        yield chunk
                    whole, data = frame.eof, frame.unused_data
        except zstandard.ZstdError as error:
            raise self._damage_error("zstd", error) from error
        if not whole:
            raise self._damage_error("zstd", "the last frame is cut off")

    def _damage_error(self, kind: str, reason: object) -> StreamError:
        return StreamError(str(self.path), f"is damaged or cut off {kind} ({reason})", "Get the file again.")


def change_error(path: Path) -> StreamError:
    return StreamError(
        str(path), "was changed while it was read", "Try again when nothing writes to it any more."
    )


def _not_readable(path: Path, error: OSError) -> StreamError:
    remedies = {
        FileNotFoundError: "Check the path.",
        IsADirectoryError: "Give a file, not a folder.",
        PermissionError: "Ask for permission to read it.",
    }
    reason = error.strerror or str(error)
    return StreamError(
        str(path), f"cannot be read ({reason})", remedies.get(type(error), "Check the disk and the path.")
    )
