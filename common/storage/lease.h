/* SPDX-License-Identifier: ISC */
/*
 * Leases: the right to run or change a thread, held by one caller at a time over all processes of
 * an instance (doc/protocol-runs.md#concurrent-runs).
 *
 * They live only in shared memory: none survives a stop of the service, and the lease of a process
 * that died is free as soon as somebody asks for it.
 */
#ifndef AGENTGRAPH_STORAGE_LEASE_H
#define AGENTGRAPH_STORAGE_LEASE_H

#include "base/error.h"
#include "base/os/shared.h"
#include "storage/threads.h"

#include <stdbool.h>
#include <stdint.h>

struct leases;

/* The leases of this process.  Reclaims those that an earlier process in the same slot of the
 * shared memory has left. */
struct leases *leases_new(struct shared *sh);

/*
 * Lets at most this many callers of the process wait at once, and three quarters of them for one
 * thread; without this call there is no limit.  To be called before the first lease is asked for.
 */
void leases_room(struct leases *leases, unsigned callers);

/* No lease may be held any more.  NULL is fine. */
void leases_free(struct leases *leases);

/*
 * The operations of threads.h.  thread_id has at most 1020 bytes.  Waiters are served in the order
 * of their arrival, except for claims that overtake.  A caller does not wait where leases_room
 * leaves no room for it, or 64 wait for the thread already.
 */
struct lease *lease_acquire(struct leases *leases, const char *thread_id, enum lease_claim claim,
    int64_t wait_ms, struct error *err);
/* Whether it is still the thread's lease. */
bool lease_holds(const struct lease *lease);
/* With NULL: its run is over. */
void lease_run(const struct lease *lease, const char *run_id);
/* A number that changes whenever a lease of this thread, or of certain others, ends. */
uint64_t lease_ended(struct leases *leases, const char *thread_id);
/* Whether nobody had the thread's lease between the time when lease_ended returned ended and the
 * time when this lease was acquired: then all that only holders of the lease change is as it
 * was. */
bool lease_is_next(const struct lease *lease, uint64_t ended);
enum lease_order lease_ordered(const struct lease *lease);
void lease_release(struct lease *lease);
bool lease_running(struct leases *leases, const char *thread_id, bool *stop_requested);
bool lease_held(struct leases *leases, const char *thread_id);
bool lease_stop(struct leases *leases, const char *thread_id, const struct lease_aim *aim);

#endif
