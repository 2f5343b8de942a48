"""Files of items: a user's own CSV, JSON or JSON lines, PubMedQA's and BioASQ's JSON, and pairs of statements.

Own items have ``id, question, context, answer`` and maybe ``long_answer, group``; ``context`` and ``long_answer`` are
texts or lists of texts. ``context`` or ``answer`` may be missing as a whole where no task that needs them is run.
Pairs have ``statement_1, statement_2, similar`` and maybe ``id``; MRPC's and SICK's own tables are read too.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Container, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NoReturn

from evidencebench_core.data.files import file_content
from evidencebench_core.data.ingest import dataset_name
from evidencebench_core.data.store import Store
from evidencebench_core.data.strict_json import json_lines, json_value
from evidencebench_core.errors import DataError, SettingError, shown
from evidencebench_core.reliability.items import Item, ItemSetInfo, Kind, Label, add_items

_MOST_BYTES: Final = 128 << 20
_FORM: Final = (
    "Items are a CSV file with a header, a JSON list or JSON lines of id, question, context, answer (optional: "
    "long_answer, group), or PubMedQA's or BioASQ's own JSON."
)
_PAIR_COLUMNS: Final = {
    "#1 string": "statement_1", "#2 string": "statement_2", "quality": "similar",  # MRPC
    "sentence_a": "statement_1", "sentence_b": "statement_2", "entailment_label": "similar", "pair_id": "id",  # SICK
    "entailment_judgment": "similar",
}  # fmt: skip
_PAIR: Final = {"statement_1", "statement_2", "similar"}
_SIMILAR: Final[Mapping[str, Label]] = {
    "yes": "yes", "1": "yes", "true": "yes", "entailment": "yes",
    "no": "no", "0": "no", "false": "no", "neutral": "no", "contradiction": "no",
}  # fmt: skip
_LABELS: Final[Mapping[str, Label]] = {"yes": "yes", "no": "no", "maybe": "maybe"}
_ANNOTATED: Final = {"reasoning_required_pred": "context alone", "reasoning_free_pred": "with the conclusion"}
_ANNOTATORS: Final = tuple(_ANNOTATED.values())
_NONE: Final = ()
"""A context that a question of BioASQ lacks, where the others have one."""


def ingest_items(
    store: Store, path: Path, name: str | None = None, positive: str = "", negative: str = ""
) -> ItemSetInfo:
    """Read a file of items into the store, all or none; its name is the file's without its endings if left out."""
    path = Path(path)
    kind, items = read_items(path, positive, negative)
    return add_items(store, dataset_name(path) if name is None else name, items, kind, str(path))


def read_items(path: Path, positive: str = "", negative: str = "") -> tuple[Kind, tuple[Item, ...]]:
    """The items of a file, and what they are: questions or pairs.

    It ends in ``.json``, ``.jsonl``, ``.ndjson``, ``.csv``, or ``.tsv`` or ``.txt`` (columns separated by tabs).
    ``positive`` and ``negative``, both or neither (`SettingError`), stand for yes and no in ``answer``. `DataError`
    names row and column: an id that is there twice, an empty question or context, an unknown answer, ...
    """
    labels = _labels(positive.strip(), negative.strip())
    rows = _rows(path)
    if not rows:
        raise DataError(str(path), "has no items", _FORM)
    columns = set().union(*(values for _, values in rows))
    kind: Kind = "pairs" if columns >= _PAIR else "questions"
    if kind == "questions" and not columns >= {"id", "question"}:
        missing = next(name for name in ("id", "question") if name not in columns)
        raise DataError(str(path), f"has no column {missing}", _FORM)
    places: dict[str, str] = {}
    items = []
    for number, (where, values) in enumerate(rows, start=1):
        row = _Row(f"{path}, {where}", values)
        items.append(row.pair(number) if kind == "pairs" else row.item(columns, labels))
        if (first := places.setdefault(items[-1].id, where)) != where:
            row.fail("id", f"{shown(items[-1].id)} is that of {first} too", "Give every item its own id.")
    return kind, tuple(items)


def _labels(positive: str, negative: str) -> Mapping[str, Label]:
    if not positive and not negative:
        return _LABELS
    if not (positive and negative) or positive.casefold() == negative.casefold():
        problem = f"are {shown(positive)} and {shown(negative)}"
        raise SettingError("positive and negative", problem, "Give two different answers.")
    return {positive.casefold(): "yes", negative.casefold(): "no"}


class _Row:
    """The values of an item by column, and where they stand."""

    def __init__(self, place: str, values: Mapping[str, Any]) -> None:
        self.place, self.values = place, values

    def fail(self, column: str, problem: str, remedy: str) -> NoReturn:
        raise DataError(f"{self.place}, {column}", problem, remedy)

    def item(self, columns: Container[str], labels: Mapping[str, Label]) -> Item:
        context = self.texts("context")
        if "context" in columns and not context and self.values.get("context") is not _NONE:
            self.fail("context", "is empty", "Give every item a context, or none at all.")
        return Item(
            self.text("id").strip(),
            self.text("question"),
            context,
            self.label("answer", labels),
            self.texts("long_answer"),
            str(self.values.get("group") or "").strip(),
            annotators={
                name: label for name in _ANNOTATORS if (label := self.label(name, _LABELS)) is not None
            },
        )

    def pair(self, number: int) -> Item:
        item_id = self.text("id").strip() if "id" in self.values else str(number)
        label = self.label("similar", _SIMILAR)
        if label is None:
            self.fail("similar", "is empty", "Say yes or no of every pair.")
        return Item(item_id, self.text("statement_1"), (), label, (self.text("statement_2"),))

    def text(self, column: str) -> str:
        value = self.values.get(column)
        if type(value) is int:
            value = str(value)
        if not isinstance(value, str) or not value.strip():
            what = "is empty" if value is None or isinstance(value, str) else f"is {shown(value)}, not a text"
            self.fail(column, what, "Give a text that is not blank.")
        return value

    def texts(self, column: str) -> tuple[str, ...]:
        """A text or a list of texts; blank ones of a list are an error, nothing at all is none."""
        value = self.values.get(column)
        if value is _NONE or value is None or value == []:
            return ()
        if isinstance(value, str):
            return (value,) if value.strip() else ()
        if not isinstance(value, list) or not all(isinstance(one, str) and one.strip() for one in value):
            self.fail(column, f"is {shown(value)}", "Give a text or a list of texts that are not blank.")
        return tuple(value)

    def label(self, column: str, labels: Mapping[str, Label]) -> Label | None:
        value = self.values.get(column)
        if value is None or (isinstance(value, str) and not value.strip()):
            return None
        label = labels.get(str(value).strip().casefold()) if isinstance(value, str | int) else None
        if label is None:
            self.fail(column, f"is {shown(value)}", f"Known: {', '.join(labels)}.")
        return label


# -- formats --------------------------------------------------------------------------------------


def _rows(path: Path) -> list[tuple[str, Mapping[str, Any]]]:
    """Where each item stands ("row 3", as a spreadsheet counts where there is a header), and its values by column."""
    match path.suffix.lower():
        case ".json":
            value = json_value(path, _FORM)
            if isinstance(value, dict) and isinstance(value.get("questions"), list):
                return [
                    (place, _bioasq(raw)) for place, raw in _objects(path, enumerate(value["questions"], 1))
                ]
            if isinstance(value, dict):
                objects = _objects(path, value.items())
                return [
                    (place, _pubmedqa(key, raw)) for key, (place, raw) in zip(value, objects, strict=True)
                ]
            if isinstance(value, list):
                return _objects(path, enumerate(value, start=1))
            raise DataError(str(path), f"holds {shown(value)}, not a list of items", _FORM)
        case ".jsonl" | ".ndjson":
            content = file_content(path, _MOST_BYTES, _FORM)
            return _objects(path, json_lines(path, content, _FORM, "row"))
        case ".csv" | ".tsv" | ".txt" as suffix:
            return _table(path, "," if suffix == ".csv" else "\t")
        case suffix:
            raise DataError(str(path), f"ends in {shown(suffix)}", _FORM)


def _objects(path: Path, values: Iterable[tuple[object, object]]) -> list[tuple[str, Mapping[str, Any]]]:
    objects: list[tuple[str, Mapping[str, Any]]] = []
    for key, value in values:
        place = f"row {key}" if isinstance(key, int) else f"item {shown(key)}"
        if not isinstance(value, dict):
            raise DataError(f"{path}, {place}", f"is {shown(value)}, not an object", _FORM)
        objects.append((place, value))
    return objects


def _table(path: Path, separator: str) -> list[tuple[str, Mapping[str, Any]]]:
    text = _text(path)
    is_mrpc = "#1 string" in text[:200].casefold()  # whose quotes are characters like others
    try:
        lines = list(
            csv.reader(
                io.StringIO(text, newline=""),
                delimiter=separator,
                quoting=csv.QUOTE_NONE if is_mrpc else csv.QUOTE_MINIMAL,
                strict=True,
            )
        )
    except csv.Error as error:
        raise DataError(str(path), f"is not CSV: {error}", _FORM) from error
    header = [name.strip().casefold() for name in lines[0]] if lines else []
    if "statement_1" not in header and {*header} & {"#1 string", "sentence_a"}:
        header = [_PAIR_COLUMNS.get(name, name) for name in header]
    if twice := next((name for name in header if header.count(name) > 1), ""):
        raise DataError(
            f"{path}, row 1", f"has the column {shown(twice)} more than once", "Keep one of them."
        )
    rows: list[tuple[str, Mapping[str, Any]]] = []
    for number, cells in enumerate(lines[1:], start=2):
        if len(cells) > len(header):
            problem = f"has {len(cells)} cells, and the header {len(header)}"
            raise DataError(f"{path}, row {number}", problem, "Put texts with separators between quotes.")
        if any(cell.strip() for cell in cells):
            rows.append((f"row {number}", dict(zip(header, cells, strict=False))))
    return rows


def _pubmedqa(key: str, raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """Title, abstract without its conclusion, conclusion, gold label; and the labels of its two annotators."""
    names = {**_ANNOTATED, "QUESTION": "question", "CONTEXTS": "context", "LONG_ANSWER": "long_answer"}
    values = {new: raw.get(old) for old, new in names.items()}
    return {**values, "id": key, "answer": raw.get("final_decision")}


def _bioasq(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """A question of task B: snippets are its context, the ideal answers its references; yes or no where it has one."""
    exact = raw.get("exact_answer") if raw.get("type") == "yesno" else None
    snippets = raw.get("snippets") or ()
    context = (
        [one.get("text") for one in snippets if isinstance(one, dict)]
        if isinstance(snippets, list)
        else snippets
    )
    return {
        "id": raw.get("id"),
        "question": raw.get("body"),
        "context": context or _NONE,
        "answer": exact[0] if isinstance(exact, list) and exact else exact or None,
        "long_answer": raw.get("ideal_answer"),
    }


def _text(path: Path) -> str:
    try:
        return file_content(path, _MOST_BYTES, _FORM).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(str(path), f"is not UTF-8 text: {error}", "Save it as UTF-8.") from error
