"""Parts of a dataset that mean something: by design, length, aspects, optimal K, where evidence stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from evidencebench_core.data.designs import designs
from evidencebench_core.data.sections import SECTION_CLASSES, section_classes
from evidencebench_core.data.texts import paper_texts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evidencebench_core.data.model import EvidenceSet
    from evidencebench_core.data.store import InstanceRow, Store
    from evidencebench_core.tasks import Task

__all__ = ["SECTIONS_UP_TO", "main_sections", "slices_of", "thirds"]

SECTIONS_UP_TO: Final = 5_000  # instances: to know sections, every paper must be read
_DESIGNS: Final = 8  # the most frequent; the others share a slice


def slices_of(
    store: Store, dataset: str, ids: Sequence[str], task: Task
) -> tuple[dict[str, dict[str, NDArray[np.bool_]]], tuple[str, ...]]:
    """Families of slices of these instances.

    Parameters
    ----------
    store : Store
    dataset : str
    ids : sequence of str
    task : Task
        Its focus says which aspects and which optimal K count.

    Returns
    -------
    families : dict of str to (dict of str to array of bool, shape (n,))
        Families, in each its slices in order. A family of fewer than two slices is left out.
    notes : tuple of str
        Which families were left out, and why.
    """

    rows = store.rows(dataset, ids)
    notes: list[str] = []
    families: dict[str, dict[str, NDArray[np.bool_]]] = {}
    of_design = designs(store, dataset)
    if of_design:
        families["design"] = _named([of_design.get(row.id, "not given") for row in rows])
    else:
        notes.append("No slices by study design: the instances of this dataset do not name it.")
    if len(rows) <= SECTIONS_UP_TO:
        where = main_sections(store, dataset, ids, task)
        families["section with most aspects"] = _in_order(
            [where[row.id] for row in rows], [*SECTION_CLASSES, "nowhere"]
        )
    else:
        notes.append(f"No slices by section: that would read {len(rows):,} papers.")
    results = task.focus == "results"
    kind = "result aspects" if results else "aspects"
    families["sentences"] = thirds([row.n_sentences for row in rows])
    families[kind] = thirds([row.n_result_aspects if results else row.n_aspects for row in rows])
    families["optimal K"] = thirds([(row.results_optimal or 0) if results else row.optimal for row in rows])
    families["ends coverage"] = _ends(rows)
    families["share of result aspects"] = thirds(
        [round(100 * row.n_result_aspects / row.n_aspects) if row.n_aspects else 0 for row in rows], "%"
    )
    for family in [name for name, of_family in families.items() if len(of_family) < 2]:
        del families[family]
        notes.append(f"No slices by {family}: all instances are alike in it.")
    return families, tuple(notes)


def thirds(values: Sequence[int], unit: str = "") -> dict[str, NDArray[np.bool_]]:
    """Three slices of about the same size, named by their least and largest value.

    Equal values stay together, so that there may be fewer than three, of unequal size.
    """
    import numpy as np

    array = np.array(values, dtype=np.int64)
    if not array.size:
        return {}
    cuts = np.quantile(array, [1 / 3, 2 / 3], method="inverted_cdf")
    numbers = np.searchsorted(cuts, array, side="left")
    named = {}
    for number in range(3):
        members = numbers == number
        if members.any():
            low, high = int(array[members].min()), int(array[members].max())
            named[f"{low}{unit}" if low == high else f"{low} to {high}{unit}"] = members
    return named


def main_sections(store: Store, dataset: str, ids: Sequence[str], task: Task) -> dict[str, str]:
    """The section class that covers most aspects of each instance, ``"nowhere"`` where none does.

    Of classes that cover as many, the first in the order of a paper. Reads every paper.
    """
    wanted = set(ids)
    gold = {name: evidence for name, evidence in store.evidence_sets(dataset) if name in wanted}
    found = dict.fromkeys(ids, "nowhere")
    for paper in paper_texts(store, dataset, wanted):
        classes = section_classes(paper.sentences, paper.types)
        for instance_id in paper.hypotheses:
            counts = _aspects_by_class(gold[instance_id], task, classes)
            if counts:
                found[instance_id] = max(SECTION_CLASSES, key=lambda name: counts[name])
    return found


def _aspects_by_class(evidence: EvidenceSet, task: Task, classes: Sequence[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for aspect in evidence.focused(task.focus):
        counts.update({classes[index] for index in aspect.sentence_indices})
    return counts


def _named(names: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
    """A slice a name, the most frequent first; the rare ones together."""
    frequent = [name for name, _ in Counter(names).most_common(_DESIGNS)]
    kept = [name if name in frequent else "others" for name in names]
    return _in_order(kept, [*frequent, "others"])


def _in_order(names: Sequence[str], order: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
    import numpy as np

    array = np.array(names, dtype=object)
    members: Mapping[str, NDArray[np.bool_]] = {name: array == name for name in dict.fromkeys(order)}
    return {name: chosen for name, chosen in members.items() if chosen.any()}


def _ends(rows: Sequence[InstanceRow]) -> dict[str, NDArray[np.bool_]]:
    """The paper's split: share of all aspects that the first and last 10 sentences cover."""
    import numpy as np

    shares = np.array([row.ends_coverage for row in rows])
    above, below = shares > 0.8, shares < 0.2
    named = {"under 20%": below, "20 to 80%": ~above & ~below, "over 80%": above}
    return {name: members for name, members in named.items() if members.any()}
