-- All tables of the store. A change of them is a change of user_version, in the last line: there are no migrations.
-- "JSON, zstd" is a frame with its own checksum; times are ISO 8601, UTC.

-- Datasets -----------------------------------------------------------------------------------------------

CREATE TABLE IF NOT EXISTS datasets (
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
CREATE UNIQUE INDEX IF NOT EXISTS datasets_by_name ON datasets (name) WHERE ingested_at <> '';
CREATE UNIQUE INDEX IF NOT EXISTS datasets_by_sha256 ON datasets (sha256) WHERE ingested_at <> '';

CREATE TRIGGER IF NOT EXISTS dataset_ready AFTER UPDATE OF ingested_at ON datasets WHEN NEW.ingested_at <> '' BEGIN
    UPDATE datasets
    SET (n_instances, n_papers, n_result_instances, synthetic, sufficient) = (
        SELECT count(*), count(DISTINCT paper_id), count(results_optimal), max(synthetic), max(sufficient)
        FROM instances WHERE dataset_id = NEW.id
    ), process = NULL
    WHERE id = NEW.id;
END;

CREATE TABLE IF NOT EXISTS papers (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,             -- model.paper_key: sha256 of the unpacked body
    body BLOB NOT NULL                    -- sentences and their types: JSON, zstd
);

CREATE TABLE IF NOT EXISTS instances (
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
CREATE INDEX IF NOT EXISTS instances_by_paper ON instances (paper);

CREATE TABLE IF NOT EXISTS bodies (
    instance INTEGER PRIMARY KEY REFERENCES instances (id) ON DELETE CASCADE,
    hypothesis TEXT NOT NULL,
    gold BLOB NOT NULL,                   -- aspects as [id, sentence indices, is result, text]: JSON, zstd
    body BLOB NOT NULL                    -- the rest that it has: JSON, zstd
);

CREATE VIEW IF NOT EXISTS ready_datasets AS
SELECT id, name, sha256, n_instances, n_papers, n_result_instances, source, ingested_at, synthetic, sufficient
FROM datasets WHERE ingested_at <> '' ORDER BY id;

CREATE VIEW IF NOT EXISTS instance_rows AS  -- whole instances; who asks for no paper reads none
SELECT i.dataset_id, i.instance_id AS id, b.hypothesis, i.paper_id, i.n_sentences, i.n_aspects, i.n_result_aspects,
    i.optimal, i.results_optimal, i.position, i.synthetic, i.sufficient, b.gold, b.body, p.body AS paper, p.key AS paper_key
FROM instances AS i JOIN bodies AS b ON b.instance = i.id LEFT JOIN papers AS p ON p.id = i.paper;
CREATE TRIGGER IF NOT EXISTS instance_added INSTEAD OF INSERT ON instance_rows BEGIN  -- last in its dataset
    INSERT INTO papers (key, body) SELECT NEW.paper_key, NEW.paper WHERE NEW.paper IS NOT NULL;  -- else it is there
    INSERT INTO instances (dataset_id, position, instance_id, paper, paper_id, n_sentences, n_aspects, n_result_aspects,
        optimal, results_optimal, synthetic, sufficient)
    VALUES (NEW.dataset_id, (SELECT coalesce(max(position) + 1, 0) FROM instances WHERE dataset_id = NEW.dataset_id),
        NEW.id, (SELECT id FROM papers WHERE key = NEW.paper_key), NEW.paper_id, NEW.n_sentences, NEW.n_aspects,
        NEW.n_result_aspects, NEW.optimal, NEW.results_optimal, NEW.synthetic, NEW.sufficient);
    INSERT INTO bodies (instance, hypothesis, gold, body) VALUES (
        (SELECT id FROM instances WHERE dataset_id = NEW.dataset_id AND instance_id = NEW.id),
        NEW.hypothesis, NEW.gold, NEW.body);
END;

CREATE VIRTUAL TABLE IF NOT EXISTS hypothesis_words USING fts5 (  -- rowid: instances.id
    hypothesis, content = '', tokenize = 'unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE IF NOT EXISTS paper_words USING fts5 (  -- rowid: papers.id
    sentences, content = '', tokenize = 'unicode61 remove_diacritics 2'
);
-- A flush of 1 MiB at a time, the default, spends as long again on merging the pieces.
INSERT INTO paper_words (paper_words, rank) VALUES ('hashsize', 33554432);
-- The indices have no texts of their own: what goes they are told again. paper_text is data.connection's.
CREATE TRIGGER IF NOT EXISTS hypothesis_added AFTER INSERT ON bodies BEGIN
    INSERT INTO hypothesis_words (rowid, hypothesis) VALUES (NEW.instance, NEW.hypothesis);
END;
CREATE TRIGGER IF NOT EXISTS hypothesis_deleted AFTER DELETE ON bodies BEGIN
    INSERT INTO hypothesis_words (hypothesis_words, rowid, hypothesis)
    VALUES ('delete', OLD.instance, OLD.hypothesis);
END;
CREATE TRIGGER IF NOT EXISTS paper_added AFTER INSERT ON papers BEGIN
    INSERT INTO paper_words (rowid, sentences) VALUES (NEW.id, paper_text(NEW.body));
END;
CREATE TRIGGER IF NOT EXISTS paper_deleted AFTER DELETE ON papers BEGIN
    INSERT INTO paper_words (paper_words, rowid, sentences) VALUES ('delete', OLD.id, paper_text(OLD.body));
END;
CREATE TRIGGER IF NOT EXISTS instance_deleted AFTER DELETE ON instances
WHEN NOT EXISTS (SELECT 1 FROM instances WHERE paper = OLD.paper) BEGIN
    DELETE FROM papers WHERE id = OLD.paper;
END;

-- Runs: a retriever over a dataset, or questions to a model ----------------------------------------------

CREATE TABLE IF NOT EXISTS runs (
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
CREATE INDEX IF NOT EXISTS runs_by_subject ON runs (subject);
CREATE INDEX IF NOT EXISTS runs_by_dataset ON runs (dataset_id);
CREATE INDEX IF NOT EXISTS runs_by_run ON runs (about);

CREATE TABLE IF NOT EXISTS results (
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
CREATE INDEX IF NOT EXISTS results_by_outcome ON results (run_id, question, error, outcome, unit, n_picks, ranking);

CREATE TABLE IF NOT EXISTS runs_under_way (
    run_id TEXT PRIMARY KEY,
    process TEXT NOT NULL                 -- id and time of begin of the process that carries it out
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS trained_on (                 -- instances that the models behind a run have learnt from
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    instance_id TEXT NOT NULL,            -- of the run's dataset
    PRIMARY KEY (run_id, instance_id)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS notes (                      -- append-only, the newest on a place counts
    id INTEGER PRIMARY KEY,
    dataset_id INTEGER NOT NULL REFERENCES datasets (id) ON DELETE CASCADE,
    instance_id TEXT NOT NULL,
    run_id TEXT REFERENCES runs (id) ON DELETE CASCADE,  -- NULL where it is on no aspect that a run missed
    place TEXT NOT NULL,                  -- JSON list: what it is on, and its author
    body TEXT NOT NULL                    -- JSON: analyses.notes.Note
);
CREATE INDEX IF NOT EXISTS notes_by_run ON notes (run_id);
CREATE INDEX IF NOT EXISTS notes_by_dataset ON notes (dataset_id, place);

-- Language models ----------------------------------------------------------------------------------------

CREATE TABLE IF NOT EXISTS llm_answers (
    key TEXT PRIMARY KEY,                 -- digest of model and body
    model TEXT NOT NULL,
    address TEXT NOT NULL,                -- of the server that answered
    prompt TEXT NOT NULL,                 -- its name and version; '' where it has none
    parameters TEXT NOT NULL,             -- JSON: the fields of the request but the model and the messages
    prompt_tokens INTEGER NOT NULL,       -- our estimate
    request BLOB NOT NULL,                -- JSON, zstd; no key of a server is in it
    answer TEXT NOT NULL,                 -- JSON
    created_at TEXT NOT NULL
);

CREATE INDEX IF NOT EXISTS answers_by_prompt ON llm_answers (model, prompt);

CREATE TABLE IF NOT EXISTS llm_spending (               -- what all starts of a run have cost
    run_id TEXT PRIMARY KEY,
    calls INTEGER NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    money REAL                            -- dollars; NULL once a price was not known
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS llm_batches (                -- batches under way at a server
    address TEXT NOT NULL,                -- of the server
    file_id TEXT NOT NULL,                -- of the requests
    run_id TEXT NOT NULL,
    batch_id TEXT NOT NULL DEFAULT '',    -- '' until the server is known to have it
    begun_at TEXT NOT NULL,
    PRIMARY KEY (address, file_id)
) WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS batches_of_runs AFTER DELETE ON runs BEGIN
    DELETE FROM llm_batches WHERE run_id = OLD.id;
    DELETE FROM llm_spending WHERE run_id = OLD.id;
END;

-- Wordings of hypotheses ---------------------------------------------------------------------------------

CREATE TABLE IF NOT EXISTS wordings (
    dataset_id INTEGER NOT NULL REFERENCES datasets (id) ON DELETE CASCADE,
    instance_id TEXT NOT NULL,
    name TEXT NOT NULL,                   -- 'paraphrase:lexical', 'negation'
    text TEXT NOT NULL,
    made_by TEXT NOT NULL,                -- a person or a model, or else the file
    added_at TEXT NOT NULL,
    PRIMARY KEY (dataset_id, name, instance_id)
) WITHOUT ROWID;

-- Papers that readers bring and mark ---------------------------------------------------------------------

CREATE TABLE IF NOT EXISTS own_papers (
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

CREATE TABLE IF NOT EXISTS annotations (
    paper TEXT NOT NULL,                  -- 'own:<own_papers.id>' or 'instance:<dataset sha256>:<id>'
    annotator TEXT NOT NULL,              -- a person, 'consensus' or 'model:<name>'
    body TEXT NOT NULL,                   -- JSON: states, the oldest first, and which of them stands
    has_marks INTEGER NOT NULL,           -- 0 after all was undone
    saved_at TEXT NOT NULL,
    PRIMARY KEY (paper, annotator)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS guidelines (   -- append-only, the newest counts
    text TEXT NOT NULL,                   -- empty: ours
    saved_at TEXT NOT NULL
);

-- Reliability --------------------------------------------------------------------------------------------

CREATE TABLE IF NOT EXISTS item_sets (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    sha256 TEXT NOT NULL UNIQUE,          -- of kind and items
    kind TEXT NOT NULL,                   -- 'questions', 'pairs'
    source TEXT NOT NULL,
    n_items INTEGER NOT NULL,
    body BLOB NOT NULL,                   -- list of the items: JSON, zstd
    added_at TEXT NOT NULL
);

-- Answers with citations ---------------------------------------------------------------------------------

CREATE TABLE IF NOT EXISTS answer_sets (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    sha256 TEXT NOT NULL UNIQUE,          -- of the body
    source TEXT NOT NULL,
    counts TEXT NOT NULL,                 -- JSON object
    body BLOB NOT NULL,                   -- answers.model.AnswerSet: JSON, zstd
    added_at TEXT NOT NULL
);

CREATE TABLE IF NOT EXISTS answer_marks (               -- append-only, the newest of a unit counts
    id INTEGER PRIMARY KEY,
    subject TEXT NOT NULL REFERENCES answer_sets (sha256) ON DELETE CASCADE,
    unit TEXT NOT NULL,
    label TEXT NOT NULL,                  -- '' takes it back
    author TEXT NOT NULL,
    created_at TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS answer_marks_by_subject ON answer_marks (subject);

PRAGMA application_id = 1165378168;  -- "EvBx"
PRAGMA user_version = 109;
