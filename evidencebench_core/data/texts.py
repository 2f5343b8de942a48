"""A whole dataset's words, a paper at a time, and its study designs, without its gold."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final, cast

from evidencebench_core.data.model import SentenceType
from evidencebench_core.data.records import from_blob
from evidencebench_core.data.store import Store

_BATCH: Final = 128  # papers a query
_DESIGN: Final = "study_design"
_DESIGNS_WITHIN: Final = 200  # instances: a file that names designs does so from the start


@dataclass(frozen=True, slots=True)
class PaperText:
    """A paper with the hypotheses of all the instances that share it."""

    hypotheses: dict[str, str]  # by instance id
    sentences: list[str]
    types: list[SentenceType]  # same length


def paper_texts(store: Store, dataset: str, ids: Collection[str] | None = None) -> Iterator[PaperText]:
    """Every paper once, in bounded memory; neither gold nor unknown keys are read. Some 10,000 a second.

    Parameters
    ----------
    ids : collection of str, optional
        Only these instances, and the papers they need; ids that the dataset does not have are passed over.

    Raises
    ------
    UnknownNameError
        If there is no such dataset.
    """
    info = store.dataset(dataset)
    wanted = None if ids is None else frozenset(ids)
    hypotheses: dict[int, dict[str, str]] = {}
    with store.read() as db:
        for paper, instance_id, hypothesis in db.execute(
            "SELECT i.paper, i.instance_id, b.hypothesis FROM instances AS i"
            " JOIN bodies AS b ON b.instance = i.id WHERE i.dataset_id = ? ORDER BY i.position",
            (info.id,),
        ):
            if wanted is None or instance_id in wanted:
                hypotheses.setdefault(paper, {})[instance_id] = hypothesis
    papers = list(hypotheses)
    for start in range(0, len(papers), _BATCH):
        batch = papers[start : start + _BATCH]
        with store.read() as db:
            rows = db.execute(
                f"SELECT id, body FROM papers WHERE id IN ({','.join('?' * len(batch))})", batch
            ).fetchall()
        for paper, body in rows:
            sentences, types = from_blob(body)
            yield PaperText(hypotheses[paper], sentences, cast("list[SentenceType]", types))


def designs(store: Store, dataset: str) -> dict[str, str]:
    """Study design by instance id, from a key that the benchmark's own files do not have.

    Empty where none of the first 200 instances names one.

    Raises
    ------
    UnknownNameError
        If there is no such dataset.
    """
    info = store.dataset(dataset)
    names: dict[str, str] = {}
    with store.read() as db:
        rows = db.execute(
            "SELECT i.instance_id, b.body FROM instances AS i JOIN bodies AS b ON b.instance = i.id"
            " WHERE i.dataset_id = ? ORDER BY i.position",
            (info.id,),
        )
        for number, (instance_id, body) in enumerate(rows):
            if number == _DESIGNS_WITHIN and not names:
                break
            design = from_blob(body).get(_DESIGN)
            if isinstance(design, str) and design.strip():
                names[instance_id] = " ".join(design.split())
    return names
