/* SPDX-License-Identifier: ISC */
/* What threads are found by beside their texts: members of their metadata, and their status
 * (doc/protocol-threads.md#listing). */
#ifndef AGENTGRAPH_STORAGE_LABELS_H
#define AGENTGRAPH_STORAGE_LABELS_H

#include <stdbool.h>
#include <stddef.h>

/* A member of the metadata that is a text, or the text of a number or boolean as JSON writes it. */
struct label {
	const char *key, *value;
};

/* All of it must hold. */
struct thread_filter {
	unsigned statuses; /* as stored, the sum of 1 << enum run_status; 0: any */
	const struct label *labels;
	size_t count;
};

/* Called with each label; false ends the walk. */
typedef bool (*label_fn)(void *arg, const struct label *label);

/* The labels of a thread's metadata; their texts are valid only during the call.  False when fn
 * ended it. */
bool labels_each(const char *metadata_json, label_fn fn, void *arg);

#endif
