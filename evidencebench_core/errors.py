"""Every error this package raises on purpose.

::

    EvidenceBenchError              one line: place, problem, remedy
    ├── DataError                   a dataset file, or something in it, is wrong
    │   ├── InstanceError           one instance breaks the format's promises
    │   ├── StreamError             the file cannot be read as instances at all
    │   └── DownloadError           a dataset could not be fetched whole
    ├── StoreError                  the SQLite store cannot do what was asked
    │   ├── StoreVersionError       the store was written by a newer version
    │   └── UnknownNameError        no dataset, instance or run of that name
    ├── SettingError                unknown task, retriever or setting, or a bad value
    ├── SelectionError              sentence indices that the paper does not have
    └── RetrieverError              a retriever could not be loaded or could not answer

Whoever catches ``EvidenceBenchError`` catches them all; the message is meant for the user as it is.
"""

from __future__ import annotations

__all__ = [
    "DataError",
    "DownloadError",
    "EvidenceBenchError",
    "InstanceError",
    "RetrieverError",
    "SelectionError",
    "SettingError",
    "StoreError",
    "StoreVersionError",
    "StreamError",
    "UnknownNameError",
    "shown",
]


def shown(value: object, limit: int = 60) -> str:
    """A value as it may stand in a one-line message: ``repr``, cut to ``limit`` characters."""
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


class EvidenceBenchError(Exception):
    """Something the user can act on.

    Parameters
    ----------
    place : str
        Where it happened: a file, an instance and field, a setting.
    problem : str
        What is wrong, with the value found.
    remedy : str
        What to do about it.
    """

    def __init__(self, place: str, problem: str, remedy: str) -> None:
        self.place, self.problem, self.remedy = place, problem, remedy
        super().__init__(place, problem, remedy)

    def __str__(self) -> str:
        line = f"{self.place}: {self.problem}. {self.remedy}"
        return " ".join(line.split())


class DataError(EvidenceBenchError):
    """A dataset file, or something in it, is wrong."""


class InstanceError(DataError):
    """One instance breaks the format's promises.

    ``place`` is ``"<instance id>.<field>"``.
    """


class StreamError(DataError):
    """The file cannot be read as instances: truncated, binary, changed while being read, ..."""


class DownloadError(DataError):
    """A dataset could not be fetched whole; nothing stands under its final name."""


class StoreError(EvidenceBenchError):
    """The SQLite store cannot do what was asked; it is as it was before."""


class StoreVersionError(StoreError):
    """The store was written by a newer version of this package."""


class UnknownNameError(StoreError):
    """No dataset, instance or run of that name."""


class SettingError(EvidenceBenchError):
    """Unknown task, retriever or setting, or a value it cannot take."""


class SelectionError(EvidenceBenchError):
    """A selection names sentences that the paper does not have, or not by integers."""


class RetrieverError(EvidenceBenchError):
    """A retriever could not be loaded, or could not answer a query."""
