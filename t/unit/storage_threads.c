/* SPDX-License-Identifier: ISC */
/* Threads and their messages, on each engine. */
#include "storage/sql/db/db.h"
#include "storage_fixture.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct storage *st;
static struct error err;

static const char *lost_name; /* once it is there, no directory reaches the disk; NULL: all do */

/* Stands before the C library's. */
int fsync(int fd)
{
	struct stat there;
	if (lost_name && access(lost_name, F_OK) == 0 && fstat(fd, &there) == 0 &&
	    S_ISDIR(there.st_mode)) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_fsync, fd);
}

static void a_thread_comes_back_as_it_was_written(void)
{
	struct arena *a = arena_new();
	struct thread t = sample_thread("whole"), back;
	t.thread_name = "brave-otter";
	t.metadata_json = "{\"k\":\"v\"}";
	t.created_at = 1756722600123456;
	t.updated_at = 1756722600123457;
	t.run_id = "run-1";
	t.status = RUN_INTERRUPTED;
	t.stop = STOP_DONE;
	t.node = "agent";
	t.next = "tools";
	t.step = 7;
	t.pause_json = "{\"p\":1}";
	t.waiting_json = "[2]";
	t.fields_json = "{\"notes\":[\"ä\"]}";
	t.summary = "so far";
	must_put(st, &t, NULL);
	CU_ASSERT(t.row != 0);
	CU_ASSERT_TRUE_FATAL(st->threads->get(st, NULL, a, "whole", &back, &err));
	CU_ASSERT_EQUAL(back.row, t.row);
	CU_ASSERT_STRING_EQUAL(back.thread_id, "whole");
	CU_ASSERT_STRING_EQUAL(back.user_id, "alice");
	CU_ASSERT_STRING_EQUAL(back.thread_name, "brave-otter");
	CU_ASSERT_STRING_EQUAL(back.metadata_json, "{\"k\":\"v\"}");
	CU_ASSERT_EQUAL(back.created_at, 1756722600123456);
	CU_ASSERT_EQUAL(back.updated_at, 1756722600123457);
	CU_ASSERT_STRING_EQUAL(back.run_id, "run-1");
	CU_ASSERT_EQUAL(back.status, RUN_INTERRUPTED);
	CU_ASSERT_EQUAL(back.stop, STOP_DONE);
	CU_ASSERT_STRING_EQUAL(back.node, "agent");
	CU_ASSERT_STRING_EQUAL(back.next, "tools");
	CU_ASSERT_EQUAL(back.step, 7);
	CU_ASSERT_STRING_EQUAL(back.pause_json, "{\"p\":1}");
	CU_ASSERT_STRING_EQUAL(back.waiting_json, "[2]");
	CU_ASSERT_STRING_EQUAL(back.fields_json, "{\"notes\":[\"ä\"]}");
	CU_ASSERT_STRING_EQUAL(back.summary, "so far");
	arena_free(a);
}

static void what_is_null_stays_null(void)
{
	struct arena *a = arena_new();
	struct thread t = sample_thread("nulls"), back;
	must_put(st, &t, NULL);
	CU_ASSERT_TRUE_FATAL(st->threads->get(st, NULL, a, "nulls", &back, &err));
	CU_ASSERT_PTR_NULL(back.run_id);
	CU_ASSERT_PTR_NULL(back.next);
	CU_ASSERT_PTR_NULL(back.pause_json);
	CU_ASSERT_PTR_NULL(back.waiting_json);
	CU_ASSERT_PTR_NULL(back.summary);
	arena_free(a);
}

static void an_unknown_thread_is_no_error(void)
{
	CU_ASSERT_FALSE(thread_exists(st, "nobody", NULL));
}

static void a_second_write_replaces_all_but_identity(void)
{
	struct arena *a = arena_new();
	struct thread t = sample_thread("twice"), back;
	must_put(st, &t, "m1");
	t.thread_id = "other";
	t.user_id = "mallory";
	t.created_at = 5;
	t.updated_at = 6;
	t.summary = "new";
	must_put(st, &t, "m2");
	CU_ASSERT_FALSE(thread_exists(st, "other", NULL));
	CU_ASSERT_TRUE_FATAL(st->threads->get(st, NULL, a, "twice", &back, &err));
	CU_ASSERT_STRING_EQUAL(back.user_id, "alice");
	CU_ASSERT_EQUAL(back.created_at, 1000);
	CU_ASSERT_EQUAL(back.updated_at, 6);
	CU_ASSERT_STRING_EQUAL(back.summary, "new");
	CU_ASSERT_STRING_EQUAL(listed(st, t.row, NULL), "m1 m2 ");
	arena_free(a);
}

static void a_failed_write_leaves_nothing_behind(void)
{
	char bodies[2][256];
	struct thread t = sample_thread("half");
	struct new_message m[2] = {
	    sample_message("same", bodies[0]), sample_message("same", bodies[1])};
	struct thread_write w = {.thread = &t, .messages = m, .message_count = 2};
	CU_ASSERT_FALSE(write_one(st, &w, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_STORAGE);
	CU_ASSERT_STRING_EQUAL(err.detail, "An error occurred accessing storage.");
	CU_ASSERT_PTR_NOT_NULL(strstr(err.cause,
	    chosen_engine == &memory_engine           ? "that message"
		: chosen_engine == &postgresql_engine ? "23505"
						      : "UNIQUE"));
	error_release(&err);
	CU_ASSERT_EQUAL(t.row, 0);
	CU_ASSERT_FALSE(thread_exists(st, "half", NULL));
}

static void a_thread_that_is_gone_cannot_be_written(void)
{
	struct thread t = sample_thread("gone");
	must_put(st, &t, NULL);
	CU_ASSERT_TRUE(remove_one(st, &t, &err));
	CU_ASSERT_FALSE(put(st, &t, "m", &err));
	CU_ASSERT_EQUAL(err.kind, ERR_STORAGE);
	error_release(&err);
}

static void deleting_a_thread_takes_its_messages_along(void)
{
	struct thread t = sample_thread("doomed");
	must_put(st, &t, "m1");
	CU_ASSERT_TRUE(remove_one(st, &t, &err));
	CU_ASSERT_FALSE(thread_exists(st, "doomed", NULL));
	CU_ASSERT_STRING_EQUAL(listed(st, t.row, NULL), "");
}

static void a_row_is_never_used_again(void)
{
	struct thread first = sample_thread("first-user"), second = sample_thread("second-user");
	must_put(st, &first, "secret");
	CU_ASSERT_TRUE(remove_one(st, &first, &err));
	must_put(st, &second, "other");
	CU_ASSERT(second.row > first.row);
	CU_ASSERT_STRING_EQUAL(listed(st, first.row, NULL), "");
}

/* A thread with the messages m1 to m4. */
static struct thread four(const char *thread_id)
{
	struct thread t = sample_thread(thread_id);
	must_put(st, &t, "m1");
	must_put(st, &t, "m2");
	must_put(st, &t, "m3");
	must_put(st, &t, "m4");
	return t;
}

static void messages_are_listed_and_seen_in_order(void)
{
	struct thread t = four("ordered");
	int64_t count;
	CU_ASSERT_STRING_EQUAL(listed(st, t.row, NULL), "m1 m2 m3 m4 ");
	CU_ASSERT_STRING_EQUAL(context_of(st, t.row), "m1 m2 m3 m4 ");
	CU_ASSERT_TRUE(st->threads->context_count(st, NULL, t.row, NULL, &count, &err));
	CU_ASSERT_EQUAL(count, 4);
}

static void a_page_of_messages_starts_at_its_offset(void)
{
	struct thread t = four("paged");
	struct page middle = {.offset = 1, .limit = 2}, beyond = {.offset = 9, .limit = 2};
	CU_ASSERT_STRING_EQUAL(listed(st, t.row, &middle), "m2 m3 ");
	CU_ASSERT_STRING_EQUAL(listed(st, t.row, &beyond), "");
}

static void a_removed_message_leaves_both_views(void)
{
	struct thread t = four("removal");
	const char *const ids[] = {"m2", "m4"};
	struct thread_write w = {.thread = &t, .remove = ids, .remove_count = 2};
	CU_ASSERT_TRUE(write_one(st, &w, &err));
	must_put(st, &t, "m5");
	CU_ASSERT_STRING_EQUAL(listed(st, t.row, NULL), "m1 m3 m5 ");
	CU_ASSERT_STRING_EQUAL(context_of(st, t.row), "m1 m3 m5 ");
}

static void clearing_the_context_keeps_the_list(void)
{
	struct thread t = four("cleared");
	struct thread_write w = {.thread = &t, .clear_context = true};
	int64_t count = -1;
	CU_ASSERT_TRUE(write_one(st, &w, &err));
	CU_ASSERT_STRING_EQUAL(listed(st, t.row, NULL), "m1 m2 m3 m4 ");
	CU_ASSERT_STRING_EQUAL(context_of(st, t.row), "");
	CU_ASSERT_TRUE(st->threads->context_count(st, NULL, t.row, NULL, &count, &err));
	CU_ASSERT_EQUAL(count, 0);
}

static void the_oldest_messages_leave_the_context(void)
{
	struct thread t = four("trimmed");
	const struct new_message fifth[] = {{"m5", "{}"}};
	struct thread_write w = {
	    .thread = &t, .messages = fifth, .message_count = 1, .leave = "m3"};
	CU_ASSERT_TRUE(write_one(st, &w, &err));
	CU_ASSERT_STRING_EQUAL(listed(st, t.row, NULL), "m1 m2 m3 m4 m5 ");
	CU_ASSERT_STRING_EQUAL(context_of(st, t.row), "m4 m5 ");
	w = (struct thread_write){.thread = &t, .leave = "m1"};
	CU_ASSERT_TRUE(write_one(st, &w, &err));
	CU_ASSERT_STRING_EQUAL(context_of(st, t.row), "m4 m5 ");
}

/* Also where the thread may hold no more, and for the bodies and sizes of what goes. */
static void a_thread_goes_back_to_where_it_was(void)
{
	struct arena *a = arena_new();
	struct thread t = four("back"), other = four("beside"), was, is;
	const struct new_message more[] = {{"m6", "{\"m\":6}"}, {"m7", "{\"m\":7}"}};
	struct thread_write w = {.thread = &t, .leave = "m1"};
	CU_ASSERT_TRUE(write_one(st, &w, &err));
	CU_ASSERT_TRUE_FATAL(st->threads->get(st, NULL, a, "back", &was, &err));
	must_put(st, &t, "m5");
	t.fields_json = "{\"notes\":[1]}";
	t.summary = "words";
	w = (struct thread_write){
	    .thread = &t, .messages = more, .message_count = 2, .leave = "m6"};
	CU_ASSERT_TRUE(write_one(st, &w, &err));
	CU_ASSERT_STRING_EQUAL(context_of(st, t.row), "m7 ");

	w = (struct thread_write){.thread = &was, .back_to = &was.view};
	CU_ASSERT_TRUE(write_one(st, &w, &err));
	CU_ASSERT_STRING_EQUAL(listed(st, t.row, NULL), "m1 m2 m3 m4 ");
	CU_ASSERT_STRING_EQUAL(context_of(st, t.row), "m2 m3 m4 ");
	CU_ASSERT_TRUE_FATAL(st->threads->get(st, NULL, a, "back", &is, &err));
	CU_ASSERT_EQUAL(is.message_bytes, was.message_bytes);
	CU_ASSERT_STRING_EQUAL(is.fields_json, "{}");
	CU_ASSERT_PTR_NULL(is.summary);
	CU_ASSERT_STRING_EQUAL(listed(st, other.row, NULL), "m1 m2 m3 m4 ");

	CU_ASSERT_TRUE(write_one(st, &w, &err)); /* nothing to do is fine */
	must_put(st, &is, "m5");
	CU_ASSERT_STRING_EQUAL(context_of(st, t.row), "m2 m3 m4 m5 ");
	arena_free(a);
}

/* As a run writes that was stopped before its first write was on disk. */
static void a_new_thread_goes_back_to_an_empty_one(void)
{
	struct arena *a = arena_new();
	struct thread t = sample_thread("begun"), was = sample_thread("begun"), is;
	const struct new_message first[] = {{"m1", "{}"}};
	struct thread_write begin = {.thread = &t, .messages = first, .message_count = 1};
	struct thread_write back = {.thread = &was, .back_to = &was.view};
	struct lease *lease = hold(st, "begun");
	struct deferred *pending;
	thread_defer(st, lease, &begin, &pending);
	CU_ASSERT_TRUE(thread_write_after(st, NULL, lease, &pending, &back, &err));
	let_go(st, lease);
	CU_ASSERT_STRING_EQUAL(listed(st, was.row, NULL), "");
	CU_ASSERT_TRUE_FATAL(st->threads->get(st, NULL, a, "begun", &is, &err));
	CU_ASSERT_EQUAL(is.message_bytes, 0);
	must_put(st, &is, "m1");
	CU_ASSERT_STRING_EQUAL(context_of(st, is.row), "m1 ");
	arena_free(a);
}

/* Who writes need not read what the thread shows then. */
static void a_write_tells_what_the_thread_shows(void)
{
	static const char *const gone[] = {"shown-2"};
	struct thread t = sample_thread("shown");
	struct thread_write writes[] = {
	    {.clear_context = true}, {.leave = "shown-4"}, {.remove = gone, .remove_count = 1}};
	char id[16], again[16];
	for (int i = 1; i <= 5; i++) {
		snprintf(id, sizeof(id), "shown-%d", i);
		must_put(st, &t, id);
	}
	for (size_t i = 0; i < sizeof(writes) / sizeof(writes[0]); i++) {
		struct thread_view now;
		char body[256];
		struct new_message m;
		snprintf(again, sizeof(again), "shown-again-%zu", i);
		m = sample_message(again, body);
		writes[i].thread = &t;
		writes[i].messages = &m;
		writes[i].message_count = 1;
		CU_ASSERT_TRUE_FATAL(write_one(st, &writes[i], &err));
		CU_ASSERT_TRUE_FATAL(st->threads->view(st, NULL, t.row, &now, &err));
		unit_row("write %zu", i);
		CU_ASSERT_EQUAL(t.view.after, now.after);
		CU_ASSERT_EQUAL(t.view.until, now.until);
		CU_ASSERT_EQUAL(t.view.last, now.last);
		CU_ASSERT_EQUAL(t.view.plain, now.plain);
	}
}

static void a_message_enters_the_context_again_at_its_end(void)
{
	struct thread t = four("again");
	const struct new_message third[] = {{.message_id = "m3"}};
	const struct new_message others[] = {{"m2", NULL}, {"new", "{}"}, {"m1", NULL}};
	struct thread_write clear = {
	    .thread = &t, .clear_context = true, .messages = third, .message_count = 1};
	struct thread_write more = {.thread = &t, .messages = others, .message_count = 3};
	CU_ASSERT_TRUE(write_one(st, &clear, &err));
	must_put(st, &t, "m5");
	CU_ASSERT_TRUE(write_one(st, &more, &err));
	must_put(st, &t, "m6");
	CU_ASSERT_STRING_EQUAL(context_of(st, t.row), "m3 m5 m2 new m1 m6 ");
	CU_ASSERT_STRING_EQUAL(listed(st, t.row, NULL), "m1 m2 m3 m4 m5 new m6 ");
}

/* Notes the ids of two. */
static bool take_two(void *arg, const char *message_id, const char *body_json)
{
	char *got = arg;
	CU_ASSERT_PTR_NOT_NULL(strstr(body_json, message_id));
	bool second = *got;
	snprintf(got + strlen(got), 8, "%s ", message_id);
	return !second;
}

static void messages_are_found_by_id_in_their_thread_only(void)
{
	const char *const several[] = {"m3", "foreign", "m1", "m2"};
	char got[16] = "";
	struct arena *a = arena_new();
	struct thread t = four("finding"), other = sample_thread("elsewhere");
	struct thread_write clear = {.thread = &t, .clear_context = true};
	const char *body;
	struct message_known known[] = {{.message_id = "m2"}, {0}, {.message_id = "foreign"}};
	must_put(st, &other, "foreign");
	CU_ASSERT_TRUE(thread_message_get(st, NULL, a, t.row, NULL, "m2", &body, &err));
	CU_ASSERT_PTR_NOT_NULL_FATAL(body);
	CU_ASSERT_PTR_NOT_NULL(strstr(body, "\"m2\""));
	CU_ASSERT_TRUE(thread_message_get(st, NULL, a, t.row, NULL, "foreign", &body, &err));
	CU_ASSERT_PTR_NULL(body);
	CU_ASSERT_TRUE(
	    st->threads->messages_get(st, NULL, t.row, NULL, several, 4, take_two, got, &err));
	CU_ASSERT_STRING_EQUAL(got, "m3 m1 ");
	CU_ASSERT_TRUE(st->threads->messages_known(st, NULL, t.row, NULL, known, 3, &err));
	CU_ASSERT(known[0].known && known[0].in_context);
	CU_ASSERT_TRUE(write_one(st, &clear, &err));
	CU_ASSERT_TRUE(st->threads->messages_known(st, NULL, t.row, NULL, known, 3, &err));
	CU_ASSERT(known[0].known && !known[0].in_context);
	CU_ASSERT(!known[1].known && !known[1].in_context);
	CU_ASSERT(!known[2].known && !known[2].in_context);
	arena_free(a);
}

static void many_messages_are_found_at_once(void)
{
	struct thread t = four("finding-many"), other = sample_thread("elsewhere-too");
	struct thread_write back = {.thread = &t,
	    .clear_context = true,
	    .message_count = 1,
	    .messages = (const struct new_message[]){{.message_id = "m3"}}};
	struct message_known known[] = {{.message_id = "m4"}, {.message_id = "foreign"}, {0},
	    {.message_id = "m1"}, {.message_id = "m3"}, {.message_id = "m1"}, {.message_id = "no"}};
	static const char expected[] = "+- +*+-";
	size_t count = sizeof(known) / sizeof(known[0]);
	must_put(st, &other, "foreign");
	CU_ASSERT_TRUE(write_one(st, &back, &err));
	CU_ASSERT_TRUE(st->threads->messages_known(st, NULL, t.row, NULL, known, count, &err));
	for (size_t i = 0; i < count; i++) {
		char sign = known[i].in_context ? '*' : known[i].known ? '+' : '-';
		CU_ASSERT_EQUAL(known[i].message_id ? sign : ' ', expected[i]);
	}
}

static void the_owner_of_a_thread_is_read_alone(void)
{
	struct arena *a = arena_new();
	struct thread t = four("owned");
	const char *owner = NULL;
	CU_ASSERT_TRUE(st->threads->owner(st, NULL, a, t.thread_id, &owner, &err));
	CU_ASSERT_STRING_EQUAL(owner ? owner : "none", t.user_id);
	CU_ASSERT_TRUE(st->threads->owner(st, NULL, a, "nobody's", &owner, &err));
	CU_ASSERT_PTR_NULL(owner);
	arena_free(a);
}

/* The thread of that owner where the call waits, or "none". */
static const char *waiting_for(struct arena *a, const char *owner, const char *call_id)
{
	const char *id = NULL;
	CU_ASSERT_TRUE(st->threads->waiting(st, NULL, a, owner, call_id, &id, &err));
	return id ? id : "none";
}

static void a_thread_is_found_by_the_calls_that_wait(void)
{
	struct arena *a = arena_new();
	struct thread one = sample_thread("waits 1"), two = sample_thread("waits 2");
	one.waiting_json = "{\"message_id\":\"m\",\"calls\":[{\"id\":\"c1\",\"args\":{\"id\":"
			   "\"inner\"}},{\"id\":\"c2\"},{\"id\":\"c1\"}]}";
	must_put(st, &one, NULL);
	CU_ASSERT_STRING_EQUAL(waiting_for(a, "alice", "c1"), "waits 1");
	CU_ASSERT_STRING_EQUAL(waiting_for(a, "alice", "c2"), "waits 1");
	CU_ASSERT_STRING_EQUAL(waiting_for(a, "alice", "inner"), "none");
	CU_ASSERT_STRING_EQUAL(waiting_for(a, "bob", "c1"), "none");

	must_put(st, &two, NULL);
	two.waiting_json = "{\"message_id\":\"m\",\"calls\":[{\"id\":\"c1\"}]}";
	two.updated_at = 900; /* a clock that was set back */
	must_put(st, &two, NULL);
	CU_ASSERT_STRING_EQUAL(waiting_for(a, "alice", "c1"), "waits 1");
	two.waiting_json = "{\"message_id\":\"m\",\"calls\":[{\"id\":\"c1\"},{\"id\":\"c3\"}]}";
	two.updated_at = 2000;
	must_put(st, &two, NULL);
	CU_ASSERT_STRING_EQUAL(waiting_for(a, "alice", "c1"), "waits 2");
	two.waiting_json = NULL;
	must_put(st, &two, NULL);
	CU_ASSERT_STRING_EQUAL(waiting_for(a, "alice", "c1"), "waits 1");
	CU_ASSERT_STRING_EQUAL(waiting_for(a, "alice", "c3"), "none");
	CU_ASSERT_TRUE(remove_one(st, &one, &err));
	CU_ASSERT_STRING_EQUAL(waiting_for(a, "alice", "c1"), "none");
	arena_free(a);
}

static void a_walk_ends_when_its_reader_has_enough(void)
{
	struct thread t = four("enough");
	struct id_list list = {.left = 2};
	CU_ASSERT_TRUE(st->threads->context(st, NULL, t.row, NULL, collect_message, &list, &err));
	CU_ASSERT_STRING_EQUAL(list.text, "m1 m2 ");
}

static bool read_inside(void *arg, const char *message_id, const char *body_json)
{
	int64_t *row = arg;
	CU_ASSERT_STRING_EQUAL(context_of(st, *row), "m1 m2 m3 m4 ");
	return message_id && body_json;
}

static void a_reader_may_read_again_inside_a_walk(void)
{
	struct thread t = four("nested");
	CU_ASSERT_TRUE(st->threads->context(st, NULL, t.row, NULL, read_inside, &t.row, &err));
}

static void put_for_listing(
    const char *id, const char *owner, int64_t updated, const char *name, const char *metadata)
{
	struct thread t = sample_thread(id);
	t.user_id = owner;
	t.updated_at = updated;
	t.thread_name = name;
	t.metadata_json = metadata;
	must_put(st, &t, NULL);
}

static const char *threads_found(
    const char *owner, const struct page *page, const struct thread_filter *filter)
{
	static struct id_list list;
	list = (struct id_list){.left = 100};
	CU_ASSERT_TRUE(
	    st->threads->list(st, NULL, owner, page, filter, collect_thread, &list, &err));
	return list.text;
}

static const char *threads_of(const char *owner, const char *search, int64_t offset, int64_t limit)
{
	struct page page = {.search = search, .offset = offset, .limit = limit};
	return threads_found(owner, &page, NULL);
}

static void threads_are_listed_latest_first(void)
{
	put_for_listing("l-b", "lister", 20, "", "{}");
	put_for_listing("l-a", "lister", 20, "", "{}");
	put_for_listing("l-c", "lister", 30, "", "{}");
	put_for_listing("l-d", "lister", 10, "", "{}");
	put_for_listing("zz-top", "somebody", INT64_C(9000000000000000), "", "{}");
	CU_ASSERT_STRING_EQUAL(threads_of("lister", NULL, 0, 10), "l-c l-a l-b l-d ");
	CU_ASSERT_STRING_EQUAL(threads_of("lister", NULL, 1, 2), "l-a l-b ");
	CU_ASSERT_STRING_EQUAL(threads_of("lister", NULL, 4, 2), "");
	CU_ASSERT_STRING_EQUAL(threads_of("liste", NULL, 0, 10), "");
	CU_ASSERT_STRING_EQUAL(threads_of(NULL, NULL, 0, 1), "zz-top ");
}

static void a_changed_thread_moves_to_the_front(void)
{
	struct thread first = sample_thread("front-1"), second = sample_thread("front-2");
	first.user_id = second.user_id = "mover";
	must_put(st, &first, NULL);
	second.updated_at = 2000;
	must_put(st, &second, NULL);
	CU_ASSERT_STRING_EQUAL(threads_of("mover", NULL, 0, 9), "front-2 front-1 ");
	first.updated_at = 3000;
	must_put(st, &first, NULL);
	CU_ASSERT_STRING_EQUAL(threads_of("mover", NULL, 0, 9), "front-1 front-2 ");
}

static void threads_are_searched_by_id_name_and_metadata_strings(void)
{
	put_for_listing("S-Id-Needle", "searcher", 6, "", "{}");
	put_for_listing("s-name", "searcher", 5, "the nEEdle", "{}");
	put_for_listing("s-meta", "searcher", 4, "", "{\"a\":[{\"b\":\"a NEEDLE here\"}]}");
	put_for_listing("s-key", "searcher", 3, "", "{\"needle\":1,\"n\":12345}");
	put_for_listing("s-none", "searcher", 2, "hay", "{}");
	CU_ASSERT_STRING_EQUAL(
	    threads_of("searcher", "needle", 0, 9), "S-Id-Needle s-name s-meta ");
	CU_ASSERT_STRING_EQUAL(threads_of("searcher", "needle", 1, 1), "s-name ");
	CU_ASSERT_STRING_EQUAL(threads_of(NULL, "NEEDLE", 0, 9), "S-Id-Needle s-name s-meta ");
	CU_ASSERT_STRING_EQUAL(threads_of("searcher", "2345", 0, 9), "");
	CU_ASSERT_STRING_EQUAL(
	    threads_of("searcher", "", 0, 9), "S-Id-Needle s-name s-meta s-key s-none ");
}

/* Those with a label, or with two where the second has a key. */
static const char *labelled(const char *owner, struct label first, struct label second)
{
	const struct label labels[] = {first, second};
	const struct thread_filter filter = {.labels = labels, .count = second.key ? 2 : 1};
	return threads_found(owner, &(struct page){.limit = 10}, &filter);
}

#define NO_LABEL ((struct label){0})

static void threads_are_found_by_what_their_metadata_says(void)
{
	put_for_listing("f-1", "finder", 5, "", "{\"env\":\"prod\",\"n\":1.5,\"on\":true}");
	put_for_listing("f-2", "finder", 4, "", "{\"env\":\"prod\",\"n\":7,\"on\":false}");
	put_for_listing(
	    "f-3", "finder", 3, "", "{\"env\":\"PROD\",\"n\":\"7\",\"o\":{\"env\":\"prod\"}}");
	put_for_listing(
	    "f-4", "finder", 2, "", "{\"env\":null,\"\":\"\",\"a.\\\"b\":\"\\u00e9'\\\\\"}");
	put_for_listing("f-5", "another", 1, "", "{\"env\":\"prod\",\"n\":[7]}");
	CU_ASSERT_STRING_EQUAL(
	    labelled("finder", (struct label){"env", "prod"}, NO_LABEL), "f-1 f-2 ");
	CU_ASSERT_STRING_EQUAL(
	    labelled(NULL, (struct label){"env", "prod"}, NO_LABEL), "f-1 f-2 f-5 ");
	CU_ASSERT_STRING_EQUAL(labelled("finder", (struct label){"n", "7"}, NO_LABEL), "f-2 f-3 ");
	CU_ASSERT_STRING_EQUAL(labelled("finder", (struct label){"n", "1.5"}, NO_LABEL), "f-1 ");
	CU_ASSERT_STRING_EQUAL(labelled("finder", (struct label){"on", "true"}, NO_LABEL), "f-1 ");
	CU_ASSERT_STRING_EQUAL(labelled("finder", (struct label){"env", "null"}, NO_LABEL), "");
	CU_ASSERT_STRING_EQUAL(labelled("finder", (struct label){"", ""}, NO_LABEL), "f-4 ");
	CU_ASSERT_STRING_EQUAL(
	    labelled("finder", (struct label){"a.\"b", "\xc3\xa9'\\"}, NO_LABEL), "f-4 ");
	CU_ASSERT_STRING_EQUAL(
	    labelled("finder", (struct label){"env", "prod"}, (struct label){"n", "7"}), "f-2 ");
	CU_ASSERT_STRING_EQUAL(
	    labelled("finder", (struct label){"n", "7"}, (struct label){"on", "true"}), "");
	CU_ASSERT_STRING_EQUAL(labelled("somebody", (struct label){"env", "prod"}, NO_LABEL), "");
}

static void labels_follow_the_metadata(void)
{
	struct thread t = sample_thread("relabelled");
	t.metadata_json = "{\"colour\":\"red\",\"size\":1}";
	must_put(st, &t, NULL);
	must_put(st, &t, "m1");
	CU_ASSERT_STRING_EQUAL(
	    labelled("alice", (struct label){"colour", "red"}, NO_LABEL), "relabelled ");
	t.metadata_json = "{\"colour\":\"blue\"}";
	must_put(st, &t, NULL);
	CU_ASSERT_STRING_EQUAL(labelled("alice", (struct label){"colour", "red"}, NO_LABEL), "");
	CU_ASSERT_STRING_EQUAL(labelled("alice", (struct label){"size", "1"}, NO_LABEL), "");
	CU_ASSERT_STRING_EQUAL(
	    labelled("alice", (struct label){"colour", "blue"}, NO_LABEL), "relabelled ");
	CU_ASSERT_TRUE(remove_one(st, &t, &err));
	CU_ASSERT_STRING_EQUAL(labelled("alice", (struct label){"colour", "blue"}, NO_LABEL), "");
}

static const char *in_status(const char *owner, unsigned statuses, const struct label *label)
{
	const struct thread_filter filter = {statuses, label, label != NULL};
	return threads_found(owner, &(struct page){.offset = 0, .limit = 10}, &filter);
}

static void threads_are_found_by_their_status(void)
{
	static const char *const ids[] = {
	    "w-idle", "w-running", "w-interrupted", "w-completed", "w-error", "w-stopped"};
	const struct label kind = {"kind", "a"};
	for (int i = 0; i < 6; i++) {
		struct thread t = sample_thread(ids[i]);
		t.user_id = "watcher";
		t.updated_at = 100 - i;
		t.status = (enum run_status)i;
		t.metadata_json = i % 2 ? "{\"kind\":\"a\"}" : "{\"kind\":\"b\"}";
		must_put(st, &t, NULL);
	}
	for (int i = 0; i < 6; i++) {
		char expected[32];
		snprintf(expected, sizeof(expected), "%s ", ids[i]);
		CU_ASSERT_STRING_EQUAL(in_status("watcher", 1U << i, NULL), expected);
	}
	CU_ASSERT_STRING_EQUAL(
	    in_status("watcher", 1U << RUN_RUNNING | 1U << RUN_ERROR, NULL), "w-running w-error ");
	CU_ASSERT_STRING_EQUAL(
	    in_status("watcher", 1U << RUN_COMPLETED | 1U << RUN_ERROR, &kind), "w-completed ");
	CU_ASSERT_STRING_EQUAL(
	    in_status("watcher", 1U << RUN_STOPPED | 1U << RUN_ERROR, &kind), "w-stopped ");
	CU_ASSERT_PTR_NOT_NULL(strstr(in_status(NULL, 1U << RUN_STOPPED, &kind), "w-stopped "));
	CU_ASSERT_STRING_EQUAL(in_status("no one", 1U << RUN_IDLE, NULL), "");
}

static void a_filtered_listing_has_pages_and_a_search(void)
{
	const struct label label = {"shelf", "top"};
	const struct thread_filter filter = {.labels = &label, .count = 1};
	put_for_listing("p-1", "pager", 5, "the one", "{\"shelf\":\"top\"}");
	put_for_listing("p-2", "pager", 4, "the other", "{\"shelf\":\"low\"}");
	put_for_listing("p-3", "pager", 3, "the third", "{\"shelf\":\"top\"}");
	put_for_listing("p-4", "pager", 2, "last", "{\"shelf\":\"top\"}");
	CU_ASSERT_STRING_EQUAL(
	    threads_found("pager", &(struct page){.offset = 1, .limit = 1}, &filter), "p-3 ");
	CU_ASSERT_STRING_EQUAL(
	    threads_found("pager", &(struct page){.search = "THE", .limit = 9}, &filter),
	    "p-1 p-3 ");
}

/* More than are collected first. */
static void what_many_threads_have_is_found_on_the_way(void)
{
	char id[32];
	for (int i = 1; i <= 4100; i++) {
		snprintf(id, sizeof(id), "m-%d", i);
		put_for_listing(id, i > 2 ? "crowd" : "few", i, "",
		    i % 2 ? "{\"same\":\"yes\",\"odd\":true}" : "{\"same\":\"yes\",\"odd\":false}");
	}
	const struct label labels[] = {{"same", "yes"}, {"odd", "true"}};
	const struct page page = {.offset = 1, .limit = 2};

	CU_ASSERT_STRING_EQUAL(
	    threads_found(NULL, &page, &(struct thread_filter){0, labels, 1}), "m-4099 m-4098 ");
	CU_ASSERT_STRING_EQUAL(
	    threads_found("crowd", &page, &(struct thread_filter){0, labels, 2}), "m-4097 m-4095 ");
	CU_ASSERT_STRING_EQUAL(labelled("few", labels[0], NO_LABEL), "m-2 m-1 ");
	CU_ASSERT_STRING_EQUAL(in_status("few", 1U << RUN_IDLE, &labels[1]), "m-1 ");
}

static void signs_of_patterns_and_quotes_are_searched_literally(void)
{
	put_for_listing("q-percent", "quoter", 5, "100% sure", "{}");
	put_for_listing("q-under", "quoter", 4, "snake_case", "{}");
	put_for_listing("q-quote", "quoter", 3, "it's", "{\"x\":\"say \\\"hi\\\" \\\\\"}");
	CU_ASSERT_STRING_EQUAL(threads_of("quoter", "%", 0, 9), "q-percent ");
	CU_ASSERT_STRING_EQUAL(threads_of("quoter", "_", 0, 9), "q-under ");
	CU_ASSERT_STRING_EQUAL(threads_of("quoter", "'", 0, 9), "q-quote ");
	CU_ASSERT_STRING_EQUAL(threads_of("quoter", "\"HI\"", 0, 9), "q-quote ");
	CU_ASSERT_STRING_EQUAL(threads_of("quoter", "\\", 0, 9), "q-quote ");
	CU_ASSERT_STRING_EQUAL(threads_of("quoter", "*", 0, 9), "");
}

static void messages_are_searched_in_texts_and_text_results(void)
{
	struct thread t = sample_thread("m-search");
	struct new_message m[] = {
	    {"text",
		"{\"content\":[{\"type\":\"image\"},{\"type\":\"text\",\"text\":\"find ME 50%\"}]}"},
	    {"result", "{\"content\":[{\"type\":\"tool_result\",\"output\":\"find me_too\"}]}"},
	    {"json", "{\"content\":[{\"type\":\"tool_result\",\"output\":{\"x\":\"find me\"}}]}"},
	    {"call",
		"{\"content\":[{\"type\":\"tool_call\",\"text\":\"find me\",\"name\":\"find me\"}]}"},
	    {"meta find me", "{\"content\":[],\"metadata\":{\"text\":\"find me\"}}"},
	};
	struct thread_write w = {.thread = &t, .messages = m, .message_count = 5};
	struct page page = {.search = "Find Me", .limit = 9};
	CU_ASSERT_TRUE_FATAL(write_one(st, &w, &err));
	CU_ASSERT_STRING_EQUAL(listed(st, t.row, &page), "text result ");
	page.search = "%";
	CU_ASSERT_STRING_EQUAL(listed(st, t.row, &page), "text ");
	page.search = "_";
	CU_ASSERT_STRING_EQUAL(listed(st, t.row, &page), "result ");
	page.search = "me' OR '1'='1";
	CU_ASSERT_STRING_EQUAL(listed(st, t.row, &page), "");
	page = (struct page){.search = "find", .offset = 1, .limit = 9};
	CU_ASSERT_STRING_EQUAL(listed(st, t.row, &page), "result ");
}

static struct thread_write write_of(struct thread *t, struct new_message *m)
{
	return (struct thread_write){.thread = t, .messages = m, .message_count = 1};
}

static void a_deferred_write_gets_to_disk_by_itself(void)
{
	char body[256];
	struct new_message m = sample_message("d1", body);
	struct thread t = sample_thread("deferred-alone");
	struct thread_write w = write_of(&t, &m);
	struct deferred *pending;
	struct lease *lease = hold(st, t.thread_id);
	int tries = 0;
	thread_defer(st, lease, &w, &pending);
	CU_ASSERT_PTR_NOT_NULL(pending);
	while (!thread_exists(st, "deferred-alone", NULL) && ++tries < 100000)
		;
	CU_ASSERT(tries < 100000);
	CU_ASSERT_TRUE(thread_flush(st, NULL, &pending, &err));
	CU_ASSERT_PTR_NULL(pending);
	CU_ASSERT(t.row != 0);
	CU_ASSERT_TRUE(thread_flush(st, NULL, &pending, &err));
	let_go(st, lease);
}

static void a_flush_does_not_wait_for_the_delay(void)
{
	char body[256];
	struct new_message m = sample_message("d1", body);
	struct thread t = sample_thread("flushed");
	struct thread_write w = write_of(&t, &m);
	struct deferred *pending;
	struct lease *lease = hold(st, t.thread_id);
	thread_defer(st, lease, &w, &pending);
	CU_ASSERT_TRUE(thread_flush(st, NULL, &pending, &err));
	let_go(st, lease);
	CU_ASSERT_TRUE(thread_exists(st, "flushed", NULL));
	CU_ASSERT_STRING_EQUAL(listed(st, t.row, NULL), "d1 ");
}

/* Defers the creation of a thread with message d1, then writes message id after it, at once or
 * late. */
static bool defer_and_write(const char *thread_id, const char *id, bool late, struct thread *second)
{
	char bodies[2][256];
	struct new_message m1 = sample_message("d1", bodies[0]), m2 = sample_message(id, bodies[1]);
	struct thread t = sample_thread(thread_id);
	struct thread_write first = write_of(&t, &m1), after = write_of(second, &m2);
	struct deferred *pending;
	struct lease *lease = hold(st, thread_id);
	bool ok;
	*second = t;
	second->step = 2;
	second->created_at = 77;
	thread_defer(st, lease, &first, &pending);
	while (late && !thread_exists(st, thread_id, NULL))
		;
	ok = thread_write_after(st, NULL, lease, &pending, &after, &err);
	let_go(st, lease);
	CU_ASSERT_PTR_NULL(pending);
	if (ok)
		CU_ASSERT_EQUAL(t.row, second->row);
	return ok;
}

static void check_both_written(const char *thread_id, bool late)
{
	struct arena *a = arena_new();
	struct thread t, back;
	CU_ASSERT_TRUE_FATAL(defer_and_write(thread_id, "d2", late, &t));
	CU_ASSERT_TRUE_FATAL(st->threads->get(st, NULL, a, thread_id, &back, &err));
	CU_ASSERT_EQUAL(back.step, 2);
	CU_ASSERT_EQUAL(back.created_at, 1000);
	CU_ASSERT_STRING_EQUAL(listed(st, back.row, NULL), "d1 d2 ");
	must_put(st, &t, "d3");
	CU_ASSERT_STRING_EQUAL(context_of(st, back.row), "d1 d2 d3 ");
	arena_free(a);
}

static void a_write_after_carries_the_deferred_one(void)
{
	check_both_written("carried", false);
}

static void a_write_after_follows_one_that_is_on_disk(void)
{
	check_both_written("followed", true);
}

static void a_carried_write_fails_with_its_carrier(void)
{
	struct thread t;
	CU_ASSERT_FALSE(defer_and_write("torn", "d1", false, &t));
	CU_ASSERT_EQUAL(err.kind, ERR_STORAGE);
	error_release(&err);
	CU_ASSERT_FALSE(thread_exists(st, "torn", NULL));
}

static void a_deferred_failure_reaches_its_owner(void)
{
	char body[256];
	struct new_message m = sample_message("d1", body);
	struct thread taken = sample_thread("taken"), t = sample_thread("taken");
	struct thread other = sample_thread("taken"), probe = sample_thread("probe");
	struct thread_write w = write_of(&t, &m), after = write_of(&other, &m);
	struct thread_write probing = write_of(&probe, &m);
	struct deferred *pending, *behind;
	struct lease *lease, *second = hold(st, "probe");
	must_put(st, &taken, NULL);
	lease = hold(st, "taken");
	thread_defer(st, lease, &w, &pending);
	thread_defer(st, second, &probing, &behind);
	while (!thread_exists(st, "probe", NULL))
		;
	CU_ASSERT_FALSE(thread_write_after(st, NULL, lease, &pending, &after, &err));
	/* with several instances it may be another one that has made it */
	CU_ASSERT_EQUAL(err.kind, st->engine->can.instances ? ERR_THREAD_BUSY : ERR_STORAGE);
	error_release(&err);
	CU_ASSERT_EQUAL(t.row, 0);
	CU_ASSERT_TRUE(thread_flush(st, NULL, &behind, &err));
	let_go(st, lease);
	let_go(st, second);
	CU_ASSERT_STRING_EQUAL(listed(st, taken.row, NULL), "");
}

static void a_write_under_an_old_lease_is_refused(void)
{
	char body[256];
	struct new_message m = sample_message("late", body);
	struct thread t = sample_thread("lost");
	struct thread_write w = write_of(&t, &m);
	struct deferred *pending;
	must_put(st, &t, "m1");
	struct lease *lease = hold(st, "lost"), old = *lease;
	old.thread_id = "lost";
	let_go(st, lease);
	CU_ASSERT_FALSE(thread_write(st, NULL, &old, &w, &err));
	error_release(&err);
	lease = hold(st, "lost");
	CU_ASSERT(lease->generation > old.generation);
	t.step = 5;
	CU_ASSERT_FALSE(thread_write(st, NULL, &old, &w, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_THREAD_BUSY);
	CU_ASSERT_STRING_EQUAL(err.detail, "Thread lost was taken over by another run");
	error_release(&err);
	thread_defer(st, &old, &w, &pending);
	CU_ASSERT_FALSE(thread_flush(st, NULL, &pending, &err));
	error_release(&err);
	CU_ASSERT_FALSE(st->threads->remove(st, NULL, &old, t.row, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_THREAD_BUSY);
	error_release(&err);
	CU_ASSERT_STRING_EQUAL(listed(st, t.row, NULL), "m1 ");
	struct arena *a = arena_new();
	struct thread back;
	CU_ASSERT_TRUE_FATAL(st->threads->get(st, NULL, a, "lost", &back, &err));
	CU_ASSERT_EQUAL(back.step, 0);
	arena_free(a);
	CU_ASSERT_TRUE(thread_write(st, NULL, lease, &w, &err));
	CU_ASSERT_STRING_EQUAL(listed(st, t.row, NULL), "m1 late ");
	let_go(st, lease);
}

static void of_changes_together_one_may_fail(void)
{
	char body[256];
	struct new_message m = sample_message("m", body);
	struct thread t[3] = {sample_thread("c0"), sample_thread("c1"), sample_thread("c2")};
	struct thread_write w[3];
	struct thread_change changes[3];
	struct error errs[3] = {0};
	struct lease *leases[3], old;
	for (int i = 0; i < 3; i++) {
		leases[i] = hold(st, t[i].thread_id);
		w[i] = write_of(&t[i], &m);
		changes[i] = (struct thread_change){leases[i], {&w[i]}, &errs[i]};
	}
	old = *leases[1];
	old.generation--;
	changes[1].lease = &old;
	CU_ASSERT_FALSE(st->threads->write(st, NULL, changes, 3));
	for (int i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(error_is_set(&errs[i]), i == 1);
		CU_ASSERT_EQUAL(t[i].row != 0, i != 1);
		CU_ASSERT_EQUAL(thread_exists(st, t[i].thread_id, NULL), i != 1);
		let_go(st, leases[i]);
		error_release(&errs[i]);
	}
}

static void a_backup_is_a_state_directory(void)
{
	struct thread t = sample_thread("saved");
	struct storage *live = st;
	struct stat info;
	must_put(st, &t, "m1");
	CU_ASSERT_TRUE_FATAL(st->engine->backup(st, NULL, unit_path("copy"), &err));
	CU_ASSERT_EQUAL(stat(unit_path("copy/threads.db"), &info), 0);
	CU_ASSERT_EQUAL(info.st_mode & 0777, 0600);
	CU_ASSERT_EQUAL(stat(unit_path("copy"), &info), 0);
	CU_ASSERT_EQUAL(info.st_mode & 0777, 0700);
	CU_ASSERT_NOT_EQUAL(stat(unit_path("copy/threads.db.part"), &info), 0);
	must_put(st, &t, "m2");
	st = open_storage("copy");
	CU_ASSERT_TRUE(thread_exists(st, "saved", NULL));
	CU_ASSERT_STRING_EQUAL(listed(st, t.row, NULL), "m1 ");
	must_put(st, &t, "m3");
	close_storage(st);
	st = live;
	CU_ASSERT_STRING_EQUAL(listed(st, t.row, NULL), "m1 m2 ");
}

static void a_backup_needs_an_empty_directory(void)
{
	CU_ASSERT_FALSE(st->engine->backup(st, NULL, unit_path("state"), &err));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "not empty"));
	error_release(&err);
	CU_ASSERT_FALSE(st->engine->backup(st, NULL, unit_path("state/threads.db/place"), &err));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "threads.db/place"));
	error_release(&err);
}

/* Nothing is left that looks like a backup, or is in the way of the next one. */
static void a_backup_that_fails_leaves_nothing(void)
{
	CU_ASSERT_TRUE_FATAL(st->engine->backup(st, NULL, unit_path("first"), &err));
	CU_ASSERT_EQUAL(rename(unit_path("first/threads.db"), unit_path("state/files.db")), 0);
	FILE *f = fopen(unit_path("state/store.db"), "w");
	CU_ASSERT_FATAL(f && fputs("no database", f) >= 0 && fclose(f) == 0);
	CU_ASSERT_FALSE(st->engine->backup(st, NULL, unit_path("second"), &err));
	error_release(&err);
	CU_ASSERT_EQUAL(rmdir(unit_path("second")), 0);
	CU_ASSERT_EQUAL(unlink(unit_path("state/store.db")), 0);
	CU_ASSERT_TRUE(st->engine->backup(st, NULL, unit_path("second"), &err));
	CU_ASSERT_EQUAL(access(unit_path("second/files.db"), F_OK), 0);
	static const char *const names[] = {"third/files.db", "third/threads.db"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		lost_name = unit_path(names[i]);
		CU_ASSERT_FALSE(st->engine->backup(st, NULL, unit_path("third"), &err));
		CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "/third: Input/output error"));
		error_release(&err);
		lost_name = NULL;
		CU_ASSERT_EQUAL(rmdir(unit_path("third")), 0);
	}
	CU_ASSERT_EQUAL(unlink(unit_path("state/files.db")), 0);
}

static void full_synchronisation_works_too(void)
{
	struct thread t = sample_thread("durable");
	struct storage *normal = st;
	struct config config = {
	    .state_dir = (char *)unit_path("full"), .env.synchronous_full = true};
	st = try_open_with(&config, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(st);
	must_put(st, &t, "m1");
	close_storage(st);
	st = normal;
}

/* Other databases have tests of their own. */
static bool is_ours(const char *file)
{
	return strcmp(file, "threads") == 0 || strcmp(file, "messages") == 0 ||
	    strcmp(file, "connection") == 0;
}

static void what_is_untouched_comes_oldest_first(void)
{
	struct arena *a = arena_new();
	struct thread older = sample_thread("untouched 1"), old = sample_thread("untouched 2");
	const char *ids[2];
	struct untouched found = {-9, 0, ids, 2};
	older.updated_at = -11; /* before all others */
	old.updated_at = -10;
	must_put(st, &old, NULL);
	must_put(st, &older, NULL);
	CU_ASSERT_TRUE(st->threads->untouched(st, NULL, a, &found, &err));
	CU_ASSERT_EQUAL_FATAL(found.count, 2);
	CU_ASSERT_STRING_EQUAL(ids[0], "untouched 1");
	CU_ASSERT_STRING_EQUAL(ids[1], "untouched 2");
	found = (struct untouched){-10, 0, ids, 2};
	CU_ASSERT_TRUE(st->threads->untouched(st, NULL, a, &found, &err));
	CU_ASSERT_EQUAL(found.count, 1);
	found = (struct untouched){-9, 2, ids, 2};
	CU_ASSERT_TRUE(st->threads->untouched(st, NULL, a, &found, &err));
	CU_ASSERT_EQUAL(found.count, 0);
	arena_free(a);
}

static void every_statement_was_used(void)
{
	for (size_t i = 0; i < SQL_COUNT; i++) {
		if (!is_ours(sql_statements[i].file))
			continue;
		if (!db_was_used((enum sql_id)i))
			printf("# no test uses %s\n", sql_statements[i].name);
		CU_ASSERT_TRUE(db_was_used((enum sql_id)i));
	}
}

static const struct unit_test of_any_engine[] = {
    {"a thread comes back as it was written", a_thread_comes_back_as_it_was_written},
    {"what is NULL stays NULL", what_is_null_stays_null},
    {"an unknown thread is no error", an_unknown_thread_is_no_error},
    {"a second write replaces all but identity", a_second_write_replaces_all_but_identity},
    {"a failed write leaves nothing behind", a_failed_write_leaves_nothing_behind},
    {"a thread that is gone cannot be written", a_thread_that_is_gone_cannot_be_written},
    {"deleting a thread takes its messages along", deleting_a_thread_takes_its_messages_along},
    {"a row is never used again", a_row_is_never_used_again},
    {"messages are listed and seen in order", messages_are_listed_and_seen_in_order},
    {"a page of messages starts at its offset", a_page_of_messages_starts_at_its_offset},
    {"a removed message leaves both views", a_removed_message_leaves_both_views},
    {"clearing the context keeps the list", clearing_the_context_keeps_the_list},
    {"a thread goes back to where it was", a_thread_goes_back_to_where_it_was},
    {"a new thread goes back to an empty one", a_new_thread_goes_back_to_an_empty_one},
    {"the oldest messages leave the context", the_oldest_messages_leave_the_context},
    {"a message enters the context again at its end",
	a_message_enters_the_context_again_at_its_end},
    {"a write tells what the thread shows", a_write_tells_what_the_thread_shows},
    {"messages are found by id in their thread only",
	messages_are_found_by_id_in_their_thread_only},
    {"many messages are found at once", many_messages_are_found_at_once},
    {"the owner of a thread is read alone", the_owner_of_a_thread_is_read_alone},
    {"a thread is found by the calls that wait", a_thread_is_found_by_the_calls_that_wait},
    {"a walk ends when its reader has enough", a_walk_ends_when_its_reader_has_enough},
    {"a reader may read again inside a walk", a_reader_may_read_again_inside_a_walk},
    {"threads are listed latest first", threads_are_listed_latest_first},
    {"a changed thread moves to the front", a_changed_thread_moves_to_the_front},
    {"threads are searched by id, name and metadata strings",
	threads_are_searched_by_id_name_and_metadata_strings},
    {"threads are found by what their metadata says",
	threads_are_found_by_what_their_metadata_says},
    {"labels follow the metadata", labels_follow_the_metadata},
    {"threads are found by their status", threads_are_found_by_their_status},
    {"a filtered listing has pages and a search", a_filtered_listing_has_pages_and_a_search},
    {"signs of patterns and quotes are searched literally",
	signs_of_patterns_and_quotes_are_searched_literally},
    {"messages are searched in texts and text results",
	messages_are_searched_in_texts_and_text_results},
    {"a deferred write gets to disk by itself", a_deferred_write_gets_to_disk_by_itself},
    {"a flush does not wait for the delay", a_flush_does_not_wait_for_the_delay},
    {"a write after carries the deferred one", a_write_after_carries_the_deferred_one},
    {"a write after follows one that is on disk", a_write_after_follows_one_that_is_on_disk},
    {"a carried write fails with its carrier", a_carried_write_fails_with_its_carrier},
    {"a deferred failure reaches its owner", a_deferred_failure_reaches_its_owner},
    {"a write under an old lease is refused", a_write_under_an_old_lease_is_refused},
    {"of changes together one may fail", of_changes_together_one_may_fail},
    {"what is untouched comes oldest first", what_is_untouched_comes_oldest_first},
};

static const struct unit_test of_sqlite[] = {
    {"a backup is a state directory", a_backup_is_a_state_directory},
    {"a backup needs an empty directory", a_backup_needs_an_empty_directory},
    {"a backup that fails leaves nothing", a_backup_that_fails_leaves_nothing},
    {"what many threads have is found on the way", what_many_threads_have_is_found_on_the_way},
    {"full synchronisation works too", full_synchronisation_works_too},
    {"every statement was used", every_statement_was_used},
};

int main(void)
{
	return storage_main_on(&st, "storage_threads", of_any_engine, UNIT_COUNT(of_any_engine),
	    of_sqlite, UNIT_COUNT(of_sqlite));
}
