/* SPDX-License-Identifier: ISC */
/* Reading /proc, /proc/PID/stat and files with process ids. */
#include "cli/proc.h"

#include "base/memory.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool proc_read(pid_t pid, struct proc *proc)
{
	char *path = xasprintf("/proc/%ld/stat", (long)pid), text[1024] = "";
	FILE *f = fopen(path, "re");
	*proc = (struct proc){0};
	free(path);
	if (!f)
		return false;
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	/* the name may have blanks and parentheses of its own */
	const char *name = strchr(text, '('), *end = strrchr(text, ')');
	if (!name || !end)
		return false;
	snprintf(proc->name, sizeof(proc->name), "%.*s", (int)(end - name - 1), name + 1);
	return sscanf(end + 1,
		   " %*c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
		   &proc->parent, &proc->group, &proc->started) == 3;
}

pid_t proc_next(DIR *dir)
{
	const struct dirent *entry;
	while (dir && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			return atoi(entry->d_name);
	return 0;
}

pid_t proc_noted(const char *state_dir, const char *name)
{
	char *path = xasprintf("%s/run/%s", state_dir, name);
	FILE *f = fopen(path, "re");
	pid_t pid = 0;
	if (f && fscanf(f, "%d", &pid) != 1)
		pid = 0;
	if (f)
		fclose(f);
	free(path);
	return pid;
}
