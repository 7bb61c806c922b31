/* SPDX-License-Identifier: ISC */
/* agentgraph runs: lists, shows, follows, stops and submits runs in the background, so that a line
 * of a crontab is a schedule. */
#include "base/buf.h"
#include "base/json/json.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/source/ask_url.h"
#include "cli/source/run_source.h"
#include "cli/terminal.h"
#include "service/run/said.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_WAITS 3 /* the run is paused, waits for results of its client, or goes on */
#define LIST_LIMIT 100
#define DELAY_MAX 2592000 /* seconds */

/* What the command line says.  Options that a subcommand does not have keep their defaults. */
struct runs_options {
	const char *url; /* NULL: the state directory */
	struct config_source where;
	const char *user;
	const char *thread, *status, *message, *metadata, *webhook, *granularity;
	long limit, delay, after;
	bool follow, wait, json;
};

/* One of "list", "show" and so on: its operands and options, and what does it. */
struct runs_verb {
	const char *name;
	int operands; /* 2: thread and run */
	int (*run)(
	    struct run_source *source, const struct runs_options *o, const struct run_name *run);
	const char *options[9]; /* up to a NULL, besides those that say where */
};

/*
 * The exit status that tells a script how a run stands.  A run that is completed, but not at END,
 * waits for the results of tools at its client (doc/protocol-runs.md#client-side-tools).
 */
static int runs_exit_status(const cJSON *record)
{
	const char *status = terminal_text(record, "status");
	if (strcmp(status, "completed") == 0)
		return strcmp(terminal_text(record, "node"), "END") == 0 ? 0 : EXIT_WAITS;
	return strcmp(status, "error") == 0 || strcmp(status, "stopped") == 0 ? 1 : EXIT_WAITS;
}

/* ---- list ---- */

static int runs_list_all(
    struct run_source *source, const struct runs_options *o, const struct run_name *run)
{
	(void)run;
	struct error err = {0};
	char limit[24];
	const struct record_query query = {
	    .thread_id = o->thread, .status = o->status, .limit = limit};
	snprintf(limit, sizeof(limit), "%ld", o->limit);
	cJSON *data = source->list(source, &query, &err);
	const cJSON *record;
	if (!data)
		return complain_error(&err);
	cJSON_ArrayForEach(record, json_get(data, "runs")) {
		if (o->json)
			terminal_json(record);
		else
			/* words for people and `read`: ids come last,
			 * because they may have blanks */
			terminal_printf("%-11s  %s  %-27s  %s  %s\n",
			    terminal_text(record, "status"), terminal_text(record, "created_at"),
			    terminal_text(record, "finished_at"), terminal_text(record, "run_id"),
			    terminal_text(record, "thread_id"));
	}
	cJSON_Delete(data);
	return 0;
}

/* ---- show, stop ---- */

/* Takes the record: a line of JSON, or a line "key value" for each of its members. */
static int runs_show_record(cJSON *record, const struct runs_options *o)
{
	static const char *const all[] = {NULL};
	int status = runs_exit_status(record);
	if (o->json)
		terminal_json(record);
	else
		terminal_members(record, 12, all);
	cJSON_Delete(record);
	return status;
}

static void runs_print_chunk(void *arg, const char *line, size_t len)
{
	(void)arg;
	terminal_printf("%.*s\n", (int)len, line);
	fflush(stdout);
}

static int runs_follow(
    struct run_source *source, const struct runs_options *o, const struct run_name *run)
{
	struct error err = {0};
	const struct run_follow follow = {
	    .after = o->after, .granularity = o->granularity, .chunk = runs_print_chunk};
	cJSON *record = NULL;
	if (source->follow(source, run, &follow, &err))
		record = source->read(source, run, &err);
	if (!record)
		return complain_error(&err);
	int status = runs_exit_status(record);
	cJSON_Delete(record);
	return status;
}

static int runs_show(
    struct run_source *source, const struct runs_options *o, const struct run_name *run)
{
	struct error err = {0};
	if (o->follow)
		return runs_follow(source, o, run);
	cJSON *record = source->read(source, run, &err);
	return record ? runs_show_record(record, o) : complain_error(&err);
}

/* The exit status is 0 once the order was taken, however the run ends. */
static int runs_stop(
    struct run_source *source, const struct runs_options *o, const struct run_name *run)
{
	struct error err = {0};
	cJSON *record = source->stop(source, run, &err);
	if (!record)
		return complain_error(&err);
	runs_show_record(record, o);
	return 0;
}

/* ---- submit ---- */

/* NULL when it is no JSON. */
static cJSON *runs_metadata(const struct runs_options *o)
{
	return json_parse(o->metadata, strlen(o->metadata), JSON_REQUEST_DEPTH, NULL);
}

static cJSON *runs_body(const struct runs_options *o, struct error *err)
{
	struct buf text = {0};
	size_t got;
	if (strcmp(o->message, "-") != 0)
		buf_puts(&text, o->message);
	else
		while ((got = fread(buf_reserve(&text, 4096), 1, 4096, stdin)) > 0)
			text.len += got;
	buf_add(&text, "", 0); /* ends the text */
	if (strlen(buf_str(&text)) != text.len || !utf8_valid(buf_str(&text), text.len)) {
		error_set(err, ERR_INVALID_INPUT, "--message must be UTF-8 without NUL");
		buf_release(&text);
		return NULL;
	}
	cJSON *body = cJSON_CreateObject(), *message = cJSON_CreateObject();
	json_add_str(message, "role", "user");
	json_add_str(message, "content", buf_str(&text));
	buf_release(&text);
	cJSON_AddItemToArray(cJSON_AddArrayToObject(body, "messages"), message);
	if (o->thread)
		json_add_str(cJSON_AddObjectToObject(body, "config"), "thread_id", o->thread);
	if (o->delay)
		json_add_int(body, "delay", o->delay);
	if (o->webhook)
		json_add_str(body, "webhook", o->webhook);
	if (o->metadata)
		cJSON_AddItemToObject(body, "metadata", runs_metadata(o));
	return body;
}

/* What the assistant said, a line for each text. */
static void runs_print_answer(const cJSON *data)
{
	const cJSON *message, *block;
	cJSON_ArrayForEach(message, json_get(data, "messages")) {
		if (strcmp(terminal_text(message, "role"), "assistant") != 0)
			continue;
		cJSON_ArrayForEach(block, json_get(message, "content")) {
			const char *text = json_str(block, "text");
			if (text && *text && strcmp(terminal_text(block, "type"), "text") == 0)
				terminal_printf("%s\n", text);
		}
	}
}

static int runs_wait(
    struct run_source *source, const struct runs_options *o, const struct run_name *run)
{
	struct error err = {0};
	cJSON *data = source->result(source, run, &err);
	cJSON *record = data ? source->read(source, run, &err) : NULL;
	if (!record) {
		cJSON_Delete(data);
		return complain_error(&err);
	}
	int status = runs_exit_status(record);
	const cJSON *interrupt = json_opt(json_get(data, "meta"), "interrupt");
	struct arena *a = arena_new();
	if (interrupt) /* so that whoever reads the mail of cron knows what it asks */
		complain(EXIT_WAITS, "thread %s is paused: %s", run->thread,
		    interrupt_question(a, interrupt));
	arena_free(a);
	if (o->json)
		terminal_json(data);
	else
		runs_print_answer(data);
	cJSON_Delete(data);
	cJSON_Delete(record);
	return status;
}

static int runs_submit(
    struct run_source *source, const struct runs_options *o, const struct run_name *unused)
{
	(void)unused;
	struct error err = {0};
	cJSON *body = runs_body(o, &err);
	cJSON *record = body ? source->submit(source, body, &err) : NULL;
	cJSON_Delete(body);
	if (!record)
		return complain_error(&err);
	const struct run_name run = {
	    terminal_text(record, "thread_id"), terminal_text(record, "run_id")};
	int status = 0;
	if (o->wait)
		status = runs_wait(source, o, &run);
	else if (o->json)
		terminal_json(record);
	else
		terminal_printf("%s %s\n", run.thread, run.id);
	cJSON_Delete(record);
	return status;
}

/* ---- the command line ---- */

static const struct runs_verb runs_verbs[] = {
    {"list", 0, runs_list_all, {"--thread", "--status", "--limit", "--json"}},
    {"show", 2, runs_show, {"--follow", "--json"}},
    {"follow", 2, runs_follow, {"--after", "--granularity"}}, {"stop", 2, runs_stop, {"--json"}},
    {"submit", 0, runs_submit,
	{"--message", "--thread", "--user", "--delay", "--metadata", "--webhook", "--wait",
	    "--json"}}};

/* Checks what the form of the options does not show. */
static void runs_check(
    const struct runs_verb *verb, const struct runs_options *o, int operands, struct error *err)
{
	if (operands != verb->operands && verb->operands)
		error_set(err, ERR_INVALID_INPUT, "runs %s takes a thread and a run, got %d",
		    verb->name, operands);
	else if (operands != verb->operands)
		error_set(err, ERR_INVALID_INPUT, "runs %s takes no argument, got %d", verb->name,
		    operands);
	if (verb->run == runs_submit && !o->message)
		error_set(err, ERR_INVALID_INPUT, "runs submit needs --message");
	if (o->message && !utf8_valid(o->message, strlen(o->message)))
		error_set(err, ERR_INVALID_INPUT, "--message must be UTF-8");
	cJSON *metadata = o->metadata ? runs_metadata(o) : NULL;
	if (o->metadata && !cJSON_IsObject(metadata))
		error_set(err, ERR_INVALID_INPUT, "--metadata must be a JSON object");
	cJSON_Delete(metadata);
	command_status_fits(o->status, RUN_RUNNING, RUN_QUEUED, err);
	if (strcmp(o->granularity, "low") != 0 && strcmp(o->granularity, "partial") != 0 &&
	    strcmp(o->granularity, "full") != 0)
		error_set(err, ERR_INVALID_INPUT,
		    "--granularity must be low, partial or full, not \"%s\"", o->granularity);
	if (command_user_fits(o->user, err) && o->url && command_url_alone(&o->where, o->user, err))
		url_service_check(o->url, err);
}

int cmd_runs(int argc, char **argv)
{
	struct runs_options o = {.limit = LIST_LIMIT, .granularity = "low"};
	struct option_spec specs[] = {
	    {"--url", OPTION_TEXT, &o.url, 0, 0},
	    COMMAND_SOURCE(o.where),
	    {"--user", OPTION_TEXT, &o.user, 0, 0},
	    {"--thread", OPTION_TEXT, &o.thread, 0, 0},
	    {"--status", OPTION_TEXT, &o.status, 0, 0},
	    {"--limit", OPTION_NUMBER, &o.limit, 1, 1000},
	    {"--message", OPTION_TEXT, &o.message, 0, 0},
	    {"--metadata", OPTION_TEXT, &o.metadata, 0, 0},
	    {"--webhook", OPTION_TEXT, &o.webhook, 0, 0},
	    {"--delay", OPTION_NUMBER, &o.delay, 0, DELAY_MAX},
	    {"--granularity", OPTION_TEXT, &o.granularity, 0, 0},
	    {"--after", OPTION_NUMBER, &o.after, 0, INT32_MAX},
	    {"--follow", OPTION_FLAG, &o.follow, 0, 0},
	    {"--wait", OPTION_FLAG, &o.wait, 0, 0},
	    {"--json", OPTION_FLAG, &o.json, 0, 0},
	    OPTION_END,
	};
	struct error err = {0};
	const struct runs_verb *verb = NULL;
	for (size_t i = 0; argc > 1 && i < sizeof(runs_verbs) / sizeof(runs_verbs[0]); i++)
		if (strcmp(runs_verbs[i].name, argv[1]) == 0)
			verb = &runs_verbs[i];
	if (!verb)
		return complain(EXIT_USAGE,
		    "runs takes list, show, follow, stop or submit; see agentgraph help runs");
	command_keep_options(specs, verb->options);
	int operands = options_parse(specs, argc - 1, argv + 1, &err);
	if (operands >= 0)
		runs_check(verb, &o, operands, &err);
	if (error_is_set(&err))
		return complain(EXIT_USAGE, "%s; see agentgraph help runs", err.detail);

	struct run_source *source = o.url ? run_source_of_url(o.url, getenv("AGENTGRAPH_TOKEN"))
					  : run_source_of_state(&o.where, o.user);
	if (!source)
		return 1;
	const struct run_name run = {argv[1], argv[2]};
	int status = verb->run(source, &o, &run);
	source->close(source);
	return status;
}
