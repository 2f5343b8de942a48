"""Filters of a dataset's instances that are kept under a name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, UnknownNameError, did_you_mean, shown
from evidencebench_core.words import one_line

_LONGEST_NAME: Final = 100
_MOST: Final = 200  # of one dataset
_LONGEST: Final = 20_000  # characters of all its parts


class SavedFilters:
    """The saved filters of a dataset. A filter is what its parts, texts by name, say to whoever saved it.

    They go with their dataset. Every method raises `UnknownNameError` if the dataset is not there.
    """

    def __init__(self, store: Store, dataset: str) -> None:
        self.store, self.dataset = store, dataset

    def all(self) -> dict[str, dict[str, str]]:
        """The parts of each, by name in the order of the alphabet."""
        with self.store.read() as db:
            rows = db.execute(
                "SELECT name, parts FROM saved_filters WHERE dataset_id = ? ORDER BY name COLLATE NOCASE",
                (self._id(),),
            ).fetchall()
        return {name: json.loads(parts) for name, parts in rows}

    def get(self, name: str) -> dict[str, str]:
        known = self.all()
        if name not in known:
            remedy = f"{did_you_mean(name, known)}There are: {', '.join(known) or 'none'}."
            raise UnknownNameError(f"filter {shown(name)}", f"is not saved for {self.dataset}", remedy)
        return known[name]

    def save(self, name: str, parts: Mapping[str, str]) -> str:
        """Keep a filter in place of any that has its name; the name, on one line.

        Raises
        ------
        SettingError
            If the name is blank or over 100 characters, or there are 200 filters or 20,000 characters already.
        """
        name, body = _checked_name(name), json.dumps(dict(parts))
        if len(body) > _LONGEST:
            raise SettingError("filter", f"has {len(body):,} characters", "Take some of its conditions away.")
        with self.store.write() as db:
            if len({*self.all(), name}) > _MOST:
                raise SettingError("saved filters", f"are {_MOST} already", "Delete one that is not needed.")
            db.execute(
                "INSERT OR REPLACE INTO saved_filters (dataset_id, name, parts, saved_at) VALUES (?, ?, ?, ?)",
                (self._id(), name, body, datetime.now(UTC).isoformat(timespec="seconds")),
            )
        return name

    def rename(self, name: str, new: str) -> str:
        """Give a filter another name, which must be free; that name."""
        new = _checked_name(new)
        with self.store.write() as db:
            self.get(name)
            if new != name and new in self.all():
                raise SettingError(f"filter {shown(new)}", "is there already", "Choose another name.")
            db.execute(
                "UPDATE saved_filters SET name = ? WHERE dataset_id = ? AND name = ?", (new, self._id(), name)
            )
        return new

    def delete(self, name: str) -> None:
        self.get(name)
        with self.store.write() as db:
            db.execute("DELETE FROM saved_filters WHERE dataset_id = ? AND name = ?", (self._id(), name))

    def _id(self) -> int:
        return self.store.dataset(self.dataset).id


def _checked_name(name: str) -> str:
    called = one_line(name).strip()
    if not 0 < len(called) <= _LONGEST_NAME:
        problem = f"has {len(called):,} characters" if called else "is blank"
        raise SettingError(
            "name of the filter", problem, f"Give it a name of at most {_LONGEST_NAME} characters."
        )
    return called
