/* SPDX-License-Identifier: ISC */
/* Rows in a database: checkpoints in the rows of their threads, a line each, parted by tabs. */
#include "storage/sql/recent.h"

#include "base/memory.h"
#include "storage/sql/checkpoint_row.h"

#include <stdlib.h>
#include <string.h>

#define NUMBERS 8 /* of a line, the checkpoint's own first */
#define TEXTS 4   /* behind them */

void recent_look(const char *text, int64_t *count, int64_t *newest)
{
	*count = *newest = 0;
	for (const char *end; text && (end = strchr(text, '\n')); text = end + 1) {
		*newest = strtoll(text, NULL, 10);
		++*count;
	}
}

/* ---- read ---- */

static bool recent_read_line(char *line, const struct thread *thread, struct checkpoint *checkpoint)
{
	struct thread *t = &checkpoint->thread;
	int64_t numbers[NUMBERS];
	char *texts[TEXTS];

	for (size_t i = 0; i < NUMBERS; i++) {
		numbers[i] = strtoll(line, &line, 10);
		if (*line++ != '\t')
			return false;
	}
	for (size_t i = 0; i < TEXTS; i++) {
		texts[i] = line;
		line += strcspn(line, "\t");
		if (!*line && i + 1 < TEXTS)
			return false;
		*line++ = '\0';
	}
	*checkpoint = (struct checkpoint){.number = numbers[0],
	    .parent = numbers[1],
	    .source = CHECKPOINT_RUN,
	    .message_count = numbers[2],
	    .thread = *thread};
	t->status = (enum run_status)numbers[3];
	t->stop = (enum stop_state)numbers[4];
	t->step = numbers[5];
	t->view.after = numbers[6];
	t->view.until = numbers[7];
	t->run_id = texts[0];
	t->node = texts[1];
	t->next = *texts[2] ? texts[2] : NULL;
	t->pause_json = t->waiting_json = t->summary = NULL;
	t->fields_json = texts[3];
	return true;
}

static void recent_parse(struct recent *recent, const char *text, const struct thread *thread)
{
	if (!text)
		return;
	recent->text = xstrdup(text);
	for (char *line = recent->text, *end;
	     recent->count < RECENT_MOST && (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		recent->count += recent_read_line(line, thread, &recent->at[recent->count]);
	}
}

bool recent_read(struct recent *recent, struct storage *st, const struct storage_context *ctx,
    const struct thread *thread, struct error *err)
{
	struct query q;

	*recent = (struct recent){0};
	engine_query(st, ctx, &q, SQL_RECENT, err);
	query_int(&q, ":row", thread->row);
	if (query_row(&q))
		recent_parse(recent, query_column_text(&q, RECENT_RECENT), thread);
	return pool_query_end(engine_of(st)->pool, &q);
}

void recent_release(struct recent *recent)
{
	free(recent->text);
}

/* ---- written ---- */

static bool recent_is_plain(const char *text)
{
	return !text || (*text && !strpbrk(text, "\t\n"));
}

bool recent_takes(const struct thread *thread)
{
	return thread->run_id && state_is_short(thread) && recent_is_plain(thread->run_id) &&
	    recent_is_plain(thread->node) && recent_is_plain(thread->next) &&
	    recent_is_plain(thread->fields_json);
}

void recent_print(struct buf *text, const struct checkpoint *checkpoint)
{
	const struct thread *t = &checkpoint->thread;
	const int64_t numbers[NUMBERS] = {checkpoint->number, checkpoint->parent,
	    checkpoint->message_count, t->status, t->stop, t->step, t->view.after, t->view.until};
	const char *const texts[TEXTS] = {
	    t->run_id, t->node, t->next ? t->next : "", t->fields_json};

	for (size_t i = 0; i < NUMBERS; i++) {
		buf_int(text, numbers[i]);
		buf_putc(text, '\t');
	}
	for (size_t i = 0; i < TEXTS; i++) {
		buf_puts(text, texts[i]);
		buf_putc(text, i + 1 < TEXTS ? '\t' : '\n');
	}
}

bool recent_spill(struct db *db, int64_t thread_row, struct error *err)
{
	const struct thread none = {0};
	struct recent recent = {0};
	struct query q;
	bool ok;

	query_start(&q, db, SQL_RECENT_HELD, err);
	query_int(&q, ":row", thread_row);
	if (query_row(&q))
		recent_parse(&recent, query_column_text(&q, RECENT_HELD_RECENT), &none);
	ok = query_end(&q);
	for (size_t i = 0; ok && i < recent.count; i++)
		ok = checkpoint_insert(db, thread_row, &recent.at[i], 0, err);
	if (ok && recent.text) {
		query_start(&q, db, SQL_RECENT_CLEAR, err);
		query_int(&q, ":row", thread_row);
		ok = query_run(&q);
	}
	recent_release(&recent);
	return ok;
}
