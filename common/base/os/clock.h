/* SPDX-License-Identifier: ISC */
/* Time: wall clock in microseconds since the Unix epoch, a monotonic clock, and their texts. */
#ifndef AGENTGRAPH_BASE_OS_CLOCK_H
#define AGENTGRAPH_BASE_OS_CLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define ISO_TIME_SIZE 28 /* "2026-09-02T10:30:00.123456Z" and its NUL */

/* Microseconds since the epoch. */
int64_t clock_now(void);

/* From now on clock_now follows another clock, not this machine's: zero is what that clock showed
 * when clock_uptime_us was 0.  With 0 it is the machine's again. */
void clock_agree(int64_t zero);

/* As clock_now, but always this machine's clock; for what its processes tell each other. */
int64_t clock_of_machine(void);

/* Milliseconds of a clock that never steps back. */
int64_t clock_monotonic_ms(void);

/* Microseconds since the machine was started, sleep included; the same in all processes. */
int64_t clock_uptime_us(void);

/* ISO 8601 in UTC with six decimals and Z (doc/protocol.md#times); returns out. */
char *clock_iso(int64_t us, char out[ISO_TIME_SIZE]);

/* Unix seconds with six decimals as text; returns where it begins in out.  Each piece of a stream
 * has such a time, and printf would be most of its cost. */
#define DECIMAL_TIME_SIZE 24
char *clock_decimal(int64_t us, char out[DECIMAL_TIME_SIZE]);

/* Unix seconds with a fraction. */
static inline double clock_seconds(int64_t us)
{
	return (double)us / 1e6;
}

/* Sleeps, resuming after signals. */
void clock_sleep_ms(int64_t ms);

/* As pthread_cond_wait, until clock_monotonic_ms reaches until_ms at the latest; false then. */
bool clock_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t until_ms);

#endif
