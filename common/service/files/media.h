/* SPDX-License-Identifier: ISC */
/* Files that messages refer to (doc/protocol-messages.md#media). */
#ifndef AGENTGRAPH_SERVICE_FILES_MEDIA_H
#define AGENTGRAPH_SERVICE_FILES_MEDIA_H

#include "service/service.h"

/*
 * Looks up every file that a block of the messages (an array in output form, or NULL) has for its
 * source, thumbnails included, and fills in what is recorded of it: type, size, hash and name.
 * False with INVALID_INPUT set for one that does not exist or that the caller may not read.  The
 * file_id of a citation is what somebody wrote about a source, not a source, and is left alone.
 */
bool files_resolve(struct call *call, cJSON *messages);

/* The id of a file that a block of the message has for its source and the caller may not read;
 * NULL: there is none, or the call's error is set.  A file that does not exist does not count. */
const char *files_foreign(struct call *call, const cJSON *message);

#endif
