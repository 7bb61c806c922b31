/* SPDX-License-Identifier: ISC */
/*
 * Leases: the right to run or change a thread, held by one caller at a time over all processes of
 * an instance (doc/protocol-runs.md#one-run-at-a-time).
 *
 * They live in shared memory only: none survives a stop of the service, and that of a process that
 * died is free as soon as somebody asks.
 */
#ifndef AGENTGRAPH_STORAGE_LEASE_H
#define AGENTGRAPH_STORAGE_LEASE_H

#include "base/error.h"
#include "base/shared.h"

#include <stdbool.h>
#include <stdint.h>

struct leases;
struct lease;

/* Reclaims what an earlier process in this process's slot has left. */
struct leases *leases_new(struct shared *sh);

/*
 * At most so many callers of this process wait at once, and three quarters of them for one thread;
 * at first there is no such limit.  Call before the first lease is asked for.
 */
void leases_room(struct leases *leases, unsigned callers);

/* No lease may be held any more.  NULL is fine. */
void leases_free(struct leases *leases);

/*
 * The operations of storage.h.  thread_id has at most 1020 bytes.  Waiters are served in the order
 * of their arrival; where there is no room for one, or 64 wait for the thread, it does not wait.
 */
struct lease *lease_acquire(
    struct leases *leases, const char *thread_id, int64_t wait_ms, struct error *err);
void lease_run(struct lease *lease);
bool lease_stop_requested(const struct lease *lease);
void lease_release(struct lease *lease);
bool lease_running(struct leases *leases, const char *thread_id, bool *stop_requested);
bool lease_stop(struct leases *leases, const char *thread_id);

#endif
