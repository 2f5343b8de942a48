"""The make-up of a dataset: the paper's table 1, where aspects can be found, how redundant gold is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import Any, Final

import numpy as np
import pandas as pd

from evidencebench_core.analyses.frame import gold_frame, instance_frame
from evidencebench_core.analyses.report import Report
from evidencebench_core.data.model import EvidenceSet
from evidencebench_core.data.sections import SECTION_CLASSES, section_classes
from evidencebench_core.data.store import DatasetInfo, Store

READ: Final = 2_000  # instances of which the papers are read
_KINDS: Final = {"section_name": "headings", "abstract": "abstract", "normal_paragraph": "body"}
_PLACE_COUNTS: Final = ("n_sentences", "n_covering", "n_aspects", "n_only")


def dataset_report(store: Store, name: str) -> Report:
    """Describe a dataset.

    For what needs their text (tokens, sections, sentence types) the papers of `READ` instances are read at most,
    evenly spread over the file.

    Returns
    -------
    Report
        *overview*, one row a quantity: ``quantity``, ``n`` (how many values: instances, aspects or
        sentences), ``min``, ``mean``, ``median``, ``max``. Tokens are runs of characters between white
        space. Result aspects and result optimal K stand on the instances that have result aspects.

        *sections*, one row a section class, and *types*, one a sentence type: ``where``, ``n_sentences``,
        ``n_covering`` sentences that cover an aspect (``share_covering`` of them all), ``n_aspects`` that
        a sentence there covers (``share_aspects`` of all), ``n_only`` aspects that only sentences there
        cover (``share_only``). An aspect covered in several places counts in each.
    """
    info = store.dataset(name)
    step = max(1, ceil(info.n_instances / READ))
    n_aspects = 0
    sections, types = ({column: Counter[str]() for column in _PLACE_COUNTS} for _ in range(2))
    tokens: list[int] = []
    for instance in store.get_many(name, store.ids(name)[::step]):
        n_aspects += len(instance.evidence.aspects)
        tokens.append(sum(len(sentence.split()) for sentence in instance.sentences))
        classes = section_classes(instance.sentences, instance.sentence_types)
        _count_places(sections, classes, instance.evidence)
        _count_places(types, [_KINDS[kind] for kind in instance.sentence_types], instance.evidence)
    values = {"tokens": np.array(tokens, dtype=np.int64), **_values(store, name)}
    tables = {
        "overview": _overview(values),
        "sections": _places(sections, SECTION_CLASSES, n_aspects),
        "types": _places(types, _KINDS.values(), n_aspects),
    }
    return Report(f"Dataset: {info.name}", tables, tuple(_notes(info, values)))


def _values(store: Store, name: str) -> dict[str, Any]:
    """By quantity the numbers that need no text."""
    instances, gold = instance_frame(store, name), gold_frame(store, name)
    with_results = instances["results_optimal"] >= 0
    covered = gold[gold["sentence"] >= 0]
    sentences = covered.groupby(["row", "sentence"]).size()
    return {
        "sentences": instances["n_sentences"].to_numpy(),
        "aspects": instances["n_aspects"].to_numpy(),
        "result aspects": instances.loc[with_results, "n_results"].to_numpy(),
        "optimal K": instances["optimal"].to_numpy(),
        "result optimal K": instances.loc[with_results, "results_optimal"].to_numpy(),
        "sentences that cover an aspect": np.bincount(
            sentences.index.get_level_values("row"), minlength=len(instances)
        ),
        "sentences per aspect": covered.groupby(["row", "number"]).size().to_numpy(),
        "aspects per covering sentence": sentences.to_numpy(),
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


def _overview(values: Mapping[str, Any]) -> pd.DataFrame:
    figures = ["count", "min", "mean", "median", "max"]
    rows = {quantity: pd.Series(numbers, dtype=float).agg(figures) for quantity, numbers in values.items()}
    table = pd.DataFrame.from_dict(rows, orient="index").rename(columns={"count": "n"}).astype({"n": int})
    return table.rename_axis("quantity").reset_index()


def _notes(info: DatasetInfo, values: Mapping[str, Any]) -> list[str]:
    per_aspect, per_sentence = values["sentences per aspect"], values["aspects per covering sentence"]
    notes = [
        f"{info.n_instances:,} instances from {info.n_papers:,} papers; "
        f"without result aspects: {info.n_instances - info.n_result_instances:,}.",
        "Tokens are runs of characters between white space: fewer than the paper's table 1 counts.",
    ]
    if per_aspect.size:
        notes.append(
            f"Redundancy of gold: {(per_aspect == 1).sum():,} of {len(per_aspect):,} aspects stand on one sentence "
            f"alone, and {(per_sentence > 1).sum():,} of {len(per_sentence):,} covering sentences cover "
            "more than one aspect."
        )
    if n_uncovered := int(values["aspects"].sum()) - len(per_aspect):
        notes.append(f"{n_uncovered:,} aspects that no sentence covers.")
    if len(values["tokens"]) < info.n_instances:
        notes.append(
            f"Tokens, sections and sentence types stand on {len(values['tokens']):,} instances, evenly spread "
            "over the file; all else on all."
        )
    return [*notes, *info.gold_notes]
