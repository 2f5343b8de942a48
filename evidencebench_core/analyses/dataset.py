"""What a dataset is made of: the paper's table 1, where aspects can be found, how redundant gold is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.analyses.report import Report
from evidencebench_core.data.sections import SECTION_CLASSES, section_classes
from evidencebench_core.data.texts import paper_texts

if TYPE_CHECKING:
    import pandas as pd

    from evidencebench_core.data.model import EvidenceSet
    from evidencebench_core.data.store import DatasetInfo, Store

__all__ = ["READ", "dataset_report"]

READ: Final = 2_000  # instances of which the papers are read
_KINDS: Final = {"section_name": "headings", "abstract": "abstract", "normal_paragraph": "body"}
_QUANTITIES: Final = (
    "tokens",
    "sentences",
    "aspects",
    "result aspects",
    "optimal K",
    "result optimal K",
    "sentences that cover an aspect",
    "sentences per aspect",
    "aspects per covering sentence",
)


@dataclass(slots=True)
class _Gathered:
    """What one pass over the gold and one over the papers find."""

    values: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in _QUANTITIES})
    gold: dict[str, EvidenceSet] = field(default_factory=dict)
    places: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    n_instances_read: int = 0
    n_aspects_read: int = 0
    n_uncovered: int = 0


def dataset_report(store: Store, name: str, read: int | None = READ) -> Report:
    """Describe a dataset.

    Parameters
    ----------
    store : Store
    name : str
        Of a dataset in the store.
    read : int or None
        Of how many instances the papers are read for what needs their text (tokens, sections, sentence
        types): at most so many, evenly spread over the file. ``None`` reads all.

    Returns
    -------
    Report
        *overview*, one row a quantity: ``quantity``, ``n`` (how many values: instances, aspects or
        sentences), ``min``, ``mean``, ``median``, ``max``. Tokens are runs of characters between white
        space. Result aspects and result optimal K stand on the instances that have result aspects.

        *sections*, one row a section class, and *types*, one a sentence type: ``where``, ``n_sentences``,
        ``n_covering`` sentences that cover an aspect (``share_covering`` of them all), ``n_aspects`` that
        a sentence there covers (``share_aspects`` of all), ``n_only`` aspects that only sentences there
        cover (``share_only``). An aspect covered in several places counts in each, so shares of aspects add
        up to more than 1. All shares are 0 to 1.

        *distributions*: ``quantity``, ``value``, ``n``: how often each value occurs.

    Raises
    ------
    UnknownNameError
        If there is no such dataset.
    """
    info = store.dataset(name)
    found = _Gathered()
    for instance_id, evidence in store.evidence_sets(name):
        found.gold[instance_id] = evidence
        _count(found, evidence)
    _read_papers(store, info, found, read)
    tables = {
        "overview": _overview(found.values),
        "sections": _places(found, "section", SECTION_CLASSES),
        "types": _places(found, "type", tuple(_KINDS.values())),
        "distributions": _distributions(found.values),
    }
    return Report(f"Dataset: {info.name}", tables, _notes(info, found))


def _count(found: _Gathered, evidence: EvidenceSet) -> None:
    """The numbers of one instance that need no text."""
    values = found.values
    results = evidence.focused("results")
    values["sentences"].append(evidence.n_sentences)
    values["aspects"].append(len(evidence.aspects))
    values["optimal K"].append(evidence.optimal)
    if evidence.results_optimal is not None:
        values["result aspects"].append(len(results))
        values["result optimal K"].append(evidence.results_optimal)
    covered: dict[int, int] = {}
    for aspect in evidence.aspects:
        if aspect.sentence_indices:
            values["sentences per aspect"].append(len(aspect.sentence_indices))
        else:
            found.n_uncovered += 1
        for index in aspect.sentence_indices:
            covered[index] = covered.get(index, 0) + 1
    values["sentences that cover an aspect"].append(len(covered))
    values["aspects per covering sentence"] += covered.values()


def _read_papers(store: Store, info: DatasetInfo, found: _Gathered, read: int | None) -> None:
    """Tokens, and where aspects stand by section class and by sentence type."""
    step = 1 if read is None else max(1, -(-info.n_instances // max(1, read)))
    for text in paper_texts(store, info.name, list(found.gold)[::step]):
        tokens = sum(len(sentence.split()) for sentence in text.sentences)
        of_sentence = {
            "section": section_classes(text.sentences, text.types),
            "type": tuple(_KINDS[kind] for kind in text.types),
        }
        for instance_id in text.hypotheses:
            found.n_instances_read += 1
            found.values["tokens"].append(tokens)
            found.n_aspects_read += len(found.gold[instance_id].aspects)
            for kind, names in of_sentence.items():
                _place(found.places, kind, names, found.gold[instance_id])


def _place(
    places: dict[tuple[str, str], list[int]], kind: str, names: Sequence[str], evidence: EvidenceSet
) -> None:
    """Add one instance to ``[sentences, covering sentences, aspects, aspects only there]`` of each place."""

    def add(name: str, column: int, more: int = 1) -> None:
        places.setdefault((kind, name), [0, 0, 0, 0])[column] += more

    for name, n_sentences in Counter(names).items():
        add(name, 0, n_sentences)
    for index in {index for aspect in evidence.aspects for index in aspect.sentence_indices}:
        add(names[index], 1)
    for aspect in evidence.aspects:
        there = {names[index] for index in aspect.sentence_indices}
        for name in there:
            add(name, 2)
        if len(there) == 1:
            add(next(iter(there)), 3)


def _overview(values: Mapping[str, Sequence[int]]) -> pd.DataFrame:
    import numpy as np
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for quantity, numbers in values.items():
        array = np.array(numbers, dtype=np.float64)
        known = array.size > 0
        rows.append(
            {
                "quantity": quantity,
                "n": array.size,
                "min": array.min() if known else float("nan"),
                "mean": array.mean() if known else float("nan"),
                "median": np.median(array) if known else float("nan"),
                "max": array.max() if known else float("nan"),
            }
        )
    return pd.DataFrame(rows)


def _places(found: _Gathered, kind: str, names: Iterable[str]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(list(_place_rows(found, kind, names)))


def _place_rows(found: _Gathered, kind: str, names: Iterable[str]) -> Iterator[dict[str, Any]]:
    for name in names:
        n_sentences, n_covering, n_aspects, n_only = found.places.get((kind, name), (0, 0, 0, 0))
        yield {
            "where": name,
            "n_sentences": n_sentences,
            "n_covering": n_covering,
            "share_covering": n_covering / n_sentences if n_sentences else float("nan"),
            "n_aspects": n_aspects,
            "share_aspects": n_aspects / found.n_aspects_read if found.n_aspects_read else float("nan"),
            "n_only": n_only,
            "share_only": n_only / found.n_aspects_read if found.n_aspects_read else float("nan"),
        }


def _distributions(values: Mapping[str, Sequence[int]]) -> pd.DataFrame:
    import numpy as np
    import pandas as pd

    frames = []
    for quantity, numbers in values.items():
        distinct, counts = np.unique(np.array(numbers, dtype=np.int64), return_counts=True)
        frames.append(pd.DataFrame({"quantity": quantity, "value": distinct, "n": counts}))
    return pd.concat(frames, ignore_index=True)


def _notes(info: DatasetInfo, found: _Gathered) -> tuple[str, ...]:
    once = sum(1 for n in found.values["sentences per aspect"] if n == 1)
    n_covered = len(found.values["sentences per aspect"])
    several = sum(1 for n in found.values["aspects per covering sentence"] if n > 1)
    n_covering = len(found.values["aspects per covering sentence"])
    notes = [
        f"{info.n_instances:,} instances from {info.n_papers:,} papers; "
        f"without result aspects: {info.n_instances - info.n_result_instances:,}.",
        "Tokens are runs of characters between white space: fewer than the paper's table 1 counts, which does "
        "not name its tokenisation.",
    ]
    if n_covered:
        notes.append(
            f"Redundancy of gold: {once:,} of {n_covered:,} aspects stand on one sentence alone, and "
            f"{several:,} of {n_covering:,} covering sentences cover more than one aspect."
        )
    if found.n_uncovered:
        notes.append(f"{found.n_uncovered:,} aspects that no sentence covers.")
    if found.n_instances_read < info.n_instances:
        notes.append(
            f"Tokens, sections and sentence types stand on {found.n_instances_read:,} instances, evenly spread "
            "over the file; all else on all."
        )
    return tuple(notes)
