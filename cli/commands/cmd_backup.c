/* SPDX-License-Identifier: ISC */
/* agentgraph backup: copies of all databases into a new directory. */
#include "base/error.h"
#include "base/os/shared.h"
#include "cli/command.h"
#include "storage/blob/blob.h"
#include "storage/storage.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

int cmd_backup(int argc, char **argv)
{
	/* cron has none of the service's secrets, and needs none of them */
	struct config_source source = {.storage_only = true, .state_has = "threads.db"};
	const struct option_spec specs[] = {
	    COMMAND_SOURCE(source),
	    OPTION_END,
	};
	struct config *config;
	struct error err = {0};
	bool done = false;
	if (!command_options(specs, argc, argv, 1))
		return EXIT_USAGE;
	config = config_load_or_print(&source, COMMAND_MISTAKE);
	if (!config)
		return 1;
	if (!storage_backs_up(config, &err)) {
		complain(1, "no backup is made: %s", error_why(&err));
	} else {
		const char *uploads = config->env.media_storage_path;
		struct shared *shared = shared_open(config->state_dir, &err);
		struct storage *storage = shared ? storage_open(config, shared, &err) : NULL;
		done = storage && storage->engine->backup(storage, NULL, argv[0], &err);
		storage_close(storage);
		shared_close(shared);
		if (done)
			printf("agentgraph: the databases of %s are copied to %s\n",
			    config->state_dir, argv[0]);
		else
			complain(1, "backup of %s to %s failed: %s", config->state_dir, argv[0],
			    error_why(&err));
		if (done && strcmp(config->env.media_storage_type, BLOBS_LOCAL) == 0 &&
		    access(uploads, F_OK) == 0)
			printf("agentgraph: copy the uploaded files now, too: %s\n", uploads);
	}
	error_release(&err);
	config_free(config);
	return done ? 0 : 1;
}
