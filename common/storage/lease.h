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
#include "base/os/shared.h"
#include "storage/threads.h"

#include <stdbool.h>
#include <stdint.h>

struct leases;

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
 * The operations of threads.h.  thread_id has at most 1020 bytes.  Waiters are served in the order
 * of their arrival, but for those that overtake; where there is no room for one, or 64 wait for the
 * thread, it does not wait.
 */
struct lease *lease_acquire(struct leases *leases, const char *thread_id, enum lease_claim claim,
    int64_t wait_ms, struct error *err);
/* Whether it is still the thread's lease. */
bool lease_holds(const struct lease *lease);
void lease_run(struct lease *lease, const char *run_id);
/* A number that is another one when a lease of the thread has ended, or of some others. */
uint64_t lease_ended(struct leases *leases, const char *thread_id);
/* Whether nobody has had the thread's lease from when lease_ended said that until this one was
 * acquired: what its holders alone change is then as it was. */
bool lease_is_next(const struct lease *lease, uint64_t ended);
enum lease_order lease_ordered(const struct lease *lease);
void lease_release(struct lease *lease);
bool lease_running(struct leases *leases, const char *thread_id, bool *stop_requested);
bool lease_stop(struct leases *leases, const char *thread_id, const struct lease_aim *aim);

#endif
