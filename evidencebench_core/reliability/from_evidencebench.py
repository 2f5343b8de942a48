"""Item sets made of a dataset: does a sentence bear on the hypothesis?

The label yes says that the sentence covers a study aspect. A no says that it covers none of the aspects of the gold,
not that it is irrelevant.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Final

from evidencebench_core.data.model import Instance
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.perturb.wordings import hypothesis_variants
from evidencebench_core.reliability.items import Item, ItemSetInfo, add_items

_MOST: Final = 5  # sentences of each label an instance


def evidence_items(store: Store, dataset: str, seed: int = 0, limit: int | None = None) -> tuple[Item, ...]:
    """Of every instance (of the first ``limit``) as many sentences with evidence as without, up to five of each, drawn.

    Headings are left out. Items are clustered by paper, and bring the wordings of their hypothesis that the store has.
    `SettingError` if no instance has sentences of both labels.
    """
    variants = hypothesis_variants(store, dataset)
    items: list[Item] = []
    for instance in store.iter(dataset, limit):
        wordings = {name: texts[instance.id] for name, texts in variants.items() if instance.id in texts}
        items += _items(instance, wordings, seed)
    if not items:
        problem = "has no instance with sentences that are evidence and others that are not"
        raise SettingError(f"dataset {shown(dataset)}", problem, "Choose another dataset.")
    return tuple(items)


def ingest_evidence(
    store: Store, dataset: str, name: str | None = None, seed: int = 0, limit: int | None = None
) -> ItemSetInfo:
    """Keep the `evidence_items` of a dataset as an item set, named after it if left out."""
    items = evidence_items(store, dataset, seed, limit)
    source = f"dataset {dataset}, seed {seed}"
    return add_items(store, f"{dataset} evidence" if name is None else name, items, "evidence", source)


def _items(instance: Instance, wordings: Mapping[str, str], seed: int) -> Iterator[Item]:
    gold = frozenset(index for covers in instance.evidence.covers("all") for index in covers)
    places = [index for index, kind in enumerate(instance.sentence_types) if kind != "section_name"]
    classes = [[index for index in places if (index in gold) == is_evidence] for is_evidence in (True, False)]
    n = min(_MOST, *map(len, classes))
    rng = random.Random(f"evidence {seed} {instance.id}")  # noqa: S311 - a reproducible draw, not a secret
    drawn = sorted(index for members in classes for index in rng.sample(members, n))
    order = {index: place for place, index in enumerate(places)}
    for index in drawn:
        around = places[max(order[index] - 1, 0) : order[index] + 2]
        yield Item(
            f"{instance.id}/{index}",
            instance.hypothesis,
            (instance.sentences[index],),
            "yes" if index in gold else "no",
            group=instance.paper_id,
            passage=" ".join(instance.sentences[place] for place in around),
            neighbour_covers=any(place in gold for place in around if place != index),
            wordings=wordings,
        )
