/* SPDX-License-Identifier: ISC */
/* agentgraph embed: makes the vectors of all memories anew, or only counts them. */
#include "base/error.h"
#include "base/os/shared.h"
#include "cli/command.h"
#include "service/memory/memories.h"
#include "storage/memories.h"
#include "storage/storage.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static void embed_show_progress(int64_t done)
{
	if (isatty(STDOUT_FILENO)) {
		printf("\r%10" PRId64, done);
		fflush(stdout);
	}
}

static bool embed_count(struct memories *memories, struct error *err)
{
	struct arena *a = arena_new();
	struct embed_report report;
	bool ok = memories_report(memories, a, &report, err);
	if (ok) {
		const struct memory_census *census = &report.census;
		int64_t vectors = 0;
		printf("%" PRId64 " memories; configured: %s, %" PRId64 " dimensions\n",
		    census->memories, report.model, report.dimension);
		for (size_t i = 0; i < census->model_count; i++) {
			const struct memory_model *m = &census->models[i];
			vectors += m->vectors;
			if (m->vectors)
				printf("%10" PRId64 "  %s, %" PRId64 " dimensions%s\n", m->vectors,
				    m->name, m->dimension, m->current ? "" : "  (not searched)");
		}
		if (census->memories > vectors)
			printf("%10" PRId64 "  without a vector\n", census->memories - vectors);
	}
	arena_free(a);
	return ok;
}

int cmd_embed(int argc, char **argv)
{
	struct config_source source = {.state_has = "threads.db"};
	bool show = false, ok = false;
	const struct option_spec specs[] = {
	    COMMAND_SOURCE(source),
	    {"--show", OPTION_FLAG, &show, 0, 0},
	    OPTION_END,
	};
	struct problems problems = {0};
	struct error err = {0};
	if (!command_options(specs, argc, argv, 0))
		return EXIT_USAGE;
	struct config *config = config_load_or_print(&source, COMMAND_MISTAKE);
	if (!config)
		return 1;
	struct memories *memories = memories_new(config, &problems);
	problems_print(&problems);
	problems_release(&problems);
	if (memories) {
		struct shared *shared = shared_open(config->state_dir, &err);
		struct storage *storage = shared ? storage_open(config, shared, &err) : NULL;
		if (storage)
			memories_attach(memories, storage);
		ok = storage && embed_count(memories, &err);
		if (ok && !show) {
			int64_t done = 0;
			ok = memories_embed_all(memories, embed_show_progress, &done, &err);
			printf("%s%10" PRId64 "  made anew\n", isatty(STDOUT_FILENO) ? "\r" : "",
			    done);
		}
		if (!ok)
			complain_error(&err);
		memories_free(memories);
		storage_close(storage);
		shared_close(shared);
	} else if (!config->store) {
		complain(1, "no store is configured");
	}
	config_free(config);
	return ok ? 0 : 1;
}
