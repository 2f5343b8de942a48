"""Files of items: a user's own CSV, JSON or JSON lines, PubMedQA's and BioASQ's JSON, and pairs of statements.

Own items have ``id, question, context, answer`` and maybe ``long_answer, group``; ``context`` and ``long_answer`` are
texts or lists of texts. ``context`` or ``answer`` may be missing as a whole where no task that needs them is run.
Pairs have ``statement_1, statement_2, similar`` and maybe ``id``.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NoReturn

from evidencebench_core.data.files import file_content
from evidencebench_core.data.store import Store
from evidencebench_core.errors import DataError, shown
from evidencebench_core.reliability.items import Item, ItemSetInfo, Kind, Label, add_items

MOST_BYTES: Final = 128 << 20
_FORM: Final = (
    "Items are a CSV file with a header, a JSON list or JSON lines of id, question, context, answer (optional: "
    "long_answer, group), or PubMedQA's or BioASQ's own JSON."
)
_LABELS: Final[Mapping[str, Label]] = {"yes": "yes", "no": "no", "maybe": "maybe"}
_SIMILAR: Final[Mapping[str, Label]] = {
    "yes": "yes", "1": "yes", "true": "yes", "no": "no", "0": "no", "false": "no",
}  # fmt: skip
Row = tuple[str, Mapping[str, Any]]
"""Where an item stands ("row 3", as a spreadsheet counts), and its values by column."""


def ingest_items(store: Store, path: Path, name: str | None = None) -> ItemSetInfo:
    """Read a file of items into the store, all or none; its name is the file's without its ending if left out."""
    path = Path(path)
    kind, items = read_items(path)
    return add_items(store, path.stem if name is None else name, items, kind, str(path))


def read_items(path: Path) -> tuple[Kind, tuple[Item, ...]]:
    """The items of a file, and what they are: questions or pairs.

    It ends in ``.json``, ``.jsonl``, ``.csv`` or ``.tsv``. `DataError` names row and column: an id that is there
    twice, an empty question or context, an unknown answer, ...
    """
    rows = _rows(path)
    if not rows:
        raise DataError(str(path), "has no items", _FORM)
    columns = {name for _, values in rows for name in values}
    is_pairs = {"statement_1", "statement_2", "similar"} <= columns
    for name in () if is_pairs else ("id", "question"):
        if name not in columns:
            raise DataError(str(path), f"has no column {name}", _FORM)
    places: dict[str, str] = {}
    items = []
    for number, (place, values) in enumerate(rows, start=1):
        row = _Row(f"{path}, {place}", values)
        item = row.pair(number) if is_pairs else row.item("context" in columns)
        if (first := places.setdefault(item.id, place)) != place:
            row.fail("id", f"{shown(item.id)} is that of {first} too", "Give every item its own id.")
        items.append(item)
    return ("pairs" if is_pairs else "questions"), tuple(items)


class _Row:
    """The values of an item by column, and where they stand."""

    def __init__(self, place: str, values: Mapping[str, Any]) -> None:
        self.place, self.values = place, values

    def fail(self, column: str, problem: str, remedy: str) -> NoReturn:
        raise DataError(f"{self.place}, {column}", problem, remedy)

    def item(self, needs_context: bool) -> Item:
        context = self.texts("context")
        if needs_context and not context and not self.values.get("context_may_miss"):
            self.fail("context", "is empty", "Give every item a context, or none at all.")
        label = self.label("answer", _LABELS)
        group = str(self.values.get("group") or "").strip()
        return Item(
            self.text("id").strip(), self.text("question"), context, label, self.texts("long_answer"), group
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
            self.fail(column, f"is {shown(value)}", "Give a text that is not blank.")
        return value

    def texts(self, column: str) -> tuple[str, ...]:
        """A text or a list of texts; nothing at all is none."""
        value = self.values.get(column)
        if value is None or value == []:
            return ()
        if isinstance(value, str):
            return (value,) if value.strip() else ()
        if not isinstance(value, list) or not all(isinstance(text, str) and text.strip() for text in value):
            self.fail(column, f"is {shown(value)}", "Give a text or a list of texts that are not blank.")
        return tuple(value)

    def label(self, column: str, labels: Mapping[str, Label]) -> Label | None:
        value = self.values.get(column)
        if value is None or not str(value).strip():
            return None
        label = labels.get(str(value).strip().casefold())
        if label is None:
            self.fail(column, f"is {shown(value)}", f"Known: {', '.join(labels)}.")
        return label


# -- formats --------------------------------------------------------------------------------------


def _rows(path: Path) -> list[Row]:
    suffix = path.suffix.lower()
    if suffix in (".csv", ".tsv"):
        return _table(path, "," if suffix == ".csv" else "\t")
    if suffix in (".jsonl", ".ndjson"):
        lines = enumerate(_text(path).split("\n"), start=1)
        return _objects(path, [(n, _parsed(f"{path}, row {n}", line)) for n, line in lines if line.strip()])
    if suffix != ".json":
        raise DataError(str(path), f"ends in {shown(suffix)}", _FORM)
    value = _parsed(str(path), _text(path))
    if isinstance(value, dict) and isinstance(value.get("questions"), list):
        questions = _objects(path, enumerate(value["questions"], start=1))
        return [(place, _bioasq(raw)) for place, raw in questions]
    if isinstance(value, dict):
        return [(place, _pubmedqa(place, raw)) for place, raw in _objects(path, value.items())]
    if isinstance(value, list):
        return _objects(path, enumerate(value, start=1))
    raise DataError(str(path), f"holds {shown(value)}, not a list of items", _FORM)


def _text(path: Path) -> str:
    try:
        return file_content(path, MOST_BYTES, _FORM).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(str(path), f"is not UTF-8 text: {error}", "Save it as UTF-8.") from error


def _parsed(place: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(place, f"is not JSON: {error}", _FORM) from error


def _objects(path: Path, values: Iterable[tuple[object, object]]) -> list[Row]:
    rows: list[Row] = []
    for key, value in values:
        place = f"row {key}" if isinstance(key, int) else str(key)
        if not isinstance(value, dict):
            raise DataError(f"{path}, {place}", f"is {shown(value)}, not an object", _FORM)
        rows.append((place, value))
    return rows


def _table(path: Path, separator: str) -> list[Row]:
    try:
        lines = list(csv.reader(io.StringIO(_text(path), newline=""), delimiter=separator, strict=True))
    except csv.Error as error:
        raise DataError(str(path), f"is not CSV: {error}", _FORM) from error
    header = [name.strip().casefold() for name in lines[0]] if lines else []
    for name in header:
        if header.count(name) > 1:
            problem = f"has the column {shown(name)} more than once"
            raise DataError(f"{path}, row 1", problem, "Keep one of them.")
    rows: list[Row] = []
    for number, cells in enumerate(lines[1:], start=2):
        if len(cells) > len(header):
            problem = f"has {len(cells)} cells, and the header {len(header)}"
            raise DataError(f"{path}, row {number}", problem, "Put texts with separators between quotes.")
        if any(cell.strip() for cell in cells):
            rows.append((f"row {number}", dict(zip(header, cells, strict=False))))
    return rows


def _pubmedqa(key: str, raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """Title, abstract without its conclusion, gold label, conclusion."""
    return {
        "id": key,
        "question": raw.get("QUESTION"),
        "context": raw.get("CONTEXTS"),
        "answer": raw.get("final_decision"),
        "long_answer": raw.get("LONG_ANSWER"),
    }


def _bioasq(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """A question of task B: snippets are its context, the ideal answers its references; yes or no where it has one."""
    exact = raw.get("exact_answer") if raw.get("type") == "yesno" else None
    snippets = raw.get("snippets") or []
    context = [snippet.get("text") for snippet in snippets if isinstance(snippet, dict)]
    return {
        "id": raw.get("id"),
        "question": raw.get("body"),
        "context": context,
        "context_may_miss": not context,
        "answer": exact[0] if isinstance(exact, list) and exact else exact or None,
        "long_answer": raw.get("ideal_answer"),
    }
