/* SPDX-License-Identifier: ISC */
/* Names of new threads (doc/protocol-threads.md#generated-names): none, the built-in ones, or those
 * of a plug-in. */
#ifndef AGENTGRAPH_SERVICE_THREAD_NAMES_H
#define AGENTGRAPH_SERVICE_THREAD_NAMES_H

#include "agentgraph.h"
#include "base/arena.h"
#include "base/problems.h"
#include "config/plugin.h"

#include <stdbool.h>

/* The generator of names; all-zero makes none.  Immutable once open. */
struct names {
	bool builtin;
	struct plugin plugin;
	const struct ag_thread_names *table; /* NULL: no plug-in */
	void *data;
};

/* Opens what config->thread_name_generator says; false with a problem added and nothing to
 * close. */
bool names_open(struct names *names, const struct config *config, struct problems *problems);
void names_close(struct names *names);

/*
 * The name of a thread that begins with messages (an array in output form), in the arena; "" for
 * none.  builtin:names makes two lower-case words joined by a hyphen.  What a plug-in gives is cut
 * to 255 bytes, without control characters.
 */
const char *names_make(const struct names *names, const cJSON *messages, struct arena *arena);

#endif
