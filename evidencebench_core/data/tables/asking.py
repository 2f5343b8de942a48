"""Tables of what language models are asked and answer."""

from __future__ import annotations

from typing import Final

ANSWERS: Final = (
    # What language models answered; the key is a hash of the request and the server's address.
    """CREATE TABLE llm_answers (
        key TEXT PRIMARY KEY,
        model TEXT NOT NULL,
        request BLOB NOT NULL,                -- JSON, packed by zstd; no key is in it
        answer TEXT NOT NULL,                 -- JSON
        created_at TEXT NOT NULL
    )""",
)

BATCHES: Final = (
    # Batches under way at a server, so that another process can go on with them.
    """CREATE TABLE llm_batches (
        name TEXT PRIMARY KEY,                -- of the file of requests, as it is uploaded
        run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
        address TEXT NOT NULL,                -- of the server
        file_id TEXT NOT NULL DEFAULT '',     -- '' until the server is known to have it
        batch_id TEXT NOT NULL DEFAULT '',
        begun_at TEXT NOT NULL
    ) WITHOUT ROWID""",
)

CHAT_RUNS: Final = (
    # Runs whose answers are a model's own, each under the id of what was asked (see runs/chat_runs.py).
    """CREATE TABLE chat_runs (
        id TEXT PRIMARY KEY,
        wing TEXT NOT NULL,                   -- 'reliability', 'answers', 'construction'
        subject TEXT NOT NULL,                -- digest of what it is about; of a judge's the id of the run judged
        settings TEXT NOT NULL,               -- JSON
        created_at TEXT NOT NULL,
        n_answered INTEGER NOT NULL DEFAULT 0,  -- both are kept by the triggers
        n_failed INTEGER NOT NULL DEFAULT 0,
        checksum INTEGER
    )""",
    "CREATE INDEX chat_runs_by_subject ON chat_runs (subject)",
    "INSERT INTO integrity VALUES ('chat_runs', 0)",
    """CREATE TABLE chat_results (
        run_id TEXT NOT NULL REFERENCES chat_runs (id) ON DELETE CASCADE,
        unit TEXT NOT NULL,                   -- id of what was asked
        result BLOB,                          -- JSON, packed by zstd; NULL where the last try failed
        error TEXT,                           -- why there is none
        created_at TEXT NOT NULL,
        checksum INTEGER,
        PRIMARY KEY (run_id, unit)
    ) WITHOUT ROWID""",
    """CREATE TRIGGER chat_result_added AFTER INSERT ON chat_results BEGIN
        UPDATE chat_runs SET n_answered = n_answered + (NEW.result IS NOT NULL),
            n_failed = n_failed + (NEW.result IS NULL) WHERE id = NEW.run_id;
    END""",
    """CREATE TRIGGER chat_result_changed AFTER UPDATE OF result ON chat_results BEGIN
        UPDATE chat_runs SET n_answered = n_answered + (NEW.result IS NOT NULL) - (OLD.result IS NOT NULL),
            n_failed = n_failed + (NEW.result IS NULL) - (OLD.result IS NULL) WHERE id = NEW.run_id;
    END""",
    """CREATE TRIGGER chat_result_deleted AFTER DELETE ON chat_results BEGIN
        UPDATE chat_runs SET n_answered = n_answered - (OLD.result IS NOT NULL),
            n_failed = n_failed - (OLD.result IS NULL) WHERE id = OLD.run_id;
    END""",
    # Their batches are in the same table, which therefore refers to neither kind of run.
    """CREATE TABLE batches (
        name TEXT PRIMARY KEY,
        run_id TEXT NOT NULL,
        address TEXT NOT NULL,
        file_id TEXT NOT NULL DEFAULT '',
        batch_id TEXT NOT NULL DEFAULT '',
        begun_at TEXT NOT NULL,
        checksum INTEGER
    ) WITHOUT ROWID""",
    "INSERT INTO batches SELECT name, run_id, address, file_id, batch_id, begun_at, checksum FROM llm_batches",
    "DROP TABLE llm_batches",
    "ALTER TABLE batches RENAME TO llm_batches",
    *(
        f"CREATE TRIGGER batches_of_{table} AFTER DELETE ON {table} BEGIN"
        " DELETE FROM llm_batches WHERE run_id = OLD.id; END"
        for table in ("runs", "chat_runs")
    ),
)
