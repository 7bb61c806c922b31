/* SPDX-License-Identifier: ISC */
/* Calls of the service by a command, in its own process. */
#include "cli/source/ask_state.h"

#include "base/json/json.h"
#include "cli/command.h"
#include "cli/examine/examine.h"
#include "cli/state_lock.h"
#include "service/thread/feed.h"
#include "storage/storage.h"

#include <stdlib.h>

bool state_service_open(
    struct state_service *at, const struct config_source *where, const char *user_id)
{
	struct problems problems = {0};
	struct config_source there = *where;
	/* in a new state directory there is nothing to look for, and nobody may ever serve it */
	if (!there.state_has)
		there.state_has = "threads.db";
	loading_begin();
	at->service = service_open(&there, &problems);
	loading_end();
	at->user_id = user_id;
	problems_print_errors(&problems, COMMAND_MISTAKE);
	problems_release(&problems);
	return at->service != NULL;
}

void state_service_close(struct state_service *at)
{
	service_close(at->service);
}

void state_say_unserved(const struct state_service *at)
{
	const char *state_dir = at->service->config->state_dir;
	if (!at->service->storage->engine->can.instances && !state_is_served(state_dir))
		complain(0, "no service runs on %s: the run goes on when one does", state_dir);
}

struct call *state_begin(struct state_service *at)
{
	call_init(&at->call, at->service, NULL);
	return &at->call;
}

/* Nothing is checked: whoever may write the storage can be any user. */
bool state_identify(struct state_service *at, const char *thread_id)
{
	struct call *call = &at->call;
	struct storage *storage = at->service->storage;
	const char *user_id = at->user_id;
	if (!user_id && thread_id &&
	    !storage->threads->owner(
		storage, &call->ctx, call->arena, thread_id, &user_id, &call->error))
		return !error_is_set(&call->error);
	if (user_id && *user_id) {
		const struct identity identity = {
		    .user = arena_json(call->arena, cJSON_CreateObject()), .user_id = user_id};
		json_add_str(identity.user, "user_id", user_id);
		call_identify(call, &identity);
	}
	return true;
}

/* Appends a part of the answer, with messages as they are stored (service/thread/feed.h). */
static bool state_collect(void *arg, struct buf *part)
{
	buf_add(arg, part->data, part->len);
	return true;
}

cJSON *state_end(struct state_service *at, const cJSON *data, struct error *err)
{
	struct buf all = {0}, part = {0};
	char *text = data ? json_print(data) : NULL;
	cJSON *read = NULL;
	if (text && feed_put(&at->call, text, &part, state_collect, &all)) {
		buf_add(&all, part.data, part.len);
		read = json_parse(buf_str(&all), all.len, JSON_TRUSTED_DEPTH, NULL);
	}
	if (text && !read)
		error_set(&at->call.error, ERR_STORAGE, "what is stored cannot be read as JSON");
	if (!read)
		error_move(err, &at->call.error);
	call_release(&at->call);
	buf_release(&all);
	buf_release(&part);
	free(text);
	return read;
}
