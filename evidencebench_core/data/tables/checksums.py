"""Columns of checksums, and totals of them: see integrity.py."""

from __future__ import annotations

from typing import Final

_CHECKED: Final = (
    "datasets", "papers", "instances", "bodies", "evidence", "runs", "retrievals", "nearest_sentences", "notes",
    "hypothesis_variants", "hypothesis_drafts", "imported_scores", "llm_answers", "llm_batches", "own_papers",
    "annotations", "annotation_heads", "trained_models", "saved_filters",
)  # fmt: skip
_COUNTED: Final = ("datasets", "runs", "notes", "annotations", "own_papers", "llm_answers")
_PICKS: Final = "checksum({0}.instance_id, {0}.selection, {0}.error)"
_OUTCOME: Final = "iif({0}.outcome = '', 0, checksum({0}.instance_id, {0}.outcome))"

CHECKSUMS: Final = (
    # See integrity.py; their triggers and views are made again after every migration.
    *(f"ALTER TABLE {table} ADD COLUMN checksum INTEGER" for table in _CHECKED),
    "ALTER TABLE own_papers ADD COLUMN pdf_checksum INTEGER",
    # The sum of the checksums of all picks and failures: a run's selections are read without its rankings.
    "ALTER TABLE retrieval_counts ADD COLUMN selections INTEGER",  # NULL where there are older answers
    "ALTER TABLE retrieval_counts ADD COLUMN outcomes INTEGER",  # the same of what came of asking a model
    "ALTER TABLE retrieval_counts ADD COLUMN checksum INTEGER",
    "DROP TRIGGER retrieval_added",
    "DROP TRIGGER retrieval_changed",
    "DROP TRIGGER retrieval_deleted",
    f"""CREATE TRIGGER retrieval_added AFTER INSERT ON retrievals BEGIN
        INSERT INTO retrieval_counts (run_id, task, n_answered, n_failed, selections, outcomes)
        VALUES (NEW.run_id, NEW.task, NEW.error IS NULL, NEW.error IS NOT NULL, {_PICKS.format("NEW")},
            {_OUTCOME.format("NEW")})
        ON CONFLICT (run_id, task) DO UPDATE SET n_answered = n_answered + excluded.n_answered,
            n_failed = n_failed + excluded.n_failed, selections = selections + excluded.selections,
            outcomes = outcomes + excluded.outcomes;
    END""",
    f"""CREATE TRIGGER retrieval_changed AFTER UPDATE OF instance_id, selection, error, outcome ON retrievals BEGIN
        UPDATE retrieval_counts SET
            n_answered = n_answered + (NEW.error IS NULL) - (OLD.error IS NULL),
            n_failed = n_failed + (NEW.error IS NOT NULL) - (OLD.error IS NOT NULL),
            selections = selections + {_PICKS.format("NEW")} - {_PICKS.format("OLD")},
            outcomes = outcomes + {_OUTCOME.format("NEW")} - {_OUTCOME.format("OLD")}
        WHERE run_id = NEW.run_id AND task = NEW.task;
    END""",
    f"""CREATE TRIGGER retrieval_deleted AFTER DELETE ON retrievals BEGIN
        UPDATE retrieval_counts SET
            n_answered = n_answered - (OLD.error IS NULL), n_failed = n_failed - (OLD.error IS NOT NULL),
            selections = selections - {_PICKS.format("OLD")}, outcomes = outcomes - {_OUTCOME.format("OLD")}
        WHERE run_id = OLD.run_id AND task = OLD.task;
    END""",
    "CREATE TABLE integrity (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
    *(f"INSERT INTO integrity SELECT '{table}', count(*) FROM {table}" for table in _COUNTED),
    "INSERT INTO integrity SELECT 'unchecked', EXISTS (SELECT 1 FROM papers) OR EXISTS (SELECT 1 FROM llm_answers)",
)
