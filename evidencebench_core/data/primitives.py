"""What records of the store are made of: a time, a digest, a name, JSON in a blob."""

import hashlib
import json
import threading
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol, TypeVar

import orjson
import zstandard

from evidencebench_core.errors import StoreError, UnknownNameError, did_you_mean, shown
from evidencebench_core.words import one_line

T = TypeVar("T", bound="Named")


class Named(Protocol):
    """What the store keeps under a name."""

    @property
    def name(self) -> str: ...
    @property
    def sha256(self) -> str: ...


class _Coders(threading.local):
    """One per thread: creating them takes longer than coding most blobs."""

    def __init__(self) -> None:
        self.compress = zstandard.ZstdCompressor(level=3, write_checksum=True).compress
        self.decompress = zstandard.ZstdDecompressor().decompress


_coders = _Coders()


def now(timespec: str = "seconds") -> str:
    """The time in ISO 8601, UTC."""
    return datetime.now(UTC).isoformat(timespec=timespec)


def process_mark(pid: int) -> str:
    """The id and start time of a running process; ``""`` if there is none with this id."""
    import psutil  # type: ignore[import-untyped]

    try:
        return f"{pid} {psutil.Process(pid).create_time():.0f}"
    except psutil.Error:
        return ""


def canonical_text(value: object) -> str:
    """A JSON-able value as a text that does not depend on the order of its keys."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def digest(value: object) -> str:
    """SHA-256 of the canonical text of a JSON-able value."""
    return hashlib.sha256(canonical_text(value).encode("utf-8", "surrogatepass")).hexdigest()


def to_blob(value: object) -> bytes:
    """A JSON-able value, or its JSON, as a zstd frame with a checksum."""
    content = value if isinstance(value, bytes) else orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)
    return _coders.compress(content)


def from_blob(blob: bytes) -> Any:
    """The value of a `to_blob`; `StoreError` where it is not as it was written."""
    try:
        return orjson.loads(_coders.decompress(blob))
    except (zstandard.ZstdError, orjson.JSONDecodeError) as error:
        remedy = "Restore the store from a backup, or make a new one from the same files."
        raise StoreError("a record of the store", f"is damaged ({error})", remedy) from error


def checked_name(name: str, noun: str) -> str:
    """A name in one line of at most 100 characters; `StoreError` if it is blank or longer."""
    name = one_line(name).strip()
    if not 0 < len(name) <= 100:
        problem = f"has {len(name):,} characters" if name else "is blank"
        raise StoreError(f"the name of the {noun}", problem, "Give it a name of at most 100 characters.")
    return name


def by_name(infos: Iterable[T], name: str, noun: str, path: Path, remedy: str) -> T:
    """The one with that name, else `UnknownNameError`, which gives the ``remedy`` if there are none at all."""
    known = {info.name: info for info in infos}
    if name not in known:
        choices = f"There are: {', '.join(known)}." if known else remedy
        remedy = did_you_mean(name, known, 0.5) + choices
        raise UnknownNameError(f"{noun} {shown(name)}", f"is not in {path}", remedy)
    return known[name]
