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
 * Gives the instance of e's state directory its row, unless it has one, and starts a thread that
 * renews the row and looks after other instances.  Sets the storage's node and secret.  NULL with
 * err set.
 */
struct instances *instances_begin(struct engine *e, struct error *err);

/* Ends that; this process then holds nothing any more.  NULL is fine. */
void instances_end(struct instances *i);

/* storage_engine.instances: tells each instance that is there, the lowest node first. */
bool instances_each(struct storage *st, const struct storage_context *ctx,
    void (*tell)(void *arg, const struct storage_instance *instance), void *arg, struct error *err);

/* The number of this instance. */
int64_t instances_number(const struct instances *i);

/* Whether all instances find checkpoints in records (recent.h); those of the previous version do
 * not, and their arrival is noticed within two seconds.  i NULL stands for the only instance. */
bool instances_know_records(const struct instances *i);

/* Gives this process its row, unless it has one, and tells its number; false with err set. */
bool instances_process(struct instances *i, int64_t *process, struct error *err);

/* Takes away the rows of processes of this instance that have died. */
bool instances_bury(struct instances *i, struct error *err);

/* Repeats a release that failed, until it succeeds or the process ends.  row 0: releases whatever
 * this process may have claimed of the thread without knowing it.  The lease itself is over
 * already. */
void instances_release_later(
    struct instances *i, int64_t holder, int64_t row, int64_t fence, const char *thread_id);

/* ---- instance_life.c: the life of this instance, shared by its processes: its number, its row,
 * and what is known of the database's clock */

struct instance_life; /* in shared memory */

struct shared;
/* The one in this memory. */
struct instance_life *instance_life(struct shared *shared);

/* Writes the instance's row, under a number that the first process of the life chooses, and sets
 * the storage's node and secret.  Returns a file that stays locked as long as this process is
 * there; -1 with err set. */
int instance_begin(struct instance_life *life, struct engine *e, struct error *err);

/* Ends that for this process.  With the last process the life is over, and other instances see it
 * at once; where the database cannot be reached they give the instance up later. */
void instance_leave(struct instance_life *life, struct engine *e, int presence);

/* The number of this instance's row; 0: it has none yet. */
int64_t instance_number(const struct instance_life *life);

/* Whether an instance of the previous version was there when this one last renewed its row. */
bool instance_is_older_there(const struct instance_life *life);

/* How often other instances have given this one up.  A process no longer owns what it held before
 * that. */
uint32_t instance_times(const struct instance_life *life);

/* Whether it is time for this process to renew the row.  That is told to one process: the one in
 * office or, when it is late and may have been stopped, another one. */
bool instance_is_due(struct instance_life *life, bool in_office);

/* Renews the row, or makes a new one where others have given the instance up.  False with err
 * set. */
bool instance_renew(struct instance_life *life, struct engine *e, struct error *err);

/* Whether other instances must not be given up now, because it may be the database's fault that
 * nobody has heard of them. */
bool instance_is_patient(const struct instance_life *life);

/* Has this process's clock_now say what the database's clock does, as far as that is known. */
void instance_agree(const struct instance_life *life);

#endif
