"""Deletion as verbs do it that argparse still reads."""

from __future__ import annotations

from collections.abc import Callable

from evidencebench_core.cli.output import note
from evidencebench_core.words import one_line


def delete_named(what: str, dependents: dict[str, int], delete: Callable[[], object], is_meant: bool) -> int:
    """Delete what is named, with what depends on it, or only say so; the exit code."""
    from evidencebench_core.data.removal import in_words

    if not is_meant:
        print(one_line(f"{what} would be deleted, with {in_words(dependents)}."))
        note("Nothing was deleted: repeat it with --yes.")
        return 1
    delete()
    print(one_line(f"Deleted {what}, with {in_words(dependents)}."))
    return 0
