/* SPDX-License-Identifier: ISC */
/*
 * What `agentgraph runs` asks: a service by its URL, or the storage of a state directory, also
 * while no service runs on it.  The operations return the data of the routes of
 * doc/protocol-runs.md#run-records as a new tree, or NULL with err set.
 */
#ifndef AGENTGRAPH_CLI_SOURCE_RUN_SOURCE_H
#define AGENTGRAPH_CLI_SOURCE_RUN_SOURCE_H

#include "base/error.h"
#include "config/config.h"
#include "service/run/records.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A run, as the command line names it. */
struct run_name {
	const char *thread, *id;
};

/* Which chunks are wanted, and who gets each of them: a line of JSON without its newline. */
struct run_follow {
	int64_t after;           /* only those with a higher metadata.seq */
	const char *granularity; /* low, partial or full */
	void (*chunk)(void *arg, const char *line, size_t len);
	void *arg;
};

struct run_source {
	cJSON *(*list)(
	    struct run_source *source, const struct record_query *query, struct error *err);
	cJSON *(*read)(struct run_source *source, const struct run_name *run, struct error *err);
	cJSON *(*stop)(struct run_source *source, const struct run_name *run, struct error *err);
	cJSON *(*submit)(struct run_source *source, const cJSON *body, struct error *err);
	/* Waits until the run is over. */
	cJSON *(*result)(struct run_source *source, const struct run_name *run, struct error *err);
	/* Up to the terminator; false with err set. */
	bool (*follow)(struct run_source *source, const struct run_name *run,
	    const struct run_follow *follow, struct error *err);
	void (*close)(struct run_source *source);
};

/* token may be NULL. */
struct run_source *run_source_of_url(const char *url, const char *token);

/* NULL after complaints about the configuration.  user_id is the user who submits; NULL: the one
 * whom the thread belongs to. */
struct run_source *run_source_of_state(const struct config_source *where, const char *user_id);

#endif
