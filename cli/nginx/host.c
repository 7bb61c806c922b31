/* SPDX-License-Identifier: ISC */
/* The machine: state directory, ticket key, disk, clock, open files, websocketd and nginx. */
#include "cli/nginx/host.h"

#include "base/memory.h"
#include "base/os/clock.h"
#include "base/os/process/process.h"
#include "cli/proc.h"
#include "cli/programs.h"
#include "storage/storage.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MEBIBYTE (1024 * 1024)
#define LOW_DISK (256ULL * MEBIBYTE)
#define LOW_FILES 1000
#define FILES_PER_SOCKET 4 /* of websocketd: the connection, and three pipes to its helper */
#define FILES_BESIDE 64
#define CLOCK_SLACK 300 /* seconds */
#define KEY_SLACK 10    /* seconds from a worker's start until it has read the key */
#define WEBSOCKETD_MS 10000

/* ---- the ticket's key ---- */

/* When the first of the workers that run there was started; 0 when none runs. */
static time_t host_oldest_worker(const char *dir)
{
	int64_t booted = clock_now() / 1000000 - clock_uptime_us() / 1000000;
	pid_t server = proc_noted(dir, "serve.lock"), pid; /* of who has the lock */
	char *path = xasprintf("/proc/%d/task/%d/children", server, server);
	FILE *f = server > 0 ? fopen(path, "re") : NULL;
	struct proc proc;
	time_t oldest = 0;
	while (f && fscanf(f, "%d", &pid) == 1) {
		if (!proc_read(pid, &proc) || strcmp(proc.name, "agentgraph-fcgi") != 0)
			continue;
		time_t start = (time_t)(booted + (int64_t)proc.started / sysconf(_SC_CLK_TCK));

		if (!oldest || start < oldest)
			oldest = start;
	}
	if (f)
		fclose(f);
	free(path);
	return oldest;
}

/* Checks the key of the tickets.  Workers keep the one that they began with, unless their database
 * has it, while whoever checks a ticket reads the file. */
static void host_examine_key(const struct config *config, struct problems *problems)
{
	const char *dir = config->state_dir;
	char *path = xasprintf("%s/ticket.key", dir);
	struct error err = {0};
	const struct storage_engine *engine = storage_engine_of(config, &err);
	bool shared = engine && engine->can.instances;
	time_t oldest = host_oldest_worker(dir);
	struct stat st;
	if (stat(path, &st) == 0 && (st.st_mode & 077))
		problems_add(problems,
		    "others may read %s (mode %03o), with which anybody opens WebSockets as anybody: "
		    "remove it and restart the service, which makes a new one",
		    path, st.st_mode & 0777);
	else if (!shared && stat(path, &st) == 0 && oldest && st.st_mtime > oldest + KEY_SLACK)
		problems_warn(problems,
		    "%s is newer than the workers, whose tickets for WebSockets nobody takes any "
		    "more: reload the service (kill -HUP %d)",
		    path, proc_noted(dir, "serve.lock"));
	error_release(&err);
	free(path);
}

/* ---- the disk ---- */

void host_judge_disk(
    const char *path, uint64_t free_bytes, uint64_t free_files, struct problems *problems)
{
	if (free_bytes < LOW_DISK)
		problems_warn(problems,
		    "only %llu MiB are free on the disk of %s: make room; once it is full, what writes "
		    "is answered with 503",
		    (unsigned long long)(free_bytes / MEBIBYTE), path);
	else if (free_files < LOW_FILES)
		problems_warn(problems,
		    "only %llu more files fit on the disk of %s: make room, or make a file system "
		    "with more inodes",
		    (unsigned long long)free_files, path);
}

void host_judge_file_system(const char *path, uint32_t type, struct problems *problems)
{
	static const uint32_t remote[] = {NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, CIFS_SUPER_MAGIC,
	    SMB2_SUPER_MAGIC, AFS_SUPER_MAGIC, CEPH_SUPER_MAGIC, V9FS_MAGIC};
	for (size_t i = 0; i < sizeof(remote) / sizeof(remote[0]); i++)
		if (type == remote[i])
			problems_warn(problems,
			    "%s is on another machine's file system, over which SQLite's WAL does not "
			    "work: put it on a local disk",
			    path);
}

/* Checks the disk of the state directory, or of the nearest one above it that is there. */
static void host_examine_disk(const struct config *config, struct problems *problems)
{
	const char *path = config->state_dir;
	char *copy = xstrdup(path), *slash;
	struct statvfs disk;
	int failed;
	while ((failed = statvfs(copy, &disk)) != 0 && (slash = strrchr(copy + 1, '/')))
		*slash = '\0';
	if (!failed)
		host_judge_disk(path, (uint64_t)disk.f_bavail * disk.f_frsize,
		    disk.f_files ? disk.f_favail : UINT64_MAX, problems);
	struct statfs system;
	if (!failed && !config->database && statfs(copy, &system) == 0)
		host_judge_file_system(path, (uint32_t)system.f_type, problems);
	free(copy);
}

/* ---- the clock ---- */

void host_judge_clock(time_t now, time_t newest, const char *file, struct problems *problems)
{
	char says[ISO_TIME_SIZE], written[ISO_TIME_SIZE];
	if (now + CLOCK_SLACK < newest)
		problems_warn(problems,
		    "the clock says %.19sZ, but %s was written at %.19sZ: set the clock; until then tokens "
		    "count as not yet valid or never end",
		    clock_iso((int64_t)now * 1000000, says), file,
		    clock_iso((int64_t)newest * 1000000, written));
}

static void host_examine_clock(const char *dir, struct problems *problems)
{
	char *database = xasprintf("%s/threads.db", dir);
	const char *const files[] = {"/proc/self/exe", database};
	struct stat st;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (stat(files[i], &st) == 0)
			host_judge_clock(clock_now() / 1000000, st.st_mtime,
			    i ? database : "this program", problems);
	free(database);
}

/* ---- limits and programs ---- */

void host_judge_files(int64_t limit, int64_t sockets, struct problems *problems)
{
	int64_t most = (limit - FILES_BESIDE) / FILES_PER_SOCKET;
	if (sockets > most)
		problems_warn(problems,
		    "%lld files may be open, which is enough for %lld WebSockets, and "
		    "websocket.max_connections is %lld: raise the limit to %lld (ulimit -n, "
		    "LimitNOFILE= of the unit), or lower the setting",
		    (long long)limit, (long long)(most > 0 ? most : 0), (long long)sockets,
		    (long long)(sockets * FILES_PER_SOCKET + FILES_BESIDE));
}

/* Notes which of the options that the service uses a line of websocketd's help names. */
static bool host_note_options(const char *line, size_t len, void *arg)
{
	unsigned *found = arg;
	(void)len;
	*found |= (strstr(line, "--passenv") != NULL) | (strstr(line, "--closems") != NULL) << 1;
	return true;
}

static void host_examine_websocketd(struct problems *problems)
{
	struct error err = {0};
	char *path = program_websocketd(&err);
	unsigned found = 0;
	char *argv[] = {"sh", "-c", "exec \"$0\" --help 2>&1", path, NULL};
	const struct process help = {.path = "/bin/sh",
	    .argv = argv,
	    .deadline_ms = clock_monotonic_ms() + WEBSOCKETD_MS,
	    .max_line = 65536,
	    .max_output = MEBIBYTE,
	    .on_line = host_note_options,
	    .arg = &found};
	struct process_result result;
	if (path)
		process_run(&help, &result);
	else
		problems_add(problems, "%s", err.detail);
	if (path && found != 3)
		problems_add(problems,
		    "%s knows no --passenv or no --closems: it is too old, or no websocketd; version "
		    "0.4 or later is needed",
		    path);
	error_release(&err);
	free(path);
}

void host_examine(
    const struct config *config, const struct web_place *place, struct problems *problems)
{
	/* Root may have made these files in the service's place.  Without the last three the
	 * service works, but runs nothing in the background, removes nothing old and sends no
	 * webhooks. */
	static const struct {
		const char *name;
		int access;
	} needed[] = {{"threads.db", R_OK | W_OK}, {"store.db", R_OK | W_OK},
	    {"files.db", R_OK | W_OK}, {"ticket.key", R_OK}, {"run", R_OK | W_OK | X_OK},
	    {"run/serve.lock", R_OK | W_OK}, {"runners", R_OK | W_OK},
	    {"retention.lock", R_OK | W_OK}, {"webhooks.lock", R_OK | W_OK}};
	const char *dir = config->state_dir;
	struct rlimit files;
	struct stat st;
	if (stat(dir, &st) == 0 && S_ISDIR(st.st_mode)) {
		/* that others may write there is no matter of warning: ticket_place_check */
		if ((st.st_mode & 077) && !(st.st_mode & 022))
			problems_warn(problems,
			    "others may look into the state directory %s (mode %03o): chmod 700 %s",
			    dir, st.st_mode & 0777, dir);
		for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
			char *path = xasprintf("%s/%s", dir, needed[i].name);
			if (access(path, needed[i].access) != 0 && errno != ENOENT)
				problems_add(problems,
				    "%s cannot be %s (%s): give it to the user who runs the service",
				    path, needed[i].access & W_OK ? "written" : "read",
				    strerror(errno));
			free(path);
		}
		host_examine_key(config, problems);
	}
	host_examine_disk(config, problems);
	host_examine_clock(dir, problems);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_max < INT64_MAX)
		host_judge_files(
		    (int64_t)files.rlim_max, config->websocket.max_connections, problems);
	host_examine_websocketd(problems);
	/* the private nginx: a warning, because another web server may be in front */
	struct error err = {0};
	if (!place->socket && !place->snippet && !place->nginx_conf)
		free(program_nginx(&err));
	if (error_is_set(&err))
		problems_warn(problems, "%s", err.detail);
	error_release(&err);
}
