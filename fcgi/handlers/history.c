/* SPDX-License-Identifier: ISC */
/* Earlier states of a thread (doc/protocol-history.md). */
#include "service/history/history.h"

#include "fcgi/handlers/handlers.h"
#include "fcgi/request/query.h"
#include "fcgi/request/request.h"

void get_history(struct request *rq)
{
	struct query_field fields[] = {
	    {.name = "limit"}, {.name = "before"}, {.name = "run_id", .empty_is_absent = true}};
	query_read(rq->call.arena, rq->path.query, fields, 3, &rq->call.error);
	const struct history_query query = {
	    .limit = fields[0].value, .before = fields[1].value, .run_id = fields[2].value};
	reply_data(rq, history_list(&rq->call, rq->match.ids[0], &query));
}

void get_checkpoint(struct request *rq)
{
	reply_data(rq, history_read(&rq->call, rq->match.ids[0], rq->match.ids[1]));
}

void post_rewind(struct request *rq)
{
	reply_data(rq, history_rewind(&rq->call, rq->match.ids[0], rq->body));
}

void get_export(struct request *rq)
{
	reply_lines(rq, history_export, rq->match.ids[0]);
}

void post_import(struct request *rq)
{
	cJSON *data = NULL;
	FILE *lines = fmemopen(rq->lines->data, rq->lines->len, "r");
	if (lines) {
		data = history_import(
		    &rq->call, lines, NULL, rq->call.service->config->history_trust_imports);
		fclose(lines);
	}
	reply_data(rq, data);
}

void post_copy(struct request *rq)
{
	reply_data(rq, history_copy(&rq->call, rq->match.ids[0], rq->body));
}
