/* SPDX-License-Identifier: ISC */
/* Lines of a descriptor, as poll brings them. */
#ifndef AGENTGRAPH_WS_BRIDGE_WS_INPUT_H
#define AGENTGRAPH_WS_BRIDGE_WS_INPUT_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

struct input {
	int fd;
	size_t limit; /* bytes of a line; of a longer one only the first byte is kept */
	bool ended;   /* nothing more will come */
	/* its own */
	struct buf data;
	size_t start;   /* of what was not handed out yet */
	size_t scanned; /* no newline before this */
	bool skipping;  /* inside a line that is over the limit */
};

void input_release(struct input *in);

/* Reads once, when the descriptor is readable. */
void input_read(struct input *in);

/*
 * The next line that is there, without its newline and ended by NUL, or NULL.  It may be changed,
 * and is valid until the next call of either function.  *cut says that it was over the limit.  What
 * stands behind the last newline at the end is no line: websocketd loses that too.
 */
char *input_line(struct input *in, size_t *len, bool *cut);

#endif
