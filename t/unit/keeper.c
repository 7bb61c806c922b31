/* SPDX-License-Identifier: ISC */
/* Chunks that are kept: their numbers, who sees them when, what happens when the disk is slow or
 * full, and how they are read again. */
#include "service/run/stream/keeper.h"

#include "base/memory.h"
#include "base/os/clock.h"
#include "service/run/stream/kept_line.h"
#include "service/run/stream/replay.h"
#include "storage/runs.h"
#include "unit.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- a disk that does what it is told ---- */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	struct chunk_batch rows[4096];
	size_t count;
	int64_t refused; /* number of the run of which it takes nothing */
	bool stands;     /* still, for as long */
	int away;        /* so many writes fail, and may be tried again */
	size_t waiting;  /* writes that came meanwhile */
	int64_t last;    /* seq that is on it, of run 1 */
	int64_t dropped; /* that seq, when the lease was dropped; -1: not yet */
	int reads;
	size_t late; /* rows that came behind the question for the last */
} disk = {.lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};

static bool disk_append(struct storage *st, const struct storage_context *ctx,
    const struct chunk_batch *batches, size_t count, struct error *err)
{
	bool taken = true;
	(void)st, (void)ctx;
	pthread_mutex_lock(&disk.lock);
	disk.waiting++;
	pthread_cond_broadcast(&disk.moved);
	while (disk.stands)
		pthread_cond_wait(&disk.moved, &disk.lock);
	disk.waiting--;
	for (size_t i = 0; i < count; i++)
		taken = taken && batches[i].number != disk.refused;
	bool away = disk.away && disk.away--;
	for (size_t i = 0; taken && !away && i < count; i++) {
		struct chunk_batch *row = &disk.rows[disk.count++];
		*row = batches[i];
		row->lines = xstrndup(batches[i].lines, batches[i].len);
		if (row->number == 1)
			disk.last = row->seq + row->count - 1;
		if (row->lease)
			disk.dropped = disk.last;
		pthread_cond_broadcast(&disk.moved);
	}
	pthread_mutex_unlock(&disk.lock);
	return (taken && !away) || error_set(err, away ? ERR_TRANSIENT_STORAGE : ERR_STORAGE, NULL);
}

static bool disk_read(struct storage *st, const struct storage_context *ctx, struct run_key run,
    int64_t after, chunk_batch_fn fn, void *arg, struct error *err)
{
	(void)st, (void)ctx, (void)err;
	pthread_mutex_lock(&disk.lock);
	disk.reads++;
	for (size_t i = 0; i < disk.count; i++) {
		const struct chunk_batch *row = &disk.rows[i];
		if (row->number == run.number && row->seq + row->count - 1 > after && !fn(arg, row))
			break;
	}
	pthread_mutex_unlock(&disk.lock);
	return true;
}

static bool disk_last(struct storage *st, const struct storage_context *ctx, struct run_key run,
    int64_t *seq, struct error *err)
{
	(void)st, (void)ctx, (void)err;
	*seq = 0;
	for (size_t i = 0; i + disk.late < disk.count; i++)
		if (disk.rows[i].number == run.number)
			*seq = disk.rows[i].seq + disk.rows[i].count - 1;
	return true;
}

/* A context in which each place is a message that says so. */
static bool disk_context(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    struct thread_view *view, message_fn fn, void *arg, struct error *err)
{
	char body[32];
	bool more = true;
	(void)st, (void)ctx, (void)thread_row;
	if (view->until < 0)
		return error_set(err, ERR_STORAGE, "no such place");
	while (more && view->after < view->until) {
		snprintf(body, sizeof(body), "%" PRId64, ++view->after);
		more = fn(arg, "id", body);
	}
	return true;
}

static bool disk_drop(
    struct storage *st, const struct storage_context *ctx, struct lease *lease, struct error *err)
{
	(void)st, (void)ctx, (void)lease, (void)err;
	pthread_mutex_lock(&disk.lock);
	disk.dropped = disk.last;
	pthread_mutex_unlock(&disk.lock);
	return true;
}

#define HELLO                                                                                     \
	"{\"message_id\":\"m2\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":" \
	"\"Hello\"}],\"delta\":false}"

/* What the run has made. */
static const char *const made[][2] = {{"m1", "{\"message_id\":\"m1\",\"delta\":false}"},
    {"m2", HELLO}, {"m3", "{\"message_id\":\"m3\",\"delta\":false}"}};

static bool disk_messages(struct storage *st, const struct storage_context *ctx,
    const struct run_record *record, enum run_share which, message_fn fn, void *arg,
    struct error *err)
{
	(void)st, (void)ctx, (void)err;
	CU_ASSERT_EQUAL(which, RUN_MADE);
	for (int64_t i = record->after; i < record->until; i++)
		fn(arg, made[i][0], made[i][1]);
	return true;
}

static const struct run_ops run_ops = {.chunks_append = disk_append,
    .chunks_read = disk_read,
    .chunks_last = disk_last,
    .messages = disk_messages};
static const struct thread_ops thread_ops = {
    .context_part = disk_context, .lease_release = disk_drop};
static struct storage storage = {.runs = &run_ops, .threads = &thread_ops};

static void disk_stand(bool still)
{
	pthread_mutex_lock(&disk.lock);
	disk.stands = still;
	pthread_cond_broadcast(&disk.moved);
	pthread_mutex_unlock(&disk.lock);
}

/* Until somebody waits for it. */
static void disk_await(void)
{
	pthread_mutex_lock(&disk.lock);
	while (!disk.waiting)
		pthread_cond_wait(&disk.moved, &disk.lock);
	pthread_mutex_unlock(&disk.lock);
}

static void disk_refuse(int64_t number)
{
	pthread_mutex_lock(&disk.lock);
	disk.refused = number;
	pthread_mutex_unlock(&disk.lock);
}

/* Until it has so many chunks of run 1. */
static void disk_has(int64_t last)
{
	pthread_mutex_lock(&disk.lock);
	while (disk.last < last)
		pthread_cond_wait(&disk.moved, &disk.lock);
	pthread_mutex_unlock(&disk.lock);
}

/* All that it has of a run, marks as dots. */
static const char *disk_text(int64_t number)
{
	static struct buf text;
	buf_reset(&text);
	for (size_t i = 0; i < disk.count; i++)
		if (disk.rows[i].number == number)
			buf_puts(&text, disk.rows[i].lines);
	for (size_t i = 0; i < text.len; i++)
		if (text.data[i] < ' ' && text.data[i] != '\n')
			text.data[i] = '.';
	return buf_str(&text);
}

/* ---- a client ---- */

struct client {
	struct chunk_sink sink;
	pthread_mutex_t lock;
	pthread_cond_t moved;
	struct buf text;
	bool stands; /* reads nothing */
	bool early;  /* saw a number that was not on disk */
	bool held;   /* saw a terminator while the thread was not free */
	int parts, cuts, corks;
};

static void client_wait(struct client *client)
{
	pthread_mutex_lock(&client->lock);
	while (client->stands)
		pthread_cond_wait(&client->moved, &client->lock);
	pthread_mutex_unlock(&client->lock);
}

static void client_hear(struct chunk_sink *sink, const char *json, size_t len)
{
	struct client *client = (struct client *)sink;
	const char *seq = strstr(json, "\"seq\":");
	client_wait(client);
	pthread_mutex_lock(&disk.lock);
	client->early |= seq && atoll(seq + 6) > disk.last;
	client->held |= strstr(json, "\"state\":\"done\"") && disk.dropped < 0;
	pthread_mutex_unlock(&disk.lock);
	buf_add(&client->text, json, len);
	buf_putc(&client->text, '\n');
}

static bool client_hear_part(struct chunk_sink *sink, const char *json, size_t len)
{
	struct client *client = (struct client *)sink;
	client->parts++;
	buf_add(&client->text, json, len);
	return true;
}

static bool client_leave(struct chunk_sink *sink, const char *json, size_t len)
{
	(void)json, (void)len;
	((struct client *)sink)->parts++;
	return false;
}

static void client_cut(struct chunk_sink *sink, const char *why)
{
	(void)why;
	((struct client *)sink)->cuts++;
}

static void client_cork(struct chunk_sink *sink, bool on)
{
	((struct client *)sink)->corks += on ? 1 : -1;
}

static void client_stand(struct client *client, bool still)
{
	pthread_mutex_lock(&client->lock);
	client->stands = still;
	pthread_cond_broadcast(&client->moved);
	pthread_mutex_unlock(&client->lock);
}

/* ---- a run ---- */

static struct chunk_keepers *all;
static struct client client;

static struct chunk_keeper *begin_for(
    struct chunk_sink *live, enum granularity granularity, int64_t number)
{
	const struct chunk_keeper_setup setup = {
	    .live = live, .granularity = granularity, .run_id = "r1", .request_id = NULL};
	struct error err = {0};
	struct chunk_keeper *keeper = chunk_keeper_new(all, &setup, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(keeper);
	if (number)
		chunk_keeper_begin(keeper, (struct run_key){7, number}, 0);
	return keeper;
}

static void disk_empty(void)
{
	for (size_t i = 0; i < disk.count; i++)
		free((char *)disk.rows[i].lines);
	disk.count = 0;
}

static struct chunk_keeper *begin(enum granularity granularity, int64_t number)
{
	disk_empty();
	disk.refused = disk.last = 0;
	disk.dropped = -1;
	disk.reads = 0;
	buf_release(&client.text);
	client = (struct client){.sink = {client_hear, client_cork, client_hear_part, client_cut},
	    .lock = PTHREAD_MUTEX_INITIALIZER,
	    .moved = PTHREAD_COND_INITIALIZER};
	all = chunk_keepers_new(&storage, NULL);
	return begin_for(&client.sink, granularity, number);
}

static void say_as(struct chunk_keeper *keeper, enum granularity least, const char *state)
{
	char text[512];
	struct chunk_sink *sink = chunk_keeper_sink(keeper);
	int len = snprintf(text, sizeof(text),
	    "{\"event\":\"updates\",\"message\":null,\"state\":%s,\"data\":null,\"metadata\":{%c%d"
	    "\"thread_id\":\"t\"}}",
	    state, KEPT_NUMBER, (int)least);
	sink->chunk(sink, text, (size_t)len);
}

static void say(struct chunk_keeper *keeper)
{
	say_as(keeper, GRANULARITY_LOW, "null");
}

static void end(struct chunk_keeper *keeper)
{
	chunk_keeper_end(keeper);
	chunk_keepers_free(all);
	CU_ASSERT_EQUAL(client.corks, 0);
}

/* The numbers in a text, in order, with a comma behind each; "-," for a line without one. */
static const char *numbers(const char *text)
{
	static struct buf out;
	buf_reset(&out);
	for (const char *line = text; *line;) {
		size_t len = strcspn(line, "\n");
		const char *seq = memmem(line, len, "\"seq\":", 6);
		if (seq)
			buf_printf(&out, "%lld,", atoll(seq + 6));
		else
			buf_puts(&out, "-,");
		line += len + (line[len] == '\n');
	}
	return buf_str(&out);
}

/* ---- what is true of them ---- */

static void chunks_are_numbered_and_on_disk_before_anybody_sees_them(void)
{
	struct chunk_keeper *keeper = begin(GRANULARITY_FULL, 1);
	for (int i = 0; i < 500; i++)
		say(keeper);
	chunk_keeper_end(keeper);
	CU_ASSERT_FALSE(client.early);
	CU_ASSERT_STRING_EQUAL(numbers(disk_text(1)), numbers(buf_str(&client.text)));
	CU_ASSERT_EQUAL(disk.last, 500);
	CU_ASSERT_EQUAL(strncmp(numbers(buf_str(&client.text)), "1,2,3,4,5,", 10), 0);
	chunk_keepers_free(all);
}

static void a_chunk_is_the_one_that_was_said_with_a_number(void)
{
	struct chunk_keeper *keeper = begin(GRANULARITY_FULL, 1);
	say(keeper);
	end(keeper);
	CU_ASSERT_STRING_EQUAL(buf_str(&client.text),
	    "{\"event\":\"updates\",\"message\":null,\"state\":null,\"data\":null,\"metadata\":"
	    "{\"seq\":1,\"thread_id\":\"t\"}}\n");
}

static void nobody_has_to_watch(void)
{
	struct chunk_keeper *keeper = begin(GRANULARITY_FULL, 1);
	struct chunk_keeper *alone = begin_for(NULL, GRANULARITY_FULL, 2);
	say(alone);
	say(alone);
	chunk_keeper_end(alone);
	end(keeper);
	CU_ASSERT_STRING_EQUAL(numbers(disk_text(2)), "1,2,");
}

/* A transaction makes a row here. */
static void what_nobody_follows_is_committed_seldom(void)
{
	struct error err = {0};
	struct shared *shared = shared_open(unit_dir(), &err);
	int64_t begun = clock_monotonic_ms(), taken;
	CU_ASSERT_PTR_NOT_NULL_FATAL(shared);
	disk_empty();
	all = chunk_keepers_new(&storage, shared);
	struct chunk_keeper *keeper = begin_for(NULL, GRANULARITY_FULL, 1);
	while ((taken = clock_monotonic_ms() - begun) < 80) {
		say(keeper);
		clock_sleep_ms(1);
	}
	chunk_keeper_end(keeper);
	chunk_keepers_free(all);
	shared_close(shared);
	CU_ASSERT(disk.count <= (size_t)taken / 10 + 3);
}

static void a_client_of_less_is_left_out_of_what_it_did_not_ask_for(void)
{
	struct chunk_keeper *keeper = begin(GRANULARITY_PARTIAL, 1);
	say_as(keeper, GRANULARITY_PARTIAL, "null");
	say_as(keeper, GRANULARITY_FULL, "null");
	say_as(keeper, GRANULARITY_LOW, "null");
	end(keeper);
	CU_ASSERT_STRING_EQUAL(numbers(buf_str(&client.text)), "1,3,");
	CU_ASSERT_STRING_EQUAL(numbers(disk_text(1)), "1,2,3,");
}

static void a_run_that_goes_on_counts_on(void)
{
	struct chunk_keeper *keeper = begin(GRANULARITY_FULL, 0);
	struct chunk_keeper *alone = begin_for(NULL, GRANULARITY_FULL, 0);
	chunk_keeper_begin(alone, (struct run_key){7, 3}, 41);
	chunk_keeper_begin(alone, (struct run_key){7, 3}, 5);
	say(alone);
	chunk_keeper_flush(alone);
	CU_ASSERT_STRING_EQUAL(numbers(disk_text(3)), "42,");
	chunk_keeper_end(alone);
	end(keeper);
}

/* ---- states ---- */

static const char *state_with(int64_t until, char *text, size_t size)
{
	snprintf(text, size, "%c{\"context\":[%c0,%" PRId64 "%c],\"x\":1}%c", KEPT_STATE, KEPT_SPAN,
	    until, KEPT_SPAN, KEPT_STATE);
	return text;
}

static void a_context_is_read_when_it_is_shown(void)
{
	char state[64];
	struct chunk_keeper *keeper = begin(GRANULARITY_PARTIAL, 1);
	say_as(keeper, GRANULARITY_PARTIAL, state_with(3, state, sizeof(state)));
	end(keeper);
	CU_ASSERT_PTR_NOT_NULL(strstr(disk_text(1), "\"context\":[.0,3.],"));
	CU_ASSERT_PTR_NOT_NULL(
	    strstr(buf_str(&client.text), "\"state\":{\"context\":[1,2,3],\"x\":1},\"data\""));
}

static void a_large_context_comes_in_parts(void)
{
	char state[64];
	struct chunk_keeper *keeper = begin(GRANULARITY_FULL, 1);
	struct buf expected = {0};
	say_as(keeper, GRANULARITY_FULL, state_with(60000, state, sizeof(state)));
	end(keeper);
	buf_puts(&expected, "\"state\":{\"context\":[1");
	for (int i = 2; i <= 60000; i++)
		buf_printf(&expected, ",%d", i);
	buf_puts(&expected, "],\"x\":1},");
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_str(&client.text), expected.data));
	CU_ASSERT(client.parts >= 4);
	buf_release(&expected);
}

static void low_shows_no_state(void)
{
	char state[64];
	struct chunk_keeper *keeper = begin(GRANULARITY_LOW, 1);
	say_as(keeper, GRANULARITY_LOW, state_with(3, state, sizeof(state)));
	end(keeper);
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_str(&client.text), "\"state\":null,\"data\""));
}

static void a_state_that_cannot_be_read_is_none(void)
{
	char state[64];
	struct chunk_keeper *keeper = begin(GRANULARITY_FULL, 1);
	say_as(keeper, GRANULARITY_FULL, state_with(-1, state, sizeof(state)));
	say(keeper);
	end(keeper);
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_str(&client.text), "\"state\":null,\"data\""));
	CU_ASSERT_STRING_EQUAL(numbers(buf_str(&client.text)), "1,2,");
	CU_ASSERT_EQUAL(client.cuts, 0);
}

static void who_leaves_in_the_middle_of_a_chunk_is_told_nothing_more(void)
{
	char state[64];
	struct chunk_keeper *keeper = begin(GRANULARITY_FULL, 1);
	client.sink.part = client_leave;
	say_as(keeper, GRANULARITY_FULL, state_with(60000, state, sizeof(state)));
	for (int i = 0; i < 5000; i++)
		say(keeper);
	end(keeper);
	CU_ASSERT_EQUAL(client.parts, 1);
	CU_ASSERT_EQUAL(client.text.len, 0);
	CU_ASSERT_EQUAL(disk.last, 5001);
}

/* ---- the lease ---- */

static struct lease lease;

/* Says that it is over. */
static void say_done(struct chunk_keeper *keeper)
{
	chunk_keeper_take_lease(keeper, &lease);
	say_as(keeper, GRANULARITY_LOW, "\"done\"");
}

static void a_thread_is_free_when_its_chunks_are_on_disk_and_before_that_is_told(void)
{
	struct chunk_keeper *keeper = begin(GRANULARITY_FULL, 1);
	disk_stand(true);
	say(keeper);
	disk_await();
	say(keeper);
	say_done(keeper);
	CU_ASSERT_EQUAL(disk.dropped, -1);
	disk_stand(false);
	end(keeper);
	CU_ASSERT(disk.dropped >= 2);
	CU_ASSERT_FALSE(client.held);
	CU_ASSERT_STRING_EQUAL(numbers(buf_str(&client.text)), "1,2,3,");
}

static void nobody_waits_for_the_end_of_a_run_that_nobody_watches(void)
{
	struct chunk_keeper *keeper = begin(GRANULARITY_FULL, 0);
	struct chunk_keeper *alone = begin_for(NULL, GRANULARITY_FULL, 1);
	disk_stand(true);
	say(alone);
	say_done(alone);
	chunk_keeper_end(alone);
	CU_ASSERT_EQUAL(disk.dropped, -1);
	disk_stand(false);
	end(keeper);
	CU_ASSERT_EQUAL(disk.dropped, 2);
	CU_ASSERT_EQUAL(disk.last, 2);
}

static void a_thread_is_free_when_its_chunks_are_given_up(void)
{
	struct chunk_keeper *keeper = begin(GRANULARITY_FULL, 1);
	disk_refuse(1);
	say(keeper);
	say_done(keeper);
	end(keeper);
	CU_ASSERT_EQUAL(disk.dropped, 0);
	CU_ASSERT_FALSE(client.held);
	CU_ASSERT_STRING_EQUAL(numbers(buf_str(&client.text)), "-,-,");
}

static void a_thread_is_free_at_once_when_nothing_is_kept(void)
{
	struct chunk_keeper *keeper = begin(GRANULARITY_FULL, 0);
	say_done(keeper);
	end(keeper);
	CU_ASSERT_EQUAL(disk.dropped, 0);
	CU_ASSERT_FALSE(client.held);
}

/* ---- bad days ---- */

static void a_slow_client_holds_up_nobody_and_misses_nothing(void)
{
	struct chunk_keeper *keeper = begin(GRANULARITY_FULL, 1);
	client_stand(&client, true);
	for (int i = 0; i < 20000; i++) /* some megabytes */
		say(keeper);
	client_stand(&client, false);
	end(keeper);
	CU_ASSERT(disk.reads > 0);
	CU_ASSERT_FALSE(client.early);
	CU_ASSERT_STRING_EQUAL(numbers(disk_text(1)), numbers(buf_str(&client.text)));
	CU_ASSERT_EQUAL(disk.last, 20000);
}

static void *say_much(void *arg)
{
	for (int i = 0; i < 20000; i++)
		say(arg);
	return NULL;
}

static void a_disk_that_stands_still_holds_up_the_run_and_costs_little(void)
{
	struct chunk_keeper *keeper = begin(GRANULARITY_FULL, 1);
	pthread_t run;
	disk_stand(true);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&run, NULL, say_much, keeper), 0);
	disk_await();
	CU_ASSERT_EQUAL(client.text.len, 0);
	disk_stand(false);
	pthread_join(run, NULL);
	end(keeper);
	CU_ASSERT_FALSE(client.early);
	CU_ASSERT_EQUAL(disk.last, 20000);
	for (size_t i = 0; i < disk.count; i++)
		CU_ASSERT(disk.rows[i].len < (66 << 10));
}

static void a_disk_that_is_away_for_a_moment_has_all_of_it_later(void)
{
	struct chunk_keeper *keeper = begin(GRANULARITY_FULL, 1);
	struct chunk_keeper *other = begin_for(NULL, GRANULARITY_FULL, 2);
	pthread_mutex_lock(&disk.lock);
	disk.away = 3;
	pthread_mutex_unlock(&disk.lock);
	for (int i = 0; i < 50; i++) {
		say(keeper);
		say(other);
		if (i == 20)
			clock_sleep_ms(150); /* it is tried again with more behind it */
	}
	chunk_keeper_end(other);
	end(keeper);
	CU_ASSERT_FALSE(client.early);
	CU_ASSERT_EQUAL(disk.away, 0);
	CU_ASSERT_EQUAL(disk.last, 50);
	CU_ASSERT_STRING_EQUAL(numbers(disk_text(1)), numbers(buf_str(&client.text)));
	CU_ASSERT_STRING_EQUAL(numbers(disk_text(2)), numbers(buf_str(&client.text)));
}

static void what_the_disk_does_not_take_comes_without_numbers(void)
{
	struct chunk_keeper *keeper = begin(GRANULARITY_FULL, 1);
	say(keeper);
	disk_has(1);
	disk_refuse(1);
	say(keeper);
	say(keeper);
	chunk_keeper_end(keeper);
	CU_ASSERT_STRING_EQUAL(numbers(buf_str(&client.text)), "1,-,-,");
	CU_ASSERT_STRING_EQUAL(numbers(disk_text(1)), "1,");
	chunk_keepers_free(all);
}

static void no_run_pays_for_another(void)
{
	struct chunk_keeper *keeper = begin(GRANULARITY_FULL, 1);
	struct chunk_keeper *other = begin_for(NULL, GRANULARITY_FULL, 2);
	disk_refuse(2);
	disk_stand(true);
	say(keeper);
	disk_await();
	say(keeper);
	say(other);
	disk_stand(false);
	chunk_keeper_end(other);
	end(keeper);
	CU_ASSERT_STRING_EQUAL(numbers(disk_text(1)), "1,2,");
	CU_ASSERT_STRING_EQUAL(disk_text(2), "");
	CU_ASSERT_STRING_EQUAL(numbers(buf_str(&client.text)), "1,2,");
}

static void a_run_without_a_record_keeps_nothing(void)
{
	struct chunk_keeper *keeper = begin(GRANULARITY_FULL, 0);
	say(keeper);
	say(keeper);
	end(keeper);
	CU_ASSERT_STRING_EQUAL(numbers(buf_str(&client.text)), "-,-,");
	CU_ASSERT_EQUAL(disk.count, 0);
}

/* ---- reading again ---- */

/* Everything behind after, as such a reader sees it, piece by piece; *pieces counts them. */
static const char *replayed(enum granularity granularity, bool events, int64_t after, int *pieces)
{
	static struct buf out;
	const struct replay replay = {
	    .reader = {.storage = &storage, .run = {7, 1}, .granularity = granularity},
	    .events = events};
	struct replay_place place = {.after = after};
	struct error err = {0};
	bool ends;
	buf_reset(&out);
	for (*pieces = 0;; ++*pieces) {
		struct replay_place before = place;
		CU_ASSERT_TRUE(replay_read(&replay, &place, &out, &ends, &err));
		if (replay_same(&before, &place))
			return buf_str(&out);
	}
}

static void a_reader_gets_what_the_client_got_from_any_number_on(void)
{
	struct chunk_keeper *keeper = begin(GRANULARITY_FULL, 1);
	char state[64];
	int pieces;
	for (int i = 0; i < 3000; i++)
		say(keeper);
	say_as(keeper, GRANULARITY_FULL, state_with(60000, state, sizeof(state)));
	say(keeper);
	end(keeper);
	CU_ASSERT_STRING_EQUAL(
	    replayed(GRANULARITY_FULL, false, 0, &pieces), buf_str(&client.text));
	CU_ASSERT(pieces > 8);
	CU_ASSERT_STRING_EQUAL(
	    numbers(replayed(GRANULARITY_FULL, false, 2998, &pieces)), "2999,3000,3001,3002,");
	CU_ASSERT_STRING_EQUAL(
	    numbers(replayed(GRANULARITY_PARTIAL, false, 2998, &pieces)), "2999,3000,3002,");
	CU_ASSERT_STRING_EQUAL(replayed(GRANULARITY_FULL, false, 3002, &pieces), "");
	CU_ASSERT_EQUAL(pieces, 0);
}

static void events_have_their_number_and_name(void)
{
	struct chunk_keeper *keeper = begin(GRANULARITY_FULL, 1);
	int pieces;
	say(keeper);
	say(keeper);
	end(keeper);
	CU_ASSERT_STRING_EQUAL(replayed(GRANULARITY_LOW, true, 1, &pieces),
	    "id: 2\nevent: updates\ndata: {\"event\":\"updates\",\"message\":null,\"state\":null,"
	    "\"data\":null,\"metadata\":{\"seq\":2,\"thread_id\":\"t\"}}\n\n");
}

static void what_was_deleted_is_left_out(void)
{
	struct chunk_keeper *keeper = begin(GRANULARITY_FULL, 1);
	int pieces;
	say(keeper);
	say(keeper);
	say(keeper);
	end(keeper);
	for (size_t i = 0; i < disk.count; i++)
		disk.rows[i].len = 0;
	CU_ASSERT_STRING_EQUAL(replayed(GRANULARITY_FULL, false, 0, &pieces), "");
	CU_ASSERT(pieces > 0);
}

static void a_chunk_that_goes_while_it_is_sent_is_not_taken_for_whole(void)
{
	struct chunk_keeper *keeper = begin(GRANULARITY_FULL, 1);
	const struct replay replay = {
	    .reader = {.storage = &storage, .run = {7, 1}, .granularity = GRANULARITY_FULL}};
	struct replay_place place = {0};
	struct buf out = {0};
	struct error err = {0};
	char state[64];
	bool ends;
	say_as(keeper, GRANULARITY_FULL, state_with(60000, state, sizeof(state)));
	end(keeper);
	CU_ASSERT_TRUE(replay_read(&replay, &place, &out, &ends, &err));
	CU_ASSERT_NOT_EQUAL(place.len, 0);
	((char *)disk.rows[0].lines)[disk.rows[0].len - 2] = '\n'; /* shorter by one */
	CU_ASSERT_FALSE(replay_read(&replay, &place, &out, &ends, &err));
	error_release(&err);
	disk_empty();
	CU_ASSERT_FALSE(replay_read(&replay, &place, &out, &ends, &err));
	error_release(&err);
	buf_release(&out);
}

static void an_end_that_comes_meanwhile_is_the_last(void)
{
	static const char text[] =
	    "{\"event\":\"updates\",\"message\":null,\"state\":null,\"data\":{\"status\":\"done\"},"
	    "\"metadata\":{\x02"
	    "0\"thread_id\":\"t\"}}";
	struct chunk_keeper *keeper = begin(GRANULARITY_FULL, 1);
	struct chunk_sink *sink = chunk_keeper_sink(keeper);
	struct config config = {0};
	struct service service = {.storage = &storage, .config = &config};
	const struct run_record record = {.number = 1, .thread_row = 7};
	struct replay_tail tail;
	struct call call;
	say(keeper);
	chunk_keeper_flush(keeper);
	sink->chunk(sink, text, strlen(text));
	end(keeper);
	call_init(&call, &service, NULL);
	disk.late = 1;
	CU_ASSERT_TRUE(replay_find_tail(&call, &record, &tail));
	disk.late = 0;
	call_release(&call);
	CU_ASSERT_TRUE(tail.done);
	CU_ASSERT_EQUAL(tail.seq, 2);
}

/* ---- ends that are made ---- */

/* Ends run 1, which has made so many messages, by a record with that status; what its readers see
 * then. */
static const char *ended_with(int64_t messages, enum run_status status, const char *error_json)
{
	struct config config = {0};
	struct service service = {.storage = &storage, .config = &config};
	struct thread thread = {.thread_id = "t", .thread_name = "Talk", .run_id = "another"};
	const struct run_record record = {.number = 1,
	    .run_id = "r1",
	    .thread_id = "t",
	    .thread_row = 7,
	    .status = status,
	    .node = "agent",
	    .step = 2,
	    .error_json = error_json,
	    .until = messages,
	    .new_thread = true};
	struct call call;
	int pieces;
	call_init(&call, &service, NULL);
	CU_ASSERT_TRUE(replay_end(&call, &record, &thread));
	CU_ASSERT_TRUE(replay_end(&call, &record, &thread)); /* again changes nothing */
	call_release(&call);
	return replayed(GRANULARITY_FULL, false, 0, &pieces);
}

static const char *ended(enum run_status status, const char *error_json)
{
	return ended_with(0, status, error_json);
}

static void a_run_that_died_gets_its_end_from_its_record(void)
{
	struct chunk_keeper *keeper = begin(GRANULARITY_FULL, 1);
	say(keeper);
	end(keeper);
	const char *text = ended(RUN_ERROR, NULL);
	CU_ASSERT_STRING_EQUAL(numbers(text), "1,2,3,");
	CU_ASSERT_PTR_NOT_NULL(strstr(text,
	    "{\"event\":\"error\",\"message\":null,\"state\":null,\"data\":{\"status\":\"error\","
	    "\"node\":\"agent\",\"step\":2,\"reason\":\"Run r1 was lost\",\"error_code\":"
	    "\"RUN_LOST\"}"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"data\":{\"status\":\"done\"}"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"thread_name\":\"Talk\"}"));
}

static void every_status_has_its_end(void)
{
	static const struct {
		enum run_status status;
		const char *numbers, *has;
	} rows[] = {
	    {RUN_COMPLETED, "1,", "\"done\""},
	    {RUN_STOPPED, "1,2,", "\"reason\":\"Graph execution stopped by request\""},
	    {RUN_INTERRUPTED, "1,2,", "\"status\":\"interrupted\",\"node\":\"agent\""},
	    {RUN_ERROR, "1,2,", "\"error_code\":\"RUN_LOST\""},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unit_row("status %d", (int)rows[i].status);
		end(begin(GRANULARITY_FULL, 0));
		const char *text = ended(rows[i].status, NULL);
		CU_ASSERT_PTR_NOT_NULL(strstr(text, rows[i].has));
		CU_ASSERT_STRING_EQUAL(numbers(text), rows[i].numbers);
	}
}

static void an_outcome_that_is_there_is_not_told_twice(void)
{
	struct chunk_keeper *keeper = begin(GRANULARITY_FULL, 1);
	struct chunk_sink *sink = chunk_keeper_sink(keeper);
	static const char text[] =
	    "{\"event\":\"updates\",\"message\":null,\"state\":\x03{\"context\":[]}\x03,\"data\":"
	    "{\"status\":\"interrupted\",\"node\":\"agent\"},\"metadata\":{\x02"
	    "0\"thread_id\":\"t\"}}";
	sink->chunk(sink, text, strlen(text));
	end(keeper);
	CU_ASSERT_STRING_EQUAL(numbers(ended(RUN_INTERRUPTED, NULL)), "1,2,");
}

/* ---- messages that were not told ---- */

static void say_message(struct chunk_keeper *keeper, const char *message, int step)
{
	char text[512];
	struct chunk_sink *sink = chunk_keeper_sink(keeper);
	int len = snprintf(text, sizeof(text),
	    "{\"event\":\"message\",\"message\":%s,\"state\":null,\"data\":null,\"metadata\":{%c0"
	    "\"thread_id\":\"t\",\"node\":\"agent\",\"step\":%d}}",
	    message, KEPT_NUMBER, step);
	sink->chunk(sink, text, (size_t)len);
}

#define HEL \
	"{\"message_id\":\"m2\",\"content\":[{\"type\":\"text\",\"text\":\"Hel\"}],\"delta\":true}"

static void what_was_stored_and_not_told_comes_before_the_end(void)
{
	struct chunk_keeper *keeper = begin(GRANULARITY_FULL, 1);
	say_message(keeper, made[0][1], 1);
	say_message(keeper, HEL, 2);
	end(keeper);
	const char *text = ended_with(3, RUN_COMPLETED, NULL);
	CU_ASSERT_STRING_EQUAL(numbers(text), "1,2,3,4,5,6,");
	const char *rest = strstr(text, "\"text\":\"lo\"");
	CU_ASSERT_PTR_NOT_NULL_FATAL(rest);
	CU_ASSERT_PTR_NOT_NULL(strstr(rest, "\"delta\":true"));
	const char *whole = strstr(rest, "\"message\":" HELLO ",\"state\":null");
	CU_ASSERT_PTR_NOT_NULL_FATAL(whole);
	const char *last = strstr(whole, made[2][1]);
	CU_ASSERT_PTR_NOT_NULL_FATAL(last);
	CU_ASSERT_PTR_NOT_NULL(strstr(last, "\"node\":\"agent\",\"step\":2}"));
	CU_ASSERT_PTR_NOT_NULL(strstr(last, "\"data\":{\"status\":\"done\"}"));
	CU_ASSERT_PTR_NULL(strstr(strstr(text, made[0][1]) + 1, made[0][1]));
}

static void what_later_nodes_have_said_is_of_no_known_one(void)
{
	struct chunk_keeper *keeper = begin(GRANULARITY_FULL, 1);
	say_message(keeper, made[0][1], 1);
	end(keeper);
	const char *text = strstr(ended_with(2, RUN_COMPLETED, NULL), HELLO);
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT_PTR_NULL(strstr(text, "\"node\""));
}

static void a_run_that_is_taken_up_counts_on_behind_what_it_tells_first(void)
{
	struct config config = {0};
	struct service service = {.storage = &storage, .config = &config};
	const struct run_record record = {
	    .number = 1, .run_id = "r1", .thread_id = "t", .thread_row = 7, .until = 3};
	const struct told *told;
	struct call call;
	int64_t seq;
	struct chunk_keeper *keeper = begin(GRANULARITY_FULL, 1);
	say_message(keeper, made[0][1], 1);
	end(keeper);
	call_init(&call, &service, NULL);
	told = replay_go_on(&call, &record, &seq);
	CU_ASSERT_PTR_NOT_NULL_FATAL(told);
	CU_ASSERT_TRUE(told_whole(told, "m1"));
	CU_ASSERT_FALSE(told_whole(told, "m2"));
	CU_ASSERT_EQUAL(seq, 3);
	CU_ASSERT_PTR_NOT_NULL(replay_go_on(&call, &record, &seq)); /* again adds nothing */
	CU_ASSERT_EQUAL(seq, 3);
	call_release(&call);
}

/* ---- lines ---- */

static void a_line_says_what_it_is(void)
{
	static const char text[] =
	    "{\"event\":\"message\",\"message\":{},\"metadata\":{\x02"
	    "1\"seq\":12,\"a\":1}}\n"
	    "{\"event\":\"updates\",\"message\":null,\"state\":null,\"data\":{\"status\":\"done\"},"
	    "\"metadata\":{\x02"
	    "0\"a\":1}}";
	struct kept_line line;
	CU_ASSERT_TRUE(kept_line_read(&line, text, strlen(text)));
	CU_ASSERT_EQUAL(line.seq, 12);
	CU_ASSERT_EQUAL(line.least, GRANULARITY_PARTIAL);
	CU_ASSERT_EQUAL(strncmp(line.event, "message\"", 8), 0);
	CU_ASSERT_EQUAL(line.event_len, 7);
	CU_ASSERT_FALSE(line.ends);
	const char *next = text + line.len + 1;
	size_t left = strlen(next); /* gcc 12 at -O1 would measure it from the line.len of later */
	CU_ASSERT_TRUE(kept_line_read(&line, next, left));
	CU_ASSERT_EQUAL(line.seq, 0);
	CU_ASSERT_TRUE(line.ends);
	CU_ASSERT_EQUAL(line.len, left);
	CU_ASSERT_FALSE(kept_line_read(&line, "\nx", 2));
	CU_ASSERT_EQUAL(line.len, 0);
}

static const struct unit_test tests[] = {
    {"chunks are numbered, and on disk before anybody sees them",
	chunks_are_numbered_and_on_disk_before_anybody_sees_them},
    {"a chunk is the one that was said, with a number",
	a_chunk_is_the_one_that_was_said_with_a_number},
    {"nobody has to watch", nobody_has_to_watch},
    {"what nobody follows is committed seldom", what_nobody_follows_is_committed_seldom},
    {"a client of less is left out of what it did not ask for",
	a_client_of_less_is_left_out_of_what_it_did_not_ask_for},
    {"a run that goes on counts on", a_run_that_goes_on_counts_on},
    {"a context is read when it is shown", a_context_is_read_when_it_is_shown},
    {"a large context comes in parts", a_large_context_comes_in_parts},
    {"low shows no state", low_shows_no_state},
    {"a state that cannot be read is none", a_state_that_cannot_be_read_is_none},
    {"who leaves in the middle of a chunk is told nothing more",
	who_leaves_in_the_middle_of_a_chunk_is_told_nothing_more},
    {"a thread is free when its chunks are on disk and before that is told",
	a_thread_is_free_when_its_chunks_are_on_disk_and_before_that_is_told},
    {"nobody waits for the end of a run that nobody watches",
	nobody_waits_for_the_end_of_a_run_that_nobody_watches},
    {"a thread is free when its chunks are given up",
	a_thread_is_free_when_its_chunks_are_given_up},
    {"a thread is free at once when nothing is kept",
	a_thread_is_free_at_once_when_nothing_is_kept},
    {"a slow client holds up nobody and misses nothing",
	a_slow_client_holds_up_nobody_and_misses_nothing},
    {"a disk that stands still holds up the run and costs little",
	a_disk_that_stands_still_holds_up_the_run_and_costs_little},
    {"a disk that is away for a moment has all of it later",
	a_disk_that_is_away_for_a_moment_has_all_of_it_later},
    {"what the disk does not take comes without numbers",
	what_the_disk_does_not_take_comes_without_numbers},
    {"no run pays for another", no_run_pays_for_another},
    {"a run without a record keeps nothing", a_run_without_a_record_keeps_nothing},
    {"a reader gets what the client got, from any number on",
	a_reader_gets_what_the_client_got_from_any_number_on},
    {"events have their number and name", events_have_their_number_and_name},
    {"what was deleted is left out", what_was_deleted_is_left_out},
    {"a chunk that goes while it is sent is not taken for whole",
	a_chunk_that_goes_while_it_is_sent_is_not_taken_for_whole},
    {"an end that comes meanwhile is the last", an_end_that_comes_meanwhile_is_the_last},
    {"a run that died gets its end from its record", a_run_that_died_gets_its_end_from_its_record},
    {"every status has its end", every_status_has_its_end},
    {"an outcome that is there is not told twice", an_outcome_that_is_there_is_not_told_twice},
    {"what was stored and not told comes before the end",
	what_was_stored_and_not_told_comes_before_the_end},
    {"what later nodes have said is of no known one",
	what_later_nodes_have_said_is_of_no_known_one},
    {"a run that is taken up counts on behind what it tells first",
	a_run_that_is_taken_up_counts_on_behind_what_it_tells_first},
    {"a line says what it is", a_line_says_what_it_is},
};

int main(void)
{
	return unit_main("keeper", tests, UNIT_COUNT(tests));
}
