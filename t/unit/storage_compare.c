/* SPDX-License-Identifier: ISC */
/*
 * Thousands of operations on threads with a past, chosen at random but the same each time, on both
 * engines, which must show the same after each.
 */
#include "history_fixture.h"
#include "storage/runs.h"

#include <stdlib.h>

enum { ENGINES = 2, THREADS = 4, IDS = 24, CHECKPOINTS_LOOKED_AT = 3, RECORDS_KEPT = 9 };

static struct storage *engines[ENGINES]; /* SQLite's, and the one in memory */
static struct arena *arena;              /* of an operation */
static int operation;
static uint64_t seed;

static unsigned any(unsigned below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 16) % below;
}

static bool now_and_then(unsigned one_in)
{
	return any(one_in) == 0;
}

/* ---- what is compared ---- */

static void say(struct buf *out, const char *text)
{
	buf_printf(out, " %s", text ? text : "-");
}

static void say_state(struct buf *out, const struct thread *t)
{
	buf_printf(out, "%d %d %d", (int)t->status, (int)t->stop, (int)t->step);
	say(out, t->run_id);
	say(out, t->node);
	say(out, t->next);
	say(out, t->pause_json);
	say(out, t->waiting_json);
	say(out, t->fields_json);
	say(out, t->summary);
}

/* Numbers are each engine's own, their order is not. */
static void say_checkpoint(
    struct buf *out, struct storage *st, const struct thread *t, const struct numbers *n, size_t i)
{
	struct error err = {0};
	struct checkpoint c;
	size_t parent = 0;
	CU_ASSERT_TRUE_FATAL(st->history->get(st, NULL, arena, t, n->at[i], &c, &err));
	while (parent < n->count && n->at[parent] != c.parent)
		parent++;
	buf_printf(out, "\n# %zu: from %zu of %zu source %d count %d ", i, parent, n->count,
	    (int)c.source, (int)c.message_count);
	say_state(out, &c.thread);
	say(out, shown(st, t->row, &c.thread.view));
}

/* All that a thread shows now, and some of what it did, or with most INT_MAX all of that. */
static char *said(struct storage *st, const char *thread_id, const size_t *which, size_t most)
{
	struct thread t = thread_now(st, arena, thread_id);
	struct numbers n = numbers_of(st, &t, NULL);
	struct buf out = {0};
	say_state(&out, &t);
	if (!st->history_keep)
		buf_printf(&out, " %d bytes", (int)t.message_bytes);
	say(&out, shown(st, t.row, NULL));
	for (size_t i = 0; i < n.count && i < most; i++)
		say_checkpoint(&out, st, &t, &n, which ? which[i] % n.count : i);
	return buf_detach(&out);
}

static void compare(const char *thread_id, bool all)
{
	size_t which[CHECKPOINTS_LOOKED_AT] = {0, any(1000), any(1000)};
	char *texts[ENGINES];
	for (int e = 0; e < ENGINES; e++)
		texts[e] = said(engines[e], thread_id, all ? NULL : which,
		    all ? SIZE_MAX : CHECKPOINTS_LOOKED_AT);
	if (strcmp(texts[0], texts[1]) != 0)
		printf("# operation %d on %s\n# %s\n# but\n# %s\n", operation, thread_id, texts[0],
		    texts[1]);
	CU_ASSERT_STRING_EQUAL_FATAL(texts[0], texts[1]);
	for (int e = 0; e < ENGINES; e++)
		free(texts[e]);
}

/* ---- operations ---- */

/* What a write brings, the same for both engines. */
struct plan {
	char messages[256];
	char leave[16], remove[2][16];
	const char *removed[2];
	struct thread_write write;
	struct thread state;
};

static const char *plan_id(char id[16])
{
	snprintf(id, 16, "m%u", any(IDS));
	return id;
}

static void plan_messages(struct plan *p, unsigned most)
{
	size_t len = 0;
	p->messages[0] = 0;
	for (unsigned count = any(most + 1); count > 0; count--) {
		char id[16];
		len += (size_t)snprintf(p->messages + len, sizeof(p->messages) - len,
		    now_and_then(3) ? "%s~%s" : "%s%s=%s-%d", len ? " " : "", plan_id(id), id,
		    operation);
	}
}

/* Now and then for a while threads only go on, and their checkpoints are short. */
static bool is_calm(void)
{
	return operation / 60 % 2;
}

static void plan_calm_write(struct plan *p)
{
	static const char *const runs[] = {"c1", "c2", "c3"};
	bool ends = now_and_then(2);
	*p = (struct plan){0};
	plan_messages(p, 2);
	p->state = sample_thread("");
	p->state.fields_json = now_and_then(3) ? "{\"n\":1}" : "{}";
	p->state.run_id = runs[any(3)];
	p->state.next = ends ? NULL : "agent";
	p->state.status = ends ? RUN_COMPLETED : RUN_RUNNING;
	p->state.step = operation;
	p->write.checkpoint = ends ? CHECKPOINT_RUN : CHECKPOINT_STEP;
}

static void plan_write(struct plan *p)
{
	static const char *const fields[] = {"{}", "{}", "{\"n\":1}", "{\"n\":2}"};
	static const char *const summaries[] = {NULL, NULL, "words"};
	static const char *const waiting[] = {NULL, NULL, NULL, "{\"calls\":[{\"id\":\"c1\"}]}"};
	static const char *const runs[] = {"r1", "r2", "r3"};
	*p = (struct plan){0};
	plan_messages(p, 3);
	p->state = sample_thread("");
	p->state.fields_json = fields[any(4)];
	p->state.summary = summaries[any(3)];
	p->state.waiting_json = waiting[any(4)];
	p->state.pause_json = now_and_then(4) ? "{\"node\":\"ask\"}" : NULL;
	p->state.run_id = runs[any(3)];
	p->state.next = now_and_then(3) ? "agent" : NULL;
	p->state.status = RUN_COMPLETED;
	p->state.step = operation;
	p->write.checkpoint =
	    now_and_then(3) ? CHECKPOINT_NONE : CHECKPOINT_RUN + any(CHECKPOINT_UPDATE);
	p->write.clear_context = now_and_then(20);
	if (now_and_then(5))
		p->write.leave = plan_id(p->leave);
	p->write.remove = p->removed;
	p->write.remove_count = now_and_then(6) ? 1 + any(2) : 0;
	for (size_t i = 0; i < 2; i++)
		p->removed[i] = plan_id(p->remove[i]);
}

/* One write of a plan, or two in one change; which may be refused, but by both. */
static bool plan_carry_out(struct storage *st, const struct thread *now, struct plan *plans,
    size_t count, const struct checkpoint *rewind)
{
	struct lease *lease = hold(st, now->thread_id);
	struct error err = {0};
	struct written written[2];
	struct thread t[2];
	struct thread_write w[2];
	struct run_record ends;
	struct thread_change change = {.lease = lease, .err = &err};
	bool ok;
	for (size_t i = 0; i < count; i++) {
		written_read(&written[i], plans[i].messages);
		t[i] = plans[i].state;
		t[i].row = now->row;
		t[i].thread_id = now->thread_id;
		w[i] = plans[i].write;
		w[i].thread = &t[i];
		w[i].messages = written[i].messages;
		w[i].message_count = written[i].count;
		w[i].rewind = i == 0 ? rewind : NULL;
		change.writes[i] = &w[i];
	}
	ends = (struct run_record){.run_id = t[count - 1].run_id,
	    .status = RUN_COMPLETED,
	    .node = "END",
	    .keep = RECORDS_KEPT};
	if (w[count - 1].checkpoint == CHECKPOINT_RUN)
		w[count - 1].run = &ends;
	ok = st->threads->write(st, NULL, &change, 1);
	CU_ASSERT(ok == !error_is_set(&err));
	error_release(&err);
	let_go(st, lease);
	return ok;
}

/* The checkpoint in that place of the list, which the engines have at different numbers. */
static bool pick(struct storage *st, const struct thread *t, size_t place, struct checkpoint *c)
{
	struct numbers n = numbers_of(st, t, NULL);
	struct error err = {0};
	return n.count && st->history->get(st, NULL, arena, t, n.at[place % n.count], c, &err);
}

static void write_somewhere(const char *thread_id)
{
	struct plan plans[2];
	size_t count = 1 + now_and_then(3), place = any(1000);
	bool rewinds = now_and_then(is_calm() ? 30 : 4), ok[ENGINES];
	for (size_t i = 0; i < count; i++)
		(is_calm() ? plan_calm_write : plan_write)(&plans[i]);
	for (int e = 0; e < ENGINES; e++) {
		struct thread now = thread_now(engines[e], arena, thread_id);
		struct checkpoint c;
		ok[e] = plan_carry_out(engines[e], &now, plans, count,
		    rewinds && pick(engines[e], &now, place, &c) ? &c : NULL);
	}
	CU_ASSERT_EQUAL(ok[0], ok[1]);
}

static void rewind_somewhere(const char *thread_id)
{
	size_t place = any(1000);
	for (int e = 0; e < ENGINES; e++) {
		struct thread now = thread_now(engines[e], arena, thread_id), t;
		struct checkpoint c;
		if (!pick(engines[e], &now, place, &c))
			return;
		t = c.thread;
		must_write(engines[e],
		    (struct thread_write){
			.thread = &t, .rewind = &c, .checkpoint = CHECKPOINT_REWIND},
		    NULL);
	}
}

/* A run of a few writes, its first one perhaps from a checkpoint, that is rolled back. */
static void run_and_roll_back(const char *thread_id)
{
	struct plan plans[3];
	size_t count = 1 + any(3), place = any(1000);
	bool rewinds = now_and_then(2);
	for (size_t i = 0; i < count; i++) {
		plan_write(&plans[i]);
		plans[i].state.run_id = "rolled";
		if (plans[i].write.checkpoint)
			plans[i].write.checkpoint = CHECKPOINT_STEP;
	}
	for (int e = 0; e < ENGINES; e++) {
		struct storage *st = engines[e];
		struct thread was = thread_now(st, arena, thread_id), t = was;
		struct run_record run = {
		    .run_id = "rolled", .status = RUN_STOPPED, .node = "START"};
		struct checkpoint c;
		bool from = rewinds && pick(st, &was, place, &c);
		for (size_t i = 0; i < count; i++)
			plan_carry_out(st, &was, &plans[i], 1, i == 0 && from ? &c : NULL);
		must_write(st,
		    (struct thread_write){.thread = &t, .back_to = &was.view, .run = &run}, NULL);
	}
}

/* The record of a run, so many before the latest one. */
struct pick_record {
	size_t place;
	struct run_record record;
};

static bool pick_record(void *arg, const struct run_record *record)
{
	struct pick_record *p = arg;
	p->record = *record;
	return p->place-- > 0;
}

static void remove_a_record(const char *thread_id)
{
	size_t place = any(RECORDS_KEPT);
	for (int e = 0; e < ENGINES; e++) {
		const struct record_filter all = {.thread_id = thread_id, .statuses = ~0U};
		struct pick_record p = {.place = place};
		struct error err = {0};
		CU_ASSERT_TRUE(
		    engines[e]->runs->list(engines[e], NULL, &all, pick_record, &p, &err));
		CU_ASSERT(!p.record.number ||
		    engines[e]->runs->remove(engines[e], NULL, &p.record, &err));
	}
}

static void copy_somewhere(const char *thread_id, const char *to_id)
{
	size_t place = any(1000);
	bool of_then = now_and_then(2);
	for (int e = 0; e < ENGINES; e++) {
		struct storage *st = engines[e];
		struct thread from = thread_now(st, arena, thread_id), to = sample_thread(to_id);
		struct thread old = thread_now(st, arena, to_id);
		struct error err = {0};
		struct checkpoint c;
		CU_ASSERT_TRUE_FATAL(remove_one(st, &old, &err));
		if (of_then && pick(st, &from, place, &c))
			from = c.thread;
		to.fields_json = from.fields_json;
		CU_ASSERT_TRUE_FATAL(copy_one(st, &from, &to, &err));
	}
}

static void go_on(const char *thread_id, const char *other_id)
{
	unsigned kind = any(is_calm() ? 80 : 20);
	if (kind < 2)
		rewind_somewhere(thread_id);
	else if (kind < 4 && !engines[0]->history_keep)
		run_and_roll_back(thread_id); /* then older ones may be shown again, or be gone */
	else if (kind == 5)
		remove_a_record(thread_id);
	else if (kind == 4 && strcmp(thread_id, other_id) != 0)
		copy_somewhere(thread_id, other_id);
	else
		write_somewhere(thread_id);
}

static const char *const ids[THREADS] = {"t0", "t1", "t2", "t3"};

static void threads_are_made(void)
{
	for (int e = 0; e < ENGINES; e++) {
		for (int i = 0; i < THREADS; i++) {
			struct thread t = sample_thread(ids[i]);
			must_put(engines[e], &t, NULL);
		}
	}
}

static void operate(int operations)
{
	unsigned failed = CU_get_number_of_failures();
	for (operation = 1; operation <= operations; operation++) {
		const char *id = ids[any(THREADS)], *other = ids[any(THREADS)];
		arena = arena_new();
		go_on(id, other);
		compare(id, operation % 50 == 0);
		compare(other, false);
		arena_free(arena);
		CU_ASSERT_EQUAL_FATAL(CU_get_number_of_failures(), failed);
	}
}

static void both_engines_show_the_same(void)
{
	operate(1500);
}

static void both_show_the_same_when_few_are_kept(void)
{
	for (int e = 0; e < ENGINES; e++)
		engines[e]->history_keep = 12;
	operate(1500);
}

static const struct unit_test tests[] = {
    {"threads are made", threads_are_made},
    {"both engines show the same", both_engines_show_the_same},
    {"both show the same when few are kept", both_show_the_same_when_few_are_kept},
};

int main(int argc, char **argv)
{
	struct error err = {0};
	int rc;
	seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 88172645463325252ULL;
	for (int e = 0; e < ENGINES; e++) {
		chosen_engine = e         ? &memory_engine
		    : postgresql_wanted() ? &postgresql_engine
					  : NULL;
		engines[e] = try_open(e ? "in-memory" : "state", &err);
		if (!engines[e]) {
			printf("Bail out! %s\n", err.detail);
			return 1;
		}
	}
	rc = unit_main("storage_compare", tests, UNIT_COUNT(tests));
	for (int e = 0; e < ENGINES; e++)
		close_storage(engines[e]);
	return rc;
}
