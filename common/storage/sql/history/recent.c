/* SPDX-License-Identifier: ISC */
/*
 * Checkpoints in the rows of threads and records, one a line, its fields separated by tabs.
 *
 * A line leaves out what other lines say: its parent, where that is the line above, and its run and
 * its fields where they are those of the first line, which in a record leaves out the record's run.
 * From the second line on a number is the difference to the first line's, behind a plus sign.  The
 * end of the list is left out where it is the number of messages, and a 0 is empty.
 */
#include "storage/sql/history/recent.h"

#include "base/memory.h"
#include "storage/sql/history/checkpoint_row.h"

#include <stdlib.h>
#include <string.h>

enum { NUMBER, PARENT, MESSAGES, STATUS, STOP, STEP, AFTER, UNTIL, NUMBERS };
enum { RUN_ID, NODE, NEXT, FIELDS, TEXTS }; /* these follow the numbers */

static int64_t recent_number(const char *line, int64_t first)
{
	return (*line == '+' ? first : 0) + strtoll(line, NULL, 10);
}

/* The text in this column of a line. */
static struct recent_text recent_text_of(const char *line, int place)
{
	for (int i = 0; i < NUMBERS + place; i++) {
		line += strcspn(line, "\t");
		line += *line != '\0';
	}
	return (struct recent_text){line, strcspn(line, "\t\n")};
}

void recent_look(const char *text, struct recent_row *row)
{
	const char *latest = text;
	*row = (struct recent_row){0};
	for (const char *end; text && (end = strchr(text, '\n')); text = end + 1) {
		if (!row->count++) {
			row->first = recent_number(text, 0);
			row->run_id = recent_text_of(text, RUN_ID);
			row->fields = recent_text_of(text, FIELDS);
		}
		latest = text;
	}
	if (row->count)
		row->newest = recent_number(latest, row->first);
}

/* ---- read ---- */

/* The checkpoints in a row, oldest first. */
struct recent {
	size_t count;
	struct checkpoint at[RECENT_MOST];
	char *text; /* a copy of the row's text, where their texts are */
};

static bool recent_read_numbers(char **at, const struct recent *above, int64_t numbers[NUMBERS])
{
	const struct checkpoint *first = &above->at[0];
	char *line = *at;
	numbers[NUMBER] = recent_number(line, above->count ? first->number : 0);
	line += strcspn(line, "\t");
	for (int i = PARENT; i < NUMBERS; i++) {
		if (*line++ != '\t')
			return false;
		if (*line != '\t')
			numbers[i] = strtoll(line, &line, 10);
		else if (i == PARENT && above->count)
			numbers[i] = first[above->count - 1].number;
		else
			numbers[i] = i == UNTIL ? numbers[MESSAGES] : 0;
	}
	*at = line + 1;
	return *line == '\t';
}

/* Adds a line to the lines above; run_id is that of the record, or "". */
static bool recent_read_line(
    char *line, const struct thread *thread, const char *run_id, struct recent *above)
{
	const struct thread *first = &above->at[0].thread;
	struct checkpoint *checkpoint = &above->at[above->count];
	struct thread *t = &checkpoint->thread;
	int64_t numbers[NUMBERS];
	char *texts[TEXTS];
	if (!recent_read_numbers(&line, above, numbers))
		return false;
	for (size_t i = 0; i < TEXTS; i++) {
		texts[i] = line;
		line += strcspn(line, "\t");
		if (!*line && i + 1 < TEXTS)
			return false;
		*line++ = '\0';
	}
	*checkpoint = (struct checkpoint){.number = numbers[NUMBER],
	    .parent = numbers[PARENT],
	    .source = numbers[STATUS] == RUN_RUNNING ? CHECKPOINT_STEP : CHECKPOINT_RUN,
	    .message_count = numbers[MESSAGES],
	    .thread = *thread};
	t->status = (enum run_status)numbers[STATUS];
	t->stop = (enum stop_state)numbers[STOP];
	t->step = numbers[STEP];
	t->view.after = numbers[AFTER];
	t->view.until = numbers[UNTIL];
	t->run_id = *texts[RUN_ID] ? texts[RUN_ID] : above->count ? first->run_id : run_id;
	t->node = texts[NODE];
	t->next = *texts[NEXT] ? texts[NEXT] : NULL;
	t->pause_json = t->waiting_json = t->summary = NULL;
	t->fields_json = *texts[FIELDS] || !above->count ? texts[FIELDS] : first->fields_json;
	return true;
}

/* recent_release gives the memory back. */
static void recent_parse(
    struct recent *recent, const char *text, const struct thread *thread, const char *run_id)
{
	recent->count = 0;
	recent->text = xstrdup(text);
	for (char *line = recent->text, *end;
	     line && recent->count < RECENT_MOST && (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		recent->count += recent_read_line(line, thread, run_id, recent);
	}
}

static void recent_release(struct recent *recent)
{
	free(recent->text);
}

bool recent_walk(struct storage *st, const struct storage_context *ctx, const struct thread *thread,
    checkpoint_fn fn, void *arg, struct error *err)
{
	bool more = true;
	struct query q;
	engine_query(st, ctx, &q, SQL_RECENT, err);
	query_int(&q, ":row", thread->row);
	while (more && query_row(&q)) {
		struct recent recent;
		recent_parse(&recent, query_column_text(&q, RECENT_LINES), thread,
		    query_column_text(&q, RECENT_RUN_ID));
		for (size_t i = recent.count; more && i--;)
			more = fn(arg, &recent.at[i]);
		recent_release(&recent);
	}
	return pool_query_end(engine_of(st)->pool, &q);
}

/* ---- written ---- */

static bool recent_is_plain(const char *text)
{
	return !text || (*text && !strpbrk(text, "\t\n"));
}

bool recent_takes(const struct thread_write *w)
{
	const struct thread *t = w->thread;
	/* a line does not say why it was kept, because the status does */
	enum checkpoint_source said = t->status == RUN_RUNNING ? CHECKPOINT_STEP : CHECKPOINT_RUN;
	return t->run_id && w->checkpoint == said && state_is_short(t) &&
	    recent_is_plain(t->run_id) && recent_is_plain(t->node) && recent_is_plain(t->next) &&
	    recent_is_plain(t->fields_json);
}

/* Appends a number, unless it is the one that can be left out. */
static void recent_print_number(struct buf *text, int64_t number, int64_t unless)
{
	if (number != unless)
		buf_int(text, number);
	buf_putc(text, '\t');
}

/* Appends a text, unless it is the one that can be left out; where there is none yet, this text
 * becomes it. */
static void recent_print_text(struct buf *text, const char *value, struct recent_text *unless)
{
	size_t length = strlen(value);
	if (!unless->text)
		*unless = (struct recent_text){value, length};
	else if (length == unless->length && memcmp(value, unless->text, length) == 0)
		return;
	buf_add(text, value, length);
}

void recent_print(struct buf *text, struct recent_row *row, const struct checkpoint *checkpoint)
{
	const struct thread *t = &checkpoint->thread;
	if (row->count)
		buf_putc(text, '+');
	buf_int(text, checkpoint->number - row->first);
	buf_putc(text, '\t');
	recent_print_number(text, checkpoint->parent, row->newest);
	recent_print_number(text, checkpoint->message_count, 0);
	recent_print_number(text, t->status, 0);
	recent_print_number(text, t->stop, 0);
	recent_print_number(text, t->step, 0);
	recent_print_number(text, t->view.after, 0);
	recent_print_number(text, t->view.until, checkpoint->message_count);
	recent_print_text(text, t->run_id, &row->run_id);
	buf_putc(text, '\t');
	buf_puts(text, t->node);
	buf_putc(text, '\t');
	buf_puts(text, t->next ? t->next : "");
	buf_putc(text, '\t');
	recent_print_text(text, t->fields_json, &row->fields);
	buf_putc(text, '\n');
	if (!row->count++) {
		row->first = checkpoint->number;
		row->run_id = (struct recent_text){t->run_id, strlen(t->run_id)};
	}
	row->newest = checkpoint->number;
}

/* ---- moved ---- */

static bool recent_store(
    struct db *db, int64_t thread_row, const struct recent *recent, struct error *err)
{
	bool ok = true;
	for (size_t i = 0; ok && i < recent->count; i++)
		ok = checkpoint_insert(db, thread_row, &recent->at[i], 0, err);
	return ok;
}

/* Moves those in records with numbers from from to last into the table. */
static bool recent_spill_between(
    struct db *db, int64_t thread_row, int64_t from, int64_t last, struct error *err)
{
	const struct thread none = {0};
	struct query q;
	bool ok = true;
	query_start(&q, db, SQL_RECENT_RECORDS, err);
	query_int(&q, ":thread", thread_row);
	query_int(&q, ":from", from);
	query_int(&q, ":last", last);
	while (ok && query_row(&q)) {
		struct recent recent;
		recent_parse(&recent, query_column_text(&q, RECENT_RECORDS_LINES), &none,
		    query_column_text(&q, RECENT_RECORDS_RUN_ID));
		ok = recent_store(db, thread_row, &recent, err);
		recent_release(&recent);
	}
	if (!query_end(&q) || !ok)
		return false;
	query_start(&q, db, SQL_RECENT_RECORDS_CLEAR, err);
	query_int(&q, ":thread", thread_row);
	query_int(&q, ":from", from);
	query_int(&q, ":last", last);
	query_int(&q, ":upto", INT64_MAX);
	return query_run(&q);
}

bool recent_spill_records(struct db *db, int64_t thread_row, int64_t last, struct error *err)
{
	return recent_spill_between(db, thread_row, 0, last, err);
}

bool recent_spill(struct db *db, int64_t thread_row, struct error *err)
{
	const struct thread none = {0};
	struct recent recent = {0};
	int64_t from = 0;
	struct query q;
	bool ok;
	query_start(&q, db, SQL_RECENT_HELD, err);
	query_int(&q, ":row", thread_row);
	if (query_row(&q)) {
		from = query_column_int(&q, RECENT_HELD_KEPT_FROM);
		recent_parse(&recent, query_column_text(&q, RECENT_HELD_RECENT), &none, "");
	}
	ok = query_end(&q) &&
	    (!from || recent_spill_between(db, thread_row, from, INT64_MAX, err)) &&
	    recent_store(db, thread_row, &recent, err);
	if (ok && (from || recent.text)) {
		query_start(&q, db, SQL_RECENT_CLEAR, err);
		query_int(&q, ":row", thread_row);
		ok = query_run(&q);
	}
	recent_release(&recent);
	return ok;
}
