/* SPDX-License-Identifier: ISC */
/*
 * Lines of a thread's history that somebody imports.  Whatever they are, they are refused with a
 * text, or make a thread whose export can be imported in turn, and is the same again.  Without
 * trust nothing is open in that thread, and no node is next.
 */
#include "base/json/json.h"
#include "base/utf8.h"
#include "replay.h"
#include "scratch_service.h"
#include "service/history/history.h"
#include "service/thread/threads.h"

#include <stdlib.h>
#include <string.h>

#define LIFE 2000 /* inputs until the state is made anew */

static struct {
	struct service *service;
	char dir[SCRATCH_SIZE];
	int inputs;
} world;

static void close_world(void)
{
	if (!world.service)
		return;
	service_close(world.service);
	world.service = NULL;
	scratch_remove(world.dir);
}

static void renew_world(void)
{
	static bool first = true;
	if (first)
		atexit(close_world);
	first = false;
	if (world.service && ++world.inputs < LIFE)
		return;
	close_world();
	world.service = scratch_service(world.dir, "{\"agent\": \"builtin:demo\"}");
	world.inputs = 0;
}

static bool keep(void *arg, struct buf *part)
{
	struct buf *lines = arg;
	buf_add(lines, part->data, part->len);
	buf_reset(part);
	return true;
}

/* Makes a thread of the lines, and the lines of that thread; false where they are refused. */
static bool pass_through(const char *data, size_t size, bool trusted, struct buf *lines)
{
	struct call call;
	struct buf part = {0};
	FILE *in = fmemopen((void *)data, size, "r");
	require(in != NULL);
	call_init(&call, world.service, "fuzz");
	const cJSON *made = history_import(&call, in, "new", trusted);
	const char *id = json_str(json_get(made, "thread_data"), "thread_id");
	fclose(in);
	if (made) {
		require(id && history_export(&call, id, &part, keep, lines));
		keep(lines, &part);
		require(thread_remove(&call, id, NULL));
	} else {
		require(error_status_of(&call.error) == 422);
		require(
		    *call.error.detail && utf8_valid(call.error.detail, strlen(call.error.detail)));
	}
	buf_release(&part);
	call_release(&call);
	return made;
}

/* Checks that runs of a thread of these lines have nothing to go on with. */
static void check_nothing_open(char *text)
{
	static const char *const open[] = {"pause", "waiting", "next"};
	for (char *line; (line = strsep(&text, "\n")) && *line;) {
		cJSON *object = json_parse_own(line);
		for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++)
			require(!json_opt(object, open[i]));
		cJSON_Delete(object);
	}
}

/* Cuts off what differs in two exports of the same: the id in the first line, and the seal. */
static const char *without_id(struct buf *lines)
{
	char *id = strstr(buf_str(lines), "\"thread_id\":\""), *seal = NULL;
	require(id != NULL);
	for (char *at = id; (at = strstr(at, "\"seal\":")); at++)
		seal = at;
	require(seal != NULL);
	*seal = '\0';
	id += strlen("\"thread_id\":\"");
	for (; *id != '"'; id++)
		*id = '-';
	return lines->data;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	renew_world();
	for (int trusted = 0; size && trusted < 2; trusted++) {
		struct buf once = {0}, twice = {0};
		if (pass_through((const char *)data, size, trusted, &once)) {
			require(pass_through(once.data, once.len, false, &twice));
			require(strcmp(without_id(&once), without_id(&twice)) == 0);
			if (!trusted)
				check_nothing_open(once.data);
		}
		buf_release(&once);
		buf_release(&twice);
	}
	return 0;
}
