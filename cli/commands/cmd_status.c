/* SPDX-License-Identifier: ISC */
/* agentgraph status: whether the service of a state directory is up, and how it goes. */
#include "base/buf.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "cli/command.h"
#include "cli/fcgi_ask.h"
#include "cli/state_lock.h"
#include "cli/terminal.h"
#include "config/config.h"
#include "config/environment/environment.h"
#include "config/text_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what the workers say ---- */

static const struct {
	const char *key, *metric, *words;
} numbers[] = {
    {"runs_in_flight", "agentgraph_runs_in_flight", "runs in flight"},
    {"runs_waiting", "agentgraph_runs_waiting", "runs that wait for their thread"},
    {"background_queued", "agentgraph_background_runs_queued", "runs in the queue"},
    {"background_in_flight", "agentgraph_background_runs_in_flight",
	"runs in the background in flight"},
    {"sockets_open", "agentgraph_sockets_open", "WebSockets"},
    {"threads_busy", "agentgraph_threads_busy", "threads busy"},
    {"threads", "agentgraph_threads", "threads in all"},
};
#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static bool cmd_status_find_metric(const char *text, const char *name, long *value)
{
	size_t len = strlen(name);
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, len) != 0 || line[len] != ' ')
			continue;
		*value = strtol(line + len, NULL, 10);
		return true;
	}
	return false;
}

/* ---- for people ---- */

static const char *cmd_status_text_of(const cJSON *object, const char *key)
{
	const char *text = json_str(object, key);
	return text ? text : "?";
}

static void cmd_status_print_time(const char *words, int64_t us)
{
	char text[ISO_TIME_SIZE];
	printf("%s %s", words, us ? clock_iso(us, text) : "never");
}

static void cmd_status_print(const cJSON *status)
{
	const cJSON *reloads = json_get(status, "reloads"), *item;
	const char *address = json_str(status, "address");
	printf("agentgraph %s, process %lld, %s", cmd_status_text_of(status, "version"),
	    (long long)json_int(status, "pid", 0), cmd_status_text_of(status, "phase"));
	cmd_status_print_time(" since", json_int(status, "since", 0));
	printf("\nserving %s on %s%s\n", cmd_status_text_of(status, "agent"),
	    address ? "http://" : "unix:",
	    address ? address : cmd_status_text_of(status, "socket"));
	cJSON_ArrayForEach(item, json_get(status, "workers"))
		printf("worker %lld since %s%s\n", (long long)json_int(item, "pid", 0),
		    cmd_status_text_of(item, "since"),
		    cJSON_IsTrue(json_get(item, "serves")) ? "" : ", not serving");
	if (!cJSON_IsTrue(json_get(status, "answers")))
		puts("no worker answers");
	for (size_t i = 0; i < NUMBERS; i++)
		if (json_get(status, numbers[i].key))
			printf("%lld %s\n", (long long)json_int(status, numbers[i].key, 0),
			    numbers[i].words);
	cmd_status_print_time("last reload", json_int(reloads, "last", 0));
	printf("%s; %lld done, %lld failed\n",
	    cJSON_IsTrue(json_get(reloads, "last_failed")) ? ", which failed" : "",
	    (long long)json_int(reloads, "done", 0), (long long)json_int(reloads, "failed", 0));
	fputs("restarts:", stdout);
	cJSON_ArrayForEach(item, json_get(status, "restarts"))
		printf(" %s %.0f", item->string, item->valuedouble);
	fputs("\n", stdout);
	cJSON_ArrayForEach(item, json_get(status, "bytes"))
		printf("%s %.1f MiB\n", item->string, item->valuedouble / 1048576);
}

static int status_show(const char *state_dir, bool as_json)
{
	static const char *const databases[] = {
	    "threads.db", "files.db", "store.db", "telemetry.db"};
	char *path = xasprintf("%s/run/status.json", state_dir);
	bool hidden = access(path, F_OK) != 0 && errno == EACCES;
	bool up = state_is_served(state_dir), good;
	cJSON *status = up ? text_file_json(path) : NULL;
	free(path);
	if (hidden) /* which would look as if there were none */
		return complain(
		    1, "%s is not for this user to look into: ask as the service's", state_dir);
	if (!up)
		return complain(1, "no service runs on %s", state_dir);
	if (!status)
		return complain(
		    1, "a service is on its way on %s, and has not told more", state_dir);
	struct buf answer = {0};
	bool answers = fcgi_ask(json_str(status, "socket"), "/metrics", "metrics", &answer);
	long value;

	cJSON_AddBoolToObject(status, "answers", answers);
	for (size_t i = 0; answers && i < NUMBERS; i++)
		if (cmd_status_find_metric(buf_str(&answer), numbers[i].metric, &value))
			json_add_int(status, numbers[i].key, value);
	buf_release(&answer);
	cJSON *sizes = cJSON_AddObjectToObject(status, "bytes");
	for (size_t i = 0; i < sizeof(databases) / sizeof(databases[0]); i++) {
		char *database = xasprintf("%s/%s", state_dir, databases[i]);
		char *log = xasprintf("%s-wal", database);
		struct stat st;
		int64_t bytes = stat(database, &st) == 0 ? st.st_size : -1;
		if (bytes >= 0 && stat(log, &st) == 0)
			bytes += st.st_size;
		if (bytes >= 0)
			json_add_int(sizes, databases[i], bytes);
		free(database);
		free(log);
	}
	good = answers && strcmp(cmd_status_text_of(status, "phase"), "serving") == 0;
	if (as_json)
		terminal_json(status);
	else
		cmd_status_print(status);
	cJSON_Delete(status);
	return good ? 0 : 1;
}

int cmd_status(int argc, char **argv)
{
	/* whoever watches has none of the service's secrets, and needs none of them */
	struct config_source source = {.storage_only = true};
	bool as_json = false;
	const struct option_spec specs[] = {
	    COMMAND_SOURCE(source),
	    {"--json", OPTION_FLAG, &as_json, 0, 0},
	    OPTION_END,
	};
	struct config *config;
	char *state_dir;
	int status;
	if (!command_options(specs, argc, argv, 0))
		return EXIT_USAGE;
	/* a file that is broken now was not when the service took it */
	config = config_load_or_print(&source, COMMAND_MISTAKE);
	if (!source.file)
		source.file = environment_text("GRAPH_PATH");
	if (!config && source.file && access(source.file, F_OK) != 0)
		return 1;
	state_dir = config ? xstrdup(config->state_dir) : config_state_dir(&source);
	status = status_show(state_dir, as_json);
	free(state_dir);
	config_free(config);
	return status;
}
