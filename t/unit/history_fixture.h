/* SPDX-License-Identifier: ISC */
/* What the tests of the history share: writes in short, and what a thread shows in one text. */
#ifndef AGENTGRAPH_UNIT_HISTORY_FIXTURE_H
#define AGENTGRAPH_UNIT_HISTORY_FIXTURE_H

#include "base/buf.h"
#include "storage/history.h"
#include "storage_fixture.h"

enum { WRITTEN_MOST = 8 };

/* Messages of a write, from a text: "id" or "id=text" for a new one, "~id" for one that enters the
 * context again, with spaces between. */
struct written {
	struct new_message messages[WRITTEN_MOST];
	size_t count;
	char ids[WRITTEN_MOST][64], bodies[WRITTEN_MOST][256];
};

static inline void written_read(struct written *w, const char *text)
{
	w->count = 0;
	while (text && *text) {
		size_t i = w->count++, len = strcspn(text, " "), id = strcspn(text, " =");
		const char *said = text[id] == '=' ? text + id + 1 : text;
		const char *name = text + (*text == '~');
		int name_len = (int)(text + id - name);
		assert(i < WRITTEN_MOST && len < sizeof(w->ids[i]));
		snprintf(w->ids[i], sizeof(w->ids[i]), "%.*s", name_len, name);
		snprintf(w->bodies[i], sizeof(w->bodies[i]),
		    "{\"message_id\":\"%.*s\",\"content\":[{\"type\":\"text\",\"text\":\"%.*s\"}]}",
		    name_len, name, (int)(text + len - said), said);
		w->messages[i] =
		    (struct new_message){w->ids[i], *text == '~' ? NULL : w->bodies[i]};
		text += len + (text[len] == ' ');
	}
}

/* The write with these messages, under a lease of its own. */
static inline bool write_messages(
    struct storage *st, struct thread_write w, const char *messages, struct error *err)
{
	struct written written;
	written_read(&written, messages);
	w.messages = written.messages;
	w.message_count = written.count;
	return write_one(st, &w, err);
}

static inline void must_write(struct storage *st, struct thread_write w, const char *messages)
{
	struct error err = {0};
	bool ok = write_messages(st, w, messages, &err);
	if (!ok)
		printf("# %s (%s)\n", err.detail, err.cause);
	CU_ASSERT_TRUE_FATAL(ok);
}

static inline bool add_text(void *arg, const char *message_id, const char *body_json)
{
	static const char before[] = "\"text\":\"";
	const char *text = strstr(body_json, before);
	struct buf *all = arg;
	CU_ASSERT_TRUE_FATAL(message_id && text);
	text += sizeof(before) - 1;
	if (all->len)
		buf_putc(all, ' ');
	buf_printf(all, "%.*s", (int)strcspn(text, "\""), text);
	return true;
}

/* "list | context" of a view by the texts of the messages. */
static inline const char *shown(struct storage *st, int64_t row, const struct thread_view *view)
{
	static struct buf list, context, both;
	const struct page all = {.limit = INT64_MAX};
	struct error err = {0};
	int64_t count = -1, in_context = 0;
	buf_reset(&list);
	buf_reset(&context);
	buf_reset(&both);
	CU_ASSERT_TRUE_FATAL(
	    st->threads->message_list(st, NULL, row, view, &all, add_text, &list, &err));
	CU_ASSERT_TRUE_FATAL(st->threads->context(st, NULL, row, view, add_text, &context, &err));
	CU_ASSERT_TRUE_FATAL(st->threads->context_count(st, NULL, row, view, &count, &err));
	for (const char *c = buf_str(&context); *c; c++)
		in_context += *c == ' ' || c == buf_str(&context);
	CU_ASSERT_EQUAL(count, in_context);
	buf_printf(&both, "%s | %s", buf_str(&list), buf_str(&context));
	return buf_str(&both);
}

/* The thread as it is stored. */
static inline struct thread thread_now(struct storage *st, struct arena *a, const char *thread_id)
{
	struct error err = {0};
	struct thread t = {0};
	bool found = st->threads->get(st, NULL, a, thread_id, &t, &err);
	CU_ASSERT_TRUE_FATAL(found);
	return t;
}

/* Numbers of checkpoints, newest first. */
struct numbers {
	int64_t at[1000];
	size_t count;
};

static inline bool add_number(void *arg, const struct checkpoint *checkpoint)
{
	struct numbers *n = arg;
	assert(n->count < sizeof(n->at) / sizeof(n->at[0]));
	n->at[n->count++] = checkpoint->number;
	return true;
}

static inline struct numbers numbers_of(
    struct storage *st, const struct thread *t, const struct checkpoint_filter *filter)
{
	static const struct checkpoint_filter all = {.limit = INT64_MAX};
	struct error err = {0};
	struct numbers n = {.count = 0};
	CU_ASSERT_TRUE(
	    st->history->list(st, NULL, t, filter ? filter : &all, add_number, &n, &err));
	return n;
}

/* The checkpoint that so many newer ones follow. */
static inline struct checkpoint checkpoint_at(
    struct storage *st, struct arena *a, const char *thread_id, size_t newer)
{
	struct thread t = thread_now(st, a, thread_id);
	struct numbers n = numbers_of(st, &t, NULL);
	struct error err = {0};
	struct checkpoint c = {0};
	CU_ASSERT_TRUE_FATAL(newer < n.count);
	CU_ASSERT_TRUE_FATAL(st->history->get(st, NULL, a, &t, n.at[newer], &c, &err));
	return c;
}

static inline bool copy_one(
    struct storage *st, const struct thread *from, struct thread *to, struct error *err)
{
	struct lease *lease = hold(st, to->thread_id);
	bool ok = st->history->copy(st, NULL, lease, from, to, err);
	let_go(st, lease);
	return ok;
}

#endif
