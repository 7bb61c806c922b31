/* SPDX-License-Identifier: ISC */
/* What is served, as an examination has found it: the size of the pool, and the files of the run
 * directory by which other processes know. */
#include "base/memory.h"
#include "cli/command.h"
#include "cli/serve/supervisor.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool served_file(const char *path, const char *text)
{
	char *temporary = xasprintf("%s.new", path);
	FILE *f = fopen(temporary, "we");
	bool written = f && fchmod(fileno(f), 0600) == 0 && fputs(text, f) >= 0;
	if (f && fclose(f) != 0)
		written = false;
	written = written && rename(temporary, path) == 0;
	int saved = errno;
	free(temporary);
	errno = saved;
	return written;
}

static bool served_write(const char *path, const char *text)
{
	return served_file(path, text) || complain(0, "cannot write %s: %s", path, strerror(errno));
}

bool served_accepted(const struct supervisor *s, const char *files)
{
	return served_write(s->accepted, files);
}

bool served_nginx_conf(const struct supervisor *s, const char *text)
{
	char *path = xasprintf("%s/nginx.conf", s->run);
	bool written = served_write(path, text);
	free(path);
	return written;
}

void served_pool(struct supervisor *s)
{
	const struct serve_options *o = s->options;
	long processes = o->processes >= 0 ? o->processes : s->current.processes;
	cpu_set_t cores;
	if (o->processes < 0 && !processes) { /* one for each core that this one may use */
		if (sched_getaffinity(0, sizeof(cores), &cores) == 0)
			processes = CPU_COUNT(&cores);
		processes = processes < 2 ? 2 : processes; /* so that one can crash */
	}
	s->pool.processes = processes;
	s->pool.threads = o->threads >= 0 ? o->threads : s->current.threads;
	s->pool.drain = o->drain >= 0 ? o->drain : s->current.drain;
}
