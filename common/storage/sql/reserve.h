/* SPDX-License-Identifier: ISC */
/*
 * Room on the disk that is kept for removing something.
 *
 * What deletes must write too, so on a full disk nothing could be deleted.  <state>/reserve is a
 * file that only takes room; who cannot delete, or start, gives it up and tries again.
 */
#ifndef AGENTGRAPH_STORAGE_SQL_RESERVE_H
#define AGENTGRAPH_STORAGE_SQL_RESERVE_H

#include <stdbool.h>

/* Makes the file where it is not there and the disk has room for it and a little more; it is not
 * worth an error. */
void reserve_keep(const char *path);

/* Whether there was one. */
bool reserve_give_up(const char *path);

#endif
