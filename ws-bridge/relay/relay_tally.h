/* SPDX-License-Identifier: ISC */
/* How often each of many texts was counted.  An all-zero struct is empty. */
#ifndef AGENTGRAPH_WS_BRIDGE_RELAY_RELAY_TALLY_H
#define AGENTGRAPH_WS_BRIDGE_RELAY_RELAY_TALLY_H

#include <stdint.h>

#define TALLY_BUCKETS 1024

struct tally_entry;

struct tally {
	struct tally_entry *buckets[TALLY_BUCKETS];
};

/* 0 for a text that was never added. */
int64_t tally_count(const struct tally *tally, const char *text);

/* Adds to a text's count; entries at 0 are forgotten. */
void tally_add(struct tally *tally, const char *text, int64_t change);

/* Forgets everything. */
void tally_clear(struct tally *tally);

#endif
