"""Retrievers that other installed packages bring along.

Nothing they do wrong may hurt the listing or pass for an answer: an entry point that does not load
becomes an entry with a ``problem``, and what a loaded one answers is checked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Final

from evidencebench_core.errors import EvidenceBenchError, RetrieverError
from evidencebench_core.retrievers.base import Query, Retrieval, Retriever, Setting
from evidencebench_core.retrievers.ranking import timed
from evidencebench_core.retrievers.table import IMPORTED, RETRIEVERS, RetrieverEntry

GROUP: Final = "evidencebench.retrievers"
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]*")


@lru_cache(maxsize=4)
def third_party_entries(search_path: tuple[str, ...]) -> Mapping[str, RetrieverEntry]:
    """Entries of the installed packages, sorted by name; none replaces one of ours.

    The search path is `sys.path` as it is now: looked through once, again when it changes.
    """
    entries: dict[str, RetrieverEntry] = {}
    points = sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value))
    for point in points:
        if point.name in (*RETRIEVERS, IMPORTED):
            continue
        if point.name in entries:
            entries[point.name] = _broken(point, "is announced by two packages")
        else:
            entries[point.name] = _entry_of(point)
    return MappingProxyType(entries)


def _entry_of(point: EntryPoint) -> RetrieverEntry:
    try:
        entry = point.load()
    except Exception as error:  # noqa: BLE001  (another package's code: anything may come)
        return _broken(point, f"could not be loaded ({type(error).__name__}: {error})")
    if not isinstance(entry, RetrieverEntry):
        return _broken(point, f"is a {type(entry).__name__}, not a RetrieverEntry")
    if entry.name != point.name:
        return _broken(point, f"calls itself {entry.name!r}")
    if not _NAME.fullmatch(entry.name):
        return _broken(point, "has a name with other than lower-case letters, digits and hyphens")
    if entry.sees_gold or entry.nests:
        return _broken(point, "asks for gold or for members, which only our own retrievers get")
    return entry


def _broken(point: EntryPoint, why: str) -> RetrieverEntry:
    package = f" of {point.dist.name}" if point.dist else ""
    problem = " ".join(f"entry point {point.value}{package} {why}".split())
    return RetrieverEntry(point.name, f"Cannot be used: {problem}.", problem=problem)


class Guarded:
    """Another package's retriever, with its answers checked and its exceptions turned into ours."""

    def __init__(self, name: str, inner: Retriever) -> None:
        self.name = name
        self.settings: Mapping[str, Setting] = MappingProxyType(dict(inner.settings))
        self._inner = inner

    @timed
    def retrieve(self, query: Query) -> Retrieval:
        """The inner retriever's answer."""
        try:
            retrieval = self._inner.retrieve(query)
            problem = _problem_of(retrieval, len(query.sentences))
        except EvidenceBenchError:
            raise
        except Exception as error:
            problem = f"failed ({type(error).__name__}: {error})"
            raise RetrieverError(f"retriever {self.name}", problem, _REMEDY) from error
        if problem is not None:
            raise RetrieverError(f"retriever {self.name}", problem, _REMEDY)
        return retrieval


_REMEDY: Final = "Report it to whoever wrote the package it comes from."


def _problem_of(retrieval: object, n_sentences: int) -> str | None:
    if not isinstance(retrieval, Retrieval):
        return f"answered with a {type(retrieval).__name__}, not a Retrieval"
    for part in ("ranking", "selection"):
        indices = getattr(retrieval, part)
        if not isinstance(indices, tuple) or any(type(index) is not int for index in indices):
            return f"gave a {part} that is not a tuple of integers"
        if any(not 0 <= index < n_sentences for index in indices):
            return f"gave a {part} with sentences that the paper does not have (it has {n_sentences})"
        if len(set(indices)) != len(indices):
            return f"gave a {part} that repeats a sentence"
    if len(retrieval.scores) != len(retrieval.ranking):
        return f"gave {len(retrieval.scores)} scores for {len(retrieval.ranking)} ranked sentences"
    return None
