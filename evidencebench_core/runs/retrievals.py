"""All answers of a run on a task, in one pass."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from evidencebench_core.retrievers import Retrieval

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store


_BATCH: Final = 1024


def retrievals(store: Store, run_id: str, task: str) -> Iterator[tuple[str, Retrieval]]:
    """Instance id and raw retrieval of every answer, by instance id; prompts and times are left out."""
    for rows in packed_retrievals(store, run_id, task):
        for instance_id, ranking, scores, selection in rows:
            yield (
                instance_id,
                Retrieval(
                    ranking=struct.unpack(f"<{len(ranking) // 4}i", ranking),
                    scores=struct.unpack(f"<{len(scores) // 8}d", scores),
                    selection=struct.unpack(f"<{len(selection) // 4}i", selection),
                ),
            )


def packed_retrievals(
    store: Store, run_id: str, task: str
) -> Iterator[list[tuple[str, bytes, bytes, bytes]]]:
    """The same, many at a time, as they are stored: id, ranking and selection in int32, scores in float64."""
    last = ""
    while True:
        with store.read() as db:
            rows = db.execute(
                "SELECT instance_id, ranking, scores, selection FROM retrievals"
                " WHERE run_id = ? AND task = ? AND instance_id > ? AND error IS NULL"
                " ORDER BY instance_id LIMIT ?",
                (run_id, task, last, _BATCH),
            ).fetchall()
        if rows:
            yield rows
        if len(rows) < _BATCH:
            return
        last = rows[-1][0]
