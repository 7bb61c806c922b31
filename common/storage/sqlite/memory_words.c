/* SPDX-License-Identifier: ISC */
/*
 * BM25 as SQL functions, over the rows that a search finds: memory_query(words) is the query as the
 * index has its words, memory_words(words) counts its phrases in a row of the index,
 * memory_rarity(found, memories) sums that up over all rows, and memory_weight(found, rarity) is
 * the rank of a row.
 *
 * bm25() of FTS5 would do, but each search would count its phrases in everybody's memories.
 */
#include "storage/sqlite/sqlite_db.h"

#include "base/buf.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CONTENT 1       /* column of the index */
#define PHRASES_MAX 128 /* of a query: its words, and the owner */
#define K1 1.2
#define B 0.75
#define COMMON 1e-6 /* weight of a word that most memories have */

/* The words of a query, each once. */
struct asked {
	struct buf query;
	char *words[PHRASES_MAX];
	int count;
};

static int memory_query_add(
    void *into, int flags, const char *token, int length, int start, int end)
{
	struct asked *asked = into;
	size_t len = (size_t)length;
	(void)flags, (void)start, (void)end;
	for (int i = 0; i < asked->count; i++)
		if (strncmp(asked->words[i], token, len) == 0 && !asked->words[i][len])
			return SQLITE_OK;
	if (asked->count == PHRASES_MAX - 1)
		return SQLITE_DONE;
	buf_puts(&asked->query, asked->count ? " OR \"" : "\"");
	buf_add(&asked->query, token, len);
	buf_putc(&asked->query, '"');
	asked->words[asked->count++] = xstrndup(token, len);
	return SQLITE_OK;
}

/* memory_query: of what is one word by its bytes, FTS5 would make a phrase, which reads all places
 * of a word anew for each time that it has it. */
static void memory_query(sqlite3_context *context, int count, sqlite3_value **values)
{
	static const char *how[] = {"remove_diacritics", "2"}; /* as in the schema */
	fts5_api *api = sqlite3_user_data(context);
	fts5_tokenizer unicode;
	Fts5Tokenizer *tokenizer = NULL;
	void *data;
	struct asked asked = {0};
	const char *text = (const char *)sqlite3_value_text(values[0]), *end = text;
	int rc = api->xFindTokenizer(api, "unicode61", &data, &unicode);
	(void)count;
	if (rc == SQLITE_OK)
		rc = unicode.xCreate(data, how, 2, &tokenizer);
	if (text)
		buf_add(&asked.query, text, strcspn(text, "\""));
	while (rc == SQLITE_OK && end && (text = strchr(end, '"'))) {
		end = text + 1 + strcspn(text + 1, "\"");
		rc = unicode.xTokenize(tokenizer, &asked, FTS5_TOKENIZE_QUERY, text + 1,
		    (int)(end - text - 1), memory_query_add);
		end += *end == '"';
	}
	buf_puts(&asked.query, asked.count ? ")" : "\"\")");
	if (rc == SQLITE_OK || rc == SQLITE_DONE)
		sqlite3_result_text(
		    context, asked.query.data, (int)asked.query.len, SQLITE_TRANSIENT);
	else
		sqlite3_result_error_code(context, rc);
	while (asked.count)
		free(asked.words[--asked.count]);
	buf_release(&asked.query);
	if (tokenizer)
		unicode.xDelete(tokenizer);
}

/* These functions pass arrays of numbers as blobs, which need not be aligned. */

enum { FOUND_MEMORIES, FOUND_WORDS, FOUND_TIMES, FOUND_MOST = FOUND_TIMES + PHRASES_MAX };
enum { RARITY_USUAL, RARITY_WEIGHTS, RARITY_MOST = RARITY_WEIGHTS + PHRASES_MAX };

/* Copies such an array; returns how many numbers it has, 0 where the value is none. */
static size_t memory_words_numbers(sqlite3_value *value, void *out, size_t most)
{
	const void *blob = sqlite3_value_blob(value);
	size_t size = (size_t)sqlite3_value_bytes(value);
	if (!blob || size % sizeof(int64_t) || size / sizeof(int64_t) > most)
		return 0;
	memcpy(out, blob, size);
	return size / sizeof(int64_t);
}

/* memory_words: how many memories the index has, how many words this one has, and how often it has
 * each phrase. */
static void memory_words(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *context,
    int count, sqlite3_value **values)
{
	int64_t found[FOUND_MOST] = {0};
	int phrases = api->xPhraseCount(fts), words = 0;
	sqlite3_int64 memories = 0;
	int rc = phrases <= PHRASES_MAX ? api->xRowCount(fts, &memories) : SQLITE_ERROR;
	(void)count;
	(void)values;
	if (rc == SQLITE_OK)
		rc = api->xColumnSize(fts, CONTENT, &words);
	/* xInst would put all places of all phrases in order, in time by the product of both */
	for (int i = 0; rc == SQLITE_OK && i < phrases; i++) {
		Fts5PhraseIter at;
		int column, offset;
		rc = api->xPhraseFirst(fts, i, &at, &column, &offset);
		for (; rc == SQLITE_OK && column >= 0; api->xPhraseNext(fts, &at, &column, &offset))
			found[FOUND_TIMES + i] += column == CONTENT;
	}
	found[FOUND_MEMORIES] = memories;
	found[FOUND_WORDS] = words;
	if (rc == SQLITE_OK)
		sqlite3_result_blob(context, found, (FOUND_TIMES + phrases) * (int)sizeof(*found),
		    SQLITE_TRANSIENT);
	else
		sqlite3_result_error_code(context, rc);
}

struct rarity {
	int64_t rows, words, memories;
	size_t phrases;
	int64_t rows_with[PHRASES_MAX];
};

static void memory_rarity_add(sqlite3_context *context, int count, sqlite3_value **values)
{
	struct rarity *r = sqlite3_aggregate_context(context, sizeof(*r));
	int64_t found[FOUND_MOST];
	size_t numbers = memory_words_numbers(values[0], found, FOUND_MOST);
	(void)count;
	if (!r || numbers < FOUND_TIMES)
		return;
	r->rows++;
	r->words += found[FOUND_WORDS];
	r->memories = sqlite3_value_type(values[1]) == SQLITE_NULL ? found[FOUND_MEMORIES]
								   : sqlite3_value_int64(values[1]);
	r->phrases = numbers - FOUND_TIMES;
	for (size_t i = 0; i < r->phrases; i++)
		r->rows_with[i] += found[FOUND_TIMES + i] > 0;
}

static void memory_rarity(sqlite3_context *context)
{
	const struct rarity *r = sqlite3_aggregate_context(context, 0);
	double out[RARITY_MOST];
	if (!r || !r->rows)
		return;
	out[RARITY_USUAL] = (double)r->words / (double)r->rows;
	for (size_t i = 0; i < r->phrases; i++) {
		double with = (double)r->rows_with[i], all = (double)r->memories;
		double weight = log((all - with + 0.5) / (with + 0.5));
		out[RARITY_WEIGHTS + i] = weight > COMMON ? weight : COMMON;
	}
	sqlite3_result_blob(
	    context, out, (int)((RARITY_WEIGHTS + r->phrases) * sizeof(*out)), SQLITE_TRANSIENT);
}

static void memory_weight(sqlite3_context *context, int count, sqlite3_value **values)
{
	int64_t found[FOUND_MOST];
	double rarity[RARITY_MOST], weight = 0;
	size_t numbers = memory_words_numbers(values[0], found, FOUND_MOST);
	size_t weights = memory_words_numbers(values[1], rarity, RARITY_MOST);
	(void)count;
	if (numbers < FOUND_TIMES || weights != numbers - FOUND_TIMES + RARITY_WEIGHTS)
		return;
	double length =
	    rarity[RARITY_USUAL] > 0 ? (double)found[FOUND_WORDS] / rarity[RARITY_USUAL] : 1;
	for (size_t i = 0; i < numbers - FOUND_TIMES; i++) {
		double times = (double)found[FOUND_TIMES + i];
		weight += rarity[RARITY_WEIGHTS + i] * times * (K1 + 1) /
		    (times + K1 * (1 - B + B * length));
	}
	sqlite3_result_double(context, weight);
}

bool sqlite_memory_words_add(struct sqlite_db *db, struct error *err)
{
	const int how = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;
	fts5_api *api = NULL;
	struct query q;
	/* FTS5 hands out its interface through a bound pointer */
	query_start(&q, &db->db, SQL_WORDS_INTERFACE, err);
	if (q.stmt)
		sqlite3_bind_pointer(q.stmt, 1, &api, "fts5_api_ptr", NULL);
	query_row(&q);
	if (!query_end(&q) || !api)
		return error_set(err, ERR_STORAGE, "SQLite: there is no FTS5");
	sqlite3_create_function(db->handle, "memory_query", 1, how, api, memory_query, NULL, NULL);
	api->xCreateFunction(api, "memory_words", NULL, memory_words, NULL);
	sqlite3_create_function(
	    db->handle, "memory_rarity", 2, how, NULL, NULL, memory_rarity_add, memory_rarity);
	sqlite3_create_function(
	    db->handle, "memory_weight", 2, how, NULL, memory_weight, NULL, NULL);
	return true;
}
