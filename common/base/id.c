/* SPDX-License-Identifier: ISC */
/* Random bytes from a pool for each thread; UUIDs, snowflakes, and which ids are valid. */
#include "base/id.h"

#include "base/json/json.h"
#include "base/os/clock.h"
#include "base/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define POOL_SIZE 512
#define LONGEST_ID 255

/* ---- Random bytes ---- */

/* Counts the forks this process descends from, so that bytes fetched before one are not used again
 * after it. */
static _Atomic unsigned generation;

static _Thread_local struct {
	unsigned char bytes[POOL_SIZE];
	size_t left;
	unsigned generation;
} pool;

static void id_fetch(void *out, size_t len)
{
	for (unsigned char *p = out; len;) {
		ssize_t got = getrandom(p, len, 0);
		if (got < 0 && errno != EINTR)
			abort(); /* no kernel we run on: nothing safe can be done without it */
		if (got > 0) {
			p += got;
			len -= (size_t)got;
		}
	}
}

static void id_forked(void)
{
	atomic_fetch_add(&generation, 1);
}

static void id_watch_forks(void)
{
	pthread_atfork(NULL, NULL, id_forked);
}

void random_bytes(void *out, size_t len)
{
	if (len > POOL_SIZE) {
		id_fetch(out, len);
		return;
	}
	if (pool.left < len ||
	    pool.generation != atomic_load_explicit(&generation, memory_order_relaxed)) {
		static pthread_once_t once = PTHREAD_ONCE_INIT;
		pthread_once(&once, id_watch_forks);
		pool.generation = atomic_load_explicit(&generation, memory_order_relaxed);
		id_fetch(pool.bytes, POOL_SIZE);
		pool.left = POOL_SIZE;
	}
	pool.left -= len;
	memcpy(out, pool.bytes + pool.left, len);
	memset(pool.bytes + pool.left, 0, len); /* what was handed out is a secret of its user */
}

/* ---- UUIDs and hexadecimal ids ---- */

char *hex_text(const unsigned char *bytes, size_t count, char *out)
{
	static const char digits[] = "0123456789abcdef";
	for (size_t i = 0; i < count; i++) {
		out[2 * i] = digits[bytes[i] >> 4];
		out[2 * i + 1] = digits[bytes[i] & 15];
	}
	out[2 * count] = '\0';
	return out;
}

char *uuid_text(unsigned char bytes[16], int version, char out[UUID_SIZE])
{
	static const unsigned char parts[] = {4, 2, 2, 2, 6};
	bytes[6] = (unsigned char)((bytes[6] & 0x0F) | version << 4);
	bytes[8] = (unsigned char)((bytes[8] & 0x3F) | 0x80); /* the variant of RFC 9562 */
	char *to = out;
	for (size_t i = 0; i < sizeof(parts); i++) {
		if (i)
			*to++ = '-';
		hex_text(bytes, parts[i], to);
		to += 2 * parts[i];
		bytes += parts[i];
	}
	return out;
}

char *uuid4(char out[UUID_SIZE])
{
	unsigned char bytes[16];
	random_bytes(bytes, sizeof(bytes));
	return uuid_text(bytes, 4, out);
}

char *uuid7(char out[UUID_SIZE])
{
	static _Atomic uint64_t last;
	unsigned char bytes[16];
	struct timespec now;
	random_bytes(bytes + 8, 8);
	clock_gettime(CLOCK_REALTIME, &now);
	/* milliseconds and, in the lowest 12 bits, the fraction of one (RFC 9562, 6.2, method 3);
	 * always greater than before */
	uint64_t ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
	uint64_t wanted = ms << 12 | ((uint64_t)now.tv_nsec % 1000000 << 12) / 1000000;
	uint64_t previous = atomic_load_explicit(&last, memory_order_relaxed), tick;
	do
		tick = wanted > previous ? wanted : previous + 1;
	while (!atomic_compare_exchange_weak(&last, &previous, tick));
	ms = tick >> 12;
	for (int i = 0; i < 6; i++)
		bytes[i] = (unsigned char)(ms >> (40 - 8 * i));
	bytes[6] = (unsigned char)(tick >> 8);
	bytes[7] = (unsigned char)tick;
	return uuid_text(bytes, 7, out);
}

char *uuid8(const char *text, char out[UUID_SIZE])
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	if (EVP_Digest(text, strlen(text), digest, NULL, EVP_sha256(), NULL) != 1)
		abort();
	return uuid_text(digest, 8, out);
}

char *hex_id(char out[HEX_ID_SIZE])
{
	unsigned char bytes[16];
	random_bytes(bytes, sizeof(bytes));
	return hex_text(bytes, sizeof(bytes), out);
}

/* ---- Snowflakes ---- */

int snowflake_sequence_bits(const struct snowflake *s)
{
	return s->total_bits - 1 - s->time_bits - s->node_bits - s->worker_bits;
}

/* The value after previous at the time ms, or previous itself when there is none yet. */
static uint64_t id_advance(uint64_t previous, uint64_t ms, int sequence_bits)
{
	uint64_t full = (UINT64_C(1) << sequence_bits) - 1, latest = previous >> sequence_bits;
	if (ms > latest)
		return ms << sequence_bits;
	return ms == latest && (previous & full) != full ? previous + 1 : previous;
}

int64_t snowflake_next(const struct snowflake *s, _Atomic uint64_t *last)
{
	int bits = snowflake_sequence_bits(s);
	uint64_t previous = atomic_load(last);
	for (;;) {
		int64_t ms = clock_now() / 1000 - s->epoch_ms;
		uint64_t next = id_advance(previous, ms > 0 ? (uint64_t)ms : 0, bits);
		if (next == previous) {
			clock_sleep_ms(1);
			previous = atomic_load(last);
		} else if (atomic_compare_exchange_weak(last, &previous, next)) {
			uint64_t id = next >> bits & ((UINT64_C(1) << s->time_bits) - 1);
			id = id << s->node_bits | (uint64_t)s->node_id;
			id = id << s->worker_bits | (uint64_t)s->worker_id;
			return (int64_t)(id << bits | (next & ((UINT64_C(1) << bits) - 1)));
		}
	}
}

/* The layout of the region SHARED_IDS. */
struct ids {
	struct shared_head head;
	_Atomic uint64_t snowflake;
};

_Static_assert(sizeof(struct ids) <= SHARED_IDS_SIZE, "SHARED_IDS is too small");

_Atomic uint64_t *snowflake_word(struct shared *shared)
{
	struct ids *ids = shared_region(shared, SHARED_IDS);
	return &ids->snowflake;
}

/* ---- Ids from clients ---- */

bool id_valid(const char *s)
{
	size_t count = 0, len;
	for (; *s; s += len, count++) {
		uint32_t c = utf8_decode(s, &len);
		if (count == LONGEST_ID || c < 0x20 || (c >= 0x7F && c <= 0x9F))
			return false; /* too long, or with a control character */
	}
	return count > 0;
}

static bool id_is_space(uint32_t c)
{
	if (c < 0x80)
		return c == ' ' || (c >= '\t' && c <= '\r');
	return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) ||
	    c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool id_blank(const char *s)
{
	size_t len;
	while (*s && id_is_space(utf8_decode(s, &len)))
		s += len;
	return *s == '\0';
}

const char *id_user_text(const cJSON *item, struct arena *a)
{
	int64_t number;
	if (json_integer(item, &number))
		return arena_printf(a, "%" PRId64, number);
	return cJSON_IsString(item) && !id_blank(item->valuestring) ? item->valuestring : NULL;
}

bool id_not_positive(const char *s)
{
	bool negative = *s == '-';
	s += negative || *s == '+';
	size_t digits = strspn(s, "0123456789");
	return digits > 0 && s[digits] == '\0' && (negative || strspn(s, "0") == digits);
}

char *id_make(const struct id_source *source, char out[UUID_SIZE])
{
	if (!source->layout)
		return uuid7(out);
	snprintf(out, UUID_SIZE, "%" PRId64, snowflake_next(source->layout, source->word));
	return out;
}

bool id_is_unheard(const struct id_source *source)
{
	return !source->layout;
}
