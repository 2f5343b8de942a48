"""The guidelines that people mark by: ours, after appendix B.2 of the EvidenceBench paper, or a team's own."""

from __future__ import annotations

from importlib.resources import files

from evidencebench_core.data.primitives import now
from evidencebench_core.data.store import Store


def guidelines(store: Store) -> str:
    """What stands now, for every paper of a store."""
    with store.read() as db:
        newest = db.execute("SELECT text FROM guidelines ORDER BY rowid DESC LIMIT 1").fetchone()
    if newest and newest[0]:
        return str(newest[0])
    return (files(__package__) / "guidelines.md").read_text("utf-8")


def set_guidelines(store: Store, text: str) -> None:
    """Put others in their place; an empty text brings ours back."""
    with store.write() as db:
        db.execute("INSERT INTO guidelines VALUES (?, ?)", (text.strip(), now()))
