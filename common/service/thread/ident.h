/* SPDX-License-Identifier: ISC */
/* Thread and message ids as clients give them (doc/protocol.md#thread-ids),
 * in paths and in bodies. */
#ifndef AGENTGRAPH_SERVICE_THREAD_IDENT_H
#define AGENTGRAPH_SERVICE_THREAD_IDENT_H

#include "service/service.h"

#define THREAD_ID_BLANK "thread_id cannot be empty or whitespace"

/* Checks the ids of a path, or of stop and fix, where a blank one is a mistake.  where is the
 * error's path. */
bool thread_id_check(struct call *call, const char *where, const char *thread_id);
bool message_id_check(struct call *call, const char *message_id);

/*
 * A thread_id member of a body: *id is NULL when it is absent or null, else its text in the arena,
 * not checked further. False with the error set when it is neither a string nor an integer.
 */
bool thread_id_read(struct call *call, const char *where, const cJSON *item, const char **id);

/* The same for who may make the thread, checked: blank and "new" ask for one that has no id yet,
 * and *id is NULL (doc/protocol.md#thread-ids). */
bool thread_id_read_new(struct call *call, const char *where, const cJSON *item, const char **id);

/*
 * The thread that a body is about, for permissions: thread_id, else config.thread_id, as text in
 * the arena.  NULL when it names none that can exist, or cannot be told: a run whose two differ is
 * refused before anybody is asked (doc/protocol.md#thread-ids).  makes: as for
 * thread_id_read_new.  body may be NULL.
 */
const char *thread_id_of(struct call *call, const cJSON *body, bool makes);

#endif
