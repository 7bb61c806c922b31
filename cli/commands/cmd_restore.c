/* SPDX-License-Identifier: ISC */
/* agentgraph restore: a backup back into the state directory. */
#include "base/error.h"
#include "base/memory.h"
#include "base/os/directory.h"
#include "base/os/owned.h"
#include "cli/command.h"
#include "cli/state_lock.h"
#include "storage/blob/blob.h"
#include "storage/storage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

struct restoring {
	long files; /* copied */
	long there; /* in their place already */
};

static bool restore_failed(const char *what, const char *path)
{
	complain(1, "cannot %s %s: %s", what, path, strerror(errno));
	return false;
}

/* ---- uploaded files ---- */

/* A file gets its name when it is complete.  Files never change, so one that is there is right. */
static bool restore_file(struct restoring *r, const char *from, const char *to)
{
	if (access(to, F_OK) == 0) {
		r->there++;
		return true;
	}
	char *part = xasprintf("%s.part", to);
	int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), out = -1;
	ssize_t n = 0;
	bool ok = in >= 0 || restore_failed("read", from);
	if (ok) {
		unlink(part); /* a restore that died may have left one */
		out = owned_create(part);
	}
	while (out >= 0 && (n = sendfile(out, in, NULL, 1 << 30)) > 0)
		;
	if (ok && (out < 0 || n < 0 || fsync(out) != 0))
		ok = restore_failed("write", part);
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	ok = ok && (rename(part, to) == 0 || restore_failed("write", to));
	if (!ok)
		unlink(part);
	free(part);
	r->files += ok;
	return ok;
}

static bool restore_files(struct restoring *r, const char *from, const char *to)
{
	DIR *dir = opendir(from);
	struct dirent *entry;
	bool ok = (dir || restore_failed("read", from)) &&
	    (owned_directory(to) || restore_failed("make the directory", to));
	while (ok && (entry = readdir(dir))) {
		const char *name = entry->d_name;
		char *source = xasprintf("%s/%s", from, name);
		char *target = xasprintf("%s/%s", to, name);
		/* uploads that had not arrived yet are no files */
		bool skipped = strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
		    strcmp(name, "incoming") == 0;
		struct stat st;
		if (!skipped && lstat(source, &st) == 0) {
			if (S_ISDIR(st.st_mode))
				ok = restore_files(r, source, target);
			else if (S_ISREG(st.st_mode))
				ok = restore_file(r, source, target);
		}
		free(source);
		free(target);
	}
	if (dir)
		closedir(dir);
	return ok;
}

/* ---- all of it ---- */

static int restore_from(
    const struct config *config, const char *backup, const char *files, bool overwrite)
{
	const char *state = config->state_dir, *uploads = config->env.media_storage_path;
	struct restoring r = {0};
	struct error err = {0};
	int lock = -1;
	bool ok;
	if (files && strcmp(config->env.media_storage_type, BLOBS_LOCAL) != 0)
		return complain(1, "--files is for local files, and MEDIA_STORAGE_TYPE is %s",
		    config->env.media_storage_type);
	/* before a directory is made, and once more when nobody else can change what is in it */
	ok = storage_may_restore(config, backup, overwrite, &err) &&
	    (!files || access(files, R_OK | X_OK) == 0 || restore_failed("read", files)) &&
	    (directory_make(state) || errno == EEXIST ||
		restore_failed("make the directory", state)) &&
	    (lock = state_lock(state)) >= 0 && storage_may_restore(config, backup, overwrite, &err);
	/* messages name files, so those are there first */
	ok = ok && (!files || restore_files(&r, files, uploads)) &&
	    storage_restore(config, backup, &err);
	if (error_is_set(&err))
		complain(1, "restore of %s into %s failed: %s", backup, state, error_why(&err));
	if (ok)
		printf("agentgraph: the databases of %s are in %s\n", backup, state);
	if (ok && files)
		printf("agentgraph: %ld files were copied to %s, and %ld were there\n", r.files,
		    uploads, r.there);
	if (lock >= 0)
		state_unlock(lock);
	error_release(&err);
	return ok ? 0 : 1;
}

int cmd_restore(int argc, char **argv)
{
	struct config_source source = {.storage_only = true};
	const char *files = NULL;
	bool force = false;
	const struct option_spec specs[] = {
	    COMMAND_SOURCE(source),
	    {"--files", OPTION_TEXT, &files, 0, 0},
	    {"--force", OPTION_FLAG, &force, 0, 0},
	    OPTION_END,
	};
	struct config *config;
	int status = 1;
	if (!command_options(specs, argc, argv, 1))
		return EXIT_USAGE;
	config = config_load_or_print(&source, COMMAND_MISTAKE);
	if (config)
		status = restore_from(config, argv[0], files, force);
	config_free(config);
	return status;
}
