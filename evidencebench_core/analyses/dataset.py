"""The make-up of a dataset: the paper's table 1, where aspects can be found, how redundant gold is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import pandas as pd

from evidencebench_core.analyses.report import Report
from evidencebench_core.data import paper_texts
from evidencebench_core.data.gold import Gold, Numbers
from evidencebench_core.data.model import EvidenceSet
from evidencebench_core.data.sections import SECTION_CLASSES, section_classes
from evidencebench_core.data.store import DatasetInfo, Store

READ: Final = 2_000  # instances of which the papers are read
_KINDS: Final = {"section_name": "headings", "abstract": "abstract", "normal_paragraph": "body"}
_PLACE_COUNTS: Final = ("n_sentences", "n_covering", "n_aspects", "n_only")


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
    values = _values(store.gold(name))
    step = 1 if read is None else max(1, -(-info.n_instances // max(1, read)))
    gold = dict(store.evidence_sets(name, store.ids(name)[::step]))
    counts: dict[str, dict[str, Counter[str]]] = {
        kind: {column: Counter() for column in _PLACE_COUNTS} for kind in ("section", "type")
    }
    tokens_of: list[int] = []
    for text in paper_texts(store, info.name, gold):
        tokens = sum(len(sentence.split()) for sentence in text.sentences)
        sections, types = section_classes(text.sentences, text.types), [_KINDS[kind] for kind in text.types]
        for instance_id in text.hypotheses:
            tokens_of.append(tokens)
            _count_places(counts["section"], sections, gold[instance_id])
            _count_places(counts["type"], types, gold[instance_id])
    values = {"tokens": np.array(tokens_of, dtype=np.int64), **values}
    n_aspects = sum(len(evidence.aspects) for evidence in gold.values())
    tables = {
        "overview": _overview(values),
        "sections": _places(counts["section"], SECTION_CLASSES, n_aspects),
        "types": _places(counts["type"], _KINDS.values(), n_aspects),
        "distributions": _distributions(values),
    }
    return Report(f"Dataset: {info.name}", tables, tuple(_notes(info, values)))


def _values(gold: Gold) -> dict[str, Numbers]:
    """By quantity the numbers that need no text."""
    with_results = gold.results_optimal >= 0
    n_covering = gold.n_covering
    offset = gold.offset
    n_aspects = np.bincount(offset[gold.instance[gold.aspect]] + gold.sentence)  # by sentence of the dataset
    covering = np.flatnonzero(n_aspects)
    instances = np.searchsorted(offset, covering, side="right") - 1
    return {
        "sentences": gold.n_sentences,
        "aspects": gold.per_instance(),
        "result aspects": gold.per_instance(gold.is_result)[with_results],
        "optimal K": gold.optimal,
        "result optimal K": gold.results_optimal[with_results],
        "sentences that cover an aspect": np.bincount(instances, minlength=len(gold.ids)),
        "sentences per aspect": n_covering[n_covering > 0],
        "aspects per covering sentence": n_aspects[covering],
    }


def _count_places(counts: Mapping[str, Counter[str]], names: Sequence[str], evidence: EvidenceSet) -> None:
    """Add a paper whose sentences stand in these places."""
    counts["n_sentences"].update(names)
    covering = {index for aspect in evidence.aspects for index in aspect.sentence_indices}
    counts["n_covering"].update(names[index] for index in covering)
    for aspect in evidence.aspects:
        there = {names[index] for index in aspect.sentence_indices}
        counts["n_aspects"].update(there)
        if len(there) == 1:
            counts["n_only"].update(there)


def _places(counts: Mapping[str, Counter[str]], names: Iterable[str], n_aspects: int) -> pd.DataFrame:
    frame = pd.DataFrame({"where": list(names)})
    for column in _PLACE_COUNTS:
        frame[column] = [counts[column][name] for name in frame["where"]]
    n_sentences = frame["n_sentences"].where(frame["n_sentences"] > 0)
    frame.insert(3, "share_covering", frame["n_covering"] / n_sentences)
    frame.insert(5, "share_aspects", frame["n_aspects"] / (n_aspects or np.nan))
    frame["share_only"] = frame["n_only"] / (n_aspects or np.nan)
    return frame


def _overview(values: Mapping[str, Numbers]) -> pd.DataFrame:
    rows = []
    for quantity, numbers in values.items():
        array = numbers.astype(np.float64)
        found = (array.min(), array.mean(), np.median(array), array.max()) if array.size else (np.nan,) * 4
        rows.append((quantity, array.size, *map(float, found)))
    return pd.DataFrame(rows, columns=["quantity", "n", "min", "mean", "median", "max"])


def _distributions(values: Mapping[str, Numbers]) -> pd.DataFrame:
    frames = []
    for quantity, numbers in values.items():
        distinct, counts = np.unique(numbers, return_counts=True)
        frames.append(pd.DataFrame({"quantity": quantity, "value": distinct, "n": counts}))
    return pd.concat(frames, ignore_index=True)


def _notes(info: DatasetInfo, values: Mapping[str, Numbers]) -> Iterator[str]:
    per_aspect, per_sentence = values["sentences per aspect"], values["aspects per covering sentence"]
    yield (
        f"{info.n_instances:,} instances from {info.n_papers:,} papers; "
        f"without result aspects: {info.n_instances - info.n_result_instances:,}."
    )
    yield (
        "Tokens are runs of characters between white space: fewer than the paper's table 1 counts, which does "
        "not name its tokenisation."
    )
    if per_aspect.size:
        yield (
            f"Redundancy of gold: {(per_aspect == 1).sum():,} of {len(per_aspect):,} aspects stand on one sentence "
            f"alone, and {(per_sentence > 1).sum():,} of {len(per_sentence):,} covering sentences cover "
            "more than one aspect."
        )
    if n_uncovered := int(values["aspects"].sum()) - len(per_aspect):
        yield f"{n_uncovered:,} aspects that no sentence covers."
    yield from info.gold_notes
    if len(values["tokens"]) < info.n_instances:
        yield (
            f"Tokens, sections and sentence types stand on {len(values['tokens']):,} instances, evenly spread "
            "over the file; all else on all."
        )
