-- SPDX-License-Identifier: ISC
-- store.db, version 1: memories, the words in them, and their vectors.

CREATE TABLE models (
	model INTEGER PRIMARY KEY,
	name TEXT NOT NULL, -- what made the vectors
	dimension INTEGER NOT NULL, -- how many numbers each of them has
	UNIQUE (name, dimension)
) STRICT;

CREATE TABLE memories (
	row INTEGER PRIMARY KEY, -- ascending: microseconds at creation, or the next free number
	memory_id TEXT NOT NULL UNIQUE, -- the public id
	user_id TEXT NOT NULL, -- whose it is
	owner TEXT NOT NULL, -- user_id as one word, for the index of the words
	thread_id TEXT, -- where it was learnt
	memory_type TEXT NOT NULL,
	category TEXT NOT NULL,
	entity TEXT, -- metadata.entity, where that is a text
	created_at INTEGER NOT NULL, -- microseconds since 1970
	metadata TEXT NOT NULL, -- JSON object: what clients see, category included
	content TEXT NOT NULL
) STRICT;

-- Newest first within a user: an index ends with the row.
CREATE INDEX memories_by_user ON memories (user_id);
CREATE INDEX memories_by_entity ON memories (entity, user_id) WHERE entity IS NOT NULL;

-- What metadata.relations of a memory names, whether that exists or not.
CREATE TABLE relations (
	memory INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
	target TEXT NOT NULL, -- a memory_id
	PRIMARY KEY (memory, target)
) STRICT, WITHOUT ROWID;

CREATE INDEX relations_by_target ON relations (target);

-- At most one for each memory.
CREATE TABLE vectors (
	change INTEGER PRIMARY KEY AUTOINCREMENT, -- a number never used again: what is new has a higher one
	memory INTEGER NOT NULL UNIQUE REFERENCES memories ON DELETE CASCADE,
	model INTEGER NOT NULL REFERENCES models,
	hash BLOB, -- SHA-256 of the content, where the vector is worth keeping for the same text
	vector BLOB NOT NULL -- 32-bit floats as they lie in memory
) STRICT;

CREATE INDEX vectors_by_model ON vectors (model);
CREATE INDEX vectors_by_hash ON vectors (hash, model) WHERE hash IS NOT NULL;

-- Memories whose vector could not be made when they were written.
CREATE TABLE pending (
	memory INTEGER PRIMARY KEY REFERENCES memories ON DELETE CASCADE
) STRICT;

-- Kept by word_insert and word_delete: a trigger may not write to it where a schema is not trusted.
CREATE VIRTUAL TABLE words USING fts5 (
	owner, content, content = 'memories', content_rowid = 'row',
	tokenize = 'unicode61 remove_diacritics 2'
);

PRAGMA user_version = 1;
