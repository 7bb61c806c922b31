/* SPDX-License-Identifier: ISC */
/* A growing byte string, always NUL-terminated.  An all-zero struct is an empty, valid buf. */
#ifndef AGENTGRAPH_BASE_BUF_H
#define AGENTGRAPH_BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

struct buf {
	char *data; /* NULL while nothing was ever added */
	size_t len;
	size_t size;
};

/* Gives the memory back; the buf is empty and can be used again. */
void buf_release(struct buf *b);

/* Empties without giving memory back. */
void buf_reset(struct buf *b);

/* Appends. */
void buf_add(struct buf *b, const void *data, size_t len);
void buf_puts(struct buf *b, const char *s);
void buf_putc(struct buf *b, char c);
void buf_int(struct buf *b, int64_t value);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Makes room for n more bytes and returns where they go; the caller then adds to len and keeps the
 * NUL. */
char *buf_reserve(struct buf *b, size_t n);

/* The string, "" when nothing was added. */
const char *buf_str(const struct buf *b);

/* Calls take with every whole line, without its newline, and keeps what follows the last one.  take
 * may write to the line, and to where its newline was.  *scanned bytes of b are known to have no
 * newline; 0 at first. */
void buf_take_lines(
    struct buf *b, size_t *scanned, void (*take)(void *arg, char *line, size_t len), void *arg);

/* Hands the malloc'd string to the caller (never NULL) and empties the buf. */
char *buf_detach(struct buf *b);

#endif
