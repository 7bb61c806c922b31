/* SPDX-License-Identifier: ISC */
/* The members of lines (doc/protocol-history.md#export-and-import): a table for each type. */
#ifndef AGENTGRAPH_SERVICE_HISTORY_LINE_ROWS_H
#define AGENTGRAPH_SERVICE_HISTORY_LINE_ROWS_H

#include "base/fields.h"
#include "storage/history.h"

#define LINE_FORMAT 1

/* The members of a line, of whichever type. */
struct line {
	/* of the line thread */
	const char *thread_id, *thread_name, *user_id;
	const cJSON *metadata;
	int64_t last;
	bool changed;
	/* of lines with a place */
	int64_t place, other;
	const cJSON *message;
	/* of lines checkpoint */
	const char *checkpoint_id, *parent;
	enum checkpoint_source source;
	int64_t message_count;
	/* of lines run */
	int64_t number, created_at, finished_at, prompt, completion, reasoning, total, brought;
	const cJSON *error;
	/* of threads, checkpoints and runs */
	const char *run_id, *node, *next, *summary;
	enum run_status status;
	enum stop_state stop;
	int64_t step, after, until;
	const cJSON *pause, *waiting, *fields;
	/* of the line end */
	int64_t lines;
	const char *seal;
};

extern const struct choice line_stops[];

extern const struct field_row line_thread_rows[];
extern const struct field_row line_branch_rows[];
extern const struct field_row line_again_rows[];
extern const struct field_row line_message_rows[];
extern const struct field_row line_checkpoint_rows[];
extern const struct field_row line_run_rows[];
extern const struct field_row line_end_rows[];
extern const struct field_row line_pause_rows[];
extern const struct field_row line_open_rows[];
extern const struct field_row line_interrupt_rows[];
extern const struct field_row line_waiting_rows[];
extern const struct field_row line_call_rows[];
extern const struct field_row line_error_rows[];

/* What a message must have beyond what message_normalise checks. */
extern const struct field_row line_body_rows[];

#endif
