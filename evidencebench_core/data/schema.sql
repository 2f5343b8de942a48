-- All tables of the store. A change of them is a change of user_version, in the last line: there are no migrations.
-- "JSON, zstd" is a frame with its own checksum; times are ISO 8601, UTC.

-- Datasets -----------------------------------------------------------------------------------------------

CREATE TABLE datasets (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    sha256 TEXT NOT NULL,                 -- of the decompressed content; of another format than the released also of its name
    n_instances INTEGER NOT NULL DEFAULT 0,
    n_papers INTEGER NOT NULL DEFAULT 0,  -- distinct paper ids
    n_result_instances INTEGER NOT NULL DEFAULT 0,  -- those that have result aspects
    synthetic INTEGER NOT NULL DEFAULT 0,
    sufficient INTEGER NOT NULL DEFAULT 0,  -- an instance says that its gold is sufficient, not complete
    source TEXT NOT NULL,
    ingested_at TEXT NOT NULL DEFAULT '',  -- '' while it is being read in or deleted: no reader sees it then
    process TEXT                          -- id and time of begin of the process that does that
);
CREATE UNIQUE INDEX datasets_by_name ON datasets (name) WHERE ingested_at <> '';
CREATE UNIQUE INDEX datasets_by_sha256 ON datasets (sha256) WHERE ingested_at <> '';

CREATE TABLE papers (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,             -- model.paper_key: sha256 of the unpacked body
    body BLOB NOT NULL                    -- sentences and their types: JSON, zstd
);

CREATE TABLE instances (
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
    synthetic INTEGER NOT NULL,           -- marks itself as made up
    sufficient INTEGER NOT NULL,          -- says that its gold is sufficient, not complete
    UNIQUE (dataset_id, position),
    UNIQUE (dataset_id, instance_id)
);
CREATE INDEX instances_by_paper ON instances (paper);

CREATE TABLE bodies (
    instance INTEGER PRIMARY KEY REFERENCES instances (id) ON DELETE CASCADE,
    hypothesis TEXT NOT NULL,
    gold BLOB NOT NULL,                   -- aspects as [id, sentence indices, is result, text]: JSON, zstd
    body BLOB NOT NULL                    -- the rest that it has: JSON, zstd
);

CREATE VIRTUAL TABLE hypothesis_words USING fts5 (  -- rowid: instances.id
    hypothesis, content = '', tokenize = 'unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE paper_words USING fts5 (  -- rowid: papers.id
    sentences, content = '', tokenize = 'unicode61 remove_diacritics 2'
);
-- A flush of 1 MiB at a time, the default, spends as long again on merging the pieces.
INSERT INTO paper_words (paper_words, rank) VALUES ('hashsize', 33554432);
-- The indices have no texts of their own: what goes they are told again. paper_text is data.connection's.
CREATE TRIGGER hypothesis_added AFTER INSERT ON bodies BEGIN
    INSERT INTO hypothesis_words (rowid, hypothesis) VALUES (NEW.instance, NEW.hypothesis);
END;
CREATE TRIGGER hypothesis_deleted AFTER DELETE ON bodies BEGIN
    INSERT INTO hypothesis_words (hypothesis_words, rowid, hypothesis)
    VALUES ('delete', OLD.instance, OLD.hypothesis);
END;
CREATE TRIGGER paper_added AFTER INSERT ON papers BEGIN
    INSERT INTO paper_words (rowid, sentences) VALUES (NEW.id, paper_text(NEW.body));
END;
CREATE TRIGGER paper_deleted AFTER DELETE ON papers BEGIN
    INSERT INTO paper_words (paper_words, rowid, sentences) VALUES ('delete', OLD.id, paper_text(OLD.body));
END;
CREATE TRIGGER instance_deleted AFTER DELETE ON instances
WHEN NOT EXISTS (SELECT 1 FROM instances WHERE paper = OLD.paper) BEGIN
    DELETE FROM papers WHERE id = OLD.paper;
END;

-- Runs: a retriever over a dataset, or questions to a model ----------------------------------------------

CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,                   -- 'retrieval', 'reliability', 'answers', 'annotation'
    subject TEXT NOT NULL,                -- digest of what it is about; of a judge's the id of the run judged
    settings TEXT NOT NULL,               -- JSON: all that decides the results
    name TEXT NOT NULL DEFAULT '',        -- '' for the name that is made of its settings
    created_at TEXT NOT NULL,
    versions TEXT NOT NULL,               -- JSON: of this package and of those that computed its first results
    stamp TEXT NOT NULL DEFAULT '',       -- another one whenever a result is written
    dataset_id INTEGER REFERENCES datasets (id) ON DELETE CASCADE,  -- NULL where it is about none
    about TEXT REFERENCES runs (id) ON DELETE CASCADE               -- of a judge's: the run judged
);
CREATE INDEX runs_by_subject ON runs (subject);
CREATE INDEX runs_by_dataset ON runs (dataset_id);
CREATE INDEX runs_by_run ON runs (about);

CREATE TABLE results (
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    question TEXT NOT NULL,               -- the focus, a task's name where K decides, '' where neither does
    unit TEXT NOT NULL,                   -- id of an instance, or of what was asked
    ranking BLOB,                         -- of a retrieval: sentence indices, best first, uint16 in little endian
    n_picks INTEGER,                      -- how many of them were chosen; NULL where a task cuts the ranking at K
    payload BLOB,                         -- JSON, zstd; NULL where the last try failed
    error TEXT,                           -- why there is none
    outcome TEXT NOT NULL,                -- of asking a model: 'selection over', 'no_list', ...
    created_at TEXT NOT NULL,
    PRIMARY KEY (run_id, question, unit)
) WITHOUT ROWID;
-- Counting a run's answers, and reading its rankings, must not walk over scores and details.
CREATE INDEX results_by_outcome ON results (run_id, question, error, outcome, unit, n_picks, ranking);

CREATE TABLE runs_under_way (
    run_id TEXT PRIMARY KEY,
    process TEXT NOT NULL                 -- id and time of begin of the process that carries it out
) WITHOUT ROWID;

CREATE TABLE trained_on (                 -- instances that the models behind a run have learnt from
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    instance_id TEXT NOT NULL,            -- of the run's dataset
    PRIMARY KEY (run_id, instance_id)
) WITHOUT ROWID;

CREATE TABLE notes (                      -- append-only, the newest on a place counts
    id INTEGER PRIMARY KEY,
    dataset_id INTEGER NOT NULL REFERENCES datasets (id) ON DELETE CASCADE,
    instance_id TEXT NOT NULL,
    run_id TEXT REFERENCES runs (id) ON DELETE CASCADE,  -- NULL where it is on no aspect that a run missed
    place TEXT NOT NULL,                  -- JSON list: what it is on, and its author
    body TEXT NOT NULL                    -- JSON: analyses.notes.Note
);
CREATE INDEX notes_by_run ON notes (run_id);
CREATE INDEX notes_by_dataset ON notes (dataset_id, place);

-- Language models ----------------------------------------------------------------------------------------

CREATE TABLE llm_answers (
    key TEXT PRIMARY KEY,                 -- digest of model and body
    model TEXT NOT NULL,
    address TEXT NOT NULL,                -- of the server that answered
    request BLOB NOT NULL,                -- JSON, zstd; no key of a server is in it
    answer TEXT NOT NULL,                 -- JSON
    created_at TEXT NOT NULL
);

CREATE TABLE llm_batches (                -- batches under way at a server
    address TEXT NOT NULL,                -- of the server
    file_id TEXT NOT NULL,                -- of the requests
    run_id TEXT NOT NULL,
    batch_id TEXT NOT NULL DEFAULT '',    -- '' until the server is known to have it
    begun_at TEXT NOT NULL,
    PRIMARY KEY (address, file_id)
) WITHOUT ROWID;
CREATE TRIGGER batches_of_runs AFTER DELETE ON runs BEGIN
    DELETE FROM llm_batches WHERE run_id = OLD.id;
END;

-- Wordings of hypotheses ---------------------------------------------------------------------------------

CREATE TABLE wordings (
    dataset_id INTEGER NOT NULL REFERENCES datasets (id) ON DELETE CASCADE,
    instance_id TEXT NOT NULL,
    name TEXT NOT NULL,                   -- 'paraphrase:lexical', 'negation'
    text TEXT NOT NULL,                   -- '' for a draft that was rejected
    made_by TEXT NOT NULL,                -- a file, a person, a model with its prompt
    accepted_by TEXT NOT NULL,            -- who has read a model's draft
    added_at TEXT NOT NULL,
    PRIMARY KEY (dataset_id, name, instance_id)
) WITHOUT ROWID;

-- Papers that readers bring and mark ---------------------------------------------------------------------

CREATE TABLE own_papers (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again: annotations name it
    name TEXT NOT NULL,
    hypothesis TEXT NOT NULL,             -- '' where none was written yet
    paper_id TEXT NOT NULL,
    title TEXT NOT NULL,
    n_sentences INTEGER NOT NULL,
    body BLOB NOT NULL,                   -- the paper as JSON, zstd
    added_at TEXT NOT NULL,
    pdf BLOB                              -- the file it was read from; NULL for other kinds
);

CREATE TABLE annotations (
    paper TEXT NOT NULL,                  -- 'own:<own_papers.id>' or 'instance:<dataset sha256>:<id>'
    annotator TEXT NOT NULL,              -- a person, 'consensus' or 'model:<name>'
    body TEXT NOT NULL,                   -- JSON: states, the oldest first, and which of them stands
    has_marks INTEGER NOT NULL,           -- 0 after all was undone
    saved_at TEXT NOT NULL,
    PRIMARY KEY (paper, annotator)
) WITHOUT ROWID;

-- Reliability --------------------------------------------------------------------------------------------

CREATE TABLE item_sets (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    sha256 TEXT NOT NULL UNIQUE,          -- of kind and items
    kind TEXT NOT NULL,                   -- 'questions', 'evidence', 'pairs'
    source TEXT NOT NULL,
    n_items INTEGER NOT NULL,
    body BLOB NOT NULL,                   -- list of the items: JSON, zstd
    added_at TEXT NOT NULL
);

-- Answers with citations ---------------------------------------------------------------------------------

CREATE TABLE answer_sets (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    sha256 TEXT NOT NULL UNIQUE,          -- of the body
    source TEXT NOT NULL,
    counts TEXT NOT NULL,                 -- JSON object
    body BLOB NOT NULL,                   -- answers.model.AnswerSet: JSON, zstd
    added_at TEXT NOT NULL
);

CREATE TABLE answer_marks (               -- append-only, the newest of a unit counts
    id INTEGER PRIMARY KEY,
    subject TEXT NOT NULL,                -- sha256 of the answer set
    unit TEXT NOT NULL,
    label TEXT NOT NULL,                  -- '' takes it back
    author TEXT NOT NULL,
    created_at TEXT NOT NULL
);
CREATE INDEX answer_marks_by_subject ON answer_marks (subject);

PRAGMA application_id = 1165378168;  -- "EvBx"
PRAGMA user_version = 105;
