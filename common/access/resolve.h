/* SPDX-License-Identifier: ISC */
/* Host names to addresses, within a time: the system's resolver knows none. */
#ifndef AGENTGRAPH_ACCESS_RESOLVE_H
#define AGENTGRAPH_ACCESS_RESOLVE_H

#include <netinet/in.h>
#include <stdint.h>

#define RESOLVE_SIZE INET6_ADDRSTRLEN

/*
 * Writes the first address of host, as text; an address stands for itself.  NULL when it was found
 * before deadline_ms (clock_monotonic_ms), else why not.  A lookup that took too long goes on by
 * itself until the resolver gives up; a few of them at most, then the next one fails at once.
 */
const char *resolve(const char *host, int64_t deadline_ms, char address[RESOLVE_SIZE]);

#endif
