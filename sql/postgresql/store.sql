-- SPDX-License-Identifier: ISC
-- What PostgreSQL has instead of statements in sql/store.sql.  The last column memory_fits, where
-- there is one, is the text that the code compares with :filters as it reads the rows; so with
-- filters there is no LIMIT.

-- name: memory_insert
INSERT INTO memories (row, memory_id, user_id, owner, thread_id, memory_type, category, entity,
	created_at, metadata, content)
VALUES (greatest(:created_at, (SELECT coalesce(max(row), 0) + 1 FROM memories)), :memory_id, :user_id,
	:owner, :thread_id, :memory_type, :category, :entity, :created_at, :metadata, :content)
RETURNING row;

-- name: memory_load
SELECT memory_id, user_id, thread_id, memory_type, category, created_at, metadata, content,
	CASE WHEN :filters::text IS NOT NULL THEN metadata END AS memory_fits
FROM memories
WHERE row = :row
	AND (:user_id IS NULL OR user_id = :user_id)
	AND (:thread_id IS NULL OR thread_id = :thread_id)
	AND (:memory_type IS NULL OR memory_type = :memory_type)
	AND (:category IS NULL OR category = :category);

-- name: memory_rows
SELECT row, created_at, CASE WHEN :filters::text IS NOT NULL THEN metadata END AS memory_fits
FROM memories
WHERE row <= :newest
	AND (:thread_id IS NULL OR thread_id = :thread_id)
	AND (:memory_type IS NULL OR memory_type = :memory_type)
	AND (:category IS NULL OR category = :category)
ORDER BY row DESC
LIMIT CASE WHEN :filters::text IS NULL THEN :limit END;

-- name: memory_rows_owned
SELECT row, created_at, CASE WHEN :filters::text IS NOT NULL THEN metadata END AS memory_fits
FROM memories
WHERE hashtextextended(user_id, 0) = hashtextextended(:user_id COLLATE "C", 0)
	AND user_id = :user_id
	AND row <= :newest
	AND (:thread_id IS NULL OR thread_id = :thread_id)
	AND (:memory_type IS NULL OR memory_type = :memory_type)
	AND (:category IS NULL OR category = :category)
ORDER BY row DESC
LIMIT CASE WHEN :filters::text IS NULL THEN :limit END;

-- name: memory_few
SELECT NOT EXISTS (SELECT 1 FROM memories
	WHERE hashtextextended(user_id, 0) = hashtextextended(:user_id COLLATE "C", 0) AND user_id = :user_id
	LIMIT 1 OFFSET (SELECT coalesce(max(change), 0) / 256 FROM vectors)) AS few;

-- name: memory_vectors
SELECT m.row, v.vector, CASE WHEN :filters::text IS NOT NULL THEN m.metadata END AS memory_fits
FROM memories AS m JOIN vectors AS v ON v.memory = m.row
WHERE hashtextextended(m.user_id, 0) = hashtextextended(:user_id COLLATE "C", 0)
	AND m.user_id = :user_id
	AND v.model = :model
	AND (:thread_id IS NULL OR m.thread_id = :thread_id)
	AND (:memory_type IS NULL OR m.memory_type = :memory_type)
	AND (:category IS NULL OR m.category = :category);

-- name: memory_update
UPDATE memories
SET content = :content,
	metadata = coalesce(with_category(:metadata, category), metadata),
	entity = CASE WHEN :metadata IS NULL THEN entity ELSE :entity END
WHERE row = :row;

-- name: word_insert
WITH counted AS (
	SELECT m.row, w.word, count(*) AS times
	FROM memories AS m CROSS JOIN LATERAL words_of(m.content) AS w (word)
	WHERE m.row = :row
	GROUP BY m.row, w.word
), stored AS (
	INSERT INTO words (word, memory, times)
	SELECT word, row, times FROM counted WHERE octet_length(word) <= 1000
)
INSERT INTO lengths (memory, words)
SELECT :row, coalesce(sum(times), 0) FROM counted;

-- name: word_delete
WITH dropped AS (
	DELETE FROM words WHERE memory = :row
)
DELETE FROM lengths WHERE memory = :row;

-- name: memory_linked
WITH linked (row) AS (
	SELECT m.row FROM relations AS r JOIN memories AS m ON m.memory_id = r.target
	WHERE r.memory = :row
	UNION
	SELECT r.memory FROM memories AS s JOIN relations AS r ON r.target = s.memory_id
	WHERE s.row = :row
	UNION
	SELECT m.row FROM memories AS s JOIN memories AS m
		ON hashtextextended(m.entity, 0) = hashtextextended(s.entity, 0) AND m.entity = s.entity
	WHERE s.row = :row AND (:user_id IS NULL OR m.user_id = :user_id)
)
SELECT m.row, m.created_at, CASE WHEN :filters::text IS NOT NULL THEN m.metadata END AS memory_fits
FROM linked JOIN memories AS m ON m.row = linked.row
WHERE m.row <> :row
	AND (:user_id IS NULL OR m.user_id = :user_id)
	AND (:thread_id IS NULL OR m.thread_id = :thread_id)
	AND (:memory_type IS NULL OR m.memory_type = :memory_type)
	AND (:category IS NULL OR m.category = :category)
ORDER BY m.row DESC
LIMIT CASE WHEN :filters::text IS NULL THEN :limit END;

-- name: memory_matching
-- Ranks by BM25 like SQLite, with k1 1.2 and b 0.75.  :words is the query for FTS5, of which only
-- the words in quotes count, and of these the first 127.  They are looked up among the user's
-- memories, or in the index of words, whichever is less work.
WITH wanted AS MATERIALIZED (
	SELECT w.word
	FROM regexp_matches(:words, '"([^"]*)"', 'g') WITH ORDINALITY AS quoted (parts, place)
		CROSS JOIN LATERAL words_of(quoted.parts[1]) WITH ORDINALITY AS w (word, place)
	GROUP BY w.word
	ORDER BY min(ARRAY[quoted.place, w.place])
	LIMIT 127
), had AS MATERIALIZED (
	SELECT count(*) AS memories
	FROM memories
	WHERE hashtextextended(user_id, 0) = hashtextextended(:user_id COLLATE "C", 0) AND user_id = :user_id
), way AS MATERIALIZED (
	SELECT :user_id IS NOT NULL AND had.memories <= (SELECT count(*) FROM (
		SELECT 1 FROM wanted JOIN words ON words.word = wanted.word
		LIMIT (SELECT memories FROM had)) AS looked) AS by_user
	FROM had
), hits AS MATERIALIZED (
	SELECT m.row, w.word, w.times
	FROM memories AS m CROSS JOIN LATERAL (
		SELECT words.word, words.times
		FROM words
		WHERE words.memory = m.row AND words.word IN (SELECT word FROM wanted)
		OFFSET 0) AS w
	WHERE (SELECT by_user FROM way)
		AND hashtextextended(m.user_id, 0) = hashtextextended(:user_id COLLATE "C", 0)
		AND m.user_id = :user_id
		AND (:thread_id IS NULL OR m.thread_id = :thread_id)
		AND (:memory_type IS NULL OR m.memory_type = :memory_type)
		AND (:category IS NULL OR m.category = :category)
	UNION ALL
	SELECT m.row, words.word, words.times
	FROM wanted JOIN words ON words.word = wanted.word JOIN memories AS m ON m.row = words.memory
	WHERE NOT (SELECT by_user FROM way)
		AND (:user_id IS NULL OR m.user_id = :user_id)
		AND (:thread_id IS NULL OR m.thread_id = :thread_id)
		AND (:memory_type IS NULL OR m.memory_type = :memory_type)
		AND (:category IS NULL OR m.category = :category)
), long AS MATERIALIZED (
	SELECT lengths.memory AS row, lengths.words
	FROM (SELECT DISTINCT row FROM hits) AS h CROSS JOIN LATERAL (
		SELECT memory, words FROM lengths WHERE memory = h.row OFFSET 0) AS lengths
), held AS (
	SELECT (SELECT greatest(avg(words), 1)::float8 FROM long) AS usual,
		CASE WHEN :user_id IS NULL THEN (SELECT count(*) FROM lengths) ELSE (SELECT memories FROM had) END AS memories
), rare AS (
	SELECT hits.word,
		greatest(ln((held.memories - count(*) + 0.5) / (count(*) + 0.5)), 1e-6)::float8 AS weight
	FROM hits CROSS JOIN held
	GROUP BY hits.word, held.memories
), found AS (
	SELECT hits.row,
		sum(rare.weight * hits.times * 2.2
			/ (hits.times + 1.2 * (0.25 + 0.75 * long.words / held.usual))) AS weight
	FROM hits JOIN rare ON rare.word = hits.word JOIN long ON long.row = hits.row CROSS JOIN held
	GROUP BY hits.row
)
SELECT m.row, m.created_at, found.weight AS weight,
	CASE WHEN :filters::text IS NOT NULL THEN m.metadata END AS memory_fits
FROM found JOIN memories AS m ON m.row = found.row
ORDER BY found.weight DESC, m.row DESC
LIMIT CASE WHEN :filters::text IS NULL THEN :limit END;

-- name: vector_insert
INSERT INTO vectors (change, memory, model, hash, vector)
VALUES (nextval('vectors_change'), :memory, :model, :hash, :vector)
ON CONFLICT (memory) DO UPDATE
SET change = excluded.change, model = excluded.model, hash = excluded.hash, vector = excluded.vector;

-- name: vector_adopt
INSERT INTO vectors (change, memory, model, hash, vector)
SELECT nextval('vectors_change'), row, :model, :hash, :vector
FROM memories
WHERE row = :memory AND content = :content
ON CONFLICT (memory) DO UPDATE
SET change = excluded.change, model = excluded.model, hash = excluded.hash, vector = excluded.vector;
