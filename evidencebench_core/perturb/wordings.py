"""Other wordings of hypotheses: those that come with the data, and those added since, by a file or a person.

A wording is named ``"negation"`` or ``"paraphrase:name"``. A file of them is one JSON object, ``{"instance id":
{"paraphrases": {"name": "text"}, "negation": "text"}, ...}``; ``made_by`` may say by the wording's name who made it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from evidencebench_core.data.files import json_value
from evidencebench_core.data.primitives import from_blob, now
from evidencebench_core.data.store import Store
from evidencebench_core.errors import DataError, shown

NEGATION: Final = "negation"
PARAPHRASE: Final = "paraphrase:"
LONGEST: Final = 5_000  # characters of a wording

_REMEDY: Final = (
    'A file of wordings is {"instance id": {"paraphrases": {"name": "text"}, "negation": "text"}, ...}.'
)


@dataclass(frozen=True, slots=True)
class Wording:
    """A wording of one instance that did not come with the data.

    ``made_by`` is a file, a person or a model with its prompt; ``accepted_by`` the person who has read a model's
    draft. An empty ``text`` is a draft that this person rejected.
    """

    instance_id: str
    name: str
    text: str
    made_by: str = ""
    accepted_by: str = ""

    @property
    def origin(self) -> str:
        """``"gpt-x, negation 1-3fa9c2d1; accepted by Ana"``."""
        return f"{self.made_by}; accepted by {self.accepted_by}" if self.accepted_by else self.made_by


def hypothesis_variants(store: Store, dataset: str) -> dict[str, dict[str, str]]:
    """Every text there is for a dataset, by the wording's name and then by instance id; the negation comes last.

    Those that came with the data, and over them those that were added.
    """
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


def added_wordings(store: Store, dataset: str, rejected: bool = False) -> tuple[Wording, ...]:
    """Those wordings alone that were added, by name, then instance id; instead the drafts that were ``rejected``."""
    with store.read() as db:
        rows = db.execute(
            "SELECT instance_id, name, text, made_by, accepted_by FROM wordings"
            " WHERE dataset_id = ? AND (text = '') = ? ORDER BY name, instance_id",
            (store.dataset(dataset).id, rejected),
        )
        return tuple(Wording(*row) for row in rows)


def add_wordings(store: Store, dataset: str, wordings: Iterable[Wording], source: str = "") -> int:
    """Keep wordings beside a dataset, all or none; one of the same name gives way. Returns how many.

    ``source`` made those that do not say who did. `DataError` if one is for an instance that the dataset does not
    have.
    """
    added = list(wordings)
    if strangers := sorted({wording.instance_id for wording in added} - set(store.ids(dataset))):
        raise DataError(
            source or "wordings",
            f"is about {len(strangers):,} instances that dataset {shown(dataset)} does not have, such as "
            f"{shown(strangers[0])}",
            "Name the dataset that these wordings belong to, or leave those instances out.",
        )
    key, moment = store.dataset(dataset).id, now()
    with store.write() as db:
        db.executemany(
            "INSERT OR REPLACE INTO wordings (dataset_id, instance_id, name, text, made_by, accepted_by, added_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(key, w.instance_id, w.name, w.text, w.made_by or source, w.accepted_by, moment) for w in added],
        )
    return len(added)


def remove_wording(store: Store, dataset: str, instance_id: str, name: str) -> None:
    """Take back a wording that was added, or a draft's rejection."""
    values = (store.dataset(dataset).id, instance_id, name)
    with store.write() as db:
        db.execute("DELETE FROM wordings WHERE dataset_id = ? AND instance_id = ? AND name = ?", values)


def wording_problem(original: str, text: str) -> str:
    """The objection to a text as another wording, whoever wrote it; empty if there is none."""
    if not text:
        return "there are no words"
    if len(text) > max(LONGEST, 3 * len(original)):
        return f"the wording has {len(text):,} characters"
    if not text.isprintable():
        return "the wording has characters that cannot be printed"
    if text.casefold().rstrip(".") == " ".join(original.split()).casefold().rstrip("."):
        return "the wording is the original"
    return ""


def read_wordings(path: Path) -> tuple[Wording, ...]:
    """The wordings of a file; `DataError`, one line that names the place, if anything in it is not as it should be."""
    value = json_value(path, _REMEDY)
    if not isinstance(value, dict) or not value:
        raise DataError(str(path), f"holds {shown(value)}, not an object with instances", _REMEDY)
    return tuple(
        wording
        for instance_id, entry in value.items()
        for wording in _entry(f"{path}, {shown(instance_id)}", instance_id, entry)
    )


def _entry(place: str, instance_id: str, entry: Any) -> Iterator[Wording]:
    known = {"paraphrases", NEGATION, "made_by"}
    if not isinstance(entry, dict) or not entry or not set(entry) <= known:
        raise DataError(place, f"is {shown(entry)}, not an object with paraphrases or a negation", _REMEDY)
    paraphrases, made_by = entry.get("paraphrases", {}), entry.get("made_by", {})
    if not isinstance(paraphrases, dict) or not isinstance(made_by, dict):
        raise DataError(place, f"has the paraphrases {shown(paraphrases)}", _REMEDY)
    texts = {PARAPHRASE + name: text for name, text in paraphrases.items()}
    if NEGATION in entry:
        texts[NEGATION] = entry[NEGATION]
    for name, text in texts.items():
        plain = " ".join(text.split()) if isinstance(text, str) else ""
        if not plain or len(plain) > LONGEST or not (plain + name).isprintable() or name == PARAPHRASE:
            remedy = f"Give the hypothesis in other words, in {LONGEST:,} characters at most."
            raise DataError(f"{place}, {shown(name)}", f"is {shown(text)}", remedy)
        yield Wording(instance_id, name, plain, str(made_by.get(name, "")))


def wordings_document(wordings: Iterable[Wording]) -> dict[str, dict[str, Any]]:
    """The content of a file of these wordings, by instance id; `read_wordings` reads it back."""
    entries: dict[str, dict[str, Any]] = {}
    for wording in wordings:
        entry = entries.setdefault(wording.instance_id, {})
        if wording.name == NEGATION:
            entry[NEGATION] = wording.text
        else:
            entry.setdefault("paraphrases", {})[wording.name.removeprefix(PARAPHRASE)] = wording.text
        if wording.origin:
            entry.setdefault("made_by", {})[wording.name] = wording.origin
    return dict(sorted(entries.items()))
