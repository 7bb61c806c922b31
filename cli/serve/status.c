/* SPDX-License-Identifier: ISC */
/* What the supervisor says of itself in run/status.json,
 * for `agentgraph status` and the metrics. */
#include "base/json/json.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "cli/serve/supervisor.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void status_add_counts(const struct supervisor *s, cJSON *document)
{
	cJSON *restarts = cJSON_AddObjectToObject(document, "restarts");
	cJSON *reloads = cJSON_AddObjectToObject(document, "reloads");
	json_add_int(document, "since", s->history.since);
	for (int role = 0; role < HISTORY_ROLES; role++)
		json_add_int(restarts, role_name((enum role)role), s->history.restarts[role]);
	json_add_int(reloads, "done", s->history.reloads);
	json_add_int(reloads, "failed", s->history.failed_reloads);
	json_add_int(reloads, "last", s->history.last_reload);
	cJSON_AddBoolToObject(reloads, "last_failed", s->history.last_failed);
}

void status_take_counts(struct supervisor *s, const cJSON *document)
{
	const cJSON *restarts = json_get(document, "restarts");
	const cJSON *reloads = json_get(document, "reloads");
	s->history.since = json_int(document, "since", clock_now());
	for (int role = 0; role < HISTORY_ROLES; role++)
		s->history.restarts[role] = json_int(restarts, role_name((enum role)role), 0);
	s->history.reloads = json_int(reloads, "done", 0);
	s->history.failed_reloads = json_int(reloads, "failed", 0);
	s->history.last_reload = json_int(reloads, "last", 0);
	s->history.last_failed = cJSON_IsTrue(json_get(reloads, "last_failed"));
}

static void status_note_reload(struct supervisor *s, bool failed)
{
	s->history.last_reload = clock_now();
	s->history.last_failed = failed;
	s->history.changed = true;
}

void status_reloaded(struct supervisor *s)
{
	s->history.reloads++;
	status_note_reload(s, false);
}

void status_reload_failed(struct supervisor *s)
{
	s->history.failed_reloads++;
	status_note_reload(s, true);
}

static cJSON *status_describe(const struct supervisor *s)
{
	static const char *const phases[] = {[PHASE_STARTING] = "starting",
	    [PHASE_SERVING] = "serving",
	    [PHASE_STOPPING] = "stopping"};
	cJSON *document = cJSON_CreateObject();
	char since[ISO_TIME_SIZE];
	cJSON *workers;
	json_add_int(document, "pid", getpid());
	json_add_str(document, "version", AGENTGRAPH_VERSION);
	json_add_str(document, "phase", phases[s->phase]);
	json_add_str(document, "agent", s->current.agent);
	json_add_str(document, "address", s->options->no_nginx ? NULL : s->address);
	json_add_str(document, "socket", s->socket_path);
	status_add_counts(s, document);
	workers = cJSON_AddArrayToObject(document, "workers");
	for (size_t i = 0; i < s->children.count; i++) {
		const struct child *child = &s->children.items[i];
		int64_t age = clock_monotonic_ms() - child->started;
		if (child->role != ROLE_WORKER || !child->pid)
			continue;
		cJSON *item = json_append(workers, cJSON_CreateObject());
		json_add_int(item, "pid", child->pid);
		json_add_str(item, "since", clock_iso(clock_now() - age * 1000, since));
		cJSON_AddBoolToObject(item, "serves", child->ready && !child->kill_at);
	}
	return document;
}

/* Overwrites the old file in place, for which even a full disk has room.  A shorter text is padded
 * with blanks. */
static bool status_overwrite(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	struct stat st;
	bool written = false;
	if (fd >= 0 && fstat(fd, &st) == 0) {
		char *padded = xasprintf("%-*s", (int)st.st_size, text);
		size_t len = strlen(padded);
		written = write(fd, padded, len) == (ssize_t)len;
		free(padded);
	}
	if (fd >= 0)
		close(fd);
	return written;
}

void status_step(struct supervisor *s)
{
	cJSON *document;
	char *text, *path;
	if (!s->history.changed)
		return;
	document = status_describe(s);
	text = json_print(document);
	path = xasprintf("%s/status.json", s->run);
	/* A failure is not logged: on a full disk that would be again and again. */
	s->history.changed = !served_file(path, text) && !status_overwrite(path, text);
	free(path);
	free(text);
	cJSON_Delete(document);
}

void status_remove(const struct supervisor *s)
{
	char *path = xasprintf("%s/status.json", s->run);
	unlink(path);
	free(path);
}
