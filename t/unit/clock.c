/* SPDX-License-Identifier: ISC */
/* Clocks, and times as text. */
#include "base/os/clock.h"
#include "unit.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

static void now_is_the_wall_clock(void)
{
	int64_t seconds = (int64_t)time(NULL);
	int64_t now = clock_now() / 1000000;
	CU_ASSERT(now >= seconds - 1 && now <= seconds + 1);
}

static void monotonic_time_never_steps_back(void)
{
	int64_t last = clock_monotonic_ms();
	for (int i = 0; i < 1000; i++) {
		int64_t now = clock_monotonic_ms();
		CU_ASSERT(now >= last);
		last = now;
	}
}

static void assert_iso(int64_t us, const char *expected)
{
	char text[ISO_TIME_SIZE];
	CU_ASSERT_PTR_EQUAL(clock_iso(us, text), text);
	CU_ASSERT_STRING_EQUAL(text, expected);
}

static void iso_has_six_decimals_and_z(void)
{
	assert_iso(0, "1970-01-01T00:00:00.000000Z");
	assert_iso(1788345000123456, "2026-09-02T10:30:00.123456Z");
	assert_iso(951782400000001, "2000-02-29T00:00:00.000001Z");
}

static void iso_covers_times_before_the_epoch(void)
{
	assert_iso(-1, "1969-12-31T23:59:59.999999Z");
	assert_iso(-1000000, "1969-12-31T23:59:59.000000Z");
}

static void iso_never_overflows_its_buffer(void)
{
	char text[ISO_TIME_SIZE];
	CU_ASSERT_EQUAL(strlen(clock_iso(INT64_MAX, text)), ISO_TIME_SIZE - 1);
	CU_ASSERT_EQUAL(strncmp(text, "9999-12-31T23:59:59.", 20), 0);
	CU_ASSERT_EQUAL(strlen(clock_iso(INT64_MIN, text)), ISO_TIME_SIZE - 1);
	CU_ASSERT_EQUAL(strncmp(text, "0000-01-01T00:00:00.", 20), 0);
}

static void iso_agrees_with_strftime(void)
{
	for (int64_t day = -200000; day < 200000; day += 997) {
		char expected[32], text[ISO_TIME_SIZE];
		time_t t = (time_t)(day * 86400 + day % 86400);
		struct tm tm;
		gmtime_r(&t, &tm);
		strftime(expected, sizeof(expected), "%Y-%m-%dT%H:%M:%S.000000Z", &tm);
		CU_ASSERT_STRING_EQUAL(clock_iso((int64_t)t * 1000000, text), expected);
	}
}

static void seconds_have_a_fraction(void)
{
	CU_ASSERT_DOUBLE_EQUAL(clock_seconds(1500000), 1.5, 0);
}

static void seconds_as_text_have_six_decimals(void)
{
	static const struct {
		int64_t us;
		const char *text;
	} rows[] = {
	    {0, "0.000000"},
	    {1, "0.000001"},
	    {1500000, "1.500000"},
	    {1788345000123456, "1788345000.123456"},
	    {INT64_MAX, "9223372036854.775807"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char text[DECIMAL_TIME_SIZE];
		CU_ASSERT_STRING_EQUAL(clock_decimal(rows[i].us, text), rows[i].text);
	}
}

static volatile sig_atomic_t alarms;

static void on_alarm(int signal)
{
	(void)signal;
	alarms++;
}

static void sleep_resumes_after_signals(void)
{
	struct sigaction action = {.sa_handler = on_alarm}, old;
	struct itimerval every = {{0, 10000}, {0, 10000}}, never = {{0, 0}, {0, 0}};
	sigaction(SIGALRM, &action, &old);
	setitimer(ITIMER_REAL, &every, NULL);
	int64_t from = clock_monotonic_ms();
	clock_sleep_ms(60);
	int64_t slept = clock_monotonic_ms() - from;
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &old, NULL);
	CU_ASSERT(alarms > 0);
	CU_ASSERT(slept >= 59);
}

static void no_time_is_no_sleep(void)
{
	int64_t from = clock_monotonic_ms();
	clock_sleep_ms(0);
	clock_sleep_ms(-500000);
	CU_ASSERT(clock_monotonic_ms() - from < 60000);
}

static const struct unit_test tests[] = {
    {"now is the wall clock", now_is_the_wall_clock},
    {"monotonic time never steps back", monotonic_time_never_steps_back},
    {"ISO time has six decimals and Z", iso_has_six_decimals_and_z},
    {"ISO time covers times before the epoch", iso_covers_times_before_the_epoch},
    {"ISO time never overflows its buffer", iso_never_overflows_its_buffer},
    {"ISO time agrees with strftime", iso_agrees_with_strftime},
    {"seconds have a fraction", seconds_have_a_fraction},
    {"seconds as text have six decimals", seconds_as_text_have_six_decimals},
    {"sleeping resumes after signals", sleep_resumes_after_signals},
    {"no time is no sleep", no_time_is_no_sleep},
};

int main(void)
{
	return unit_main("clock", tests, UNIT_COUNT(tests));
}
