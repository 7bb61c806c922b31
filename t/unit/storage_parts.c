/* SPDX-License-Identifier: ISC */
/* Threads taken out and made again, on each engine. */
#include "base/memory.h"
#include "base/os/clock.h"
#include "history_fixture.h"
#include "storage/runs.h"

#include <stdlib.h>

static struct storage *st;
static struct error err;
static struct arena *arena; /* of all tests */

#define SHOWS(thread, view, text) CU_ASSERT_STRING_EQUAL(shown(st, (thread)->row, view), text)

static void keep(struct thread *t, const char *messages, enum checkpoint_source source)
{
	must_write(st, (struct thread_write){.thread = t, .checkpoint = source}, messages);
}

static void rewind_to(struct thread *t, const struct checkpoint *to, const char *messages,
    enum checkpoint_source source)
{
	*t = to->thread;
	must_write(
	    st, (struct thread_write){.thread = t, .rewind = to, .checkpoint = source}, messages);
}

static struct checkpoint newest(const struct thread *t, size_t newer)
{
	return checkpoint_at(st, arena, t->thread_id, newer);
}

/* ---- a thread taken out ---- */

enum { PARTS_MOST = 200 };

/* All of a thread, and what gives it back. */
struct whole {
	struct history_source source; /* first */
	struct history_part parts[PARTS_MOST];
	size_t count, at;
	int breaks_at; /* so many parts are given, then there is an error; 0: all are */
	struct history_origin origin;
	struct thread thread;
};

static bool whole_next(struct history_source *source, struct history_part *part, struct error *e)
{
	struct whole *w = (struct whole *)source;
	if (w->breaks_at && w->at == (size_t)w->breaks_at)
		return error_set(e, ERR_INVALID_INPUT, "no further");
	*part = w->at < w->count ? w->parts[w->at++] : (struct history_part){.kind = HISTORY_END};
	return true;
}

static bool whole_rewind(struct history_source *source, struct error *e)
{
	(void)e;
	((struct whole *)source)->at = 0;
	return true;
}

static struct history_part *whole_add(struct whole *w, struct history_part part)
{
	assert(w->count < PARTS_MOST);
	w->parts[w->count] = part;
	return &w->parts[w->count++];
}

static bool whole_add_place(void *arg, const struct history_part *part)
{
	struct history_part *kept = whole_add(arg, *part);
	kept->message_id = arena_strdup(arena, part->message_id);
	kept->body_json = arena_strdup(arena, part->body_json);
	return true;
}

static bool whole_add_run(void *arg, const struct run_record *record)
{
	struct run_record *r = arena_alloc(arena, sizeof(*r));
	*r = *record;
	r->run_id = arena_strdup(arena, r->run_id);
	r->node = arena_strdup(arena, r->node);
	r->error_json = arena_strdup(arena, r->error_json);
	whole_add(arg, (struct history_part){.kind = HISTORY_RUN, .run = r});
	return true;
}

static void whole_read(struct whole *w, const char *thread_id)
{
	struct thread t = thread_now(st, arena, thread_id);
	struct numbers n = numbers_of(st, &t, NULL);
	const struct record_filter runs = {.thread_id = thread_id, .statuses = ~0U};
	size_t first;
	*w = (struct whole){.source = {whole_next, whole_rewind}, .thread = t};
	CU_ASSERT_TRUE(st->history->origin(st, NULL, t.row, &w->origin, &err));
	CU_ASSERT_TRUE(
	    st->history->places(st, NULL, t.row, 0, t.view.last, whole_add_place, w, &err));
	for (size_t i = n.count; i-- > 0;) {
		struct checkpoint *c = arena_alloc(arena, sizeof(*c));
		CU_ASSERT_TRUE_FATAL(st->history->get(st, NULL, arena, &t, n.at[i], c, &err));
		whole_add(w, (struct history_part){.kind = HISTORY_CHECKPOINT, .checkpoint = c});
	}
	first = w->count;
	CU_ASSERT_TRUE(st->runs->list(st, NULL, &runs, whole_add_run, w, &err));
	for (size_t i = first, j = w->count; i + 1 < j--; i++) { /* they came newest first */
		struct history_part part = w->parts[i];

		w->parts[i] = w->parts[j];
		w->parts[j] = part;
	}
}

static bool whole_make(struct whole *w, struct thread *to, const char *thread_id)
{
	struct lease *lease = hold(st, thread_id);
	bool ok;
	*to = w->thread;
	to->row = 0;
	to->thread_id = thread_id;
	ok = st->history->make(st, NULL, lease, to, &w->origin, &w->source, &err);
	let_go(st, lease);
	return ok;
}

/* Whether two threads are the same but for their id and row, with all their history. */
static void same_history(const char *one, const char *other)
{
	struct whole a, b;
	whole_read(&a, one);
	whole_read(&b, other);
	CU_ASSERT_EQUAL(a.origin.number, b.origin.number);
	CU_ASSERT_EQUAL(a.origin.changed, b.origin.changed);
	CU_ASSERT_EQUAL(a.thread.message_bytes, b.thread.message_bytes);
	CU_ASSERT_EQUAL(a.thread.view.after, b.thread.view.after);
	CU_ASSERT_EQUAL(a.thread.view.until, b.thread.view.until);
	CU_ASSERT_EQUAL(a.thread.view.last, b.thread.view.last);
	CU_ASSERT_EQUAL(a.thread.view.plain, b.thread.view.plain);
	CU_ASSERT_EQUAL_FATAL(a.count, b.count);
	for (size_t i = 0; i < a.count; i++) {
		const struct history_part *p = &a.parts[i], *q = &b.parts[i];
		unit_row("%s: part %zu", other, i);
		CU_ASSERT_EQUAL_FATAL(p->kind, q->kind);
		CU_ASSERT_EQUAL(p->place, q->place);
		CU_ASSERT_EQUAL(p->other, q->other);
		if (p->kind == HISTORY_MESSAGE) {
			CU_ASSERT_STRING_EQUAL(p->message_id, q->message_id);
			CU_ASSERT_STRING_EQUAL(p->body_json, q->body_json);
		} else if (p->kind == HISTORY_CHECKPOINT) {
			const struct checkpoint *c = p->checkpoint, *d = q->checkpoint;
			char *list = xstrdup(shown(st, c->thread.row, &c->thread.view));
			CU_ASSERT_EQUAL(c->number, d->number);
			CU_ASSERT_EQUAL(c->parent, d->parent);
			CU_ASSERT_EQUAL(c->source, d->source);
			CU_ASSERT_EQUAL(c->message_count, d->message_count);
			CU_ASSERT_EQUAL(c->thread.status, d->thread.status);
			CU_ASSERT_STRING_EQUAL(c->thread.node, d->thread.node);
			CU_ASSERT_STRING_EQUAL(c->thread.fields_json, d->thread.fields_json);
			CU_ASSERT_EQUAL(c->thread.summary == NULL, d->thread.summary == NULL);
			CU_ASSERT_EQUAL(c->thread.pause_json == NULL, d->thread.pause_json == NULL);
			SHOWS(&d->thread, &d->thread.view, list);
			free(list);
		} else if (p->kind == HISTORY_RUN) {
			CU_ASSERT_STRING_EQUAL(p->run->run_id, q->run->run_id);
			CU_ASSERT_EQUAL(p->run->number, q->run->number);
			CU_ASSERT_EQUAL(p->run->status, q->run->status);
			CU_ASSERT_EQUAL(p->run->after, q->run->after);
			CU_ASSERT_EQUAL(p->run->until, q->run->until);
			CU_ASSERT_EQUAL(p->run->usage.total, q->run->usage.total);
		}
	}
}

/* Two branches, second places, a message that is gone, a change since the latest checkpoint. */
static struct thread rich(const char *thread_id)
{
	struct thread t = sample_thread(thread_id);
	struct run_record r = {.run_id = "r1",
	    .status = RUN_INTERRUPTED,
	    .created_at = 2000,
	    .finished_at = 3000,
	    .brought = 1,
	    .node = "ask",
	    .usage = {1, 2, 3, 6}};
	struct checkpoint first, second;
	t.fields_json = "{\"notes\":[\"one\"]}";
	t.summary = "so far";
	keep(&t, "m1 m2 m3", CHECKPOINT_RUN);
	first = newest(&t, 0);
	t.status = RUN_INTERRUPTED;
	t.pause_json = "{\"interrupt\":{},\"kind\":\"interrupt\",\"answers\":[]}";
	t.run_id = "r1";
	must_write(st, (struct thread_write){.thread = &t, .run = &r, .checkpoint = CHECKPOINT_RUN},
	    "~m1 m4=first m5");
	second = newest(&t, 0);
	rewind_to(&t, &first, "m4=other ~m2", CHECKPOINT_RUN);
	rewind_to(&t, &second, "m6", CHECKPOINT_RUN);
	must_write(st,
	    (struct thread_write){.thread = &t,
		.remove = (const char *const[]){"m5"},
		.remove_count = 1,
		.leave = "m3"},
	    NULL);
	return t;
}

static void a_thread_is_taken_out_and_made_again(void)
{
	struct whole w;
	struct thread t = rich("taken"), to;
	SHOWS(&t, NULL, "m1 m2 m3 first m6 | m1 first m6");
	whole_read(&w, "taken");
	CU_ASSERT_TRUE_FATAL(whole_make(&w, &to, "made"));
	SHOWS(&to, NULL, "m1 m2 m3 first m6 | m1 first m6");
	same_history("taken", "made");
}

/* Rewinds, messages and checkpoints after that are the same in both. */
static void a_thread_that_was_made_goes_on(void)
{
	static const char *const ids[] = {"original", "made-on"};
	struct whole w;
	struct thread t = rich("original"), to;
	whole_read(&w, "original");
	CU_ASSERT_TRUE_FATAL(whole_make(&w, &to, "made-on"));
	for (size_t i = 0; i < 2; i++) {
		struct checkpoint c = checkpoint_at(st, arena, ids[i], 1);
		t = c.thread;
		rewind_to(&t, &c, NULL, CHECKPOINT_REWIND);
		SHOWS(&t, NULL, "m1 m2 m3 other | m1 m3 other m2");
		/* what the rewind found changed was kept */
		CU_ASSERT_EQUAL(newest(&t, 1).source, CHECKPOINT_UPDATE);
		CU_ASSERT_EQUAL(newest(&t, 0).parent, c.number);
		keep(&t, "m5=again ~m3", CHECKPOINT_RUN);
		SHOWS(&t, NULL, "m1 m2 m3 other again | m1 other m2 again m3");
		CU_ASSERT_FALSE(
		    write_messages(st, (struct thread_write){.thread = &t}, "m4=twice", &err));
		error_release(&err);
		c = newest(&t, 2);
		rewind_to(&t, &c, "m7", CHECKPOINT_RUN);
		SHOWS(&t, NULL, "m1 m2 m3 first m6 m7 | m1 first m6 m7");
	}
}

static void a_plain_thread_is_made_plain(void)
{
	struct whole w;
	struct thread t = sample_thread("plain"), to;
	keep(&t, "m1 m2", CHECKPOINT_RUN);
	keep(&t, "m3", CHECKPOINT_RUN);
	whole_read(&w, "plain");
	CU_ASSERT_TRUE_FATAL(whole_make(&w, &to, "plain-made"));
	same_history("plain", "plain-made");
	to = thread_now(st, arena, "plain-made");
	keep(&to, "m4", CHECKPOINT_RUN);
	SHOWS(&to, NULL, "m1 m2 m3 m4 | m1 m2 m3 m4");
}

static void an_empty_thread_is_made_empty(void)
{
	struct whole w;
	struct thread t = sample_thread("nothing"), to;
	keep(&t, NULL, CHECKPOINT_NONE);
	whole_read(&w, "nothing");
	CU_ASSERT_EQUAL(w.count, 0);
	CU_ASSERT_TRUE_FATAL(whole_make(&w, &to, "nothing-made"));
	same_history("nothing", "nothing-made");
}

static void one_that_waits_is_found_by_its_call(void)
{
	struct whole w;
	struct thread t = sample_thread("waits"), to;
	const char *found = NULL;
	t.waiting_json = "{\"message_id\":\"m1\",\"calls\":[{\"id\":\"c-parts\"}]}";
	t.updated_at = 5000;
	keep(&t, "m1", CHECKPOINT_RUN);
	whole_read(&w, "waits");
	w.thread.updated_at = 6000;
	CU_ASSERT_TRUE_FATAL(whole_make(&w, &to, "waits-made"));
	CU_ASSERT_TRUE(st->threads->waiting(st, NULL, arena, "alice", "c-parts", &found, &err));
	CU_ASSERT_STRING_EQUAL(found, "waits-made");
}

/* Nothing of what fails is there. */
static void what_fails_leaves_nothing(void)
{
	struct whole w;
	struct thread t = rich("breaks"), to;
	struct history_part *m2, *m6;
	whole_read(&w, "breaks");
	for (w.breaks_at = 1; w.breaks_at < (int)w.count; w.breaks_at += 3) {
		CU_ASSERT_FALSE(whole_make(&w, &to, "broken"));
		CU_ASSERT_STRING_EQUAL(err.detail, "no further");
		error_release(&err);
	}
	w.breaks_at = 0;
	st->thread_max_bytes = 4 * 60;
	CU_ASSERT_FALSE(whole_make(&w, &to, "broken"));
	CU_ASSERT_EQUAL(err.kind, ERR_THREAD_TOO_LARGE);
	error_release(&err);
	st->thread_max_bytes = 0;
	m2 = &w.parts[1];
	CU_ASSERT_EQUAL_FATAL(m2->kind, HISTORY_MESSAGE);
	m2->message_id = "m1";
	CU_ASSERT_FALSE(whole_make(&w, &to, "broken"));
	CU_ASSERT_EQUAL(err.kind, ERR_INVALID_INPUT);
	CU_ASSERT_STRING_EQUAL(err.detail, "the list has a message m1 already");
	error_release(&err);
	CU_ASSERT_FALSE(thread_exists(st, "broken", NULL));
	m2->message_id = "m2";
	/* m6 is on the branch of the first m4; the other one is not on it */
	for (m6 = m2; m6->kind != HISTORY_MESSAGE || strcmp(m6->message_id, "m6") != 0;)
		m6++;
	m6->message_id = "m4";
	CU_ASSERT_FALSE(whole_make(&w, &to, "broken"));
	CU_ASSERT_STRING_EQUAL(err.detail, "the list has a message m4 already");
	CU_ASSERT_PTR_EQUAL(&w.parts[w.at - 1], m6);
	error_release(&err);
	m6->message_id = "m6";
	CU_ASSERT_TRUE(whole_make(&w, &to, "broken"));
	same_history("breaks", "broken");
	(void)t;
}

static bool first_two(void *arg, const struct history_part *part)
{
	int64_t *places = arg;
	places[places[0] ? 1 : 0] = part->place;
	return !places[1];
}

static void places_are_read_in_pieces(void)
{
	struct thread t = rich("pieces");
	int64_t places[2] = {0};
	CU_ASSERT_TRUE(
	    st->history->places(st, NULL, t.row, 1, t.view.last, first_two, places, &err));
	CU_ASSERT(places[0] == 2 && places[1] == 3);
	places[0] = places[1] = 0;
	CU_ASSERT_TRUE(st->history->places(st, NULL, t.row, 1, 2, first_two, places, &err));
	CU_ASSERT(places[0] == 2 && places[1] == 0);
}

/* Behind all others: what bodies, states and counts there are belongs to something. */
static void nothing_is_left_over(void)
{
	static const char *const none[] = {
	    "SELECT count(*) FROM bodies WHERE row NOT IN (SELECT body FROM messages)",
	    "SELECT count(*) FROM states WHERE row NOT IN (SELECT state FROM checkpoints WHERE "
	    "state IS NOT NULL)",
	    "SELECT count(*) FROM threads WHERE checkpoints <> (SELECT count(*) FROM checkpoints "
	    "WHERE thread = threads.row) + length(coalesce(recent, '')) - "
	    "length(replace(coalesce(recent, ''), char(10), ''))",
	    "SELECT count(*) FROM threads WHERE plain AND EXISTS (SELECT 1 FROM branches WHERE "
	    "thread = row)",
	};
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		unit_row("%zu", i);
		CU_ASSERT_EQUAL(sqlite_ask("state/threads.db", none[i]), 0);
	}
}

static void every_statement_was_used(void)
{
	check_statements("parts");
}

static const struct unit_test of_any_engine[] = {
    {"a thread is taken out and made again", a_thread_is_taken_out_and_made_again},
    {"a thread that was made goes on", a_thread_that_was_made_goes_on},
    {"a plain thread is made plain", a_plain_thread_is_made_plain},
    {"an empty thread is made empty", an_empty_thread_is_made_empty},
    {"one that waits is found by its call", one_that_waits_is_found_by_its_call},
    {"what fails leaves nothing", what_fails_leaves_nothing},
    {"places are read in pieces", places_are_read_in_pieces},
};

static const struct unit_test of_sqlite[] = {
    {"nothing is left over", nothing_is_left_over},
    {"every statement was used", every_statement_was_used},
};

int main(void)
{
	int rc;
	arena = arena_new();
	rc = storage_main_on(&st, "storage_parts", of_any_engine, UNIT_COUNT(of_any_engine),
	    of_sqlite, UNIT_COUNT(of_sqlite));
	arena_free(arena);
	return rc;
}
