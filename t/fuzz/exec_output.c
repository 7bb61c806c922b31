/* SPDX-License-Identifier: ISC */
/*
 * The output of executables, as nodes and as tools of a graph: the input is their standard output.
 * Whatever it is, the run ends well, with a pause, or with a sentence; and so does the tool.
 */
#include "base/json/json.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "config/config.h"
#include "graph/message/message.h"
#include "graph/nodes/nodes.h"
#include "graph/run.h"
#include "replay.h"
#include "scratch.h"
#include "tool/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIFE 2000 /* inputs until the database is made anew */

static const struct id_source ids;

static struct {
	char dir[SCRATCH_SIZE];
	ag_graph *graph;
	struct shared *shared;
	struct storage *storage;
	int inputs;
} world;

static char *argv[] = {"cat", NULL};
static struct exec_node node = {.command = {.path = "/bin/cat", .argv = argv, .timeout_ms = 10000}};

/* ---- a graph of one node */

static ag_result both(ag_run *run, const ag_state *state, void *data)
{
	cJSON *args = cJSON_CreateObject(), *output = NULL;
	ag_result tool = exec_tool(run, args, &output, &node.command);
	require(tool != AG_OK || output);
	cJSON_Delete(output);
	cJSON_Delete(args);
	return exec_node_run(run, state, data);
}

static ag_graph *make_graph(void)
{
	ag_graph *graph = graph_new("fuzz");
	ag_graph_node(graph, "n", both, &node);
	ag_graph_edge(graph, AG_START, "n");
	ag_graph_edge(graph, "n", AG_END);
	ag_graph_field(graph, "notes", "array", AG_APPEND, NULL, NULL);
	require(graph->problems.errors == 0 && graph_compile(graph));
	return graph;
}

/* ---- the world */

static void close_world(void)
{
	if (!world.storage)
		return;
	storage_close(world.storage);
	shared_close(world.shared);
	graph_free(world.graph);
	world.storage = NULL;
	scratch_remove(world.dir);
}

static void open_world(void)
{
	struct error err = {0};
	struct config config = {.state_dir = world.dir};
	scratch_make(world.dir);
	world.shared = shared_open(world.dir, &err);
	require(world.shared != NULL);
	world.storage = storage_open(&config, world.shared, &err);
	require(world.storage != NULL);
	world.graph = make_graph();
	world.inputs = 0;
}

static void renew_world(void)
{
	static bool first = true;
	if (first)
		atexit(close_world);
	first = false;
	if (world.storage && ++world.inputs < LIFE)
		return;
	close_world();
	open_world();
	/* what nodes write to the log does not matter here */
	log_init("fuzz", LOG_ERROR);
}

/* ---- the executable */

static struct {
	const char *data;
	size_t size;
} output;

/* Takes the place of the library's function, which would start a program: a thousand times slower.
 * */
void process_run(const struct process *p, struct process_result *result)
{
	const char *at = output.data, *end = output.data + output.size;
	*result = (struct process_result){.end = PROCESS_EXITED};
	while (at < end && result->end == PROCESS_EXITED) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((newline ? newline : end) - at);
		char *line = malloc(len + 1); /* without spare room */
		memcpy(line, at, len);
		line[len] = '\0';
		if (!p->on_line(line, len, p->arg))
			result->end = PROCESS_REFUSED;
		free(line);
		at += len + 1;
	}
}

/* ---- the run */

static void on_event(struct run_observer *observer, ag_run *run, const struct run_event *event)
{
	(void)observer, (void)run;
	if (!event->message)
		return;
	char *text = json_print(event->message);
	require(utf8_valid(text, strlen(text)));
	free(text);
}

static void check_end(const struct thread *thread, bool ok, const struct error *err)
{
	require(ok != error_is_set(err));
	if (ok)
		require(thread->status == RUN_COMPLETED || thread->status == RUN_INTERRUPTED);
	else
		require(err->detail[0] && utf8_valid(err->detail, strlen(err->detail)));
}

static void execute(struct arena *arena)
{
	char thread_id[UUID_SIZE], message[UUID_SIZE];
	struct error err = {0};
	struct run_observer observer = {.live = true, .event = on_event};
	const struct thread thread = {.thread_id = uuid4(thread_id),
	    .thread_name = "",
	    .user_id = "u",
	    .metadata_json = "{}",
	    .node = "START",
	    .fields_json = "{}"};
	struct lease *lease = world.storage->threads->lease_acquire(
	    world.storage, NULL, thread_id, CLAIM_ENQUEUE, 0, &err);
	const struct run_setup setup = {.graph = world.graph,
	    .storage = world.storage,
	    .lease = lease,
	    .arena = arena,
	    .ids = &ids,
	    .config = arena_json(arena, cJSON_CreateObject()),
	    .run_id = "r",
	    .thread = &thread,
	    .observer = &observer,
	    .recursion_limit = 5,
	    .node_timeout = 20,
	    .tool_timeout = 20};
	ag_run *run = run_new(&setup);
	run_bring(run, message_new("user", uuid4(message), content_text("hi")));
	bool ok = run_execute(run, RUN_FROM_START, NULL, &err);
	check_end(run_thread(run), ok, &err);
	world.storage->threads->lease_release(world.storage, NULL, lease, &err);
	error_release(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	renew_world();
	output.data = (const char *)data;
	output.size = size;
	execute(arena);
	arena_free(arena);
	return 0;
}
