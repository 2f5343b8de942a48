"""Files of items: a user's own table, JSON or JSON lines, PubMedQA's and BioASQ's JSON, and pairs of statements.

Own items have ``id, question, context, answer`` and maybe ``long_answer, group, wordings``; ``context`` and
``long_answer`` are texts or lists of texts. ``context`` or ``answer`` may be missing as a whole where no task that
needs them is run. Pairs have ``statement_1, statement_2, similar`` and maybe ``id``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from evidencebench_core.data.store import Store
from evidencebench_core.data.stream import DatasetFile
from evidencebench_core.errors import DataError, shown
from evidencebench_core.reliability.items import Item, ItemSetInfo, Kind, add_items

SAMPLE: Final = Path(__file__).with_name("sample_items.json")
"""Twenty-four invented questions, 12 of each answer, each with a paraphrase and a context that says the opposite."""
MOST_BYTES: Final = 128 << 20  # of an upload
_FORM: Final = (
    "Items are a CSV file with a header, a JSON list or JSON lines of id, question, context, answer (optional: "
    "long_answer, group), or PubMedQA's or BioASQ's own JSON."
)
_PAIRS: Final = {"statement_1": "question", "statement_2": "long_answer", "similar": "answer"}
_PUBMEDQA: Final = {
    "question": "QUESTION", "context": "CONTEXTS", "answer": "final_decision", "long_answer": "LONG_ANSWER",
}  # fmt: skip


def ingest_items(store: Store, path: Path, name: str | None = None) -> ItemSetInfo:
    """Read a file of items into the store, all or none; the name defaults to the file's stem."""
    kind, items = read_items(path)
    return add_items(store, path.stem if name is None else name, items, kind, str(path))


def read_items(path: Path) -> tuple[Kind, tuple[Item, ...]]:
    """The items of a file, and their kind: questions or pairs.

    `DataError` names place and column: an empty question or context, an unknown answer, ...
    """
    with DatasetFile(path) as file:
        rows = list(_rows(path, file))
    columns = {name for _, values in rows for name in values}
    is_pairs = {"statement_1", "statement_2", "similar"} <= columns
    items = []
    for number, (place, values) in enumerate(rows, start=1):
        fields = {_PAIRS.get(name, name): value for name, value in values.items()} if is_pairs else values
        known = {name: fields[name] for name in Item.__dataclass_fields__ if name in fields}
        try:
            item = Item(**({"id": number} if is_pairs else {}) | known)
        except ValidationError as error:
            first = error.errors()[0]
            wrong = f"is {shown(first['input'])}: {first['msg'].replace('Input', 'it')}"
            problem = "is missing" if first["type"] == "missing" else wrong
            raise DataError(f"{place}, {first['loc'][0]}", problem, _FORM) from error
        if "context" in columns and not item.context and not values.get("context_may_miss"):
            raise DataError(f"{place}, context", "is empty", "Give every item a context, or none at all.")
        items.append(item)
    return ("pairs" if is_pairs else "questions"), tuple(items)


def _rows(path: Path, file: DatasetFile) -> Iterator[tuple[str, dict[str, Any]]]:
    """The place of each item, and its values by our column names."""
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
