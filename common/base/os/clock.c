/* SPDX-License-Identifier: ISC */
/* Reading the clocks, and printing times without strftime. */
#include "base/os/clock.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define US_PER_SECOND 1000000

static _Atomic int64_t clock_zero; /* set by clock_agree */

void clock_agree(int64_t zero)
{
	atomic_store(&clock_zero, zero);
}

int64_t clock_of_machine(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * US_PER_SECOND + now.tv_nsec / 1000;
}

int64_t clock_now(void)
{
	int64_t zero = atomic_load_explicit(&clock_zero, memory_order_relaxed);
	return zero ? zero + clock_uptime_us() : clock_of_machine();
}

int64_t clock_monotonic_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clock_uptime_us(void)
{
	struct timespec now;
	clock_gettime(CLOCK_BOOTTIME, &now);
	return (int64_t)now.tv_sec * US_PER_SECOND + now.tv_nsec / 1000;
}

/* Writes value with leading zeroes into the width characters at out. */
static void clock_put_digits(char *out, int width, int64_t value)
{
	while (width--) {
		out[width] = (char)('0' + value % 10);
		value /= 10;
	}
}

char *clock_decimal(int64_t us, char out[DECIMAL_TIME_SIZE])
{
	char *at = out + DECIMAL_TIME_SIZE;
	*--at = '\0';
	for (int i = 0; i < 6; i++, us /= 10)
		*--at = (char)('0' + us % 10);
	*--at = '.';
	do
		*--at = (char)('0' + us % 10);
	while (us /= 10);
	return at;
}

/* Made without strftime, which would cost more: every response has such a text.  Times beyond the
 * years 0 to 9999 are shown as the nearest that has four digits. */
char *clock_iso(int64_t us, char out[ISO_TIME_SIZE])
{
	const int64_t first = -62167219200, last = 253402300799; /* seconds */
	int64_t seconds = us / US_PER_SECOND, fraction = us % US_PER_SECOND;
	if (fraction < 0) {
		fraction += US_PER_SECOND;
		seconds--;
	}
	seconds = seconds < first ? first : seconds > last ? last : seconds;
	struct tm tm;
	time_t t = (time_t)seconds;
	gmtime_r(&t, &tm);
	memcpy(out, "0000-00-00T00:00:00.000000Z", ISO_TIME_SIZE);
	clock_put_digits(out, 4, tm.tm_year + 1900);
	clock_put_digits(out + 5, 2, tm.tm_mon + 1);
	clock_put_digits(out + 8, 2, tm.tm_mday);
	clock_put_digits(out + 11, 2, tm.tm_hour);
	clock_put_digits(out + 14, 2, tm.tm_min);
	clock_put_digits(out + 17, 2, tm.tm_sec);
	clock_put_digits(out + 20, 6, fraction);
	return out;
}

void clock_sleep_ms(int64_t ms)
{
	if (ms <= 0)
		return;
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += (time_t)(ms / 1000);
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

bool clock_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t until_ms)
{
	const struct timespec until = {
	    .tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000};
	return pthread_cond_clockwait(cond, lock, CLOCK_MONOTONIC, &until) == 0;
}
