/* SPDX-License-Identifier: ISC */
/* Graphs from documents, and runs of them without a service. */
#include "document_fixture.h"

#include "base/id.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "config/config.h"
#include "graph/message/message.h"
#include "graph/run.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct id_source ids;

/* An observer that knows whose run it sees. */
struct listener {
	struct run_observer observer;
	struct talk *talk;
};

void write_file(const char *name, const char *text)
{
	const char *path = unit_path(name);
	FILE *file = fopen(path, "we");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(text, file);
	fclose(file);
	if (strncmp(text, "#!", 2) == 0)
		chmod(path, 0755);
}

static ag_graph *graph_of(const char *document)
{
	ag_graph *graph = graph_new("graph.json:g");
	write_file("graph.json", document);
	graph_document(graph, unit_path("graph.json"), "g", &graph->problems);
	return graph;
}

static const char *without_file(const char *text)
{
	const char *path = unit_path("graph.json");
	size_t len = strlen(path);
	return strncmp(text, path, len) == 0 && strncmp(text + len, ": ", 2) == 0 ? text + len + 2
										  : text;
}

const char *problems_of(const char *document)
{
	static struct buf out;
	ag_graph *graph = graph_of(document);
	if (graph->problems.errors == 0)
		graph_compile(graph);
	buf_reset(&out);
	for (size_t i = 0; i < graph->problems.count; i++)
		buf_printf(
		    &out, "%s%s", i ? "\n" : "", without_file(graph->problems.items[i].text));
	graph_free(graph);
	return buf_str(&out);
}

static void on_event(struct run_observer *observer, ag_run *run, const struct run_event *event)
{
	struct talk *talk = ((struct listener *)observer)->talk;
	(void)run;
	if (event->kind != RUN_PIECE && event->kind != RUN_MESSAGE)
		return;
	char *text = ag_message_text(event->message);
	if (event->kind == RUN_PIECE)
		buf_printf(&talk->pieces, "%s|", text);
	else
		buf_printf(&talk->heard, "%s: %s|", json_str(event->message, "role"), text);
	free(text);
	bool running;
	if (event->kind == RUN_PIECE && talk->stop_at_piece)
		talk->storage->threads->lease_stop(
		    talk->storage, NULL, talk->thread.thread_id, NULL, &running, &talk->error);
}

static void talk_new_thread(struct talk *talk)
{
	char *id = arena_alloc(talk->arena, UUID_SIZE);
	talk->thread = (struct thread){.thread_id = uuid4(id),
	    .thread_name = "",
	    .user_id = "alice",
	    .metadata_json = "{}",
	    .node = "START",
	    .fields_json = "{}"};
}

void talk_begin(struct talk *talk, ag_graph *graph)
{
	struct error err = {0};
	struct config config = {.state_dir = (char *)unit_path("state")};
	*talk = (struct talk){.arena = arena_new(), .graph = graph, .node_timeout = 20};
	bool sound = graph->problems.errors == 0 && graph_compile(graph);
	for (size_t i = 0; i < graph->problems.count; i++)
		printf("# %s\n", graph->problems.items[i].text);
	CU_ASSERT_TRUE_FATAL(sound);
	talk->shared = shared_make(config.state_dir, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(talk->shared);
	talk->storage = storage_open(&config, talk->shared, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(talk->storage);
	talk_new_thread(talk);
}

void talk_renew(struct talk *talk)
{
	arena_free(talk->arena);
	talk->arena = arena_new();
	talk_new_thread(talk);
}

void talk_open(struct talk *talk, const char *document)
{
	talk_begin(talk, graph_of(document));
}

void talk_close(struct talk *talk)
{
	storage_close(talk->storage);
	shared_close(talk->shared);
	arena_free(talk->arena);
	graph_free(talk->graph);
	buf_release(&talk->heard);
	buf_release(&talk->pieces);
	error_release(&talk->error);
}

static cJSON *parsed(struct talk *talk, const char *json)
{
	return arena_json(talk->arena, json_parse(json, strlen(json), JSON_TRUSTED_DEPTH, NULL));
}

static ag_run *run_of(struct talk *talk, struct run_observer *observer, struct lease *lease)
{
	struct thread *before = arena_alloc(talk->arena, sizeof(*before));
	*before = talk->thread;
	const struct run_setup setup = {.graph = talk->graph,
	    .storage = talk->storage,
	    .lease = lease,
	    .arena = talk->arena,
	    .ids = &ids,
	    .config = parsed(talk, talk->config ? talk->config : "{}"),
	    .run_id = "r1",
	    .thread = before,
	    .observer = observer,
	    .recursion_limit = 25,
	    .store = talk->store,
	    .node_timeout = talk->node_timeout,
	    .tool_timeout = 20};
	return run_new(&setup);
}

/* What stands in a pause for the client to see. */
static void hear_pause(struct talk *talk)
{
	cJSON *interrupt = json_get(parsed(talk, talk->thread.pause_json), "interrupt");
	char *value = json_print(json_get(interrupt, "value"));
	buf_printf(&talk->heard, "pause: %s %s|", json_str(interrupt, "reason"), value);
	free(value);
}

static const char *talk_run(
    struct talk *talk, enum run_entry entry, cJSON *message, const cJSON *answers)
{
	struct listener listener = {.observer = {.live = true, .event = on_event}, .talk = talk};
	error_release(&talk->error);
	buf_reset(&talk->heard);
	buf_reset(&talk->pieces);
	struct lease *lease = talk->storage->threads->lease_acquire(
	    talk->storage, NULL, talk->thread.thread_id, CLAIM_ENQUEUE, 0, &talk->error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(lease);
	ag_run *run = run_of(talk, &listener.observer, lease);
	if (message)
		run_bring(run, message);
	if (!run_execute(run, entry, answers, &talk->error))
		buf_printf(&talk->heard, "error: %s|", talk->error.detail);
	talk->thread = *run_thread(run);
	talk->usage = *run_spent_apart(run);
	if (talk->thread.status == RUN_INTERRUPTED)
		hear_pause(talk);
	talk->storage->threads->lease_release(talk->storage, NULL, lease, &talk->error);
	return buf_str(&talk->heard);
}

const char *talk_say(struct talk *talk, const char *text)
{
	char id[UUID_SIZE];
	return talk_run(
	    talk, RUN_FROM_START, message_new("user", uuid4(id), content_text(text)), NULL);
}

const char *talk_answer(struct talk *talk, const char *json)
{
	cJSON *answers = json_get(parsed(talk, talk->thread.pause_json), "answers");
	cJSON_AddItemToArray(answers, json_parse(json, strlen(json), JSON_TRUSTED_DEPTH, NULL));
	return talk_run(talk, RUN_AGAIN, NULL, answers);
}

static bool add_text(void *arg, const char *id, const char *json)
{
	cJSON *message = json_parse(json, strlen(json), JSON_TRUSTED_DEPTH, NULL);
	char *text = ag_message_text(message);
	(void)id;
	buf_printf(arg, "%s|", text);
	free(text);
	cJSON_Delete(message);
	return true;
}

const char *talk_context(struct talk *talk)
{
	static struct buf out;
	buf_reset(&out);
	talk->storage->threads->context(
	    talk->storage, NULL, talk->thread.row, NULL, add_text, &out, &talk->error);
	return buf_str(&out);
}

const char *talk_list(struct talk *talk)
{
	static struct buf out;
	const struct page all = {.limit = 1000000};
	buf_reset(&out);
	talk->storage->threads->message_list(
	    talk->storage, NULL, talk->thread.row, NULL, &all, add_text, &out, &talk->error);
	return buf_str(&out);
}

void talk_add(struct talk *talk, const char *json)
{
	char id[UUID_SIZE];
	cJSON *message = parsed(talk, json);
	json_set(message, "message_id", cJSON_CreateString(uuid4(id)));
	char *text = json_print(message);
	const struct new_message added = {id, text};
	struct thread_write w = {.thread = &talk->thread, .messages = &added, .message_count = 1};
	struct lease *lease = talk->storage->threads->lease_acquire(
	    talk->storage, NULL, talk->thread.thread_id, CLAIM_ENQUEUE, 0, &talk->error);
	CU_ASSERT_TRUE_FATAL(thread_write(talk->storage, NULL, lease, &w, &talk->error));
	talk->storage->threads->lease_release(talk->storage, NULL, lease, &talk->error);
	free(text);
}

const char *talk_field(const struct talk *talk, const char *name)
{
	static char text[1024];
	const char *fields = talk->thread.fields_json;
	cJSON *all = json_parse(fields, strlen(fields), JSON_TRUSTED_DEPTH, NULL);
	char *json = json_print(json_get(all, name));
	snprintf(text, sizeof(text), "%s", json);
	free(json);
	cJSON_Delete(all);
	return text;
}

const char *said_by(const char *document, const char *text)
{
	static struct buf out;
	struct talk talk;
	talk_open(&talk, document);
	buf_reset(&out);
	buf_puts(&out, talk_say(&talk, text));
	talk_close(&talk);
	return buf_str(&out);
}
