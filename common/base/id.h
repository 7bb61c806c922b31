/* SPDX-License-Identifier: ISC */
/* Identifiers (doc/protocol.md#ids), and random bytes. */
#ifndef AGENTGRAPH_BASE_ID_H
#define AGENTGRAPH_BASE_ID_H

#include "base/arena.h"
#include "base/os/shared.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UUID_SIZE 37 /* text with dashes and NUL */
#define HEX_ID_SIZE 33

/* Bytes from getrandom(2), taken from it in blocks per thread; a forked child never repeats its
 * parent's. */
void random_bytes(void *out, size_t len);

/* Random UUID, version 4; for request ids. */
char *uuid4(char out[UUID_SIZE]);

/* UUID version 7 (RFC 9562): ordered by time also within one millisecond (12 bits of
 * sub-millisecond time). */
char *uuid7(char out[UUID_SIZE]);

/* UUID version 8 made from the SHA-256 of a text, so always the same for the same text. */
char *uuid8(const char *text, char out[UUID_SIZE]);

/* The 16 bytes as a UUID of that version; sets their version and variant. */
char *uuid_text(unsigned char bytes[16], int version, char out[UUID_SIZE]);

/* The bytes as 2 * count lower-case hexadecimal digits and NUL; returns out. */
char *hex_text(const unsigned char *bytes, size_t count, char *out);

/* 32 lower-case hexadecimal digits, random: file, memory and interrupt ids. */
char *hex_id(char out[HEX_ID_SIZE]);

/* Layout of the snowflake generator (doc/protocol.md#ids), from the highest bit: zero, time, node,
 * worker, sequence. */
struct snowflake {
	int64_t epoch_ms;
	int total_bits, time_bits, node_bits, worker_bits;
	int64_t node_id, worker_id;
};

/* Bits left for the sequence; below 1 the layout is invalid. */
int snowflake_sequence_bits(const struct snowflake *s);

/*
 * The next id.  last is shared by all processes of the instance and holds (milliseconds << sequence
 * bits | sequence) of the latest id; it is advanced atomically.  A full sequence or a clock that
 * stepped back waits.
 */
int64_t snowflake_next(const struct snowflake *s, _Atomic uint64_t *last);

/* The word for snowflake_next that all processes of the instance share. */
_Atomic uint64_t *snowflake_word(struct shared *shared);

/* What makes thread, run and message ids: version 7 UUIDs when layout is NULL, else snowflakes over
 * word. */
struct id_source {
	const struct snowflake *layout;
	_Atomic uint64_t *word;
};

/* The next id of the source; returns out. */
char *id_make(const struct id_source *source, char out[UUID_SIZE]);

/* Whether nobody can know an id before the source makes it.  Snowflakes can be guessed, and clients
 * may choose ids for threads. */
bool id_is_unheard(const struct id_source *source);

/* doc/protocol.md#ids: a client's id has 1 to 255 characters and no control characters; s is valid
 * UTF-8. */
bool id_valid(const char *s);

/* True when s is empty or only white space (ASCII and Unicode's U+0085, U+00A0, U+2000–U+200A,
 * U+2028, U+2029, U+202F, U+205F, U+3000, U+1680). */
bool id_blank(const char *s);

/* A user's id from a value, as text in the arena: a string that is not blank, or an integer.  NULL
 * when it is neither. */
const char *id_user_text(const cJSON *item, struct arena *a);

/* doc/protocol.md#ids: text of the form [+-]?[0-9]+ with a value below 1. */
bool id_not_positive(const char *s);

#endif
