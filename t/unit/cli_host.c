/* SPDX-License-Identifier: ISC */
/* What is looked at on the host: disk, clock, open files, nginx's own files, processes, the lock.
 */
#include "cli/nginx/host.h"
#include "cli/nginx/nginx_file.h"
#include "cli/nginx/nginx_prefix.h"
#include "cli/proc.h"
#include "cli/state_lock.h"
#include "unit.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static struct problems problems;

/* What was said last; forgotten afterwards. */
static bool said(const char *part)
{
	bool found = problems.count == 1 && strstr(problems.items[0].text, part);
	problems_release(&problems);
	problems = (struct problems){0};
	return found;
}

static bool was_silent(void)
{
	return problems.count == 0;
}

static void a_full_disk(void)
{
	host_judge_disk("/state", 10 << 20, 100000, &problems);
	CU_ASSERT(said("only 10 MiB are free on the disk of /state"));
	host_judge_disk("/state", UINT64_C(1) << 40, 3, &problems);
	CU_ASSERT(said("only 3 more files fit"));
	host_judge_disk("/state", UINT64_C(1) << 40, 100000, &problems);
	CU_ASSERT(was_silent());
}

static void a_disk_elsewhere(void)
{
	host_judge_file_system("/state", NFS_SUPER_MAGIC, &problems);
	CU_ASSERT(said("/state is on another machine's file system"));
	host_judge_file_system("/state", SMB2_SUPER_MAGIC, &problems);
	CU_ASSERT(said("put it on a local disk"));
	host_judge_file_system("/state", EXT4_SUPER_MAGIC, &problems);
	host_judge_file_system("/state", OVERLAYFS_SUPER_MAGIC, &problems);
	CU_ASSERT(was_silent());
}

static void a_clock_in_the_past(void)
{
	host_judge_clock(0, 1788350400, "threads.db", &problems);
	CU_ASSERT(said("1970-01-01T00:00:00Z, but threads.db was written at 2026-09-02T12:00:00Z"));
	host_judge_clock(1788350400, 1788350401, "threads.db", &problems);
	CU_ASSERT(was_silent());
}

static void few_open_files(void)
{
	host_judge_files(1024, 1000, &problems);
	CU_ASSERT(said("enough for 240 WebSockets"));
	host_judge_files(10, 1, &problems);
	CU_ASSERT(said("enough for 0 WebSockets"));
	host_judge_files(4064, 1000, &problems);
	CU_ASSERT(was_silent());
	host_judge_files(1024, -1, &problems);
	CU_ASSERT(was_silent());
}

static void write_text(const char *name, const char *text)
{
	FILE *f = fopen(unit_path(name), "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	fputs(text, f);
	fclose(f);
}

static void reads_what_nginx_reads(void)
{
	struct nginx_file file = {0};
	write_text("nginx.conf",
	    "# user nobody;\n"
	    "user 'www data' staff; worker_processes 3;\n"
	    "events { worker_connections\n 512; }\n"
	    "http { log_format x '} fastcgi_pass unix:/no; {'; include parts/none*; include "
	    "part*.conf; }\n");
	write_text("part1.conf", "server { location / { fastcgi_pass \"unix:/run/a b.sock\"; } }");
	CU_ASSERT(nginx_file_read(&file, unit_path("nginx.conf"), &problems));
	CU_ASSERT_STRING_EQUAL(file.user, "www data");
	CU_ASSERT_STRING_EQUAL(file.group, "staff");
	CU_ASSERT_EQUAL(file.connections, 512);
	CU_ASSERT_EQUAL(file.workers, 3);
	CU_ASSERT(nginx_file_passes(&file, "/run/a b.sock"));
	CU_ASSERT(!nginx_file_passes(&file, "/run/a"));
	CU_ASSERT(!nginx_file_passes(&file, "/no"));
	nginx_file_release(&file);
	CU_ASSERT(was_silent());
}

static void endures_what_nginx_refuses(void)
{
	static const char *const texts[] = {"", "user", "user 'open", "}}}{{{;;;", "a\\", "# only",
	    "include self.conf;", "fastcgi_pass;", "\"\" \"\" \"\";"};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct nginx_file file = {0};
		write_text("self.conf", texts[i]);
		CU_ASSERT(nginx_file_read(&file, unit_path("self.conf"), &problems));
		CU_ASSERT(!nginx_file_passes(&file, "/x"));
		nginx_file_release(&file);
	}
	CU_ASSERT(said("too many includes in each other"));
	struct nginx_file file = {0};
	CU_ASSERT(!nginx_file_read(&file, "/nowhere/nginx.conf", &problems));
	CU_ASSERT(said("pipe nginx -T into --nginx-conf -"));
}

/* Whether the prefix is refused; if not, *id is its id. */
static bool refused(const char *path, char id[64])
{
	struct arena *a = arena_new();
	struct nginx_prefix prefix;
	bool read = nginx_prefix_read(&prefix, a, path, &problems);
	snprintf(id, 64, "%s", read ? prefix.id : "");
	arena_free(a);
	problems_release(&problems);
	problems = (struct problems){0};
	return !read;
}

static void prefixes_have_names_of_their_own(void)
{
	static const char *const paths[] = {"/", "/a", "/a-b", "/a_b", "/a/b", "/a.b", "/a_2db"};
	static const char *const bad[] = {
	    "a", "//", "/a//b", "/..", "/a/.", "/a b", "/a;", "/\xc3\xa9"};
	char ids[7][64], id[64];
	for (size_t i = 0; i < 7; i++) {
		CU_ASSERT(!refused(paths[i], ids[i]));
		for (size_t k = 0; k < i; k++)
			CU_ASSERT(strcmp(ids[i], ids[k]) != 0);
	}
	CU_ASSERT(!refused("/a/", id) && strcmp(id, ids[1]) == 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT(refused(bad[i], id));
}

static void a_process_has_any_name(void)
{
	char before[16];
	struct proc proc;
	prctl(PR_GET_NAME, before);
	prctl(PR_SET_NAME, ") S 1 (");
	CU_ASSERT_FATAL(proc_read(getpid(), &proc));
	prctl(PR_SET_NAME, before);
	CU_ASSERT_STRING_EQUAL(proc.name, ") S 1 (");
	CU_ASSERT_EQUAL(proc.parent, getppid());
	CU_ASSERT_EQUAL(proc.group, getpgrp());
	CU_ASSERT(proc.started > 0);
	CU_ASSERT(!proc_read(1000000000, &proc));
}

static void who_only_looks_keeps_no_lock(void)
{
	int lock = state_lock(unit_dir());
	CU_ASSERT(lock >= 0 && state_is_served(unit_dir()));
	state_unlock(lock);
	CU_ASSERT(!state_is_served(unit_dir()));
	int looker = open(unit_path("run/serve.lock"), O_RDONLY);
	flock(looker, LOCK_SH);
	pid_t child = fork();
	if (child == 0) { /* looks, and is slow */
		usleep(5000);
		_exit(0);
	}
	close(looker);
	lock = state_lock(unit_dir());
	waitpid(child, NULL, 0);
	CU_ASSERT(lock >= 0);
	state_unlock(lock);
}

static const struct unit_test tests[] = {
    {"a disk that is nearly full is told", a_full_disk},
    {"a disk of another machine is told", a_disk_elsewhere},
    {"a clock before the last write is told", a_clock_in_the_past},
    {"too few open files for the sockets are told", few_open_files},
    {"nginx's files are read with includes and quotes", reads_what_nginx_reads},
    {"broken files of nginx do no harm", endures_what_nginx_refuses},
    {"two prefixes never share a name", prefixes_have_names_of_their_own},
    {"a process may have any name", a_process_has_any_name},
    {"who looks for a service does not keep it from its lock", who_only_looks_keeps_no_lock},
};

int main(void)
{
	return unit_main("cli_host", tests, UNIT_COUNT(tests));
}
