/* SPDX-License-Identifier: ISC */
/*
 * The record protocol between agentgraph-relay and agentgraph-ws, version 1 (agentgraph-record(7)).
 *
 * A record is one line on the helper's standard input or output, and one WebSocket text message
 * between relay and websocketd.  Its first byte is the kind.  Everything after it is text without
 * newline, carriage return and NUL.  A helper whose relay has named its version may put several
 * records on one line, with an escape between two: no text has an escape before a capital letter.
 */
#ifndef AGENTGRAPH_WS_BRIDGE_RECORD_H
#define AGENTGRAPH_WS_BRIDGE_RECORD_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

#define RECORD_VERSION 1
/* The header in which the relay names the version it speaks. */
#define RECORD_VERSION_HEADER "X-Agentgraph-Record"

enum record_kind {
	RECORD_READY = 'R',  /* helper: the ticket is good; payload: the version */
	RECORD_REFUSE = 'J', /* helper: status, blank, JSON body */
	RECORD_TEXT =
	    'T', /* both: a text message; newline, carriage return and escape are stuffed */
	RECORD_MORE = 'M',   /* helper: the beginning of a text message, stuffed likewise; others,
			      or the text record that ends it, follow */
	RECORD_BINARY = 'B', /* both: a binary message in base64 */
	RECORD_CLOSE = 'C',  /* helper: close the client with code, blank, reason */
	RECORD_GONE = 'G',   /* relay: the client is gone; its close code, 1005 when its
			      close frame had none, 1006 without a close frame */
	RECORD_BYE = 'Y',    /* helper: nothing follows; the answer to GONE */
	RECORD_HOLD = 'H',   /* helper: read no more from the client until RECORD_ON */
	RECORD_ON = 'O'      /* helper: read again */
};

struct record {
	enum record_kind kind;
	const char *data; /* unstuffed text, decoded bytes, or JSON */
	size_t len;
	int code; /* READY: version; REFUSE: status; CLOSE, GONE: close code */
};

/* Each appends one record, without the newline that ends it. */
void record_ready(struct buf *out);
void record_refuse(struct buf *out, int status, const char *json);
void record_text(struct buf *out, const char *text, size_t len);
void record_more(struct buf *out, const char *text, size_t len);
void record_binary(struct buf *out, const void *data, size_t len);
void record_close(struct buf *out, int code, const char *reason);
void record_gone(struct buf *out, int code);
void record_signal(struct buf *out, enum record_kind kind); /* BYE, HOLD, ON */

#define RECORD_JOINT '\x1b' /* between two records on one line */

/*
 * Cuts the next record off a line of *left bytes; NULL at its end.  An empty line has one record,
 * which is empty.  Start with *rest at the line.
 */
char *record_next(char **rest, size_t *left, size_t *len);

/*
 * Reads one record (without newline) in place: data points into line, which is changed.  False when
 * it is no record of this version; text that is not UTF-8 is none.
 */
bool record_parse(char *line, size_t len, struct record *record);

#endif
