/* SPDX-License-Identifier: ISC */
/*
 * What `agentgraph threads` asks: a service by its URL, or the storage of a state directory, also
 * while no service runs on it.  The operations return the data of the routes of
 * doc/protocol-threads.md and doc/protocol-history.md as a new tree, or NULL with err set.
 */
#ifndef AGENTGRAPH_CLI_SOURCE_THREAD_SOURCE_H
#define AGENTGRAPH_CLI_SOURCE_THREAD_SOURCE_H

#include "base/error.h"
#include "config/config.h"
#include "service/history/history.h"
#include "service/thread/threads.h"

#include <cjson/cJSON.h>

struct thread_source {
	cJSON *(*list)(
	    struct thread_source *source, const struct thread_query *query, struct error *err);
	cJSON *(*read)(struct thread_source *source, const char *thread_id, struct error *err);
	cJSON *(*history)(struct thread_source *source, const char *thread_id,
	    const struct history_query *query, struct error *err);
	cJSON *(*checkpoint)(struct thread_source *source, const char *thread_id,
	    const char *checkpoint_id, struct error *err);
	cJSON *(*copy)(struct thread_source *source, const char *thread_id, const cJSON *body,
	    struct error *err);
	/* Writes the lines of a thread (service/history/lines.h) to out; false with err set. */
	bool (*take_out)(
	    struct thread_source *source, const char *thread_id, FILE *out, struct error *err);
	/* Makes a thread of lines, which can be read twice, with the id that is wanted; NULL:
	 * theirs. */
	cJSON *(*bring_in)(
	    struct thread_source *source, FILE *lines, const char *wanted, struct error *err);
	void (*close)(struct thread_source *source);
};

/* token may be NULL. */
struct thread_source *thread_source_of_url(const char *url, const char *token);

/* NULL after complaints about the configuration.  user_id is the user who asks.  With NULL that is
 * the user whom a thread belongs to or whom lines name, and a list has everybody's threads. */
struct thread_source *thread_source_of_state(
    const struct config_source *where, const char *user_id);

#endif
