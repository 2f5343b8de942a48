"""The formats of dataset files. To add one, write ``instances(source)`` in a file here, and a line in `FORMATS`."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from evidencebench_core.data.formats import qasper, released, scifact, simple
from evidencebench_core.data.formats.base import Source
from evidencebench_core.data.formats.released import KEYS, instance_from, released_record
from evidencebench_core.data.model import Instance
from evidencebench_core.data.stream import REMEDY, DatasetFile
from evidencebench_core.errors import DataError, SettingError, did_you_mean, shown


class Format(NamedTuple):
    """A format of dataset files."""

    instances: Callable[[Source], Iterator[Instance]]
    keys: frozenset[str]  # a record that has any of them is of this format, if of none before it
    has_corpus: bool = False  # papers are in a file of their own


FORMATS: Final[Mapping[str, Format]] = {
    "released": Format(released.instances, frozenset(KEYS[1:11])),
    "qasper": Format(qasper.instances, frozenset({"full_text", "qas"})),
    "scifact": Format(scifact.instances, frozenset({"claim", "doc_id"}), has_corpus=True),
    "simple": Format(simple.instances, frozenset(simple.SimpleRecord.model_fields)),
}


def format_named(name: str | None, file: DatasetFile) -> str:
    """The name, if it is that of a format; without one, the format recognised by the keys of the first record."""
    if name is not None:
        if name not in FORMATS:
            remedy = f"{did_you_mean(name, FORMATS)}Known: {', '.join(FORMATS)}."
            raise SettingError(f"format {shown(name)}", "is not read", remedy)
        return name
    with DatasetFile(file.path) as another:
        first = next(another.records()).value
    keys = first.keys() if isinstance(first, dict) else set()
    for known, entry in FORMATS.items():
        if keys & entry.keys:
            return known
    raise DataError(str(file.path), f"begins with {shown(first)}, a record of no known format", REMEDY)


def read_instances(path: Path, name: str | None = None, corpus: Path | None = None) -> Iterator[Instance]:
    """The instances of a dataset file, in its order; `DataError` where it, or one of them, is wrong."""
    with DatasetFile(path) as file:
        yield from FORMATS[format_named(name, file)].instances(Source(file, path.stem, corpus))
