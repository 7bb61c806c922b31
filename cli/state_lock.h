/* SPDX-License-Identifier: ISC */
/*
 * The lock of a state directory, run/serve.lock: a service has it for as long as it lives, however
 * it dies, and so has a command that none may disturb.  The file has the process id of who has the
 * lock, and is empty where that one has ended well.
 */
#ifndef AGENTGRAPH_CLI_STATE_LOCK_H
#define AGENTGRAPH_CLI_STATE_LOCK_H

#include <stdbool.h>

/* Takes the lock until state_unlock; -1 after a complaint.  The first makes the directory run. */
int state_lock(const char *state_dir);
int state_lock_take(const char *state_dir);

void state_unlock(int lock);

/* Whether somebody has it. */
bool state_is_served(const char *state_dir);

#endif
