"""The store's tables, as migrations, and the check that a file is a store of ours at all.

A paper is kept once, however many instances share it; the index of its words is kept beside it.
What queries look at (``instances``) is apart from what only reading an instance needs
(``bodies``), so that a filter over 100,000 instances touches a few megabytes.
"""

from __future__ import annotations

import datetime
import sqlite3
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Final

from evidencebench_core.data.integrity import add_checks, drop_checks
from evidencebench_core.data.packing import packed_evidence, packed_nearest, unpacked_rest
from evidencebench_core.errors import StoreError

APPLICATION_ID: Final = 0x45764278  # "EvBx"

_DATASETS: Final = (
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

_RUNS: Final = (
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

_ANALYSES: Final = (
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

_ANSWERS: Final = (
    # What language models answered; the key is a hash of the request and the server's address.
    """CREATE TABLE llm_answers (
        key TEXT PRIMARY KEY,
        model TEXT NOT NULL,
        request BLOB NOT NULL,                -- JSON, packed by zstd; no key is in it
        answer TEXT NOT NULL,                 -- JSON
        created_at TEXT NOT NULL
    )""",
)

_OUTCOMES: Final = (
    # What came of asking a model: 'selection over', 'no_list', ...; '' for retrievers that ask none.
    "ALTER TABLE retrievals ADD COLUMN outcome TEXT NOT NULL DEFAULT ''",
    "CREATE INDEX retrievals_by_kind ON retrievals (run_id, task, outcome) WHERE outcome <> ''",
)

_DRAFTS: Final = (
    # Who made a wording and who read it: JSON, '' where it is not known (see perturb/wordings.py).
    "ALTER TABLE hypothesis_variants ADD COLUMN made_by TEXT NOT NULL DEFAULT ''",
    # What a model wrote and somebody has to read before it becomes a wording.
    """CREATE TABLE hypothesis_drafts (
        id INTEGER PRIMARY KEY,
        dataset_id INTEGER NOT NULL REFERENCES datasets (id) ON DELETE CASCADE,
        instance_id TEXT NOT NULL,
        name TEXT NOT NULL,                   -- of the wording that it is to become
        text TEXT NOT NULL,                   -- the model's words; '' where no wording could be read
        problem TEXT NOT NULL,                -- what our checks say against it; '' if nothing
        model TEXT NOT NULL,
        prompt TEXT NOT NULL,                 -- name and version
        made_at TEXT NOT NULL,
        state TEXT NOT NULL,                  -- 'waiting', 'refused', 'accepted', 'rejected'
        edited TEXT,                          -- the reviewer's words, where they changed them
        reviewer TEXT NOT NULL DEFAULT '',
        reviewed_at TEXT NOT NULL DEFAULT '',
        UNIQUE (dataset_id, instance_id, name, model, prompt)
    )""",
    "CREATE INDEX drafts_by_state ON hypothesis_drafts (dataset_id, state)",
)

_OWN_PAPERS: Final = (
    # Papers that a reader brought and chose to keep.
    """CREATE TABLE own_papers (
        id INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again: annotations name it
        name TEXT NOT NULL,
        hypothesis TEXT NOT NULL,             -- '' where none was written yet
        paper_id TEXT NOT NULL,
        title TEXT NOT NULL,
        n_sentences INTEGER NOT NULL,
        body BLOB NOT NULL,                   -- the paper as JSON, packed by zstd
        added_at TEXT NOT NULL
    )""",
    # Gold marked by hand; append-only: undo and redo walk from revision to revision.
    """CREATE TABLE annotations (
        id INTEGER PRIMARY KEY,
        paper TEXT NOT NULL,                  -- 'own:<own_papers.id>' or 'instance:<dataset sha256>:<id>'
        annotator TEXT NOT NULL,
        hypothesis TEXT NOT NULL,
        body TEXT NOT NULL,                   -- JSON: aspects with id, text, is_result, sentence_indices
        revision INTEGER NOT NULL,            -- from 1, of this annotator on this paper
        parent INTEGER NOT NULL,              -- the revision it was made from; 0 for the first
        created_at TEXT NOT NULL,
        UNIQUE (paper, annotator, revision)
    )""",
    """CREATE TABLE annotation_heads (
        paper TEXT NOT NULL,
        annotator TEXT NOT NULL,
        revision INTEGER NOT NULL,            -- the one that stands; 0 after the first was undone
        PRIMARY KEY (paper, annotator)
    ) WITHOUT ROWID""",
)

_TRAINED: Final = (
    # What models have learnt from: scores on that are no estimate of how they do on others.
    """CREATE TABLE trained_models (
        digest TEXT PRIMARY KEY,              -- of the model file; of a model without one, the id of its run
        dataset_sha256 TEXT NOT NULL,
        instance_ids TEXT NOT NULL,           -- JSON list
        paper_ids TEXT NOT NULL,              -- JSON list
        trained_at TEXT NOT NULL
    ) WITHOUT ROWID""",
)

_BATCHES: Final = (
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


def add_evidence(db: sqlite3.Connection) -> None:
    """For the instances of a store that is older than the table of evidence."""
    bodies = db.execute("SELECT instance, body FROM bodies")
    while batch := bodies.fetchmany(1024):
        rows = [(instance, *packed_evidence(unpacked_rest(body))) for instance, body in batch]
        db.executemany("INSERT INTO evidence (instance, aspects, texts, covering) VALUES (?, ?, ?, ?)", rows)


_COMPACT: Final = (
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

_NAMES: Final = (
    # What a run is called; '' for the name that is made of its retriever and settings.
    "ALTER TABLE runs ADD COLUMN name TEXT NOT NULL DEFAULT ''",
)

_PLACE_NOTES: Final = (
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

_PDFS: Final = (
    # The file that a kept paper was read from, for its pages; NULL for other kinds, and for those kept before.
    "ALTER TABLE own_papers ADD COLUMN pdf BLOB",
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


_NEAREST: Final = (
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

_MARKED: Final = (
    # Each instance that was marked by hand was once a dataset of its own, from a file in a temporary folder.
    "UPDATE datasets SET source = 'marked by hand' WHERE source LIKE '%evidencebench-marked-%'",
)

_CHECKED: Final = (
    "datasets", "papers", "instances", "bodies", "evidence", "runs", "retrievals", "nearest_sentences", "notes",
    "hypothesis_variants", "hypothesis_drafts", "imported_scores", "llm_answers", "llm_batches", "own_papers",
    "annotations", "annotation_heads", "trained_models", "saved_filters",
)  # fmt: skip
_COUNTED: Final = ("datasets", "runs", "notes", "annotations", "own_papers", "llm_answers")
_PICKS: Final = "checksum({0}.instance_id, {0}.selection, {0}.error)"
_OUTCOME: Final = "iif({0}.outcome = '', 0, checksum({0}.instance_id, {0}.outcome))"

_CHECKSUMS: Final = (
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

_SORTED: Final = (
    # Sorting by hypothesis must not walk over the bodies.
    "CREATE INDEX bodies_by_hypothesis ON bodies (hypothesis COLLATE NOCASE)",
)

_CHAT_RUNS: Final = (
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

_ITEM_SETS: Final = (
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

_SUFFICIENT: Final = (
    # Whether an instance says that its gold is sufficient, not complete.
    "ALTER TABLE datasets ADD COLUMN sufficient INTEGER NOT NULL DEFAULT 0",
)

_ITEM_DRAFTS: Final = (
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

_ANSWER_SETS: Final = (
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

_CONSTRUCTIONS: Final = (
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

_MIGRATIONS: Final[tuple[tuple[str | Callable[[sqlite3.Connection], None], ...], ...]] = (
    ("CREATE TABLE migrations (version INTEGER PRIMARY KEY, applied_at TEXT NOT NULL)", *_DATASETS, *_RUNS),
    _ANALYSES,
    _ANSWERS,
    _OUTCOMES,
    _DRAFTS,
    _OWN_PAPERS,
    _TRAINED,
    _BATCHES,
    _COMPACT,
    _NAMES,
    _PLACE_NOTES,
    _PDFS,
    _NEAREST,
    _MARKED,
    _CHECKSUMS,
    _SORTED,
    _CHAT_RUNS,
    _ITEM_SETS,
    _SUFFICIENT,
    _ITEM_DRAFTS,
    _ANSWER_SETS,
    _CONSTRUCTIONS,
)

VERSION: Final = len(_MIGRATIONS)


def is_current(db: sqlite3.Connection, path: Path) -> bool:
    """Whether the store has all tables of this version; an error if it is a newer one, or no store of ours."""
    version, application, n_tables = (
        int(db.execute(query).fetchone()[0])
        for query in ("PRAGMA user_version", "PRAGMA application_id", "SELECT count(*) FROM sqlite_master")
    )
    if version == application == n_tables == 0:
        return False
    if application != APPLICATION_ID:
        raise StoreError(str(path), "is a database, but no EvidenceBench store", "Name another store.")
    if version > VERSION:
        problem = f"is a store of version {version}, and this program knows versions up to {VERSION}"
        raise StoreError(str(path), problem, "Update evidencebench-explorer, or name another store.")
    return version == VERSION


def migrate(db: sqlite3.Connection, path: Path) -> None:
    """Bring a store to this version, inside the write transaction that is open."""
    if is_current(db, path):  # another process was quicker
        return
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    before = drop_checks(db)
    for number, statements in enumerate(_MIGRATIONS[version:], start=version + 1):
        for statement in statements:
            if isinstance(statement, str):
                db.execute(statement)
            else:
                statement(db)
        db.execute("INSERT INTO migrations VALUES (?, ?)", (number, now))
    add_checks(db, before)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {VERSION}")
