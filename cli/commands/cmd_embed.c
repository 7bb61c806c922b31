/* SPDX-License-Identifier: ISC */
/* agentgraph embed: makes the vectors of all memories anew, or only counts them. */
#include "base/error.h"
#include "base/os/shared.h"
#include "cli/command.h"
#include "service/memory/memories.h"
#include "storage/memories.h"
#include "storage/storage.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void show_progress(int64_t done)
{
	if (isatty(STDOUT_FILENO)) {
		printf("\r%10" PRId64, done);
		fflush(stdout);
	}
}

static int embed_all(struct memories *memories, bool all)
{
	struct arena *a = arena_new();
	struct embed_report report;
	struct error err = {0};
	int64_t done = 0;
	bool ok = memories_report(memories, a, &report, &err);

	if (ok) {
		int64_t vectors = 0;

		printf("%" PRId64 " memories; configured: %s, %" PRId64 " dimensions\n",
		    report.memories, report.model, report.dimension);
		for (size_t i = 0; i < report.model_count; i++) {
			const struct memory_model *m = &report.models[i];
			vectors += m->vectors;
			if (m->vectors)
				printf("%10" PRId64 "  %s, %" PRId64 " dimensions%s\n", m->vectors,
				    m->name, m->dimension, m->current ? "" : "  (not searched)");
		}
		if (report.memories > vectors)
			printf("%10" PRId64 "  without a vector\n", report.memories - vectors);
	}
	if (ok && all) {
		ok = memories_embed_all(memories, show_progress, &done, &err);
		printf("%s%10" PRId64 "  made anew\n", isatty(STDOUT_FILENO) ? "\r" : "", done);
	}
	if (!ok)
		complain_error(&err);
	arena_free(a);
	return ok ? 0 : 1;
}

static int embed_with(const struct config *config, bool all, struct problems *problems)
{
	struct error err = {0};
	struct memories *memories;
	struct shared *shared;
	struct storage *storage;
	int status = 1;

	if (access(config->state_dir, F_OK) != 0)
		return complain(
		    1, "there is nothing to embed: %s: %s", config->state_dir, strerror(errno));
	memories = memories_new(config, problems);
	problems_print(problems);
	if (!memories)
		return config->store ? 1 : complain(1, "no store is configured");
	shared = shared_open(config->state_dir, &err);
	storage = shared ? storage_open(config, shared, &err) : NULL;
	if (storage) {
		memories_attach(memories, storage);
		status = embed_all(memories, all);
	} else {
		complain_error(&err);
	}
	memories_free(memories);
	storage_close(storage);
	shared_close(shared);
	error_release(&err);
	return status;
}

int cmd_embed(int argc, char **argv)
{
	struct config_source source = {0};
	bool dry = false;
	const struct option_spec specs[] = {
	    COMMAND_SOURCE(source),
	    {"--show", OPTION_FLAG, &dry, 0, 0},
	    OPTION_END,
	};
	struct problems more = {0};
	struct config *config;
	int status = 1;

	if (!command_options(specs, argc, argv, 0))
		return EXIT_USAGE;
	config = command_config(&source);
	if (config)
		status = embed_with(config, !dry, &more);
	config_free(config);
	problems_release(&more);
	return status;
}
