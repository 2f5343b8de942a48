"""Tables of wordings to be read, and of papers that readers bring and mark."""

from __future__ import annotations

from typing import Final

DRAFTS: Final = (
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

OWN_PAPERS: Final = (
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

PDFS: Final = (
    # The file that a kept paper was read from, for its pages; NULL for other kinds, and for those kept before.
    "ALTER TABLE own_papers ADD COLUMN pdf BLOB",
)
