/* SPDX-License-Identifier: ISC */
/* agentgraph threads: lists and shows threads and what they were, copies them, and takes them
 * elsewhere. */
#include "base/arena.h"
#include "base/json/json.h"
#include "cli/command.h"
#include "cli/source/ask_url.h"
#include "cli/source/thread_source.h"
#include "cli/terminal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LIST_LIMIT 100
#define LABELS_MAX 16 /* doc/protocol-threads.md#listing */

/* What the command line says.  Options that a subcommand does not have keep their defaults. */
struct threads_options {
	const char *url; /* NULL: the state directory */
	struct config_source where;
	const char *user;
	const char *search, *status, *metadata, *checkpoint, *before, *run, *to;
	long limit;
	bool json;
};

/* One of "list", "show" and so on: its operand and options, and what does it. */
struct threads_verb {
	const char *name;
	const char *takes; /* the operand; NULL: it takes none */
	int (*run)(
	    struct thread_source *source, const struct threads_options *o, const char *thread_id);
	const char *options[7]; /* up to a NULL, besides those that say where */
};

/* ---- list ---- */

static int threads_list_all(
    struct thread_source *source, const struct threads_options *o, const char *unused)
{
	(void)unused;
	struct error err = {0};
	struct label labels[LABELS_MAX];
	char limit[24];
	struct thread_query query = {
	    .page = {.search = o->search, .limit = limit}, .status = o->status, .labels = labels};
	const char *metadata = o->metadata ? o->metadata : "{}";
	const cJSON *wanted, *member, *thread;
	struct arena *a = arena_new(); /* of the labels' texts */
	cJSON *data = NULL;
	snprintf(limit, sizeof(limit), "%ld", o->limit);
	wanted = arena_json(a, json_parse(metadata, strlen(metadata), JSON_REQUEST_DEPTH, NULL));
	bool fits = cJSON_IsObject(wanted) && cJSON_GetArraySize(wanted) <= LABELS_MAX;
	if (fits) {
		cJSON_ArrayForEach(member, wanted)
			labels[query.label_count++] = (struct label){member->string,
			    cJSON_IsString(member) ? member->valuestring : arena_print(a, member)};
		data = source->list(source, &query, &err);
	}
	arena_free(a);
	if (!fits)
		return complain(EXIT_USAGE,
		    "--metadata must be a JSON object of at most %d members; see agentgraph help "
		    "threads",
		    LABELS_MAX);
	if (!data)
		return complain_error(&err);
	cJSON_ArrayForEach(thread, json_get(data, "threads")) {
		if (o->json)
			terminal_json(thread);
		else
			/* words for people and `read`: ids and names come last, because they may
			 * have blanks */
			terminal_printf("%-11s  %s  %s  %s\n", terminal_text(thread, "status"),
			    terminal_text(thread, "updated_at"), terminal_text(thread, "thread_id"),
			    terminal_text(thread, "thread_name"));
	}
	cJSON_Delete(data);
	return 0;
}

/* ---- show, history ---- */

static int threads_show(
    struct thread_source *source, const struct threads_options *o, const char *thread_id)
{
	/* what needs more than one line */
	static const char *const without[] = {"thread", "state", "messages", NULL};
	struct error err = {0};
	cJSON *data = o->checkpoint ? source->checkpoint(source, thread_id, o->checkpoint, &err)
				    : source->read(source, thread_id, &err);
	if (!data)
		return complain_error(&err);
	const cJSON *shown = o->checkpoint ? data : json_get(data, "thread_data");
	if (o->json)
		terminal_json(o->checkpoint ? shown : json_get(shown, "thread"));
	else
		terminal_members(shown, 20, without);
	cJSON_Delete(data);
	return 0;
}

static int threads_history(
    struct thread_source *source, const struct threads_options *o, const char *thread_id)
{
	struct error err = {0};
	char limit[24];
	const struct history_query query = {.limit = limit, .before = o->before, .run_id = o->run};
	snprintf(limit, sizeof(limit), "%ld", o->limit);
	cJSON *data = source->history(source, thread_id, &query, &err);
	const cJSON *checkpoint;
	int64_t count;
	if (!data)
		return complain_error(&err);
	cJSON_ArrayForEach(checkpoint, json_get(data, "history")) {
		if (o->json)
			terminal_json(checkpoint);
		else if (json_integer(json_get(checkpoint, "message_count"), &count))
			terminal_printf("%s  %s  %-6s  %-11s  %6lld  %s  %s\n",
			    terminal_text(checkpoint, "checkpoint_id"),
			    terminal_text(checkpoint, "created_at"),
			    terminal_text(checkpoint, "source"),
			    terminal_text(checkpoint, "status"), (long long)count,
			    terminal_text(checkpoint, "parent_checkpoint_id"),
			    terminal_text(checkpoint, "node"));
	}
	cJSON_Delete(data);
	return 0;
}

/* ---- copy, import ---- */

/* Prints the thread that was made, and deletes data; NULL stands for err. */
static int threads_tell_made(const struct threads_options *o, cJSON *data, struct error *err)
{
	if (!data)
		return complain_error(err);
	const cJSON *made = json_get(json_get(data, "thread_data"), "thread");
	if (o->json)
		terminal_json(made);
	else
		terminal_printf("%s\n", terminal_text(made, "thread_id"));
	cJSON_Delete(data);
	return 0;
}

static int threads_copy(
    struct thread_source *source, const struct threads_options *o, const char *thread_id)
{
	struct error err = {0};
	cJSON *body = cJSON_CreateObject();
	if (o->checkpoint)
		json_add_str(body, "checkpoint_id", o->checkpoint);
	if (o->to)
		json_add_str(body, "thread_id", o->to);
	cJSON *data = source->copy(source, thread_id, body, &err);
	cJSON_Delete(body);
	return threads_tell_made(o, data, &err);
}

/* A file with what in holds, because lines are read twice: in itself if it is one, else a temporary
 * copy of a pipe or terminal.  NULL with errno set. */
static FILE *threads_keep(FILE *in)
{
	struct stat st;
	if (fstat(fileno(in), &st) == 0 && S_ISREG(st.st_mode))
		return in;
	FILE *kept = tmpfile();
	char data[BUFSIZ];
	size_t got;
	while (kept && (got = fread(data, 1, sizeof(data), in)) > 0)
		if (fwrite(data, 1, got, kept) != got)
			break;
	if (kept && !ferror(in) && fflush(kept) == 0 && !ferror(kept)) {
		rewind(kept);
		return kept;
	}
	if (kept)
		fclose(kept);
	return NULL;
}

static int threads_import(
    struct thread_source *source, const struct threads_options *o, const char *path)
{
	struct error err = {0};
	FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
	FILE *lines = in ? threads_keep(in) : NULL;
	if (!lines)
		error_set(&err, ERR_INVALID_INPUT, "%s", strerror(errno));
	cJSON *data = lines ? source->bring_in(source, lines, o->to, &err) : NULL;
	if (lines && lines != in)
		fclose(lines);
	if (in && in != stdin)
		fclose(in);
	if (data)
		return threads_tell_made(o, data, &err);
	complain(1, "%s: %s", path, error_why(&err));
	error_release(&err);
	return 1;
}

static int threads_export(
    struct thread_source *source, const struct threads_options *o, const char *thread_id)
{
	struct error err = {0};
	(void)o;
	return source->take_out(source, thread_id, stdout, &err) ? 0 : complain_error(&err);
}

/* ---- the command line ---- */

static const struct threads_verb threads_verbs[] = {
    {"list", NULL, threads_list_all,
	{"--search", "--status", "--metadata", "--limit", "--user", "--json"}},
    {"show", "a thread", threads_show, {"--checkpoint", "--json"}},
    {"history", "a thread", threads_history, {"--limit", "--before", "--run", "--json"}},
    {"copy", "a thread", threads_copy, {"--checkpoint", "--to", "--user", "--json"}},
    {"export", "a thread", threads_export, {NULL}},
    {"import", "a file, or -", threads_import, {"--to", "--user", "--json"}}};

int cmd_threads(int argc, char **argv)
{
	struct threads_options o = {.limit = LIST_LIMIT};
	struct option_spec specs[] = {
	    {"--url", OPTION_TEXT, &o.url, 0, 0},
	    COMMAND_SOURCE(o.where),
	    {"--user", OPTION_TEXT, &o.user, 0, 0},
	    {"--search", OPTION_TEXT, &o.search, 0, 0},
	    {"--status", OPTION_TEXT, &o.status, 0, 0},
	    {"--metadata", OPTION_TEXT, &o.metadata, 0, 0},
	    {"--limit", OPTION_NUMBER, &o.limit, 1, 1000},
	    {"--checkpoint", OPTION_TEXT, &o.checkpoint, 0, 0},
	    {"--before", OPTION_TEXT, &o.before, 0, 0},
	    {"--run", OPTION_TEXT, &o.run, 0, 0},
	    {"--to", OPTION_TEXT, &o.to, 0, 0},
	    {"--json", OPTION_FLAG, &o.json, 0, 0},
	    OPTION_END,
	};
	struct error err = {0};
	const struct threads_verb *verb = NULL;
	for (size_t i = 0; argc > 1 && i < sizeof(threads_verbs) / sizeof(threads_verbs[0]); i++)
		if (strcmp(threads_verbs[i].name, argv[1]) == 0)
			verb = &threads_verbs[i];
	if (!verb)
		return complain(EXIT_USAGE,
		    "threads takes list, show, history, copy, export or import; see agentgraph help threads");
	command_keep_options(specs, verb->options);
	int operands = options_parse(specs, argc - 1, argv + 1, &err);
	if (operands >= 0 && operands != (verb->takes != NULL))
		error_set(&err, ERR_INVALID_INPUT, "threads %s takes %s, got %d", verb->name,
		    verb->takes ? verb->takes : "no argument", operands);
	if (operands >= 0 && command_status_fits(o.status, RUN_IDLE, RUN_STOPPED, &err) &&
	    command_user_fits(o.user, &err) && o.url && command_url_alone(&o.where, o.user, &err))
		url_service_check(o.url, &err);
	o.where.state_may_be_empty = verb->run == threads_import; /* it may come in first */
	if (error_is_set(&err))
		return complain(EXIT_USAGE, "%s; see agentgraph help threads", err.detail);

	struct thread_source *source = o.url
	    ? thread_source_of_url(o.url, getenv("AGENTGRAPH_TOKEN"))
	    : thread_source_of_state(&o.where, o.user);
	if (!source)
		return 1;
	int status = verb->run(source, &o, argv[1]);
	source->close(source);
	return status;
}
