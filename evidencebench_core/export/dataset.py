"""Datasets back to the benchmark's JSON file, in bounded memory, as ``json.dump(instances, indent=4)`` writes it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import BinaryIO

from evidencebench_core.data.formats import released_record
from evidencebench_core.data.model import Instance
from evidencebench_core.data.store import DatasetInfo, Store
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.papers.licence import allows_changed_copies, licence_in


@dataclass(frozen=True, slots=True)
class BenchmarkFile:
    """A file of instances that was written."""

    n_instances: int
    n_bytes: int
    sha256: str
    left_out: Mapping[str, str] = field(default_factory=dict)  # instances by id: the licence of their paper


def write_benchmark(instances: Iterable[Instance], stream: BinaryIO) -> BenchmarkFile:
    """Write instances as a dataset file; `SettingError` if two have the same id, or there is none."""
    return _write(_with_unique_ids(instances), stream)


def stream_dataset(store: Store, info: DatasetInfo, stream: BinaryIO) -> BenchmarkFile:
    """Write a dataset of the store; ingested again, its instances are equal to those, in the same order.

    Instances of papers whose licence allows no changed copy are left out; `SettingError` where none remains.
    """
    left_out: dict[str, str] = {}
    file = _write(_licensed(store, info, left_out), stream)
    if left_out and not file.n_instances:
        licences = ", ".join(sorted(set(map(shown, left_out.values()))))
        problem = f"is made of papers under {licences}, which allows no changed copy"
        remedy = "It stays in your store for your own use; export its runs."
        raise SettingError(f"dataset {shown(info.name)}", problem, remedy)
    return replace(file, left_out=left_out)


def _write(instances: Iterable[Instance], stream: BinaryIO) -> BenchmarkFile:
    digest, n_bytes, n_instances = hashlib.sha256(), 0, 0

    def write(text: str) -> None:
        nonlocal n_bytes
        content = text.encode()
        stream.write(content)
        digest.update(content)
        n_bytes += len(content)

    for instance in instances:
        text = json.dumps({instance.id: released_record(instance)}, indent=4)
        write(("{\n" if n_instances == 0 else ",\n") + text[2:-2])
        n_instances += 1
    write("\n}")
    return BenchmarkFile(n_instances, n_bytes, digest.hexdigest())


def forbidding_licence(instance: Instance) -> str:
    """The licence of its paper where that allows no changed copy, such as its sentences in a list; else ``""``.

    An instance that names no licence may be passed on: it came that way.
    """
    licence = instance.construction.get("paper_licence")
    if not isinstance(licence, str) or not licence:
        return ""
    return "" if any(map(allows_changed_copies, (licence, licence_in([licence])))) else licence


def _licensed(store: Store, info: DatasetInfo, left_out: dict[str, str]) -> Iterator[Instance]:
    for instance in store.iter(info):
        if licence := forbidding_licence(instance):
            left_out[instance.id] = licence
        else:
            yield instance


def _with_unique_ids(instances: Iterable[Instance]) -> Iterator[Instance]:
    ids: set[str] = set()
    for instance in instances:
        if instance.id in ids:
            problem = f"have the id {shown(instance.id)} twice"
            raise SettingError("instances", problem, "Give every instance its own id.")
        ids.add(instance.id)
        yield instance
    if not ids:
        raise SettingError("instances", "are none", "A dataset file holds at least one.")
