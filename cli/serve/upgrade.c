/* SPDX-License-Identifier: ISC */
/*
 * New programs, installed over those that run.  The workers, the helpers, the relay and
 * agentgraph-follow are simply started anew by their paths.  This program executes its successor in
 * its own place: the process id, the children and the open sockets stay, and what this program
 * knows is handed over as a JSON document in a memory file.  Members have names there, so that
 * versions may have different ones.
 */
#include "base/json/json.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "cli/serve/supervisor.h"
#include "cli/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define VARIABLE "AGENTGRAPH_HANDOVER" /* the number of the memory file's descriptor */
#define MAX_OPTIONS 64

/* The values of an older program whose document does not have them. */
#define DEFAULT_THREADS 64
#define DEFAULT_DRAIN 30

/* ---- whether there is something new ---- */

static bool cli_upgrade_is_other(const char *running, const char *path)
{
	struct stat old, new;
	return stat(running, &old) == 0 && stat(path, &new) == 0 &&
	    (old.st_dev != new.st_dev || old.st_ino != new.st_ino);
}

char *upgrade_self(void)
{
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	return len > 0 ? xstrndup(path, (size_t)len) : NULL;
}

bool upgrade_waits(const struct supervisor *s)
{
	return s->self && cli_upgrade_is_other("/proc/self/exe", s->self);
}

bool upgrade_replaces(pid_t pid, const char *path)
{
	char *running = xasprintf("/proc/%ld/exe", (long)pid);
	bool other = cli_upgrade_is_other(running, path);
	free(running);
	return other;
}

pid_t upgrade_check_start(const struct supervisor *s)
{
	char *argv[] = {s->self, "check", "--state", s->current.state_dir, NULL, NULL, NULL};
	const struct spawn spawn = {.argv = argv, .input = -1, .inherit = -1};
	if (s->options->source.file) {
		argv[4] = "--config";
		argv[5] = (char *)s->options->source.file;
	}
	return spawn_program(&spawn);
}

/* ---- the descriptors that pass ---- */

struct passed {
	const char *name;
	size_t at; /* in struct supervisor */
};

static const struct passed descriptors[] = {
    {"tcp", offsetof(struct supervisor, tcp)},
    {"fastcgi", offsetof(struct supervisor, fastcgi)},
    {"lock", offsetof(struct supervisor, lock)},
    {"relay", offsetof(struct supervisor, relay_socket)},
    {"follow", offsetof(struct supervisor, follow_socket)},
    {"port_holder", offsetof(struct supervisor, port_holder)},
    {"log", offsetof(struct supervisor, log)},
    {"ready_in", offsetof(struct supervisor, ready_in)},
    {"ready_out", offsetof(struct supervisor, ready_out)},
};
#define DESCRIPTORS (sizeof(descriptors) / sizeof(descriptors[0]))

static int *cli_upgrade_descriptor(struct supervisor *s, size_t i)
{
	return (int *)((char *)s + descriptors[i].at);
}

static void cli_upgrade_keep_descriptors(struct supervisor *s, bool keep)
{
	for (size_t i = 0; i < DESCRIPTORS; i++)
		if (*cli_upgrade_descriptor(s, i) >= 0)
			fcntl(*cli_upgrade_descriptor(s, i), F_SETFD, keep ? 0 : FD_CLOEXEC);
}

/* ---- the document ---- */

static cJSON *cli_upgrade_describe(struct supervisor *s)
{
	cJSON *document = cJSON_CreateObject();
	cJSON *children = cJSON_AddArrayToObject(document, "children");
	for (size_t i = 0; i < DESCRIPTORS; i++)
		json_add_int(document, descriptors[i].name, *cli_upgrade_descriptor(s, i));
	for (size_t i = 0; i < s->children.count; i++) {
		const struct child *child = &s->children.items[i];
		cJSON *item = json_append(children, cJSON_CreateObject());
		json_add_str(item, "role", role_name(child->role));
		json_add_int(item, "generation", child->generation);
		json_add_int(item, "pid", child->pid);
		json_add_int(item, "started", child->started);
		json_add_int(item, "start_at", child->start_at);
		json_add_int(item, "kill_at", child->kill_at);
		cJSON_AddBoolToObject(item, "ready", child->ready);
	}
	status_add_counts(s, document);
	json_add_int(document, "port", s->port);
	json_add_int(document, "generation", s->generation);
	json_add_str(document, "address", s->address);
	json_add_str(document, "state_dir", s->current.state_dir);
	json_add_str(document, "nginx", s->current.nginx);
	json_add_int(document, "processes", s->current.processes);
	json_add_int(document, "threads", s->current.threads);
	json_add_int(document, "drain", s->current.drain);
	json_add_int(document, "background", s->current.background);
	return document;
}

void upgrade_execute(struct supervisor *s)
{
	char *argv[MAX_OPTIONS + 2] = {s->self};
	cJSON *document = cli_upgrade_describe(s);
	char *text = json_print(document);
	size_t len = strlen(text);
	/* the memory file outlives this program */
	int fd = memfd_create("agentgraph-handover", 0), code;
	char number[16];
	if (fd >= 0 && write(fd, text, len) != (ssize_t)len) {
		close(fd);
		fd = -1;
	}
	free(text);
	cJSON_Delete(document);
	snprintf(number, sizeof(number), "%d", fd);
	if (fd >= 0 && setenv(VARIABLE, number, 1) == 0) {
		cli_upgrade_keep_descriptors(s, true);
		for (size_t i = 0; i < MAX_OPTIONS && s->options->argv[i]; i++)
			argv[i + 1] = s->options->argv[i];
		execv(s->self, argv);
	}
	code = errno;
	cli_upgrade_keep_descriptors(s, false);
	unsetenv(VARIABLE);
	if (fd >= 0)
		close(fd);
	log_error(
	    "cannot execute %s: %s; the service goes on with what it has", s->self, strerror(code));
}

/* ---- the successor ---- */

static cJSON *cli_upgrade_read_handover(void)
{
	const char *text = getenv(VARIABLE);
	int fd = text ? atoi(text) : -1;
	struct stat st;
	cJSON *document = NULL;
	char *data;
	unsetenv(VARIABLE);
	if (fd <= STDERR_FILENO || fstat(fd, &st) != 0 || st.st_size == 0)
		return NULL;
	data = xmalloc((size_t)st.st_size);
	if (pread(fd, data, (size_t)st.st_size, 0) == (ssize_t)st.st_size)
		document = json_parse(data, (size_t)st.st_size, JSON_TRUSTED_DEPTH, NULL);
	free(data);
	close(fd);
	return document;
}

bool upgrade_take(struct supervisor *s)
{
	cJSON *document = cli_upgrade_read_handover();
	const cJSON *item;
	if (!document)
		return false;
	for (size_t i = 0; i < DESCRIPTORS; i++)
		*cli_upgrade_descriptor(s, i) = (int)json_int(document, descriptors[i].name, -1);
	cli_upgrade_keep_descriptors(s, false);
	cJSON_ArrayForEach(item, json_get(document, "children")) {
		const char *name = json_str(item, "role");
		unsigned generation = (unsigned)json_int(item, "generation", 0);
		struct child *child;
		enum role role = 0;
		/* a role of the old program that this one does not know has to go */
		while (role < ROLE_ORPHAN && (!name || strcmp(role_name(role), name) != 0))
			role++;
		child = children_add(&s->children, role, generation);
		child->pid = (pid_t)json_int(item, "pid", 0);
		child->started = json_int(item, "started", 0);
		child->start_at = json_int(item, "start_at", 0);
		child->kill_at = json_int(item, "kill_at", 0);
		/* an older program does not say whether its workers serve: they do */
		child->ready =
		    role == ROLE_WORKER && child->pid && !cJSON_IsFalse(json_get(item, "ready"));
	}
	status_take_counts(s, document);
	s->port = (unsigned)json_int(document, "port", 0);
	s->generation = (unsigned)json_int(document, "generation", 0);
	snprintf(s->address, sizeof(s->address), "%s", json_str(document, "address"));
	s->current.state_dir = xstrdup(json_str(document, "state_dir"));
	s->current.nginx = xstrdup(json_str(document, "nginx"));
	s->current.processes = (long)json_int(document, "processes", 0);
	s->current.threads = (long)json_int(document, "threads", DEFAULT_THREADS);
	s->current.drain = (long)json_int(document, "drain", DEFAULT_DRAIN);
	s->current.background = (long)json_int(document, "background", 0);
	s->phase = PHASE_SERVING;
	cJSON_Delete(document);
	return true;
}
