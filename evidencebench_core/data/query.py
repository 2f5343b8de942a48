"""A filter of a dataset, as a value and as SQL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from evidencebench_core.errors import SettingError, did_you_mean, shown

RANGES: Final = (
    "position", "n_sentences", "n_aspects", "n_result_aspects", "optimal", "results_optimal", "ends_coverage",
)  # fmt: skip
_SORT_SQL: Final[Mapping[str, str]] = {
    **{name: f"i.{name}" for name in RANGES},
    "id": "i.instance_id",
    "paper_id": "i.paper_id",
    "hypothesis": "b.hypothesis COLLATE NOCASE",
}
SORTS: Final = tuple(_SORT_SQL)
_WORDS: Final = re.compile(r'"([^"]*)"?|([^\s"]+)')

Range = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class Filter:
    """Which instances, and in which order. The default is all of them, as in the file.

    Words must all occur in the hypothesis, or in the paper: "a quoted phrase" as it stands (with punctuation and
    case ignored, as everywhere), and the last word, if it is not quoted, may be the beginning of a word. Anything
    may be typed; text without a letter or digit asks for nothing. Both ends of a range belong to it, ``None``
    leaves one open; an instance without a value (``results_optimal`` without result aspects) is in no range, and
    comes last when it is sorted by. Ties keep the order of the file.
    """

    hypothesis: str = ""
    sentences: str = ""
    # By a name of `RANGES`.
    ranges: Mapping[str, Range] = field(default_factory=lambda: MappingProxyType({}))
    sort: str = "position"  # a name of `SORTS`
    descending: bool = False


def fts_terms(words: str) -> list[str]:
    """The words and phrases of user input, each an FTS5 expression that cannot be a syntax error."""
    cleaned = words.replace("\x00", " ").encode("utf-8", "replace").decode()
    terms: list[str] = []
    last_is_open = False
    for match in _WORDS.finditer(cleaned):
        phrase, word = match[1], match[2]
        term = phrase if word is None else word
        if any(char.isalnum() for char in term):
            terms.append(f'"{term}"')
            last_is_open = word is not None and match.end() == len(cleaned)
    if last_is_open:
        terms[-1] += "*"
    return terms


def matching_sql(criteria: Filter) -> tuple[str, list[object]]:
    """Conditions and order for ``instances AS i`` with ``bodies AS b``, and the values beside the dataset's id."""
    conditions = ["i.dataset_id = ?"]
    values: list[object] = []
    for words, column, table in (
        (criteria.hypothesis, "i.id", "hypothesis_words"),
        (criteria.sentences, "i.paper", "paper_words"),
    ):
        if terms := fts_terms(words):
            conditions.append(f"{column} IN (SELECT rowid FROM {table} WHERE {table} MATCH ?)")
            values.append(" AND ".join(terms))
    for name, (lowest, highest) in criteria.ranges.items():
        _check_name("range", name, RANGES)
        for sign, bound in ((">=", lowest), ("<=", highest)):
            if bound is not None:
                conditions.append(f"i.{name} {sign} ?")
                values.append(bound)
    _check_name("sort", criteria.sort, SORTS)
    order = f"{_SORT_SQL[criteria.sort]} {'DESC' if criteria.descending else 'ASC'} NULLS LAST, i.position"
    return f"WHERE {' AND '.join(conditions)} ORDER BY {order}", values


def _check_name(noun: str, name: str, names: tuple[str, ...]) -> None:
    if name not in names:
        remedy = f"{did_you_mean(name, names)}Known: {', '.join(names)}."
        raise SettingError(f"{noun} {shown(name)}", "is unknown", remedy)
