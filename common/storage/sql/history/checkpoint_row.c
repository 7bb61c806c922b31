/* SPDX-License-Identifier: ISC */
/* A checkpoint as a row of the table of checkpoints. */
#include "storage/sql/history/checkpoint_row.h"

#include <string.h>

#define SHORT_FIELDS 128 /* bytes */

bool state_is_short(const struct thread *t)
{
	return !t->pause_json && !t->waiting_json && !t->summary &&
	    strlen(t->fields_json) <= SHORT_FIELDS;
}

bool checkpoint_insert(struct db *db, int64_t thread_row, const struct checkpoint *checkpoint,
    int64_t state, struct error *err)
{
	const struct thread *t = &checkpoint->thread;
	struct query q;
	query_start(&q, db, SQL_CHECKPOINT_INSERT, err);
	query_int(&q, ":thread", thread_row);
	query_int(&q, ":number", checkpoint->number);
	if (checkpoint->parent)
		query_int(&q, ":parent", checkpoint->parent);
	query_int(&q, ":source", checkpoint->source);
	query_int(&q, ":message_count", checkpoint->message_count);
	query_text(&q, ":run_id", t->run_id);
	query_int(&q, ":status", t->status);
	query_int(&q, ":stop", t->stop);
	query_text(&q, ":node", t->node);
	query_int(&q, ":step", t->step);
	query_text(&q, ":next", t->next);
	query_int(&q, ":context_after", t->view.after);
	query_int(&q, ":until", t->view.until);
	if (state)
		query_int(&q, ":state", state);
	else if (strcmp(t->fields_json, "{}") != 0)
		query_text(&q, ":fields", t->fields_json);
	return query_run(&q);
}
