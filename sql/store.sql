-- SPDX-License-Identifier: ISC
-- Statements on store.db.  A parameter of a filter is NULL where there is no such condition.
-- memory_fits is a function of storage/sqlite/memory_fits.c, the other functions are in
-- memory_words.c.

-- name: memory_insert
INSERT INTO memories (row, memory_id, user_id, owner, thread_id, memory_type, category, entity,
	created_at, metadata, content)
VALUES (max(:created_at, (SELECT coalesce(max(row), 0) + 1 FROM memories)), :memory_id, :user_id,
	:owner, :thread_id, :memory_type, :category, :entity, :created_at, :metadata, :content)
RETURNING row;

-- name: memory_find
SELECT row FROM memories
WHERE memory_id = :memory_id
	AND (:user_id IS NULL OR user_id = :user_id)
	AND (:thread_id IS NULL OR thread_id = :thread_id);

-- name: memory_get
SELECT memory_id, user_id, thread_id, memory_type, category, created_at, metadata, content
FROM memories
WHERE memory_id = :memory_id
	AND (:user_id IS NULL OR user_id = :user_id)
	AND (:thread_id IS NULL OR thread_id = :thread_id);

-- name: memory_load
-- columns: memory_get
SELECT memory_id, user_id, thread_id, memory_type, category, created_at, metadata, content
FROM memories
WHERE row = :row
	AND (:user_id IS NULL OR user_id = :user_id)
	AND (:thread_id IS NULL OR thread_id = :thread_id)
	AND (:memory_type IS NULL OR memory_type = :memory_type)
	AND (:category IS NULL OR category = :category)
	AND (:filters IS NULL OR memory_fits(metadata, :filters));

-- name: memory_rows
-- columns: memory_matching
SELECT row, created_at FROM memories
WHERE row <= :newest
	AND (:thread_id IS NULL OR thread_id = :thread_id)
	AND (:memory_type IS NULL OR memory_type = :memory_type)
	AND (:category IS NULL OR category = :category)
	AND (:filters IS NULL OR memory_fits(metadata, :filters))
ORDER BY row DESC
LIMIT :limit;

-- name: memory_rows_owned
-- columns: memory_matching
SELECT row, created_at FROM memories
WHERE user_id = :user_id
	AND row <= :newest
	AND (:thread_id IS NULL OR thread_id = :thread_id)
	AND (:memory_type IS NULL OR memory_type = :memory_type)
	AND (:category IS NULL OR category = :category)
	AND (:filters IS NULL OR memory_fits(metadata, :filters))
ORDER BY row DESC
LIMIT :limit;

-- name: memory_few
-- Whether the user's memories are so few, compared to all vectors, that reading the vector of each
-- is no slower than passing over everybody else's.
SELECT NOT EXISTS (SELECT 1 FROM memories WHERE user_id = :user_id
	LIMIT 1 OFFSET (SELECT coalesce(max(change), 0) / 256 FROM vectors)) AS few;

-- name: memory_vectors
SELECT m.row, v.vector
FROM memories AS m CROSS JOIN vectors AS v ON v.memory = m.row
WHERE m.user_id = :user_id
	AND v.model = :model
	AND (:thread_id IS NULL OR m.thread_id = :thread_id)
	AND (:memory_type IS NULL OR m.memory_type = :memory_type)
	AND (:category IS NULL OR m.category = :category)
	AND (:filters IS NULL OR memory_fits(m.metadata, :filters));

-- name: memory_update
UPDATE memories
SET content = :content,
	metadata = coalesce(json_set(:metadata, '$.category', category), metadata),
	entity = CASE WHEN :metadata IS NULL THEN entity ELSE :entity END
WHERE row = :row;

-- name: memory_delete
-- Comes after word_delete; foreign keys delete the rest.
DELETE FROM memories WHERE row = :row;

-- name: word_insert
INSERT INTO words (rowid, owner, content)
SELECT row, owner, content FROM memories WHERE row = :row;

-- name: word_delete
-- Must run while the memory still has the content that was indexed.
INSERT INTO words (words, rowid, owner, content)
SELECT 'delete', row, owner, content FROM memories WHERE row = :row;

-- name: relation_insert
INSERT INTO relations (memory, target) VALUES (:memory, :target) ON CONFLICT DO NOTHING;

-- name: relation_clear
DELETE FROM relations WHERE memory = :row;

-- name: memory_linked
-- columns: memory_matching
-- Memories linked by its own relations, by relations of others to it, or by the name of its entity.
WITH linked (row) AS (
	SELECT m.row FROM relations AS r JOIN memories AS m ON m.memory_id = r.target
	WHERE r.memory = :row
	UNION
	SELECT r.memory FROM memories AS s JOIN relations AS r ON r.target = s.memory_id
	WHERE s.row = :row
	UNION
	SELECT m.row FROM memories AS s JOIN memories AS m ON m.entity = s.entity
	WHERE s.row = :row AND (:user_id IS NULL OR m.user_id = :user_id)
)
SELECT m.row, m.created_at FROM linked JOIN memories AS m ON m.row = linked.row
WHERE m.row <> :row
	AND (:user_id IS NULL OR m.user_id = :user_id)
	AND (:thread_id IS NULL OR m.thread_id = :thread_id)
	AND (:memory_type IS NULL OR m.memory_type = :memory_type)
	AND (:category IS NULL OR m.category = :category)
	AND (:filters IS NULL OR memory_fits(m.metadata, :filters))
ORDER BY m.row DESC
LIMIT :limit;

-- part: with_words
-- Every memory has its owner as one of its words, by which it is found; that word has no weight.
FROM words JOIN memories AS m ON m.row = words.rowid
WHERE words MATCH memory_query(:words)
	AND (:user_id IS NULL OR m.user_id = :user_id)
	AND (:thread_id IS NULL OR m.thread_id = :thread_id)
	AND (:memory_type IS NULL OR m.memory_type = :memory_type)
	AND (:category IS NULL OR m.category = :category)
	AND (:filters IS NULL OR memory_fits(m.metadata, :filters))

-- name: memory_matching
-- How rare a word is counts among the user's memories, so they are gone through twice, once for
-- that and once for each memory's weight: keeping the first result would need memory for everything
-- a search finds.  The LIMIT keeps SQLite from merging the two queries, as FTS5 functions do not
-- work inside an aggregate.
SELECT m.row, m.created_at, memory_weight(memory_words(words), (
	SELECT memory_rarity(found, CASE WHEN :user_id IS NOT NULL THEN
		(SELECT count(*) FROM memories WHERE user_id = :user_id) END)
	FROM (SELECT memory_words(words) AS found
-- take: with_words
		LIMIT -1))) AS weight
-- take: with_words
ORDER BY weight DESC, m.row DESC
LIMIT :limit;

-- name: model_insert
INSERT INTO models (name, dimension) VALUES (:name, :dimension) ON CONFLICT DO NOTHING;

-- name: model_find
SELECT model FROM models WHERE name = :name AND dimension = :dimension;

-- name: model_others
SELECT EXISTS (SELECT 1 FROM vectors WHERE model < :model)
	OR EXISTS (SELECT 1 FROM vectors WHERE model > :model) AS found;

-- name: model_counts
SELECT name, dimension, count(vectors.model) AS vectors,
	models.model = :model AS current
FROM models LEFT JOIN vectors ON vectors.model = models.model
GROUP BY models.model
ORDER BY models.model;

-- name: memory_count
SELECT count(*) AS count FROM memories;

-- name: vector_insert
INSERT OR REPLACE INTO vectors (memory, model, hash, vector)
VALUES (:memory, :model, :hash, :vector);

-- name: vector_adopt
-- The text that the vector was made for may have changed meanwhile, or be gone.
INSERT OR REPLACE INTO vectors (memory, model, hash, vector)
SELECT row, :model, :hash, :vector FROM memories WHERE row = :memory AND content = :content;

-- name: vector_drop
DELETE FROM vectors WHERE memory = :row;

-- name: vector_known
SELECT vector FROM vectors WHERE hash = :hash AND model = :model LIMIT 1;

-- name: vector_changes
SELECT v.change, v.memory, m.user_id, m.thread_id, v.vector
FROM vectors AS v JOIN memories AS m ON m.row = v.memory
WHERE v.model = :model AND v.change > :after
ORDER BY v.change
LIMIT :limit;

-- name: pending_insert
INSERT INTO pending (memory) VALUES (:row) ON CONFLICT DO NOTHING;

-- name: pending_drop
DELETE FROM pending WHERE memory = :row;

-- name: pending_list
SELECT row, content FROM pending JOIN memories ON row = memory
WHERE row > :after ORDER BY row LIMIT :limit;

-- name: foreign_list
-- columns: pending_list
-- Memories without a vector of this model.
SELECT row, content FROM memories
WHERE row > :after
	AND NOT EXISTS (SELECT 1 FROM vectors WHERE memory = row AND model = :model)
ORDER BY row
LIMIT :limit;

-- name: pending_settle
DELETE FROM pending
WHERE memory = (SELECT row FROM memories WHERE row = :memory AND content = :content);
