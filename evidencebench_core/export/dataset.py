"""Datasets back to the benchmark's JSON file, in bounded memory, as ``json.dump(instances, indent=4)`` writes it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from evidencebench_core.data.formats import released_record
from evidencebench_core.data.model import Instance
from evidencebench_core.data.store import DatasetInfo, Store
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.papers.licence import allows_changed_copies, licence_in


def write_benchmark(instances: Iterable[Instance], stream: BinaryIO) -> int:
    """Write instances, each with an id of its own, as a dataset file; how many there were."""
    n_instances = 0
    for instance in instances:
        text = json.dumps({instance.id: released_record(instance)}, indent=4)
        stream.write((("{\n" if n_instances == 0 else ",\n") + text[2:-2]).encode())
        n_instances += 1
    stream.write(b"\n}")
    return n_instances


def stream_dataset(store: Store, info: DatasetInfo, stream: BinaryIO) -> dict[str, str]:
    """Write a dataset of the store; ingested again, its instances are equal to those, in the same order.

    Instances of papers whose licence allows no changed copy are left out, and returned by their ids with the licence;
    `SettingError` where none remains.
    """
    left_out: dict[str, str] = {}
    if not write_benchmark(_licensed(store, info, left_out), stream):
        licences = ", ".join(sorted(set(map(shown, left_out.values()))))
        problem = f"is made of papers under {licences}, which allows no changed copy"
        remedy = "It stays in your store for your own use; export its runs."
        raise SettingError(f"dataset {shown(info.name)}", problem, remedy)
    return left_out


def forbidding_licence(instance: Instance) -> str:
    """The licence of its paper where that allows no changed copy, such as its sentences in a list; else ``""``.

    An instance that names no licence may be passed on: it came that way.
    """
    licence = instance.licence
    is_open = not licence or any(map(allows_changed_copies, (licence, licence_in([licence]))))
    return "" if is_open else licence


def _licensed(store: Store, info: DatasetInfo, left_out: dict[str, str]) -> Iterator[Instance]:
    for instance in store.iter(info):
        if licence := forbidding_licence(instance):
            left_out[instance.id] = licence
        else:
            yield instance
