/* SPDX-License-Identifier: ISC */
/* Lines read from a descriptor, when poll says that it is readable. */
#ifndef AGENTGRAPH_WS_BRIDGE_WS_INPUT_H
#define AGENTGRAPH_WS_BRIDGE_WS_INPUT_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

struct input {
	int fd;
	size_t limit; /* bytes of a line; only the first byte of a longer one is kept */
	bool ended;   /* nothing more will come */
	/* private */
	struct buf data;
	size_t start;   /* where the bytes begin that were not handed out yet */
	size_t scanned; /* up to here there is no newline */
	bool skipping;  /* inside a line that is over the limit */
};

void input_release(struct input *in);

/* Reads once, when the descriptor is readable. */
void input_read(struct input *in);

/*
 * The next line that has been read, without its newline and ended by NUL; NULL when there is none.
 * It may be changed, and is valid until the next call of either function.  *cut says that it was
 * over the limit.  Bytes behind the last newline at the end are no line: websocketd drops such
 * bytes, too.
 */
char *input_line(struct input *in, size_t *len, bool *cut);

#endif
