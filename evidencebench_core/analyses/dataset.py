"""What a dataset is made of: the paper's table 1, where aspects can be found, how redundant gold is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pandas as pd

from evidencebench_core.analyses.report import Report
from evidencebench_core.data import paper_texts
from evidencebench_core.data.model import EvidenceSet
from evidencebench_core.data.sections import SECTION_CLASSES, section_classes
from evidencebench_core.data.store import DatasetInfo, Store

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


def dataset_report(store: Store, name: str, read: int | None = READ) -> Report:
    """Describe a dataset.

    For what needs their text (tokens, sections, sentence types) the papers of so many instances are read at
    most, evenly spread over the file; ``None`` reads all.

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
    """
    info = store.dataset(name)
    found = _Counts()
    for instance_id, evidence in store.evidence_sets(name):
        found.gold[instance_id] = evidence
        found.count(evidence)
    found.read_papers(store, info, read)
    tables = {
        "overview": _overview(found.values),
        "sections": found.places_frame("section", SECTION_CLASSES),
        "types": found.places_frame("type", _KINDS.values()),
        "distributions": _distributions(found.values),
    }
    return Report(f"Dataset: {info.name}", tables, _notes(info, found))


@dataclass(slots=True)
class _Counts:
    """What one pass over the gold and one over the papers count.

    ``places`` has, by kind of place and place, how many sentences there are, cover an aspect; how many
    aspects are covered there, and only there.
    """

    values: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in _QUANTITIES})
    gold: dict[str, EvidenceSet] = field(default_factory=dict)
    places: dict[str, tuple[Counter[str], ...]] = field(
        default_factory=lambda: {kind: tuple(Counter() for _ in range(4)) for kind in ("section", "type")}
    )
    n_instances_read: int = 0
    n_aspects_read: int = 0
    n_uncovered: int = 0

    def count(self, evidence: EvidenceSet) -> None:
        """The numbers of one instance that need no text."""
        values = self.values
        values["sentences"].append(evidence.n_sentences)
        values["aspects"].append(len(evidence.aspects))
        values["optimal K"].append(evidence.optimal)
        if evidence.results_optimal is not None:
            values["result aspects"].append(len(evidence.focused("results")))
            values["result optimal K"].append(evidence.results_optimal)
        covering = [aspect.sentence_indices for aspect in evidence.aspects if aspect.sentence_indices]
        values["sentences per aspect"] += map(len, covering)
        self.n_uncovered += len(evidence.aspects) - len(covering)
        n_aspects = Counter(index for indices in covering for index in indices)
        values["sentences that cover an aspect"].append(len(n_aspects))
        values["aspects per covering sentence"] += n_aspects.values()

    def read_papers(self, store: Store, info: DatasetInfo, read: int | None) -> None:
        """Tokens, and where aspects stand by section class and by sentence type."""
        step = 1 if read is None else max(1, -(-info.n_instances // max(1, read)))
        for text in paper_texts(store, info.name, list(self.gold)[::step]):
            tokens = sum(len(sentence.split()) for sentence in text.sentences)
            of_sentence: dict[str, Sequence[str]] = {
                "section": section_classes(text.sentences, text.types),
                "type": [_KINDS[kind] for kind in text.types],
            }
            for instance_id in text.hypotheses:
                evidence = self.gold[instance_id]
                self.n_instances_read += 1
                self.n_aspects_read += len(evidence.aspects)
                self.values["tokens"].append(tokens)
                for kind, names in of_sentence.items():
                    self._place(kind, names, evidence)

    def _place(self, kind: str, names: Sequence[str], evidence: EvidenceSet) -> None:
        sentences, covering, aspects, only = self.places[kind]
        sentences.update(names)
        covering.update(names[i] for i in {i for aspect in evidence.aspects for i in aspect.sentence_indices})
        for aspect in evidence.aspects:
            there = {names[index] for index in aspect.sentence_indices}
            aspects.update(there)
            if len(there) == 1:
                only.update(there)

    def places_frame(self, kind: str, names: Iterable[str]) -> pd.DataFrame:
        frame = pd.DataFrame({"where": list(names)})
        columns = ("n_sentences", "n_covering", "n_aspects", "n_only")
        for column, counts in zip(columns, self.places[kind], strict=True):
            frame[column] = [counts[name] for name in frame["where"]]
        n_aspects = self.n_aspects_read or np.nan
        n_sentences = frame["n_sentences"].where(frame["n_sentences"] > 0)
        frame.insert(3, "share_covering", frame["n_covering"] / n_sentences)
        frame.insert(5, "share_aspects", frame["n_aspects"] / n_aspects)
        frame["share_only"] = frame["n_only"] / n_aspects
        return frame


def _overview(values: Mapping[str, Sequence[int]]) -> pd.DataFrame:
    rows = []
    for quantity, numbers in values.items():
        array = np.array(numbers, dtype=np.float64)
        found = (array.min(), array.mean(), np.median(array), array.max()) if array.size else (np.nan,) * 4
        rows.append((quantity, array.size, *map(float, found)))
    return pd.DataFrame(rows, columns=["quantity", "n", "min", "mean", "median", "max"])


def _distributions(values: Mapping[str, Sequence[int]]) -> pd.DataFrame:
    frames = []
    for quantity, numbers in values.items():
        distinct, counts = np.unique(np.array(numbers, dtype=np.int64), return_counts=True)
        frames.append(pd.DataFrame({"quantity": quantity, "value": distinct, "n": counts}))
    return pd.concat(frames, ignore_index=True)


def _notes(info: DatasetInfo, found: _Counts) -> tuple[str, ...]:
    per_aspect, per_sentence = (
        found.values["sentences per aspect"],
        found.values["aspects per covering sentence"],
    )
    notes = [
        f"{info.n_instances:,} instances from {info.n_papers:,} papers; "
        f"without result aspects: {info.n_instances - info.n_result_instances:,}.",
        "Tokens are runs of characters between white space: fewer than the paper's table 1 counts, which does "
        "not name its tokenisation.",
    ]
    if per_aspect:
        notes.append(
            f"Redundancy of gold: {per_aspect.count(1):,} of {len(per_aspect):,} aspects stand on one sentence "
            f"alone, and {sum(n > 1 for n in per_sentence):,} of {len(per_sentence):,} covering sentences cover "
            "more than one aspect."
        )
    if found.n_uncovered:
        notes.append(f"{found.n_uncovered:,} aspects that no sentence covers.")
    if found.n_instances_read < info.n_instances:
        notes.append(
            f"Tokens, sections and sentence types stand on {found.n_instances_read:,} instances, evenly spread "
            "over the file; all else on all."
        )
    return tuple(notes)
