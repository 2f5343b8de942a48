"""Files of items: a user's own table, JSON or JSON lines, PubMedQA's and BioASQ's JSON, and pairs of statements.

Own items have ``id, question, context, answer`` and maybe ``long_answer, group``; ``context`` and ``long_answer`` are
texts or lists of texts. ``context`` or ``answer`` may be missing as a whole where no task that needs them is run.
Pairs have ``statement_1, statement_2, similar`` and maybe ``id``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from evidencebench_core.data.store import Store
from evidencebench_core.data.stream import DatasetFile
from evidencebench_core.errors import DataError, shown
from evidencebench_core.reliability.items import Item, ItemSetInfo, Kind, Label, add_items

MOST_BYTES: Final = 128 << 20  # of an upload
_FORM: Final = (
    "Items are a CSV file with a header, a JSON list or JSON lines of id, question, context, answer (optional: "
    "long_answer, group), or PubMedQA's or BioASQ's own JSON."
)
_SIMILAR: Final = {"1": "yes", "true": "yes", "0": "no", "false": "no"}
_PUBMEDQA: Final = {
    "question": "QUESTION", "context": "CONTEXTS", "answer": "final_decision", "long_answer": "LONG_ANSWER",
}  # fmt: skip


def _label(value: object) -> object:
    text = "" if value is None else str(value).strip().casefold()
    return _SIMILAR.get(text, text) or None


def _texts(value: object) -> object:
    if value is None or (isinstance(value, str) and not value.strip()):
        return []
    return [value] if isinstance(value, str) else value


Text = Annotated[str, Field(pattern=r"\S")]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_texts)]


class _ItemRow(BaseModel):
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    id: Text
    question: Text
    context: Texts = ()
    answer: Annotated[Label | None, BeforeValidator(_label)] = None
    long_answer: Texts = ()
    group: Annotated[str, BeforeValidator(lambda value: str(value or "").strip())] = ""


class _PairRow(BaseModel):
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    statement_1: Text
    statement_2: Text
    similar: Annotated[Label, BeforeValidator(_label)]


def ingest_items(store: Store, path: Path, name: str | None = None) -> ItemSetInfo:
    """Read a file of items into the store, all or none; its name is the file's without its ending if left out."""
    kind, items = read_items(path)
    return add_items(store, path.stem if name is None else name, items, kind, str(path))


def read_items(path: Path) -> tuple[Kind, tuple[Item, ...]]:
    """The items of a file, and what they are: questions or pairs.

    `DataError` names place and column: an id that is there twice, an empty question or context, an unknown answer, ...
    """
    with DatasetFile(path) as file:
        rows = list(_rows(path, file))
    columns = {name for _, values in rows for name in values}
    is_pairs = {"statement_1", "statement_2", "similar"} <= columns
    places: dict[str, str] = {}
    items = []
    for number, (place, values) in enumerate(rows, start=1):
        try:
            item = _pair(values, number) if is_pairs else _item(values)
        except ValidationError as error:
            first = error.errors()[0]
            problem = f"is {shown(first['input'])}: {first['msg']}"
            raise DataError(f"{place}, {first['loc'][0]}", problem, _FORM) from error
        if "context" in columns and not item.context and not values.get("context_may_miss"):
            raise DataError(f"{place}, context", "is empty", "Give every item a context, or none at all.")
        if (other := places.setdefault(item.id, place)) != place:
            problem = f"{shown(item.id)} is that of {other.removeprefix(f'{path}, ')} too"
            raise DataError(f"{place}, id", problem, "Give every item its own id.")
        items.append(item)
    return ("pairs" if is_pairs else "questions"), tuple(items)


def _item(values: Mapping[str, Any]) -> Item:
    row = _ItemRow.model_validate(values)
    return Item(row.id.strip(), row.question, row.context, row.answer, row.long_answer, row.group)


def _pair(values: Mapping[str, Any], number: int) -> Item:
    row = _PairRow.model_validate(values)
    return Item(str(values.get("id") or number).strip(), row.statement_1, (), row.similar, (row.statement_2,))


def _rows(path: Path, file: DatasetFile) -> Iterator[tuple[str, dict[str, Any]]]:
    """Where each item stands, and its values by column, in our words."""
    for record in file.records():
        place, values = f"{path}, {record.place}", record.value
        if not isinstance(values, dict):
            raise DataError(place, f"is {shown(values)}, not an object", _FORM)
        if isinstance(values.get("questions"), list):
            for number, raw in enumerate(values["questions"], start=1):
                yield f"{path}, question {number}", _bioasq(raw)
        elif record.id is not None:  # title, abstract without its conclusion, gold label, conclusion
            yield place, {"id": record.id, **{name: values.get(theirs) for name, theirs in _PUBMEDQA.items()}}
        else:
            yield place, {name.casefold(): value for name, value in values.items()}


def _bioasq(raw: Mapping[str, Any]) -> dict[str, Any]:
    """A question of task B: snippets are its context, the ideal answers its references; yes or no where it has one."""
    exact = raw.get("exact_answer") if raw.get("type") == "yesno" else None
    context = [snippet.get("text") for snippet in raw.get("snippets") or [] if isinstance(snippet, dict)]
    return {
        "id": raw.get("id"),
        "question": raw.get("body"),
        "context": context,
        "context_may_miss": not context,
        "answer": exact[0] if isinstance(exact, list) and exact else exact or None,
        "long_answer": raw.get("ideal_answer"),
    }
