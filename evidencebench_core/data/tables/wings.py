"""Tables of reliability, of answers with citations, and of instances in the making."""

from __future__ import annotations

from typing import Final

ITEM_SETS: Final = (
    # Questions, with context and gold label, that reliability is tested on.
    """CREATE TABLE item_sets (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        sha256 TEXT NOT NULL UNIQUE,          -- of kind and items
        kind TEXT NOT NULL,                   -- 'questions', 'evidence', 'pairs'
        source TEXT NOT NULL,
        n_items INTEGER NOT NULL,
        body BLOB NOT NULL,                   -- JSON list of the items, packed by zstd
        added_at TEXT NOT NULL,
        checksum INTEGER
    )""",
    "INSERT INTO integrity VALUES ('item_sets', 0)",
)

ITEM_DRAFTS: Final = (
    # The model that has checked what another wrote and found no fault; '' where none has.
    "ALTER TABLE hypothesis_drafts ADD COLUMN checked_by TEXT NOT NULL DEFAULT ''",
    # What a model made of the questions and contexts of an item set; columns as of hypothesis_drafts.
    """CREATE TABLE item_drafts (
        id INTEGER PRIMARY KEY,
        item_set_id INTEGER NOT NULL REFERENCES item_sets (id) ON DELETE CASCADE,
        item_id TEXT NOT NULL,
        name TEXT NOT NULL,
        text TEXT NOT NULL,
        problem TEXT NOT NULL,
        model TEXT NOT NULL,
        prompt TEXT NOT NULL,
        made_at TEXT NOT NULL,
        state TEXT NOT NULL,
        edited TEXT,
        reviewer TEXT NOT NULL DEFAULT '',
        reviewed_at TEXT NOT NULL DEFAULT '',
        checked_by TEXT NOT NULL DEFAULT '',
        checksum INTEGER,
        UNIQUE (item_set_id, item_id, name, model, prompt)
    )""",
    "CREATE INDEX item_drafts_by_state ON item_drafts (item_set_id, state)",
    # The texts that a run used, so that it can be read after a draft was edited.
    """CREATE TABLE item_wordings (
        digest TEXT PRIMARY KEY,
        item_set_id INTEGER NOT NULL REFERENCES item_sets (id) ON DELETE CASCADE,
        body BLOB NOT NULL,                   -- JSON, packed by zstd
        checksum INTEGER
    ) WITHOUT ROWID""",
)

ANSWER_SETS: Final = (
    # Answers of systems to questions, with the documents they cite and people's labels.
    """CREATE TABLE answer_sets (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        sha256 TEXT NOT NULL UNIQUE,          -- of the sorted lines
        source TEXT NOT NULL,
        counts TEXT NOT NULL,                 -- JSON object
        body BLOB NOT NULL,                   -- JSON list of the lines, packed by zstd
        added_at TEXT NOT NULL,
        checksum INTEGER
    )""",
    # What people corrected of judges' labels and marked; append-only, the newest of a unit counts.
    """CREATE TABLE answer_marks (
        id INTEGER PRIMARY KEY,
        subject TEXT NOT NULL,                -- sha256 of the answer set, or id of the run that wrote the answers
        what TEXT NOT NULL,                   -- 'label', 'nuggets', 'gold'
        unit TEXT NOT NULL,
        value TEXT NOT NULL,                  -- '' takes it back
        author TEXT NOT NULL,
        before TEXT NOT NULL,                 -- what the judge had said
        created_at TEXT NOT NULL,
        checksum INTEGER
    )""",
    "CREATE INDEX answer_marks_by_subject ON answer_marks (subject)",
    "INSERT INTO integrity VALUES ('answer_sets', 0), ('answer_marks', 0)",
)

CONSTRUCTIONS: Final = (
    # Instances in the making (see construction/store.py); append-only but for the positions, which are a memory.
    """CREATE TABLE constructions (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        added_at TEXT NOT NULL,
        checksum INTEGER
    )""",
    """CREATE TABLE construction_settings (
        id INTEGER PRIMARY KEY,
        construction_id INTEGER NOT NULL REFERENCES constructions (id) ON DELETE CASCADE,
        body TEXT NOT NULL,                   -- JSON; the newest counts
        used_at TEXT NOT NULL,
        checksum INTEGER
    )""",
    """CREATE TABLE construction_builds (
        id INTEGER PRIMARY KEY,
        construction_id INTEGER NOT NULL REFERENCES constructions (id) ON DELETE CASCADE,
        build TEXT NOT NULL,                  -- the newest of each counts
        sha256 TEXT NOT NULL,                 -- of the unpacked body
        body BLOB NOT NULL,                   -- JSON, packed by zstd
        added_at TEXT NOT NULL,
        checksum INTEGER
    )""",
    "CREATE INDEX construction_builds_by_build ON construction_builds (construction_id, build)",
    """CREATE TABLE construction_pools (
        sha256 TEXT PRIMARY KEY,              -- of sentences and types
        body BLOB NOT NULL,                   -- JSON list of both, packed by zstd
        checksum INTEGER
    ) WITHOUT ROWID""",
    """CREATE TABLE construction_papers (
        id INTEGER PRIMARY KEY,
        construction_id INTEGER NOT NULL REFERENCES constructions (id) ON DELETE CASCADE,
        paper TEXT NOT NULL,                  -- where it is from; the newest of each counts
        pool TEXT,                            -- NULL where there is none
        paper_id TEXT NOT NULL,
        title TEXT NOT NULL,
        licence TEXT NOT NULL,
        reason TEXT,                          -- of the drop, where there is none
        problem TEXT NOT NULL,
        added_at TEXT NOT NULL,
        checksum INTEGER
    )""",
    "CREATE INDEX construction_papers_by_paper ON construction_papers (construction_id, paper)",
    """CREATE TABLE construction_decisions (
        id INTEGER PRIMARY KEY,
        construction_id INTEGER NOT NULL REFERENCES constructions (id) ON DELETE CASCADE,
        build TEXT NOT NULL,
        item TEXT NOT NULL,                   -- 'hypothesis', 'aspect:2', 'mark:2:17' ...
        verdict TEXT NOT NULL,
        words TEXT NOT NULL,                  -- of an edit or an addition
        by TEXT NOT NULL,
        mode TEXT NOT NULL,
        about TEXT NOT NULL,                  -- what stood there
        decided_at TEXT NOT NULL,
        checksum INTEGER
    )""",
    "CREATE INDEX construction_decisions_by_build ON construction_decisions (construction_id, build)",
    """CREATE TABLE construction_positions (
        construction_id INTEGER NOT NULL REFERENCES constructions (id) ON DELETE CASCADE,
        build TEXT NOT NULL,
        fingerprint TEXT NOT NULL,            -- of the settings for which it holds
        stage TEXT NOT NULL,
        status TEXT NOT NULL,
        reason TEXT NOT NULL,
        problem TEXT NOT NULL,
        PRIMARY KEY (construction_id, build)
    ) WITHOUT ROWID""",
    "CREATE INDEX construction_positions_by_stage"
    " ON construction_positions (construction_id, fingerprint, stage, status, reason)",
    "CREATE TRIGGER positions_of_chat_runs AFTER DELETE ON chat_runs WHEN OLD.wing = 'construction' BEGIN"
    " DELETE FROM construction_positions; END",
    "INSERT INTO integrity VALUES ('constructions', 0), ('construction_builds', 0)",
)
