/* SPDX-License-Identifier: ISC */
/* The examination in its child process, and the report that comes back through a pipe. */
#include "cli/examine/examine.h"

#include "access/access.h"
#include "access/limit.h"
#include "access/ticket/ticket.h"
#include "base/error.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "base/os/descriptor.h"
#include "base/os/shared.h"
#include "cli/command.h"
#include "cli/nginx/nginx_conf.h"
#include "cli/spawn.h"
#include "config/environment/environment.h"
#include "config/text_file.h"
#include "service/mcp/mcp_offer.h"
#include "service/memory/memories.h"
#include "service/thread/names.h"
#include "storage/blob/s3.h"
#include "storage/files.h"
#include "storage/storage.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whether there are databases.  Where there are none, only whether they could be made is checked: a
 * check makes nothing. */
static bool examine_has_state(const char *state_dir, struct problems *problems)
{
	static const char *const databases[] = {"threads.db", "files.db", "store.db"};
	char *copy = xstrdup(state_dir);
	const char *parent = dirname(copy);
	struct stat st;
	bool is_there = stat(state_dir, &st) == 0 || errno != ENOENT, has = false;
	for (size_t i = 0; !has && i < sizeof(databases) / sizeof(databases[0]); i++) {
		char *path = xasprintf("%s/%s", state_dir, databases[i]);
		has = access(path, F_OK) == 0 || errno != ENOENT;
		free(path);
	}
	if (is_there && !has && access(state_dir, W_OK | X_OK) != 0)
		problems_add(problems, "the state directory %s cannot be written: %s", state_dir,
		    strerror(errno));
	else if (!is_there && lstat(state_dir, &st) == 0)
		problems_add(problems, "the state directory %s is a link to nowhere", state_dir);
	else if (!is_there && access(parent, F_OK) == 0 && access(parent, W_OK | X_OK) != 0)
		problems_add(problems, "the state directory %s cannot be made: %s", state_dir,
		    strerror(errno));
	free(copy);
	return has;
}

/* Asks a database server, which opening the storage would change. */
static void examine_server(const struct storage_engine *engine, const struct config *config,
    bool serves, struct problems *problems)
{
	struct error err = {0};
	char *found = engine->examine(config, &err);
	if (found)
		complain(0, "database: %s", found);
	else if (serves && err.kind == ERR_TRANSIENT_STORAGE)
		problems_warn(problems,
		    "database: %s; requests are answered with 503 until it can be reached",
		    err.cause);
	else
		problems_add(problems, "database: %s", error_why(&err));
	error_release(&err);
	free(found);
	/* the memory of an instance, if it is there: another version may be using it */
	char *path = xasprintf("%s/shared", config->state_dir);
	if (access(path, F_OK) == 0) {
		struct shared *shared = shared_open(config->state_dir, &err);
		if (!shared)
			problems_add(problems, "%s", error_why(&err));
		shared_close(shared);
		error_release(&err);
	}
	free(path);
}

/* Opens the databases and the memory beside them, if they are there: a check must not make any.
 * Both are NULL otherwise.  A database server that is away is only a warning to a service that
 * starts. */
static struct storage *examine_storage(
    const struct config *config, bool serves, struct shared **shared, struct problems *problems)
{
	const struct storage_engine *engine;
	struct error err = {0};
	struct storage *storage;
	*shared = NULL;
	engine = storage_engine_of(config, &err);
	if (!engine) {
		problems_add(problems, "%s", err.detail);
		error_release(&err);
		return NULL;
	}
	if (engine->examine) {
		examine_server(engine, config, serves, problems);
		return NULL;
	}
	if (!examine_has_state(config->state_dir, problems))
		return NULL;
	*shared = shared_open(config->state_dir, &err);
	storage = *shared ? storage_open(config, *shared, &err) : NULL;
	if (!storage) {
		shared_close(*shared);
		*shared = NULL;
		problems_add(problems, "the databases in %s cannot be opened: %s",
		    config->state_dir, error_why(&err));
	}
	error_release(&err);
	return storage;
}

/* Checks the databases, keys and memories, and the plug-ins and the cache that decide who may do
 * what. */
static void examine_access(const struct config *config, bool serves, struct problems *problems)
{
	struct error err = {0};
	struct shared *shared;
	struct storage *storage = examine_storage(config, serves, &shared, problems);
	struct access *who = access_open(config, storage, shared, problems);
	char *path = xasprintf("%s/store.db", config->state_dir);
	if (who)
		access_probe(who, problems);
	access_close(who);
	struct memories *memories = memories_new(config, problems);
	if (memories && storage && access(path, F_OK) == 0) { /* opened only where there is one */
		memories_attach(memories, storage);
		if (!memories_check(memories, problems, &err))
			problems_add(problems, "%s", error_why(&err));
		error_release(&err);
	}
	memories_free(memories);
	free(path);
	if (storage && !files_check(storage, &err))
		problems_add(problems, "%s", error_why(&err));
	error_release(&err);
	storage_close(storage);
	shared_close(shared);
}

/* Checks where files are stored.  A place that was asked for must work; the usual one may be made
 * later, or never be needed. */
static void examine_files(const struct config *config, struct problems *problems)
{
	const char *asked = environment_text("MEDIA_STORAGE_PATH"),
		   *type = config->env.media_storage_type;
	bool local = strcmp(type, BLOBS_LOCAL) == 0;
	struct error err = {0};
	const struct storage_engine *engine = storage_engine_of(config, &err);
	error_release(&err); /* no engine is a mistake that is told already */
	if (strcmp(type, BLOBS_CLOUD) == 0) {
		if (!s3_check(&config->env, &err))
			problems_add(problems, "%s", err.detail);
	} else if (local && !blobs_local_check(config->env.media_storage_path, &err)) {
		if (asked)
			problems_add(problems, "%s", err.detail);
		else
			problems_warn(problems, "%s; no file can be uploaded", err.detail);
	} else if (engine && !files_type_check(config, &err)) {
		problems_add(problems, "%s", err.detail);
	}
	error_release(&err);
	/* what other machines over the same database would not have */
	if (engine && engine->bytes && (local || strcmp(type, BLOBS_MEMORY) == 0))
		problems_warn(problems,
		    "MEDIA_STORAGE_TYPE: bytes of files are on this machine alone; expected "
		    "database or cloud where others share the database, found %s",
		    type);
}

/* Instances that share a database are one service: this one sees only some of the requests to
 * it. */
static void examine_counts(const struct config *config, struct problems *problems)
{
	struct error err = {0};
	const struct storage_engine *engine = storage_engine_of(config, &err);
	error_release(&err);
	if (engine && engine->can.instances && config->rate_limit.present &&
	    config->rate_limit.backend == RATE_MEMORY)
		problems_warn(problems,
		    "rate_limit.backend: \"memory\" counts what this instance is asked; expected "
		    "\"cache\" where others share the database");
}

/* If nginx does not accept a new configuration it goes on with the old one and tells only its log.
 * So it is asked before it gets the new one. */
static void examine_nginx(
    const struct examine_request *request, const char *text, struct problems *problems)
{
	char *run = xasprintf("%s/run", request->state_dir);
	char *path = xasprintf("%s/nginx.conf.test", run);
	char *socket = xasprintf("NGINX=%d;", request->tcp);
	char *argv[] = {request->nginx, "-t", "-q", "-p", run, "-c", path, "-e", "stderr", NULL};
	const struct spawn test = {
	    .argv = argv, .variable = socket, .input = -1, .inherit = request->tcp};
	FILE *f = fopen(path, "we");
	bool written = f && fputs(text, f) >= 0;
	int status = 0;
	pid_t pid;
	if (f && fclose(f) != 0)
		written = false;
	if (!written)
		problems_add(problems, "cannot write %s: %s", path, strerror(errno));
	else if ((pid = spawn_program(&test)) < 0 || waitpid(pid, &status, 0) < 0)
		problems_add(problems, "cannot ask nginx: %s", strerror(errno));
	else if (status != 0)
		problems_add(
		    problems, "nginx does not take its configuration; its message is above");
	unlink(path);
	free(socket);
	free(path);
	free(run);
}

static void examine_all(const struct examine_request *request, const struct config *config,
    cJSON *report, struct problems *problems)
{
	ag_graph *graph = graph_load(config, problems);
	const struct nginx_place place = {.socket = request->socket,
	    .listen = request->listen,
	    .drain = request->drain >= 0 ? request->drain : (long)config->env.drain};
	char *nginx = nginx_conf(config, &place, problems);
	struct limiter *limiter;
	struct names names;
	struct error err = {0};
	if (!request->place && !request->state_dir) /* a service is about to start */
		storage_make_room_to_start(config->state_dir);
	if (nginx && request->nginx && request->state_dir)
		examine_nginx(request, nginx, problems);
	if (!ticket_place_check(config->state_dir, &err))
		problems_add(problems, "%s", err.detail);
	error_release(&err);
	examine_counts(config, problems);
	examine_access(config, !request->place, problems);
	limiter = limiter_open(config, problems);
	if (limiter)
		limiter_probe(limiter, problems);
	limiter_close(limiter);
	if (names_open(&names, config, problems))
		names_close(&names);
	if (config->mcp.enabled)
		mcp_offer_free(mcp_offer_new(config, problems));
	examine_files(config, problems);
	pages_examine(&request->source, config, problems);
	if (request->place) {
		variables_examine(problems);
		scopes_examine(&request->source, config, problems);
		host_examine(config, request->place, problems);
		web_examine(request->place, config, problems);
		services_examine(config, graph, problems);
	}
	json_add_int(report, "background", graph && !graph->live ? config->runs_background : 0);
	if (graph)
		graph_free(graph);
	json_add_str(report, "agent", config->agent);
	json_add_str(report, "state_dir", config->state_dir);
	json_add_str(report, "console", config->env.console_path);
	json_add_str(report, "nginx", request->listen ? nginx : NULL);
	json_add_int(report, "processes", config->env.processes);
	json_add_int(report, "threads", config->env.threads);
	json_add_int(report, "drain", config->env.drain);
	free(nginx);
}

/* The child's whole life. */
static void examine_here(const struct examine_request *request, int fd)
{
	struct problems problems = {0};
	cJSON *report = cJSON_CreateObject();
	const char *variable = environment_text("GRAPH_PATH");
	const char *file = request->source.file;
	struct config *config;
	char *text;
	text_files_note(cJSON_AddObjectToObject(report, "files"));
	config = config_load(&request->source, &problems);
	if (config && request->state_dir && strcmp(config->state_dir, request->state_dir) != 0) {
		problems_warn(&problems,
		    "the state directory changes only with a restart; it stays %s",
		    request->state_dir);
		free(config->state_dir);
		config->state_dir = xstrdup(request->state_dir);
	}
	if (config)
		examine_all(request, config, report, &problems);
	text_files_note(NULL);
	problems_print(&problems);
	if (!file)
		file = variable ? variable : "agentgraph.json";
	if (config)
		file = config->path ? config->path : config->agent;
	json_add_str(report, "file", file);
	json_add_int(report, "errors", (int64_t)problems.errors);
	text = json_print(report);
	dprintf(fd, "%s", text);
	free(text);
	cJSON_Delete(report);
	problems_release(&problems);
	config_free(config);
}

pid_t examine_start(const struct examine_request *request, int *fd)
{
	int ends[2];
	pid_t pid;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	pid = spawn_fork();
	if (pid == 0) {
		close(ends[0]);
		examine_here(request, ends[1]);
		exit(0);
	}
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return -1;
	}
	*fd = ends[0];
	return pid;
}

void examine_result(const struct buf *written, int wait_status, struct examination *result)
{
	cJSON *report = json_parse(buf_str(written), written->len, JSON_TRUSTED_DEPTH, NULL);
	int64_t errors = 1;
	*result = (struct examination){.errors = 1};
	if (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL)
		complain(1, "error: what loaded the graph and its plug-ins was killed");
	else if (WIFSIGNALED(wait_status))
		complain(1, "error: the graph or a plug-in crashed while it was loaded (%s)",
		    strsignal(WTERMSIG(wait_status)));
	else if (!report)
		complain(1, "error: the graph or a plug-in ended the process while it was loaded");
	else if (json_integer(json_get(report, "errors"), &errors))
		result->errors = errors;
	result->file = xstrdup(json_str(report, "file"));
	result->agent = xstrdup(json_str(report, "agent"));
	result->state_dir = xstrdup(json_str(report, "state_dir"));
	result->console = xstrdup(json_str(report, "console"));
	result->nginx = xstrdup(json_str(report, "nginx"));
	result->processes = (long)json_int(report, "processes", 0);
	result->threads = (long)json_int(report, "threads", 0);
	result->drain = (long)json_int(report, "drain", 0);
	result->background = (long)json_int(report, "background", 0);
	result->files = report ? json_print(json_get(report, "files")) : NULL;
	cJSON_Delete(report);
}

bool examine(const struct examine_request *request, struct examination *result)
{
	struct buf written = {0};
	int fd, status = 0;
	pid_t pid = examine_start(request, &fd);
	*result = (struct examination){.errors = 1};
	if (pid < 0) {
		complain(1, "cannot start a process: %s", strerror(errno));
		return false;
	}
	descriptor_read_all(fd, &written, SIZE_MAX);
	close(fd);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	examine_result(&written, status, result);
	buf_release(&written);
	return result->errors == 0;
}

void examination_release(struct examination *result)
{
	free(result->file);
	free(result->agent);
	free(result->state_dir);
	free(result->console);
	free(result->nginx);
	free(result->files);
	*result = (struct examination){0};
}
