/* SPDX-License-Identifier: ISC */
/* The memory store's engine, the conditions on metadata, and the embedder that is built in. */
#include "base/json/json.h"
#include "base/os/clock.h"
#include "config/config.h"
#include "engines_fixture.h"
#include "model/embed/embed.h"
#include "storage/memories.h"
#include "storage/memory_filter.h"
#include "storage/sqlite/sqlite_db.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define MODEL "test"
#define DIMENSION 4

static struct error err;
static struct shared *shared;
static const struct memory_links no_links;
static const struct memory_filter everything;

/* The sets that are open, each with a storage as a process has it. */
static struct {
	struct memory_set *set;
	struct storage *storage;
} opened[4];

/* NULL with mine set. */
static struct memory_set *try_store(const char *name, const char *model, struct error *mine)
{
	char own[64];
	snprintf(own, sizeof(own), "%s%s", name, chosen_engine ? "-memory" : "");
	const struct config config = {.state_dir = (char *)unit_path(own)};
	size_t i = 0;
	mkdir(config.state_dir, 0700);
	while (opened[i].set)
		i++;
	opened[i].storage = open_chosen(&config, shared, mine);
	CU_ASSERT_PTR_NOT_NULL_FATAL(opened[i].storage);
	opened[i].set = opened[i].storage->engine->memories->open(
	    opened[i].storage, NULL, model, DIMENSION, mine);
	if (!opened[i].set)
		storage_close(opened[i].storage);
	return opened[i].set;
}

static struct memory_set *open_store(const char *name, const char *model)
{
	struct memory_set *st = try_store(name, model, &err);
	if (!st)
		printf("# %s (%s)\n", err.detail, err.cause);
	CU_ASSERT_PTR_NOT_NULL_FATAL(st);
	return st;
}

static void close_store(struct memory_set *st)
{
	size_t i = 0;
	while (opened[i].set != st)
		i++;
	st->ops->close(st);
	storage_close(opened[i].storage);
	opened[i].set = NULL;
}

static void put(struct memory_set *st, const char *id, const float *numbers)
{
	const struct memory m = {.memory_id = id,
	    .user_id = "ann",
	    .memory_type = "episodic",
	    .category = "general",
	    .metadata_json = "{\"category\":\"general\"}",
	    .content = id,
	    .created_at = 1000};
	unsigned char hash[32];
	memset(hash, id[0], sizeof(hash));
	const struct memory_vector vector = {numbers, numbers ? hash : NULL};
	CU_ASSERT_TRUE(st->ops->put(st, NULL, &m, &no_links, &vector, &err));
}

static const float east[] = {1, 0, 0, 0}, north[] = {0, 1, 0, 0};

/* How many are near, and which is the nearest. */
static size_t similar(struct memory_set *st, const float *v, int64_t *row)
{
	struct memory_hit items[10];
	struct memory_hits hits = {.items = items, .limit = 10};
	CU_ASSERT_TRUE(st->ops->similar(st, NULL, &everything, v, METRIC_COSINE, &hits, &err));
	*row = hits.count ? items[0].row : 0;
	return hits.count;
}

static bool known(struct memory_set *st, char c, float *v)
{
	unsigned char hash[32];
	bool found = false;
	memset(hash, c, sizeof(hash));
	CU_ASSERT_TRUE(st->ops->known_vector(st, NULL, hash, v, &found, &err));
	return found;
}

static void a_vector_is_known_by_the_hash_of_its_text(void)
{
	struct memory_set *st = open_store("known", MODEL);
	float v[DIMENSION] = {0};
	put(st, "east", east);
	CU_ASSERT_FALSE(known(st, 'x', v));
	CU_ASSERT_TRUE(known(st, 'e', v));
	CU_ASSERT_EQUAL(memcmp(v, east, sizeof(v)), 0);
	close_store(st);
}

static size_t waiting(struct memory_set *st, struct arena *a, bool all, struct memory_batch *batch)
{
	*batch = (struct memory_batch){.all = all, .limit = 10};
	CU_ASSERT_TRUE(st->ops->unembedded(st, NULL, a, batch, &err));
	return batch->count;
}

/* The one text of the batch, with that vector. */
static void adopt(struct memory_set *st, struct memory_batch *batch, const float *numbers)
{
	float vector[DIMENSION];
	memcpy(vector, numbers, sizeof(vector));
	batch->vectors = vector;
	CU_ASSERT_TRUE(st->ops->adopt(st, NULL, batch, &err));
}

static void a_memory_can_get_its_vector_later(void)
{
	struct memory_set *st = open_store("later", MODEL);
	struct arena *a = arena_new();
	struct memory_batch batch;
	int64_t row;
	put(st, "east", NULL);
	CU_ASSERT_EQUAL(similar(st, east, &row), 0);
	CU_ASSERT_EQUAL(waiting(st, a, false, &batch), 1);
	CU_ASSERT_STRING_EQUAL(batch.texts[0].content, "east");
	adopt(st, &batch, east);
	CU_ASSERT_EQUAL(waiting(st, a, false, &batch), 0);
	CU_ASSERT_EQUAL(similar(st, east, &row), 1);
	arena_free(a);
	close_store(st);
}

static void a_vector_of_an_old_text_is_not_taken(void)
{
	struct memory_set *st = open_store("old", MODEL);
	struct arena *a = arena_new();
	struct memory_batch batch;
	const struct memory_vector none = {NULL, NULL};
	const struct memory_update update = {"west", &none, NULL, &no_links};
	bool found;
	int64_t row;
	put(st, "east", NULL);
	waiting(st, a, false, &batch);
	CU_ASSERT_TRUE(st->ops->update(st, NULL, &everything, "east", &update, &found, &err));
	CU_ASSERT_TRUE(found);
	adopt(st, &batch, east);
	CU_ASSERT_EQUAL(similar(st, east, &row), 0);
	CU_ASSERT_EQUAL(waiting(st, a, false, &batch), 1);
	CU_ASSERT_STRING_EQUAL(batch.texts[0].content, "west");
	arena_free(a);
	close_store(st);
}

static void models_are_never_mixed(void)
{
	struct memory_set *st = open_store("models", MODEL);
	struct arena *a = arena_new();
	struct memory_batch batch;
	struct memory_census census;
	int64_t row;
	bool foreign;
	put(st, "east", east);
	CU_ASSERT_TRUE(st->ops->has_foreign(st, NULL, &foreign, &err));
	CU_ASSERT_FALSE(foreign);
	close_store(st);
	st = open_store("models", "another");
	CU_ASSERT_TRUE(st->ops->has_foreign(st, NULL, &foreign, &err));
	CU_ASSERT_TRUE(foreign);
	put(st, "north", north);
	CU_ASSERT_EQUAL(similar(st, east, &row), 1);
	CU_ASSERT_TRUE(st->ops->census(st, NULL, a, &census, &err));
	CU_ASSERT_EQUAL(census.model_count, 2);
	CU_ASSERT_EQUAL(census.memories, 2);
	CU_ASSERT_TRUE(census.models[1].current && !census.models[0].current);
	CU_ASSERT_EQUAL(waiting(st, a, true, &batch), 1);
	adopt(st, &batch, north);
	CU_ASSERT_TRUE(st->ops->has_foreign(st, NULL, &foreign, &err));
	CU_ASSERT_FALSE(foreign);
	CU_ASSERT_EQUAL(similar(st, east, &row), 2);
	arena_free(a);
	close_store(st);
}

static void what_another_process_wrote_is_found(void)
{
	struct memory_set *one = open_store("two", MODEL), *two = open_store("two", MODEL);
	int64_t row;
	bool found;
	put(one, "east", east);
	CU_ASSERT_EQUAL(similar(two, east, &row), 1);
	put(two, "north", north);
	CU_ASSERT_EQUAL(similar(one, north, &row), 2);
	CU_ASSERT_TRUE(one->ops->remove(one, NULL, &everything, "east", &found, &err));
	CU_ASSERT_TRUE(found);
	CU_ASSERT_EQUAL(similar(two, east, &row), 1);
	close_store(one);
	close_store(two);
}

/* Several callers that want the same memories gone, all at once. */
#define FORGETTING 4
#define FORGOTTEN 600 /* more than one piece of the work */

struct forgetter {
	struct memory_set *store;
	pthread_barrier_t *start;
	int64_t count;
	bool ok;
};

static void *forget_all(void *data)
{
	struct forgetter *f = data;
	struct error mine = {0};
	pthread_barrier_wait(f->start);
	f->ok = f->store->ops->forget(f->store, NULL, &everything, &f->count, &mine);
	error_release(&mine);
	return NULL;
}

static void what_several_forget_at_once_is_counted_once(void)
{
	struct memory_set *stores[2] = {open_store("forget", MODEL), open_store("forget", MODEL)};
	struct forgetter each[FORGETTING];
	pthread_t threads[FORGETTING];
	pthread_barrier_t start;
	int64_t sum = 0, row;
	char id[32];
	for (int i = 0; i < FORGOTTEN; i++) {
		snprintf(id, sizeof(id), "memory %d", i);
		put(stores[0], id, i % 2 ? east : NULL);
	}
	pthread_barrier_init(&start, NULL, FORGETTING);
	for (int i = 0; i < FORGETTING; i++) {
		each[i] = (struct forgetter){stores[i % 2], &start, 0, false};
		CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, forget_all, &each[i]), 0);
	}
	for (int i = 0; i < FORGETTING; i++) {
		pthread_join(threads[i], NULL);
		CU_ASSERT_TRUE(each[i].ok);
		sum += each[i].count;
	}
	CU_ASSERT_EQUAL(sum, FORGOTTEN);
	CU_ASSERT_EQUAL(similar(stores[0], east, &row), 0);
	pthread_barrier_destroy(&start);
	close_store(stores[0]);
	close_store(stores[1]);
}

static void a_database_of_a_newer_version_is_refused(void)
{
	struct memory_set *st = open_store("newer", MODEL);
	struct error mine = {0};
	close_store(st);
	struct db *db = sqlite_open(unit_path("newer/store.db"), DB_WRITE, &err);
	CU_ASSERT_TRUE(db_script(db, "PRAGMA user_version = 99", &err));
	db_close(db);
	CU_ASSERT_PTR_NULL(try_store("newer", MODEL, &mine));
	CU_ASSERT_PTR_NOT_NULL(strstr(mine.detail, "store.db has schema version 99"));
	error_release(&mine);
}

static void a_corrupt_database_is_an_error(void)
{
	struct error mine = {0};
	mkdir(unit_path("corrupt"), 0700);
	FILE *f = fopen(unit_path("corrupt/store.db"), "w");
	for (int i = 0; i < 1000; i++)
		fputs("this is no database ", f);
	fclose(f);
	CU_ASSERT_PTR_NULL(try_store("corrupt", MODEL, &mine));
	CU_ASSERT_PTR_NOT_NULL(strstr(mine.detail, "store.db"));
	error_release(&mine);
}

/* ---- conditions ---- */

static bool fits(const char *metadata, const char *filters)
{
	cJSON *m = json_parse(metadata, strlen(metadata), 10, NULL);
	cJSON *f = json_parse(filters, strlen(filters), 10, NULL);
	struct error mine = {0};
	bool ok = memory_filter_check(f, "body.filters", &mine) && memory_filter_fits(m, f);
	CU_ASSERT_FALSE(error_is_set(&mine));
	error_release(&mine);
	cJSON_Delete(m);
	cJSON_Delete(f);
	return ok;
}

static void conditions_hold_as_they_say(void)
{
	CU_ASSERT_TRUE(fits("{\"a\":12345678901234567890}", "{\"a\":12345678901234567890}"));
	CU_ASSERT_FALSE(fits("{\"a\":1}", "{\"a\":\"1\"}"));
	CU_ASSERT_FALSE(fits("{}", "{\"a\":null}"));
	CU_ASSERT_TRUE(fits("{\"a\":null}", "{\"a\":null}"));
	CU_ASSERT_TRUE(fits("{\"a\":2}", "{\"a\":[1,2]}"));
	CU_ASSERT_TRUE(fits("{\"a\":2}", "{\"a\":{\"gte\":2,\"lt\":3,\"ne\":5}}"));
	CU_ASSERT_FALSE(fits("{\"a\":3}", "{\"a\":{\"gte\":2,\"lt\":3}}"));
	CU_ASSERT_FALSE(fits("{\"a\":\"3\"}", "{\"a\":{\"gt\":2}}"));
	CU_ASSERT_TRUE(fits("{}", "{\"a\":{\"ne\":1,\"exists\":false}}"));
}

/* {key: [value, value, …]} */
static cJSON *list_of(const char *key, double value, int count)
{
	cJSON *filters = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(filters, key);
	for (int i = 0; i < count; i++)
		cJSON_AddItemToArray(list, cJSON_CreateNumber(value));
	return filters;
}

static void conditions_beyond_a_thousand_are_a_mistake(void)
{
	struct error mine = {0};
	cJSON *list = list_of("a", 1, MEMORY_FILTER_MOST - 1);
	cJSON *keys = cJSON_CreateObject();
	CU_ASSERT_TRUE(memory_filter_check(list, "body.filters", &mine));
	cJSON_AddTrueToObject(list, "b");
	CU_ASSERT_FALSE(memory_filter_check(list, "body.filters", &mine));
	CU_ASSERT_STRING_EQUAL(
	    mine.detail, "filters must not have more than 1000 conditions and values");
	error_release(&mine);
	for (int i = 0; i <= MEMORY_FILTER_MOST; i++) {
		char key[16];
		snprintf(key, sizeof(key), "k%d", i);
		cJSON_AddTrueToObject(keys, key);
	}
	CU_ASSERT_FALSE(memory_filter_check(keys, "body.filters", &mine));
	CU_ASSERT_EQUAL(mine.mistakes, 1);
	error_release(&mine);
	cJSON_Delete(list);
	cJSON_Delete(keys);
}

/* {"a": 2.000…}, {"a": 3.111…} */
static cJSON *long_number(const char *start, char digit)
{
	enum { DIGITS = 8000000 };
	char *text = malloc(DIGITS + 16);
	size_t len = (size_t)sprintf(text, "{\"a\":%s", start);
	cJSON *metadata;
	memset(text + len, digit, DIGITS);
	strcpy(text + len + DIGITS, "}");
	metadata = json_parse(text, strlen(text), 10, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(metadata);
	free(text);
	return metadata;
}

/* Comparing with each value of a list used to read all digits again, for seconds. */
static void a_list_reads_a_long_number_once(void)
{
	cJSON *whole = long_number("1.", '0'), *fraction = long_number("3.", '1');
	cJSON *others = list_of("a", 1.5, MEMORY_FILTER_MOST - 1);
	cJSON *one = list_of("a", 1, 1);
	clock_t start = clock();
	CU_ASSERT_FALSE(memory_filter_fits(fraction, others));
	CU_ASSERT_TRUE((clock() - start) / CLOCKS_PER_SEC < 2);
	CU_ASSERT_TRUE(memory_filter_fits(whole, one));
	CU_ASSERT_TRUE(
	    fits("{\"a\":3.1111111111111111111111111111}", "{\"a\":[3.1111111111111111]}"));
	cJSON_Delete(whole);
	cJSON_Delete(fraction);
	cJSON_Delete(others);
	cJSON_Delete(one);
}

/* The ids of hits, each followed by a space. */
static const char *ids_of(struct memory_set *st, const struct memory_hits *hits)
{
	static char text[256];
	struct arena *a = arena_new();
	struct memory m;
	text[0] = '\0';
	for (size_t i = 0; i < hits->count; i++) {
		CU_ASSERT_TRUE(
		    st->ops->load(st, NULL, a, &everything, hits->items[i].row, &m, &err));
		strcat(strcat(text, m.memory_id), " ");
	}
	arena_free(a);
	return text;
}

static const char *matching(struct memory_set *st, const struct memory_filter *f, const char *text)
{
	struct memory_hit items[10];
	struct memory_hits hits = {.items = items, .limit = 10};
	CU_ASSERT_TRUE(st->ops->matching(st, NULL, f, text, &hits, &err));
	for (size_t i = 1; i < hits.count; i++)
		CU_ASSERT_TRUE(items[i - 1].score >= items[i].score);
	return ids_of(st, &hits);
}

static void a_search_finds_words_and_the_newest_first(void)
{
	struct store_case {
		const char *text, *found;
	} cases[] = {{"TEA", "c a "}, {"coffee, \"OR\" tea!", "c b a "}, {"te", ""}, {"*", ""}};
	struct store_memory {
		const char *id, *user, *entity, *content;
	} memories[] = {{"a", "ann", "drink", "green tea"}, {"b", "ann", NULL, "black coffee"},
	    {"c", "bob", "drink", "Tea coffee"}, {"d", "ann", NULL, "a house"}};
	const struct memory_filter hers = {.user_id = "ann"}, his = {.user_id = "bob"};
	struct memory_set *st = open_store("meaning", MODEL);
	struct memory_hit items[10];
	struct memory_hits three = {.items = items, .limit = 3},
			   hits = {.items = items, .limit = 10};
	for (size_t i = 0; i < UNIT_COUNT(memories); i++) {
		const struct store_memory *row = &memories[i];
		const struct memory m = {.memory_id = row->id,
		    .user_id = row->user,
		    .memory_type = "episodic",
		    .category = "general",
		    .metadata_json = "{}",
		    .content = row->content};
		const char *const relations[] = {"a"};
		const struct memory_links links = {row->entity, relations, *row->id == 'd'};
		const struct memory_vector none = {NULL, NULL};
		CU_ASSERT_TRUE(st->ops->put(st, NULL, &m, &links, &none, &err));
	}
	for (size_t i = 0; i < UNIT_COUNT(cases); i++)
		CU_ASSERT_STRING_EQUAL(matching(st, &everything, cases[i].text), cases[i].found);
	CU_ASSERT_STRING_EQUAL(matching(st, &hers, "tea"), "a ");
	CU_ASSERT_TRUE(st->ops->recent(st, NULL, &everything, &three, &err));
	CU_ASSERT_STRING_EQUAL(ids_of(st, &three), "d c b ");
	int64_t foreign = items[1].row;
	int64_t newest = items[0].row;
	CU_ASSERT_TRUE(st->ops->linked(st, NULL, &everything, newest, &hits, &err));
	CU_ASSERT_STRING_EQUAL(ids_of(st, &hits), "a ");
	int64_t first = items[0].row;
	CU_ASSERT_TRUE(st->ops->linked(st, NULL, &everything, first, &hits, &err));
	CU_ASSERT_STRING_EQUAL(ids_of(st, &hits), "d c ");
	CU_ASSERT_TRUE(st->ops->linked(st, NULL, &hers, first, &hits, &err));
	CU_ASSERT_STRING_EQUAL(ids_of(st, &hits), "d ");
	/* what others have takes no place among hers, and is not linked to it by a relation */
	CU_ASSERT_TRUE(st->ops->recent(st, NULL, &hers, &three, &err));
	CU_ASSERT_STRING_EQUAL(ids_of(st, &three), "d b a ");
	CU_ASSERT_TRUE(st->ops->linked(st, NULL, &his, first, &hits, &err));
	CU_ASSERT_STRING_EQUAL(ids_of(st, &hits), "c ");
	struct arena *a = arena_new();
	struct memory m;
	CU_ASSERT_TRUE(st->ops->load(st, NULL, a, &his, foreign, &m, &err));
	CU_ASSERT_FALSE(st->ops->load(st, NULL, a, &hers, foreign, &m, &err));
	arena_free(a);
	close_store(st);
}

static void put_of(
    struct memory_set *st, const char *user, const char *id, const char *text, const float *numbers)
{
	const struct memory m = {.memory_id = id,
	    .user_id = user,
	    .memory_type = "episodic",
	    .category = "general",
	    .metadata_json = "{}",
	    .content = text};
	const struct memory_vector vector = {numbers, NULL};
	CU_ASSERT_TRUE(st->ops->put(st, NULL, &m, &no_links, &vector, &err));
}

/* "red" is common, but not with ann. */
static void a_word_is_as_rare_as_its_user_has_it(void)
{
	struct memory_set *st = open_store("rare", MODEL);
	const struct memory_filter hers = {.user_id = "ann"};
	for (char id[] = "1"; *id <= '6'; ++*id)
		put_of(st, "bob", id, "red", NULL);
	put_of(st, "ann", "a", "red", NULL);
	put_of(st, "ann", "b", "blue", NULL);
	put_of(st, "ann", "c", "blue", NULL);
	put_of(st, "ann", "d", "grey", NULL);
	CU_ASSERT_STRING_EQUAL(matching(st, &hers, "red blue"), "a c b ");
	close_store(st);
}

/* As ann: what is nearest, and how near. */
static const char *nearest(
    struct memory_set *st, const char *category, enum vector_metric metric, double *score)
{
	const struct memory_filter hers = {.user_id = "ann", .category = category};
	struct memory_hit items[10];
	struct memory_hits hits = {.items = items, .limit = 10};
	CU_ASSERT_TRUE(st->ops->similar(st, NULL, &hers, north, metric, &hits, &err));
	*score = hits.count ? items[0].score : -1;
	return ids_of(st, &hits);
}

/* The one memory of a user behind a thousand of others is read; ten are looked for among all. */
static void what_few_have_beside_many_is_found_alike(void)
{
	struct memory_set *st = open_store("few", MODEL);
	const float near[] = {0.6f, 0.8f, 0, 0};
	double few[4], many;
	char id[32];
	put_of(st, "ann", "near", "", near);
	for (int i = 0; i < 1100; i++) {
		snprintf(id, sizeof(id), "other %d", i);
		put_of(st, "bob", id, "", north);
	}
	for (int metric = METRIC_COSINE; metric <= METRIC_MANHATTAN; metric++) {
		CU_ASSERT_STRING_EQUAL(
		    nearest(st, NULL, (enum vector_metric)metric, &few[metric]), "near ");
		CU_ASSERT_STRING_EQUAL(nearest(st, "none", (enum vector_metric)metric, &many), "");
	}
	CU_ASSERT_DOUBLE_EQUAL(few[METRIC_COSINE], 0.9, 1e-6);
	for (int i = 0; i < 9; i++) {
		snprintf(id, sizeof(id), "far %d", i);
		put_of(st, "ann", id, "", east);
	}
	for (int metric = METRIC_COSINE; metric <= METRIC_MANHATTAN; metric++) {
		const char *ids = nearest(st, NULL, (enum vector_metric)metric, &many);
		CU_ASSERT_EQUAL(strncmp(ids, "near far 8 far 7 ", 17), 0);
		CU_ASSERT_DOUBLE_EQUAL(many, few[metric], 1e-6);
	}
	close_store(st);
}

static bool gone_at_the_third_look(void *arg)
{
	int *looks = arg;
	clock_sleep_ms(2); /* it is not looked for twice in one */
	return ++*looks >= 3;
}

static void a_search_ends_when_nobody_waits(void)
{
	struct memory_set *st = open_store("gone", MODEL);
	struct memory_hit items[10];
	struct memory_hits hits = {.items = items, .limit = 10};
	struct error mine = {0};
	int looks = 0;
	const struct waiter waiter = {gone_at_the_third_look, &looks};
	const struct memory_filter filter = {.filters_json = "{\"a\":[1]}"};
	const struct storage_context ctx = {.waiter = &waiter};
	char id[32];
	for (int i = 0; i < 200; i++) {
		snprintf(id, sizeof(id), "memory %d", i);
		put(st, id, NULL);
	}
	CU_ASSERT_FALSE(st->ops->recent(st, &ctx, &filter, &hits, &mine));
	CU_ASSERT_EQUAL(looks, 3);
	CU_ASSERT_EQUAL(error_status_of(&mine), 499);
	error_release(&mine);
	/* whoever searches next on that connection is not asked about the one before */
	CU_ASSERT_TRUE(st->ops->recent(st, NULL, &everything, &hits, &err));
	CU_ASSERT_EQUAL(hits.count, 10);
	CU_ASSERT_EQUAL(looks, 3);
	close_store(st);
}

/* ---- the embedder ---- */

static double cosine(const char *a, const char *b)
{
	static float x[LOCAL_EMBED_DIMENSIONS], y[LOCAL_EMBED_DIMENSIONS];
	double sum = 0;
	local_embed(a, x);
	local_embed(b, y);
	for (size_t i = 0; i < LOCAL_EMBED_DIMENSIONS; i++)
		sum += (double)x[i] * (double)y[i];
	return sum;
}

static void texts_that_share_words_are_near(void)
{
	CU_ASSERT_DOUBLE_EQUAL(cosine("green tea", "GREEN  téa!"), 1, 1e-5);
	CU_ASSERT_TRUE(cosine("likes green tea", "tea") > cosine("likes green tea", "house"));
	CU_ASSERT_TRUE(cosine("memory", "memories") > 0.2);
	CU_ASSERT_TRUE(cosine("Übergröße", "übergrosse") > 0.3);
	CU_ASSERT_TRUE(cosine("北京大学", "北京") > 0.2);
	CU_ASSERT_TRUE(fabs(cosine("car", "vehicle")) < 0.2);
}

static void every_text_that_is_not_blank_has_a_vector(void)
{
	CU_ASSERT_DOUBLE_EQUAL(cosine("!!!", "!!!"), 1, 1e-5);
	CU_ASSERT_DOUBLE_EQUAL(cosine("x", "x"), 1, 1e-5);
	CU_ASSERT_DOUBLE_EQUAL(cosine("", ""), 0, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(cosine("🎉", "🎉"), 1, 1e-5);
}

static const struct unit_test of_any_engine[] = {
    {"a vector is known by the hash of its text", a_vector_is_known_by_the_hash_of_its_text},
    {"a memory can get its vector later", a_memory_can_get_its_vector_later},
    {"a vector of an old text is not taken", a_vector_of_an_old_text_is_not_taken},
    {"models are never mixed", models_are_never_mixed},
    {"what another process wrote is found", what_another_process_wrote_is_found},
    {"what several forget at once is counted once", what_several_forget_at_once_is_counted_once},
    {"a search ends when nobody waits", a_search_ends_when_nobody_waits},
    {"a search finds words, and the newest first", a_search_finds_words_and_the_newest_first},
    {"what few have beside many is found alike", what_few_have_beside_many_is_found_alike},
};

static const struct unit_test of_no_other[] = {
    {"a word is as rare as its user has it", a_word_is_as_rare_as_its_user_has_it},
    {"a database of a newer version is refused", a_database_of_a_newer_version_is_refused},
    {"a corrupt database is an error", a_corrupt_database_is_an_error},
    {"conditions hold as they say", conditions_hold_as_they_say},
    {"conditions beyond a thousand are a mistake", conditions_beyond_a_thousand_are_a_mistake},
    {"a list reads a long number once", a_list_reads_a_long_number_once},
    {"texts that share words are near", texts_that_share_words_are_near},
    {"every text that is not blank has a vector", every_text_that_is_not_blank_has_a_vector},
};

int main(void)
{

	int rc;

	shared = shared_open(unit_dir(), &err);
	if (!shared) {
		printf("Bail out! %s\n", err.detail);
		return 1;
	}
	rc = storage_main("store", of_any_engine, UNIT_COUNT(of_any_engine), of_no_other,
	    UNIT_COUNT(of_no_other), choose_memory);
	shared_close(shared);
	return rc;
}
