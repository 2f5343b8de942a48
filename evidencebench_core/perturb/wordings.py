"""Other wordings of hypotheses: those that come with the data, those added since by a file, misspelt ones.

A wording is named ``"negation"`` or ``"paraphrase:name"``. A file of them is one JSON object, ``{"instance id":
{"paraphrases": {"name": "text"}, "negation": "text"}, ...}``; ``made_by`` may say by the wording's name who made it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import Field

from evidencebench_core.data.files import json_value
from evidencebench_core.data.formats.base import Checked, checked
from evidencebench_core.data.primitives import from_blob, now
from evidencebench_core.data.store import Store
from evidencebench_core.errors import DataError, SettingError, shown
from evidencebench_core.perturb.spelling import misspellings
from evidencebench_core.runs import Variant

NEGATION: Final = "negation"
PARAPHRASE: Final = "paraphrase:"
LONGEST: Final = 5_000  # characters of a wording

_SPELLING: Final = re.compile(r"spelling:n=(\d{1,4})(?:,seed=(\d{1,9}))?")
_REMEDY: Final = 'Write {"instance id": {"paraphrases": {"name": "text"}, "negation": "text"}, ...}.'


@dataclass(frozen=True, slots=True)
class Wording:
    """A wording of one instance that did not come with the data."""

    instance_id: str
    name: str
    text: str
    made_by: str = ""  # a person or a model, or else the file


def hypothesis_variants(store: Store, dataset: str) -> dict[str, dict[str, str]]:
    """By the wording's name and instance id, the data's texts and over them those added; the negation comes last."""
    texts: dict[str, dict[str, str]] = {}
    with store.read() as db:
        bodies = db.execute(
            "SELECT i.instance_id, b.body FROM instances AS i JOIN bodies AS b ON b.instance = i.id"
            " WHERE i.dataset_id = ? ORDER BY i.position",
            (store.dataset(dataset).id,),
        )
        for instance_id, body in bodies:
            rest = from_blob(body)
            for name, text in rest.get("paraphrases", {}).items():
                texts.setdefault(PARAPHRASE + name, {})[instance_id] = text
            if "negation" in rest:
                texts.setdefault(NEGATION, {})[instance_id] = rest["negation"]
    for wording in added_wordings(store, dataset):
        texts.setdefault(wording.name, {})[wording.instance_id] = wording.text
    return {name: texts[name] for name in sorted(texts, key=lambda name: (name == NEGATION, name))}


def variant_named(store: Store, dataset: str, name: str) -> Variant:
    """The variant that a name stands for on a dataset; `SettingError` if no instance has it.

    ``negation`` and ``paraphrase:NAME`` from the data or added since, ``spelling:n=N`` or ``spelling:n=N,seed=S``
    (without hypotheses that have no word to misspell).
    """
    if numbers := spelling_numbers(name):
        n, seed = numbers
        if n < 1:
            raise SettingError("variant spelling:n=0", "is the original", "Run without a variant.")
        rows = store.rows(dataset, store.ids(dataset))
        misspelt = {row.id: misspellings(row.hypothesis, (n,), seed)[0] for row in rows}
        texts = {unit: text.text for unit, text in misspelt.items() if text.n_mutated}
        return Variant(spelling_name(n, seed), texts)
    variants = hypothesis_variants(store, dataset)
    if name not in variants:
        names = ", ".join([*variants, "spelling:n=N"])
        remedy = f"There are: {names}. A file brings more: `evidencebench run --wordings FILE`."
        raise SettingError(f"variant {shown(name)}", f"is not in {shown(dataset)}", remedy)
    return Variant(name, variants[name])


def spelling_name(n: int, seed: int = 0) -> str:
    """``spelling:n=3,seed=0``, as `variant_named` takes it."""
    return f"spelling:n={n},seed={seed}"


def spelling_numbers(name: str) -> tuple[int, int] | None:
    """The number of errors and the seed in a `spelling_name`; ``None`` where a name is none."""
    spelling = _SPELLING.fullmatch(name)
    return (int(spelling[1]), int(spelling[2] or 0)) if spelling else None


def added_wordings(store: Store, dataset: str) -> tuple[Wording, ...]:
    """The wordings added to the data, by name, then instance id."""
    with store.read() as db:
        rows = db.execute(
            "SELECT instance_id, name, text, made_by FROM wordings WHERE dataset_id = ? ORDER BY name, instance_id",
            (store.dataset(dataset).id,),
        )
        return tuple(Wording(*row) for row in rows)


def add_wordings(store: Store, dataset: str, wordings: Iterable[Wording], source: str = "") -> int:
    """Add wordings to a dataset, all or none, replacing those of the same name. Returns how many.

    ``source`` is who made those that do not say. `DataError` if one is for an instance of another dataset.
    """
    added = list(wordings)
    if strangers := sorted({wording.instance_id for wording in added} - set(store.ids(dataset))):
        example = f"that dataset {shown(dataset)} does not have, such as {shown(strangers[0])}"
        remedy = "Name the dataset that these wordings belong to, or leave those instances out."
        raise DataError(source or "wordings", f"is about {len(strangers):,} instances {example}", remedy)
    key, moment = store.dataset(dataset).id, now("milliseconds")
    with store.write() as db:
        db.executemany(
            "INSERT OR REPLACE INTO wordings (dataset_id, instance_id, name, text, made_by, added_at)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            [(key, w.instance_id, w.name, w.text, w.made_by or source, moment) for w in added],
        )
    return len(added)


class _Entry(Checked):
    """What a file of wordings has of one instance."""

    paraphrases: dict[str, str] = Field({})
    negation: str | None = None
    made_by: dict[str, str] = Field({})


def read_wordings(path: Path) -> tuple[Wording, ...]:
    """The wordings of a file; `DataError`, one line that names the place, if anything in it is not as it should be."""
    value = json_value(path, _REMEDY)
    if not isinstance(value, dict) or not value:
        raise DataError(str(path), f"holds {shown(value)}, not an object with instances", _REMEDY)
    wordings: list[Wording] = []
    for instance_id, content in value.items():
        place = f"{path}, {shown(instance_id)}"
        entry = checked(_Entry, content, place)
        texts = {PARAPHRASE + name: text for name, text in entry.paraphrases.items()}
        if entry.negation is not None:
            texts[NEGATION] = entry.negation
        if not texts:
            raise DataError(place, f"is {shown(content)}, without paraphrases or a negation", _REMEDY)
        for name, text in texts.items():
            words = " ".join(text.split())
            is_wording = 0 < len(words) <= LONGEST and words.isprintable()
            if not is_wording or name == PARAPHRASE or not name.isprintable():
                remedy = f"Give a name and the hypothesis in other words, in {LONGEST:,} printable characters at most."
                raise DataError(f"{place}, {shown(name)}", f"cannot be {shown(text)}", remedy)
            wordings.append(Wording(instance_id, name, words, entry.made_by.get(name, "")))
    return tuple(wordings)
