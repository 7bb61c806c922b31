/* SPDX-License-Identifier: ISC */
/*
 * A service of its own in a scratch directory, for targets that need threads and files.
 */
#ifndef AGENTGRAPH_FUZZ_SCRATCH_SERVICE_H
#define AGENTGRAPH_FUZZ_SCRATCH_SERVICE_H

#include "base/log/log.h"
#include "scratch.h"
#include "service/service.h"

#include <stdlib.h>

/* Makes the directory and opens the service of that configuration in it; the caller ends both. */
static inline struct service *scratch_service(char dir[SCRATCH_SIZE], const char *configuration)
{
	char file[SCRATCH_SIZE + 32], state[SCRATCH_SIZE + 32], uploads[SCRATCH_SIZE + 32];
	struct problems problems = {0};
	scratch_make(dir);
	snprintf(file, sizeof(file), "%s/agentgraph.json", dir);
	snprintf(state, sizeof(state), "%s/state", dir);
	snprintf(uploads, sizeof(uploads), "%s/uploads", dir);
	setenv("MEDIA_STORAGE_PATH", uploads, 1);
	FILE *out = fopen(file, "we");
	require(out && fputs(configuration, out) >= 0 && fclose(out) == 0);
	struct service *service =
	    service_open(&(struct config_source){.file = file, .state_dir = state}, &problems);
	require(service && !problems.errors);
	log_init("fuzz", LOG_ERROR);
	problems_release(&problems);
	return service;
}

#endif
