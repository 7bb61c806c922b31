/* SPDX-License-Identifier: ISC */
/* Reading the row of a thread. */
#include "storage/sql/thread/thread_row.h"

#include "storage/sql/engine.h"

void thread_row_read(struct query *q, struct thread *t)
{
	*t = (struct thread){
	    .row = query_column_int(q, THREAD_GET_ROW),
	    .thread_id = query_column_text(q, THREAD_GET_THREAD_ID),
	    .user_id = query_column_text(q, THREAD_GET_USER_ID),
	    .created_at = query_column_int(q, THREAD_GET_CREATED_AT),
	    .updated_at = query_column_int(q, THREAD_GET_UPDATED_AT),
	    .thread_name = query_column_text(q, THREAD_GET_THREAD_NAME),
	    .metadata_json = query_column_text(q, THREAD_GET_METADATA),
	    .run_id = query_column_text(q, THREAD_GET_RUN_ID),
	    .status = (enum run_status)query_column_int(q, THREAD_GET_STATUS),
	    .stop = (enum stop_state)query_column_int(q, THREAD_GET_STOP),
	    .node = query_column_text(q, THREAD_GET_NODE),
	    .step = query_column_int(q, THREAD_GET_STEP),
	    .fields_json = "{}",
	};
}

void engine_thread_hold(struct arena *a, struct thread *t)
{
	t->run_id = arena_strdup(a, t->run_id);
	t->node = arena_strdup(a, t->node);
	t->next = arena_strdup(a, t->next);
	t->pause_json = arena_strdup(a, t->pause_json);
	t->waiting_json = arena_strdup(a, t->waiting_json);
	t->summary = arena_strdup(a, t->summary);
	t->fields_json = arena_strdup(a, t->fields_json);
}

void thread_row_copy(struct query *q, struct arena *a, struct thread *t)
{
	thread_row_read(q, t);
	t->thread_id = arena_strdup(a, t->thread_id);
	t->user_id = arena_strdup(a, t->user_id);
	t->thread_name = arena_strdup(a, t->thread_name);
	t->metadata_json = arena_strdup(a, t->metadata_json);
	t->next = query_column_text(q, THREAD_GET_NEXT);
	t->pause_json = query_column_text(q, THREAD_GET_PAUSE);
	t->waiting_json = query_column_text(q, THREAD_GET_WAITING);
	t->summary = query_column_text(q, THREAD_GET_SUMMARY);
	t->fields_json = query_column_text(q, THREAD_GET_FIELDS);
	engine_thread_hold(a, t);
	t->message_bytes = query_column_int(q, THREAD_GET_MESSAGE_BYTES);
	t->view = (struct thread_view){.after = query_column_int(q, THREAD_GET_CONTEXT_AFTER),
	    .until = query_column_int(q, THREAD_GET_UNTIL),
	    .last = query_column_int(q, THREAD_GET_LAST_NUMBER),
	    .plain = query_column_int(q, THREAD_GET_PLAIN) != 0};
}
