/* SPDX-License-Identifier: ISC */
/* The examination in its child process, and the report that comes back through a pipe. */
#include "examine.h"

#include "access/access.h"
#include "access/limit.h"
#include "access/ticket.h"
#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "command.h"
#include "config/text_file.h"
#include "nginx_conf.h"
#include "service/memory/memories.h"
#include "service/thread/names.h"
#include "sockets.h"
#include "spawn.h"
#include "storage/blob/s3.h"
#include "storage/files.h"
#include "storage/storage.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void problems_print(const struct problems *problems)
{
	for (size_t i = 0; i < problems->count; i++)
		complain(0, "%s: %s", problems->items[i].warning ? "warning" : "error",
		    problems->items[i].text);
}

void problems_print_errors(const struct problems *problems)
{
	for (size_t i = 0; i < problems->count; i++)
		if (!problems->items[i].warning)
			complain(0, "error: %s", problems->items[i].text);
}

static void examine_parent(const struct config *config, struct problems *problems)
{
	char *copy = xstrdup(config->state_dir);
	const char *parent = dirname(copy);

	if (access(parent, F_OK) == 0 && access(parent, W_OK | X_OK) != 0)
		problems_add(problems, "the state directory %s cannot be made: %s",
		    config->state_dir, strerror(errno));
	free(copy);
}

/* Opens the databases where there are some; a check must not make any. */
static struct storage *examine_storage(const struct config *config, struct problems *problems)
{
	struct error err = {0};
	struct storage *storage;
	struct stat st;

	if (stat(config->state_dir, &st) != 0 && errno == ENOENT) {
		examine_parent(config, problems);
		return NULL;
	}
	storage = storage_open(config, &err);
	if (!storage)
		problems_add(problems, "the databases in %s cannot be opened: %s",
		    config->state_dir, err.cause[0] ? err.cause : err.detail);
	error_release(&err);
	return storage;
}

/* The memory store, opened only where there is one. */
static void examine_memories(
    const struct config *config, struct storage *storage, struct problems *problems)
{
	struct memories *memories = memories_new(config, problems);
	char *path = xasprintf("%s/store.db", config->state_dir);
	struct error err = {0};

	if (memories && storage && access(path, F_OK) == 0) {
		memories_attach(memories, storage->ops->shared(storage));
		if (!memories_check(memories, problems, &err))
			problems_add(problems, "%s", err.cause[0] ? err.cause : err.detail);
	}
	error_release(&err);
	memories_free(memories);
	free(path);
}

static void examine_records(
    const struct config *config, struct storage *storage, struct problems *problems)
{
	struct error err = {0};

	if (storage && !files_check(config, storage->ops->shared(storage), &err))
		problems_add(problems, "%s", err.cause[0] ? err.cause : err.detail);
	error_release(&err);
}

/* Databases, keys, and the plug-ins and the cache that say who may do what. */
static void examine_access(const struct config *config, struct problems *problems)
{
	struct storage *storage = examine_storage(config, problems);

	access_close(access_open(config, storage, problems));
	examine_memories(config, storage, problems);
	examine_records(config, storage, problems);
	if (storage)
		storage->ops->close(storage);
}

static void examine_cloud(const struct environment *env, struct problems *problems)
{
	struct error err = {0};

	if (!s3_check(env, &err))
		problems_add(problems, "%s", err.detail);
	error_release(&err);
}

/* A place that was asked for must do; the usual one may be made later, or never be needed. */
static void examine_files(const struct config *config, struct problems *problems)
{
	const char *asked = getenv("MEDIA_STORAGE_PATH");
	struct error err = {0};

	if (strcmp(config->env.media_storage_type, BLOBS_CLOUD) == 0)
		examine_cloud(&config->env, problems);
	else if (strcmp(config->env.media_storage_type, BLOBS_LOCAL) == 0 &&
	    !blobs_local_check(config->env.media_storage_path, &err)) {
		if (asked && *asked)
			problems_add(problems, "%s", err.detail);
		else
			problems_warn(problems, "%s; no file can be uploaded", err.detail);
	}
	error_release(&err);
}

static void examine_limit(const struct config *config, struct problems *problems)
{
	struct limiter *limiter = limiter_open(config, problems);

	if (limiter)
		limiter_probe(limiter, problems);
	limiter_close(limiter);
}

static void examine_names(const struct config *config, struct problems *problems)
{
	struct names names;

	if (names_open(&names, config, problems))
		names_close(&names);
}

static char *examine_nginx(
    const struct examine_request *request, const struct config *config, struct problems *problems)
{
	char *socket = fastcgi_socket_path(config->state_dir, request->socket);
	char *relay = relay_socket_path(config->state_dir, request->socket);
	char *run = xasprintf("%s/run", config->state_dir);
	long drain = request->drain >= 0 ? request->drain : (long)config->env.drain;
	const struct nginx_place place = {socket, relay, request->listen, run, NULL, drain};
	char *text = nginx_conf(config, &place, problems);

	free(socket);
	free(relay);
	free(run);
	return text;
}

static void examine_place(const struct config *config, struct problems *problems)
{
	struct error err = {0};

	if (!ticket_place_check(config->state_dir, &err))
		problems_add(problems, "%s", err.detail);
	error_release(&err);
}

static void examine_all(const struct examine_request *request, const struct config *config,
    cJSON *report, struct problems *problems)
{
	ag_graph *graph = graph_load(config, problems);
	char *nginx = examine_nginx(request, config, problems);

	examine_place(config, problems);
	examine_access(config, problems);
	examine_limit(config, problems);
	examine_names(config, problems);
	examine_files(config, problems);
	pages_examine(&request->source, config, problems);
	if (request->place) {
		variables_examine(problems);
		scopes_examine(&request->source, config, problems);
		host_examine(config, problems);
		web_examine(request->place, config, problems);
		services_examine(config, graph, problems);
	}
	if (graph)
		graph_free(graph);
	json_add_str(report, "agent", config->agent);
	json_add_str(report, "state_dir", config->state_dir);
	json_add_str(report, "nginx", request->listen ? nginx : NULL);
	json_add_int(report, "processes", config->env.processes);
	json_add_int(report, "threads", config->env.threads);
	json_add_int(report, "drain", config->env.drain);
	free(nginx);
}

static const char *file_name(const struct config_source *source, const struct config *config)
{
	const char *variable = getenv("GRAPH_PATH");

	if (config)
		return config->path ? config->path : config->agent;
	if (source->file)
		return source->file;
	return variable && *variable ? variable : "agentgraph.json";
}

/* The child's whole life. */
static void examine_here(const struct examine_request *request, int fd)
{
	struct problems problems = {0};
	cJSON *report = cJSON_CreateObject();
	struct config *config;
	char *text;

	text_files_note(cJSON_AddObjectToObject(report, "files"));
	config = config_load(&request->source, &problems);
	if (config)
		examine_all(request, config, report, &problems);
	text_files_note(NULL);
	problems_print(&problems);
	json_add_str(report, "file", file_name(&request->source, config));
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

static char *examine_take(const cJSON *report, const char *key)
{
	return xstrdup(json_str(report, key));
}

static long examine_take_number(const cJSON *report, const char *key)
{
	int64_t value;

	return json_integer(json_get(report, key), &value) ? (long)value : 0;
}

void examine_result(const struct buf *written, int wait_status, struct examination *result)
{
	cJSON *report = json_parse(buf_str(written), written->len, JSON_TRUSTED_DEPTH, NULL);
	int64_t errors = 1;

	*result = (struct examination){.errors = 1};
	if (WIFSIGNALED(wait_status))
		complain(1, "error: the graph or a plug-in crashed while it was loaded (%s)",
		    strsignal(WTERMSIG(wait_status)));
	else if (!report)
		complain(1, "error: the graph or a plug-in ended the process while it was loaded");
	else if (json_integer(json_get(report, "errors"), &errors))
		result->errors = errors;
	result->file = examine_take(report, "file");
	result->agent = examine_take(report, "agent");
	result->state_dir = examine_take(report, "state_dir");
	result->nginx = examine_take(report, "nginx");
	result->processes = examine_take_number(report, "processes");
	result->threads = examine_take_number(report, "threads");
	result->drain = examine_take_number(report, "drain");
	result->files = report ? json_print(json_get(report, "files")) : NULL;
	cJSON_Delete(report);
}

bool examine(const struct examine_request *request, struct examination *result)
{
	struct buf written = {0};
	int fd, status = 0;
	ssize_t len;
	pid_t pid = examine_start(request, &fd);

	*result = (struct examination){.errors = 1};
	if (pid < 0) {
		complain(1, "cannot start a process: %s", strerror(errno));
		return false;
	}
	while (
	    (len = read(fd, buf_reserve(&written, 4096), 4096)) > 0 || (len < 0 && errno == EINTR))
		written.len += len > 0 ? (size_t)len : 0;
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
	free(result->nginx);
	free(result->files);
	*result = (struct examination){0};
}
