/* SPDX-License-Identifier: ISC */
/*
 * The instances that share a database, and their processes (doc/postgresql.md).
 *
 * An instance is one life of a service over a state directory: it has a random number, which its
 * processes find in shared memory, and a row that one of them renews every two seconds.  An
 * instance that nobody has seen for ten seconds, by the database's clock, is given up by another
 * one: it loses its processes, and with them all that these hold.  One that ends in order says so.
 *
 * A process that holds threads or jobs has a row under a number that its lock stands for
 * (claimer.h).  It holds what it holds as long as the row is there.  One that finds that its
 * instance was given up takes another number, so that it writes nothing any more for runs that it
 * had.
 */
#ifndef AGENTGRAPH_STORAGE_SQL_INSTANCES_H
#define AGENTGRAPH_STORAGE_SQL_INSTANCES_H

#include "storage/storage.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;
struct instances;

/*
 * Gives the instance of e's state directory its row, unless it has one, and begins a thread that
 * renews it and looks after others.  The storage's node and secret are set.  NULL with err set.
 */
struct instances *instances_begin(struct engine *e, struct error *err);

/* Ends it; this process holds nothing any more.  NULL is fine. */
void instances_end(struct instances *i);

/* The operation of storage.h: those that are there, the lowest node first. */
bool instances_each(struct storage *st, const struct storage_context *ctx,
    void (*tell)(void *arg, const struct storage_instance *instance), void *arg, struct error *err);

/* The number of this instance. */
int64_t instances_number(const struct instances *i);

/* Whether all of them find checkpoints in records (recent.h), which those of the version before do
 * not: known within two seconds of their coming.  NULL is the only one. */
bool instances_know_records(const struct instances *i);

/* The number of this process, which has its row then; false with err set. */
bool instances_process(struct instances *i, int64_t *process, struct error *err);

/* Takes away the rows of processes of this instance that have died. */
bool instances_bury(struct instances *i, struct error *err);

/* Has a release that failed tried again, until it is done or the process ends.  row 0: of whatever
 * this process may have claimed there, of which it does not know.  The lease is not held any more.
 */
void instances_release_later(
    struct instances *i, int64_t holder, int64_t row, int64_t fence, const char *thread_id);

/* ---- instance_life.c: the life of this instance, which its processes have in common: its number,
 * its row, and what is known of the database's clock */

struct instance_life; /* in shared memory */

struct shared;
struct instance_life *instance_life(struct shared *shared);

/* Its row is written, under a number that the first process of the life gives it; the storage's
 * node and secret are set.  A file that is locked as long as this process is there, or -1 with err
 * set. */
int instance_begin(struct instance_life *life, struct engine *e, struct error *err);

/* Ends that: with the last process the life is over, and others see it at once.  Where the database
 * is away they give the instance up later. */
void instance_leave(struct instance_life *life, struct engine *e, int presence);

int64_t instance_number(const struct instance_life *life);

/* Whether one of the version before was there when this one was seen last. */
bool instance_is_older_there(const struct instance_life *life);

/* How often others have given it up: what a process held before is its own no more. */
uint32_t instance_times(const struct instance_life *life);

/* Whether it is time to renew its row, which one of its processes is told: the one in office, or
 * others when that is late, because it may have been stopped. */
bool instance_is_due(struct instance_life *life, bool in_office);

/* Renews it, or begins anew where others have given it up.  False with err set. */
bool instance_renew(struct instance_life *life, struct engine *e, struct error *err);

/* Others may not have been heard of for reasons of the database:
 * they are not to be given up now. */
bool instance_is_patient(const struct instance_life *life);

/* Has this process's clock_now say what the database's clock does, as far as that is known. */
void instance_agree(const struct instance_life *life);

#endif
