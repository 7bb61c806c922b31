/* SPDX-License-Identifier: ISC */
/* Thread and message ids as clients give them (doc/protocol.md#thread-ids),
 * in paths and in bodies. */
#ifndef AGENTGRAPH_SERVICE_THREAD_IDENT_H
#define AGENTGRAPH_SERVICE_THREAD_IDENT_H

#include "service/service.h"

/* Check ids of a path, or of stop and fix, where a blank one is a mistake.  where is the path of
 * the error. */
bool thread_id_check(struct call *call, const char *where, const char *thread_id);
bool message_id_check(struct call *call, const char *message_id);

/*
 * Reads a member thread_id of a body: *id is its text in the arena, not checked further; NULL when
 * it is absent or null.  False with the error set when it is neither a string nor an integer.
 */
bool thread_id_read(struct call *call, const char *where, const cJSON *item, const char **id);

/* The same for a request that may make the thread, with a check of the id.  A blank id and "new"
 * ask for a new thread, and then *id is NULL (doc/protocol.md#thread-ids). */
bool thread_id_read_new(struct call *call, const char *where, const cJSON *item, const char **id);

/*
 * The id of the thread that a body is about, for permissions: thread_id, else config.thread_id, as
 * text in the arena.  NULL when it names no thread that can exist, or the two differ in the body of
 * a run, which is then refused before any permission is asked (doc/protocol.md#thread-ids).  makes
 * says that the request may make the thread, as for thread_id_read_new.  body may be NULL.
 */
const char *thread_id_of(struct call *call, const cJSON *body, bool makes);

/* What clients may keep with a thread, and with the record of a run. */
#define METADATA_MAX 16384 /* bytes of JSON */
#define METADATA_EXPECTED "an object of at most 16384 bytes"

#endif
