/* SPDX-License-Identifier: ISC */
/* Names are resolved in time or not at all.
 * The resolver is this program's own: it has slow names. */
#include "access/cache.h"

#include "base/memory.h"
#include "base/os/clock.h"
#include "unit.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int pipe_of_slow[2]; /* a slow name is answered when it can be read */

int getaddrinfo(const char *restrict host, const char *restrict service,
    const struct addrinfo *restrict hints, struct addrinfo **restrict found)
{
	char byte;
	(void)service, (void)hints;
	if (!strcmp(host, "slow.test") && read(pipe_of_slow[0], &byte, 1) != 1)
		return EAI_FAIL;
	if (!strcmp(host, "unknown.test"))
		return EAI_NONAME;
	struct addrinfo *info = xcalloc(1, sizeof(*info) + sizeof(struct sockaddr_in));
	struct sockaddr_in *in = (struct sockaddr_in *)(info + 1);
	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(0xc0000207);
	info->ai_family = AF_INET;
	info->ai_addr = (struct sockaddr *)in;
	info->ai_addrlen = sizeof(*in);
	*found = info;
	return 0;
}

void freeaddrinfo(struct addrinfo *info)
{
	free(info);
}

/* The address, or why there is none. */
static const char *found(const char *host, int64_t patience_ms)
{
	static char address[RESOLVE_SIZE];
	const char *why = resolve(host, clock_monotonic_ms() + patience_ms, address);
	return why ? why : address;
}

static void an_address_stands_for_itself(void)
{
	CU_ASSERT_STRING_EQUAL(found("127.0.0.1", 0), "127.0.0.1");
	CU_ASSERT_STRING_EQUAL(found("::1", 0), "::1");
}

static void a_name_becomes_an_address(void)
{
	CU_ASSERT_STRING_EQUAL(found("cache.test", 60000), "192.0.2.7");
}

static void an_unknown_name_says_so(void)
{
	CU_ASSERT_STRING_EQUAL(found("unknown.test", 60000), gai_strerror(EAI_NONAME));
}

static void a_resolver_that_hangs_costs_its_time_and_no_more(void)
{
	int64_t start = clock_monotonic_ms();
	for (int i = 0; i < 4; i++)
		CU_ASSERT_STRING_EQUAL(found("slow.test", 20), "its name is not resolved in time");
	CU_ASSERT(clock_monotonic_ms() - start < 60000);
	start = clock_monotonic_ms();
	CU_ASSERT_STRING_EQUAL(found("cache.test", 200000), "the resolver does not answer");
	CU_ASSERT(clock_monotonic_ms() - start < 60000);
}

static void when_it_answers_again_names_are_found(void)
{
	const char *got = "";
	CU_ASSERT_EQUAL(write(pipe_of_slow[1], "1234", 4), 4);
	for (int tries = 0; tries < 500 && strcmp(got, "192.0.2.7") != 0; tries++) {
		got = found("cache.test", 1000);
		usleep(10000);
	}
	CU_ASSERT_STRING_EQUAL(got, "192.0.2.7");
}

static const struct unit_test tests[] = {
    {"an address stands for itself", an_address_stands_for_itself},
    {"a name becomes an address", a_name_becomes_an_address},
    {"an unknown name says so", an_unknown_name_says_so},
    {"a resolver that hangs costs its time and no more",
	a_resolver_that_hangs_costs_its_time_and_no_more},
    {"when it answers again names are found", when_it_answers_again_names_are_found},
};

int main(void)
{
	memory_init();
	if (pipe(pipe_of_slow) != 0)
		return 1;
	return unit_main("resolve", tests, UNIT_COUNT(tests));
}
