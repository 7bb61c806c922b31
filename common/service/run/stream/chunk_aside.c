/* SPDX-License-Identifier: ISC */
/* Making the asides of chunks. */
#include "service/run/stream/chunk_aside.h"

#include "base/json/json.h"
#include "graph/message/message.h"

void chunk_asides_release(struct chunk_asides *asides)
{
	cJSON_Delete(asides->open);
	cJSON_Delete(asides->begun);
	told_fields_release(&asides->fields);
	cJSON_free(asides->done);
}

static cJSON *chunk_asides_table(cJSON **table)
{
	if (!*table)
		*table = cJSON_CreateObject();
	return *table;
}

static const char *chunk_aside_branch(const struct run_event *event)
{
	return event->branch ? event->branch : "";
}

/* Notes that what the next end in the branch tells begins here, unless it has begun already. */
static void chunk_asides_begin(struct chunk_asides *asides, const struct run_event *event)
{
	cJSON *begun = chunk_asides_table(&asides->begun);
	const char *branch = chunk_aside_branch(event);
	if (!json_get(begun, branch))
		json_set(begun, branch, json_new_int(asides->count));
}

bool chunk_asides_told(struct chunk_asides *asides, const struct run_event *event)
{
	chunk_asides_begin(asides, event);
	const char *id = message_id(event->message);
	cJSON *open = chunk_asides_table(&asides->open);
	bool told = json_get(open, id);
	if (event->kind == RUN_PIECE && !told)
		cJSON_AddTrueToObject(open, id);
	else if (event->kind == RUN_MESSAGE && told)
		cJSON_DeleteItemFromObjectCaseSensitive(open, id);
	return told;
}

static char *chunk_aside_text(cJSON *aside)
{
	char *text = json_print(aside);
	cJSON_Delete(aside);
	return text;
}

static cJSON *chunk_aside_whole(int64_t until, const cJSON *fields)
{
	cJSON *aside = cJSON_CreateObject();
	json_add_int(aside, "until", until);
	json_refer(aside, "fields", fields);
	return aside;
}

char *chunk_aside_start(
    struct chunk_asides *asides, const struct turn *turn, const struct run_event *event)
{
	const cJSON *message;
	int left = turn->brought;
	chunk_asides_begin(asides, event);
	bool first = !asides->fields.whole;
	told_fields_begin(&asides->fields, turn->run);
	if (!first)
		return NULL;
	bool tells = turn->thread.message_bytes <= BEGINNING_MAX;
	cJSON *aside = tells ? chunk_aside_whole(turn->thread.view.until, asides->fields.whole)
			     : cJSON_CreateObject();
	cJSON *brought = tells ? json_add(aside, "brought", cJSON_CreateArray()) : NULL;
	cJSON_ArrayForEach(message, run_messages(turn->run)) {
		if (brought && left-- > 0)
			json_append(brought, cJSON_CreateString(message_id(message)));
	}
	json_add_int(aside, "modes", turn->in.modes);
	return chunk_aside_text(aside);
}

char *chunk_aside_end(struct chunk_asides *asides, const struct turn *turn, const ag_run *run,
    const struct run_event *event)
{
	const char *branch = chunk_aside_branch(event);
	int64_t begun = asides->count;
	cJSON *aside = cJSON_CreateObject();
	if (told_fields_begin_late(&asides->fields, turn->call->service->graph, &turn->thread))
		json_add_int(aside, "modes", turn->in.modes);
	json_integer(json_get(asides->begun, branch), &begun);
	json_add_int(aside, "back", asides->count + 1 - begun);
	json_add(aside, "set", told_fields_end(&asides->fields, run, event));
	cJSON_DeleteItemFromObjectCaseSensitive(asides->begun, branch);
	asides->inside = run != turn->run;
	return chunk_aside_text(aside);
}

char *chunk_aside_done(const struct chunk_asides *asides, struct turn *turn)
{
	struct storage *storage = turn->call->service->storage;
	struct thread_view view;
	struct error err = {0};
	if (!asides->inside || !turn->run)
		return NULL;
	bool ok = storage->threads->view(
	    storage, &turn->call->ctx, run_thread(turn->run)->row, &view, &err);
	error_release(&err);
	return ok ? chunk_aside_text(chunk_aside_whole(view.until, run_fields(turn->run))) : NULL;
}
