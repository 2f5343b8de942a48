"""Small valid datasets, made from a compact description.

The optimal selections are found by trying every subset, so they owe nothing to the solver under test.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from evidencebench_core.data import Store, ingest, open_store


def raw_instance(
    sentences: int | Sequence[str],
    aspects: Mapping[str, Sequence[int]],
    results: Sequence[str] = (),
    *,
    hypothesis: str = "Drinking tea lowers blood pressure.",
    paper_id: str = "paper_0",
    **extra: object,
) -> dict[str, Any]:
    """A raw instance that keeps every promise of the format.

    Parameters
    ----------
    sentences : int or sequence of str
        The paper. ``"# Methods"`` is a heading, ``"> We found"`` stands in the abstract, everything
        else in the body. A number stands for so many invented sentences: heading, abstract, body.
    aspects : mapping of str to sequence of int
        The sentences that cover each aspect.
    results : sequence of str
        Which aspects are results; none at all gives the ``null`` result fields.
    **extra
        Further keys, such as ``synthetic=True`` or ``aspect_texts={...}``.
    """
    lines = _invented(sentences) if isinstance(sentences, int) else list(sentences)
    return {
        "hypothesis": hypothesis,
        "paper_as_candidate_pool": [line.removeprefix("# ").removeprefix("> ") for line in lines],
        "aspect_list_ids": list(aspects),
        "results_aspect_list_ids": list(results) or None,
        "aspect2sentence_indices": {aspect: list(indices) for aspect, indices in aspects.items()},
        "sentence_index2aspects": {
            str(index): [aspect for aspect, indices in aspects.items() if index in indices]
            for index in range(len(lines))
        },
        "evidence_retrieval_at_optimal_evaluation": _evaluation(aspects, None),
        "evidence_retrieval_at_10_evaluation": _evaluation(aspects, 10),
        "results_evidence_retrieval_at_optimal_evaluation": _results(aspects, results, None),
        "results_evidence_retrieval_at_5_evaluation": _results(aspects, results, 5),
        "sentence_types_in_candidate_pool": [_type(line) for line in lines],
        "paper_id": paper_id,
        **extra,
    }


def raw_dataset(n_instances: int, n_sentences: int = 12) -> dict[str, dict[str, Any]]:
    """``n_instances`` instances ``tiny_0``, ``tiny_1``, ...; every fifth, from ``tiny_4``, has no results.

    All differ in their text and in where their evidence stands.
    """
    dataset: dict[str, dict[str, Any]] = {}
    for number in range(n_instances):
        spots = [(number + step) % n_sentences for step in (0, 3, 5, 7)]
        aspects = {"method": spots[:1], "outcome": spots[1:3], "harm": spots[2:]}
        dataset[f"tiny_{number}"] = raw_instance(
            [f"{line} In cohort {number}." for line in _invented(n_sentences)],
            aspects,
            () if number % 5 == 4 else ("outcome", "harm"),
            hypothesis=f"Tea lowers blood pressure in cohort {number}.",
            paper_id=f"paper_{number}",
        )
    return dataset


def tiny_dataset() -> dict[str, dict[str, Any]]:
    """Six instances of 12 sentences."""
    return raw_dataset(6)


def written(dataset: Mapping[str, object], path: Path) -> Path:
    """The dataset as a JSON file at ``path``."""
    path.write_text(json.dumps(dataset), encoding="utf-8")
    return path


def store_with(dataset: Mapping[str, object], folder: Path, name: str = "tiny") -> Store:
    """A store in a folder, with one dataset."""
    store = open_store(folder / "store.sqlite")
    ingest(store, written(dataset, folder / f"{name}.json"), name)
    return store


def _invented(n_sentences: int) -> list[str]:
    words = ("tea", "pressure", "water", "cohort", "salt", "sleep", "diet")
    lines = [
        f"Sentence {index} tells of {words[index % 7]} and {words[index % 5]}."
        for index in range(n_sentences)
    ]
    for index, mark in ((0, "# "), (1, "> "), (2, "> "), (3, "# ")):
        if index < n_sentences:
            lines[index] = mark + lines[index]
    return lines


def _type(line: str) -> str:
    return {"# ": "section_name", "> ": "abstract"}.get(line[:2], "normal_paragraph")


def _results(
    aspects: Mapping[str, Sequence[int]], results: Sequence[str], budget: int | None
) -> dict[str, Any] | None:
    return _evaluation({aspect: aspects[aspect] for aspect in results}, budget) if results else None


def _evaluation(aspects: Mapping[str, Sequence[int]], budget: int | None) -> dict[str, Any]:
    """The smallest selection that covers the most, at most ``budget`` sentences where there is one."""

    def covered(picks: Sequence[int]) -> list[str]:
        return [aspect for aspect, indices in aspects.items() if not set(picks).isdisjoint(indices)]

    pool = sorted({index for indices in aspects.values() for index in indices})
    most = len(covered(pool))
    sizes = range(1, min(len(pool), budget or len(pool)) + 1)
    picks = next(
        choice for size in sizes for choice in combinations(pool, size) if len(covered(choice)) == most
    )
    evaluation: dict[str, Any] = {
        "one_selection_of_sentences": list(picks),
        "covered_aspects": covered(picks),
    }
    return evaluation if budget else {"optimal": len(picks), **evaluation}
