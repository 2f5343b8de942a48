"""Datasets back to the benchmark's JSON file, in bounded memory and always to the same bytes.

The released files are ``json.dumps(instances, indent=4)``, which is what is written here. The store keeps an
instance's keys, their order and all values, but not how its file was laid out; it knows the SHA-256 of the
file, though, so for a file that is not too long other usual layouts are tried, and if one has that hash, the
original's very bytes are given back.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

from evidencebench_core.data import check_instance
from evidencebench_core.data.store import DatasetInfo, Store
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.papers.licence import allows_changed_copies, licence_in

_TRIED_UP_TO: Final = 64 << 20  # bytes of a file for which other layouts are tried


@dataclass(frozen=True, slots=True)
class Layout:
    """How a JSON file looks."""

    indent: int | None  # blanks a level; None for all of it on one line
    ascii: bool  # letters beyond ASCII as \u00e9
    end: str  # behind the last brace

    def pieces(self, raws: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterator[bytes]:
        """The file, piece by piece."""
        opened, between, closed = ("{", ", ", "}") if self.indent is None else ("{\n", ",\n", "\n}")
        before, trimmed = opened, len(opened)
        for instance_id, raw in raws:
            text = json.dumps({instance_id: raw}, indent=self.indent, ensure_ascii=self.ascii)
            yield (before + text[trimmed : -len(closed)]).encode()
            before = between
        yield ((closed if before == between else "{}") + self.end).encode()


LAYOUTS: Final = tuple(
    Layout(indent, ascii_only, end)
    for end in ("", "\n")
    for indent in (4, None, 2, 1)
    for ascii_only in (True, False)
)
"""The layout of the released files first."""


@dataclass(frozen=True, slots=True)
class BenchmarkFile:
    """A file of instances that was written; whether these are the bytes of the file that the dataset came from.

    ``identical`` is ``None`` for instances that come from no file.
    """

    n_instances: int
    n_bytes: int
    sha256: str
    layout: Layout
    identical: bool | None = None


def write_benchmark(raws: Iterable[tuple[str, Mapping[str, Any]]], stream: BinaryIO) -> BenchmarkFile:
    """Write raw instances (with their ids) as a dataset file, each checked as ingest would.

    `InstanceError` if one breaks the format's promises, `SettingError` if two have the same id, or there is none.
    """
    return _write(_check_each(raws), stream, LAYOUTS[0])


def stream_dataset(store: Store, info: DatasetInfo, stream: BinaryIO) -> BenchmarkFile:
    """Write a dataset of the store; ingested again, its instances are equal to those, in the same order.

    `SettingError`, and nothing is written, where the licence of a paper allows no changed copy.
    """
    layouts = LAYOUTS if info.n_bytes <= _TRIED_UP_TO else ()
    layout = next((one for one in layouts if _is_original(store, info, one)), LAYOUTS[0])
    return _write(_raws(store, info), stream, layout, info)


def _is_original(store: Store, info: DatasetInfo, layout: Layout) -> bool:
    digest, n_bytes = hashlib.sha256(), 0
    for piece in layout.pieces(_raws(store, info)):
        digest.update(piece)
        n_bytes += len(piece)
        if n_bytes > info.n_bytes:
            return False
    return digest.hexdigest() == info.sha256


def _write(
    raws: Iterable[tuple[str, Mapping[str, Any]]],
    stream: BinaryIO,
    layout: Layout,
    info: DatasetInfo | None = None,
) -> BenchmarkFile:
    digest, n_bytes, n_instances = hashlib.sha256(), 0, -1  # the last piece is no instance
    for piece in layout.pieces(raws):
        stream.write(piece)
        digest.update(piece)
        n_bytes, n_instances = n_bytes + len(piece), n_instances + 1
    sha256 = digest.hexdigest()
    return BenchmarkFile(
        n_instances, n_bytes, sha256, layout, None if info is None else sha256 == info.sha256
    )


def _raws(store: Store, info: DatasetInfo) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for instance_id in store.ids(info.name):
        raw = store.raw(info.name, instance_id)
        licence = (raw.get("construction") or {}).get("paper_licence")
        if isinstance(licence, str) and licence and not allows_changed_copies(licence_in([licence])):
            problem = f"is made of a paper under {shown(licence)}, which allows no changed copy"
            remedy = "It stays in your store for your own use; export runs, or a dataset without it."
            raise SettingError(f"instance {shown(instance_id)}", problem, remedy)
        yield instance_id, raw


def _check_each(raws: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    seen: set[str] = set()
    for instance_id, raw in raws:
        check_instance(instance_id, raw)
        if instance_id in seen:
            raise SettingError(
                "instances", f"have the id {shown(instance_id)} twice", "Give every instance its own id."
            )
        seen.add(instance_id)
        yield instance_id, raw
    if not seen:
        raise SettingError("instances", "are none", "A dataset file holds at least one.")
