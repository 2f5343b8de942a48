"""The queue as a table: one row a miss, fifty at a time."""

from __future__ import annotations

from typing import Any, Final

from components.app import resources
from components.app.state import PageState
from components.missed.queue import SORTS, Queue
from components.widgets.table import Column, Row, TableEvent, table
from components.widgets.table.paging import paging, put_sort
from evidencebench_core.analyses.causes import CAUSES
from evidencebench_core.data import DatasetInfo

__all__ = ["cause_title", "draw_queue", "miss_id", "whole"]

_LONGEST: Final = 140

_FIRST: Final = (
    Column("sentence", "Nearest covering sentence", "title", "The covering sentence that the run ranks best"),
    Column("aspect", "Aspect", "id"),
    Column("rank", "Rank", "number", "Best rank of a covering sentence, from 1"),
    Column("distance", "Places below K", "number", "Best rank minus the number of picks", sortable=True),
    Column("position", "Position", "percent", "Where that sentence stands in the paper", sortable=True),
    Column("n_covering", "Covering", "number", "How many sentences cover the aspect", sortable=True),
    Column("found", "Found by", "id", "Other runs that found it, of those that answered"),
)
_WORDS: Final = (
    Column("section", "Part", "id", "Part of the paper in which that sentence stands"),
    Column(
        "overlap",
        "Word overlap",
        "percent",
        "Share of the hypothesis' content words in the covering sentence with the most of them",
        sortable=True,
    ),
    Column("cause", "Suggested cause", "text", "By the first rule that applies; more in brackets"),
)
_NOTE: Final = (Column("note", "Notes", "text", "Causes and tags noted, with their author"),)


def miss_id(instance_id: str, aspect_id: str) -> str:
    """What stands for a miss in a table."""
    return f"{instance_id}\n{aspect_id}"


def draw_queue(state: PageState, dataset: DatasetInfo, queue: Queue) -> None:
    """The misses that the filters leave; a click opens one."""
    page = paging(state, len(queue.shown))
    rows = queue.shown.iloc[page.rows].to_dict("records")
    texts = _sentences(dataset, rows)

    def heard(event: TableEvent) -> None:
        if event.kind == "sort":
            put_sort(state, event)
        elif event.kind == "open":
            instance_id, _, aspect_id = event.value.partition("\n")
            state.put(instance=instance_id, aspect=aspect_id, sentence=None)

    table(
        (*_FIRST, *(_WORDS if queue.with_words else ()), *_NOTE),
        [_row(row, texts, queue) for row in rows],
        key="missed-queue",
        on_event=heard,
        sort=state["sort"] if state["sort"] in SORTS else "distance",
        descending=state["desc"] == "1",
        caption="Missed aspects",
        empty="No miss is left by these filters. Clear some of them."
        if queue.asked["missed"].any()
        else "This run missed none of these aspects.",
    )
    page.draw(state)


def _sentences(dataset: DatasetInfo, rows: list[dict[Any, Any]]) -> dict[tuple[str, int], str]:
    ids = tuple(dict.fromkeys(row["instance"] for row in rows))
    papers = {instance.id: instance for instance in resources.store().get_many(dataset.name, ids)}
    found = {}
    for row in rows:
        text = papers[row["instance"]].sentences[row["sentence"]]
        cut = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
        found[row["instance"], row["sentence"]] = cut
    return found


def _row(row: dict[Any, Any], texts: dict[tuple[str, int], str], queue: Queue) -> Row:
    key = (row["instance"], row["aspect"])
    words: tuple[str | float | None, ...] = ()
    if queue.with_words:
        others = [CAUSES[name].title for name in row["causes"][1:] if name not in {"near", "far"}]
        more = f" ({', '.join(others)})" if others else ""
        overlap = None if row["overlap"] != row["overlap"] else row["overlap"]
        words = (row["section"], overlap, f"{CAUSES[row['cause']].title}{more}")
    notes = [
        f"{note.author}: {', '.join(filter(None, (cause_title(note.cause), *note.tags))) or 'note'}"
        for note in queue.notes.get(key, ())
    ]
    return Row(
        miss_id(*key),
        (
            texts[row["instance"], row["sentence"]],
            f"{row['label']} in {row['instance']}",
            whole(row["best_rank"]),
            whole(row["distance"]),
            row["position"],
            row["n_covering"],
            f"{len(row['found_by'])} of {row['n_others']}" if row["n_others"] else None,
            *words,
            "; ".join(notes) or None,
        ),
    )


def whole(value: Any) -> int | None:
    """A number of a nullable column, ``None`` where it is missing."""
    return None if value is None or str(value) == "<NA>" else int(value)


def cause_title(cause: str | None) -> str:
    """A noted cause as people read it; one we do not know as it was noted, none as ""."""
    return "" if cause is None else CAUSES[cause].title if cause in CAUSES else cause
