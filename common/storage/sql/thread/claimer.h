/* SPDX-License-Identifier: ISC */
/*
 * The processes that claim jobs, and whether they live.
 *
 * A process is known by a random number, and holds a lock on the byte of that place in the file
 * <state>/runners as long as it lives, however it ends: the kernel drops the lock.  Numbers never
 * come again, so nothing has to be cleaned up.
 */
#ifndef AGENTGRAPH_STORAGE_SQL_THREAD_CLAIMER_H
#define AGENTGRAPH_STORAGE_SQL_THREAD_CLAIMER_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct claimer;

struct claimer *claimer_new(const char *state_dir);
void claimer_free(struct claimer *c); /* NULL is fine */

/* Gives this process its number, where it has none yet; 0 with err set. */
int64_t claimer_begin(struct claimer *c, struct error *err);

/* Gives this process another number; 0 with err set.  It then lives under both numbers. */
int64_t claimer_renew(struct claimer *c, struct error *err);

/* This process's number; 0 before claimer_begin. */
int64_t claimer_number(struct claimer *c);

/* Whether a process lives; true also where that cannot be known. */
bool claimer_lives(struct claimer *c, int64_t number);

#endif
