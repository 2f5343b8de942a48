"""Tables of datasets, of runs over them and of what is said of both."""

from __future__ import annotations

import sqlite3
import struct
from typing import Final

from evidencebench_core.data.packing import packed_evidence, packed_nearest, unpacked_rest

DATASETS: Final = (
    """CREATE TABLE datasets (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        sha256 TEXT NOT NULL UNIQUE,          -- of the decompressed content
        n_bytes INTEGER NOT NULL,             -- of it
        n_instances INTEGER NOT NULL,
        n_papers INTEGER NOT NULL,            -- distinct paper ids
        n_result_instances INTEGER NOT NULL,  -- those that have result aspects
        synthetic INTEGER NOT NULL,
        source TEXT NOT NULL,
        ingested_at TEXT NOT NULL             -- ISO 8601, UTC
    )""",
    """CREATE TABLE papers (
        id INTEGER PRIMARY KEY,
        key BLOB NOT NULL UNIQUE,             -- sha256 of the unpacked body
        body BLOB NOT NULL                    -- see packing.py
    )""",
    """CREATE TABLE instances (
        id INTEGER PRIMARY KEY,
        dataset_id INTEGER NOT NULL REFERENCES datasets (id) ON DELETE CASCADE,
        position INTEGER NOT NULL,            -- in the file, from 0
        instance_id TEXT NOT NULL,
        paper INTEGER NOT NULL REFERENCES papers (id),
        paper_id TEXT NOT NULL,
        n_sentences INTEGER NOT NULL,
        n_aspects INTEGER NOT NULL,
        n_result_aspects INTEGER NOT NULL,
        optimal INTEGER NOT NULL,
        results_optimal INTEGER,              -- NULL where there are no result aspects
        ends_coverage REAL NOT NULL,
        UNIQUE (dataset_id, position),
        UNIQUE (dataset_id, instance_id)
    )""",
    "CREATE INDEX instances_by_paper ON instances (paper)",
    """CREATE TABLE bodies (
        instance INTEGER PRIMARY KEY REFERENCES instances (id) ON DELETE CASCADE,
        hypothesis TEXT NOT NULL,
        body BLOB NOT NULL                    -- see packing.py
    )""",
    """CREATE VIRTUAL TABLE hypothesis_words USING fts5 (
        hypothesis, content = '', tokenize = 'unicode61 remove_diacritics 2'
    )""",  # rowid: instances.id
    """CREATE VIRTUAL TABLE paper_words USING fts5 (
        sentences, content = '', tokenize = 'unicode61 remove_diacritics 2'
    )""",  # rowid: papers.id
    # A flush of 1 MiB at a time, the default, spends as long again on merging the pieces.
    "INSERT INTO paper_words (paper_words, rank) VALUES ('hashsize', 33554432)",
)

RUNS: Final = (
    """CREATE TABLE runs (
        id TEXT PRIMARY KEY,
        dataset_id INTEGER NOT NULL REFERENCES datasets (id) ON DELETE CASCADE,
        retriever TEXT NOT NULL,
        settings TEXT NOT NULL,               -- JSON
        created_at TEXT NOT NULL
    )""",
    "CREATE INDEX runs_by_dataset ON runs (dataset_id)",
    """CREATE TABLE retrievals (
        run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
        task TEXT NOT NULL,
        instance_id TEXT NOT NULL,
        ranking BLOB,
        scores BLOB,
        selection BLOB,
        seconds REAL,
        details TEXT,                         -- JSON
        error TEXT,                           -- why there is no answer
        created_at TEXT NOT NULL,
        PRIMARY KEY (run_id, task, instance_id)
    ) WITHOUT ROWID""",
    # Counting a run's answers must not walk over its rankings.
    "CREATE INDEX retrievals_by_outcome ON retrievals (run_id, task, error)",
)

ANALYSES: Final = (
    # A run over perturbed instances: '' for the original, else such as 'paraphrase:lexical'.
    "ALTER TABLE runs ADD COLUMN variant TEXT NOT NULL DEFAULT ''",
    """CREATE TABLE hypothesis_variants (
        dataset_id INTEGER NOT NULL REFERENCES datasets (id) ON DELETE CASCADE,
        instance_id TEXT NOT NULL,
        name TEXT NOT NULL,                   -- 'paraphrase:lexical', 'negation'
        text TEXT NOT NULL,
        source TEXT NOT NULL,                 -- the file it came from, or who typed it
        added_at TEXT NOT NULL,
        PRIMARY KEY (dataset_id, name, instance_id)
    ) WITHOUT ROWID""",
    # What analysts say of missed aspects; append-only, the newest of an author counts.
    """CREATE TABLE notes (
        id INTEGER PRIMARY KEY,
        run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
        task TEXT NOT NULL,
        instance_id TEXT NOT NULL,
        aspect_id TEXT NOT NULL,
        author TEXT NOT NULL,
        cause TEXT,                           -- confirmed or changed; NULL where left open
        tags TEXT NOT NULL,                   -- JSON list
        text TEXT NOT NULL,
        created_at TEXT NOT NULL
    )""",
    "CREATE INDEX notes_by_run ON notes (run_id, task, instance_id, aspect_id)",
    # Per-instance scores that others computed; never paired with runs on other instances.
    """CREATE TABLE imported_scores (
        id INTEGER PRIMARY KEY,
        collection TEXT NOT NULL,             -- which instances, in which order
        system TEXT NOT NULL,
        strategy TEXT NOT NULL,
        task TEXT NOT NULL,
        recalls TEXT NOT NULL,                -- JSON list of shares, in the order of the instances
        source TEXT NOT NULL,                 -- file and sha256
        imported_at TEXT NOT NULL,
        UNIQUE (collection, system, strategy, task, source)
    )""",
)

OUTCOMES: Final = (
    # What came of asking a model: 'selection over', 'no_list', ...; '' for retrievers that ask none.
    "ALTER TABLE retrievals ADD COLUMN outcome TEXT NOT NULL DEFAULT ''",
    "CREATE INDEX retrievals_by_kind ON retrievals (run_id, task, outcome) WHERE outcome <> ''",
)

TRAINED: Final = (
    # What models have learnt from: scores on that are no estimate of how they do on others.
    """CREATE TABLE trained_models (
        digest TEXT PRIMARY KEY,              -- of the model file; of a model without one, the id of its run
        dataset_sha256 TEXT NOT NULL,
        instance_ids TEXT NOT NULL,           -- JSON list
        paper_ids TEXT NOT NULL,              -- JSON list
        trained_at TEXT NOT NULL
    ) WITHOUT ROWID""",
)


def add_evidence(db: sqlite3.Connection) -> None:
    """For the instances of a store that is older than the table of evidence."""
    bodies = db.execute("SELECT instance, body FROM bodies")
    while batch := bodies.fetchmany(1024):
        rows = [(instance, *packed_evidence(unpacked_rest(body))) for instance, body in batch]
        db.executemany("INSERT INTO evidence (instance, aspects, texts, covering) VALUES (?, ?, ?, ?)", rows)


COMPACT: Final = (
    # The gold without the papers: see packing.py.
    """CREATE TABLE evidence (
        instance INTEGER PRIMARY KEY REFERENCES instances (id) ON DELETE CASCADE,
        aspects BLOB NOT NULL,                -- JSON list of their ids
        texts BLOB,                           -- JSON list; NULL where the data has none
        covering BLOB NOT NULL
    )""",
    add_evidence,
    # Reading a run's selections must not walk over its rankings either.
    "DROP INDEX retrievals_by_outcome",
    "CREATE INDEX retrievals_by_outcome ON retrievals (run_id, task, error, instance_id, selection)",
    # How many answers and failures each run has; kept by the triggers.
    """CREATE TABLE retrieval_counts (
        run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
        task TEXT NOT NULL,
        n_answered INTEGER NOT NULL,
        n_failed INTEGER NOT NULL,
        PRIMARY KEY (run_id, task)
    ) WITHOUT ROWID""",
    """INSERT INTO retrieval_counts
        SELECT run_id, task, sum(error IS NULL), sum(error IS NOT NULL) FROM retrievals GROUP BY run_id, task""",
    """CREATE TRIGGER retrieval_added AFTER INSERT ON retrievals BEGIN
        INSERT INTO retrieval_counts VALUES (NEW.run_id, NEW.task, NEW.error IS NULL, NEW.error IS NOT NULL)
        ON CONFLICT (run_id, task) DO UPDATE SET
            n_answered = n_answered + excluded.n_answered, n_failed = n_failed + excluded.n_failed;
    END""",
    """CREATE TRIGGER retrieval_changed AFTER UPDATE OF error ON retrievals BEGIN
        UPDATE retrieval_counts SET
            n_answered = n_answered + (NEW.error IS NULL) - (OLD.error IS NULL),
            n_failed = n_failed + (NEW.error IS NOT NULL) - (OLD.error IS NOT NULL)
        WHERE run_id = NEW.run_id AND task = NEW.task;
    END""",
    """CREATE TRIGGER retrieval_deleted AFTER DELETE ON retrievals BEGIN
        UPDATE retrieval_counts SET
            n_answered = n_answered - (OLD.error IS NULL), n_failed = n_failed - (OLD.error IS NOT NULL)
        WHERE run_id = OLD.run_id AND task = OLD.task;
    END""",
)

NAMES: Final = (
    # What a run is called; '' for the name that is made of its retriever and settings.
    "ALTER TABLE runs ADD COLUMN name TEXT NOT NULL DEFAULT ''",
)

PLACE_NOTES: Final = (
    # Notes on an instance or a sentence of it too, whatever a run made of it.
    """CREATE TABLE place_notes (
        id INTEGER PRIMARY KEY,
        dataset_id INTEGER NOT NULL REFERENCES datasets (id) ON DELETE CASCADE,
        instance_id TEXT NOT NULL,
        sentence INTEGER,                     -- NULL where it is not on one sentence
        run_id TEXT REFERENCES runs (id) ON DELETE CASCADE,  -- NULL where it is on no aspect that a run missed,
        task TEXT NOT NULL,                   -- '' then
        aspect_id TEXT NOT NULL,              -- and '' too
        author TEXT NOT NULL,
        flagged INTEGER NOT NULL,
        cause TEXT,                           -- confirmed or changed; NULL where left open
        tags TEXT NOT NULL,                   -- JSON list
        text TEXT NOT NULL,
        created_at TEXT NOT NULL
    )""",
    """INSERT INTO place_notes
        SELECT n.id, r.dataset_id, n.instance_id, NULL, n.run_id, n.task, n.aspect_id, n.author, 0, n.cause,
            n.tags, n.text, n.created_at FROM notes AS n JOIN runs AS r ON r.id = n.run_id""",
    "DROP TABLE notes",
    "ALTER TABLE place_notes RENAME TO notes",
    "CREATE INDEX notes_by_run ON notes (run_id, task, instance_id, aspect_id)",
    "CREATE INDEX notes_by_dataset ON notes (dataset_id, instance_id)",
    # Filters of the table of instances that somebody wants to see again.
    """CREATE TABLE saved_filters (
        dataset_id INTEGER NOT NULL REFERENCES datasets (id) ON DELETE CASCADE,
        name TEXT NOT NULL,
        parts TEXT NOT NULL,                  -- JSON object of texts
        saved_at TEXT NOT NULL,
        PRIMARY KEY (dataset_id, name)
    ) WITHOUT ROWID""",
)


def add_nearest(db: sqlite3.Connection) -> None:
    """For the answers of a store that is older than the table of nearest sentences."""
    answers = db.execute(
        """SELECT a.run_id, a.task, a.instance_id, coalesce(a.ranking, x''), coalesce(a.scores, x''),
            coalesce(a.selection, x''), e.covering, i.n_aspects FROM retrievals AS a JOIN runs ON runs.id = a.run_id
        JOIN instances AS i ON i.dataset_id = runs.dataset_id AND i.instance_id = a.instance_id
        JOIN evidence AS e ON e.instance = i.id WHERE a.error IS NULL"""
    )
    while batch := answers.fetchmany(1024):
        rows = []
        for *key, ranking, scores, selection, covering, n_aspects in batch:
            ranked, picks = (struct.unpack(f"<{len(blob) // 4}i", blob) for blob in (ranking, selection))
            values = struct.unpack(f"<{len(scores) // 8}d", scores)
            rows.append((*key, packed_nearest(ranked, values, picks, covering, n_aspects)))
        sql = "INSERT INTO nearest_sentences (run_id, task, instance_id, nearest) VALUES (?, ?, ?, ?)"
        db.executemany(sql, rows)


NEAREST: Final = (
    # Where a ranking has the aspects: an answer and the evidence never change, so nor does this.
    """CREATE TABLE nearest_sentences (
        run_id TEXT NOT NULL,
        task TEXT NOT NULL,
        instance_id TEXT NOT NULL,
        nearest BLOB NOT NULL,                -- see packing.py
        PRIMARY KEY (run_id, task, instance_id),
        FOREIGN KEY (run_id, task, instance_id) REFERENCES retrievals ON DELETE CASCADE
    ) WITHOUT ROWID""",
    add_nearest,
)

MARKED: Final = (
    # Each instance that was marked by hand was once a dataset of its own, from a file in a temporary folder.
    "UPDATE datasets SET source = 'marked by hand' WHERE source LIKE '%evidencebench-marked-%'",
)

SORTED: Final = (
    # Sorting by hypothesis must not walk over the bodies.
    "CREATE INDEX bodies_by_hypothesis ON bodies (hypothesis COLLATE NOCASE)",
)

SUFFICIENT: Final = (
    # Whether an instance says that its gold is sufficient, not complete.
    "ALTER TABLE datasets ADD COLUMN sufficient INTEGER NOT NULL DEFAULT 0",
)
