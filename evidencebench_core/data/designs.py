"""Study designs, where a dataset's file names them: a key that the benchmark's own files do not have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evidencebench_core.data.packing import unpacked_rest

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store

__all__ = ["designs"]

_KEY: Final = "study_design"
_FIRST: Final = 200  # instances: a file that names designs does so from the start


def designs(store: Store, dataset: str) -> dict[str, str]:
    """Study design by instance id; empty where none of the first 200 instances names one.

    Raises
    ------
    UnknownNameError
        If there is no such dataset.
    """
    info = store.dataset(dataset)
    found: dict[str, str] = {}
    with store.read() as db:
        rows = db.execute(
            "SELECT i.instance_id, b.body FROM instances AS i JOIN bodies AS b ON b.instance = i.id"
            " WHERE i.dataset_id = ? ORDER BY i.position",
            (info.id,),
        )
        for number, (instance_id, body) in enumerate(rows):
            if number == _FIRST and not found:
                break
            design = unpacked_rest(body).get(_KEY)
            if isinstance(design, str) and design.strip():
                found[instance_id] = " ".join(design.split())
    return found
