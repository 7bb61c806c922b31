/* SPDX-License-Identifier: ISC */
/* Addresses: their forms, their networks, and whose is the client's. */
#include "access/address.h"
#include "unit.h"

#include <string.h>

#define LINES(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct address_trust trust;
static char *proxies[4];

/* A configuration with these proxies, ended by NULL; they are trusted when headers is. */
static void believe(bool headers, int64_t hops, const char *const *networks)
{
	struct rate_limit_config config = {
	    .trusted_proxy_headers = headers,
	    .trusted_proxy_hops = hops,
	    .trusted_proxies = {.items = proxies},
	};
	address_trust_release(&trust);
	for (size_t i = 0; networks[i]; i++)
		proxies[config.trusted_proxies.count++] = (char *)networks[i];
	address_trust_init(&trust, &config);
}

static void believe_all(int64_t hops)
{
	believe(true, hops, LINES(NULL));
}

/* The client of a request from peer with these lines, ended by NULL. */
static const char *client(const char *peer, const char *const *lines)
{
	static char out[ADDRESS_SIZE];
	size_t count = 0;
	while (lines[count])
		count++;
	address_client(&trust, peer, lines, count, out);
	return out;
}

#define IS(peer, lines, expected) CU_ASSERT_STRING_EQUAL(client(peer, lines), expected)

/* The one form of an address; NULL for what is none. */
static const char *normal(const char *text)
{
	believe_all(1);
	const char *found = client("nobody", LINES(text));
	return strcmp(found, "nobody") ? found : NULL;
}

static void addresses_have_one_form(void)
{
	static const char *const pairs[][2] = {
	    {"192.0.2.1", "192.0.2.1"},
	    {" \t192.0.2.1 ", "192.0.2.1"},
	    {"192.0.2.1:8080", "192.0.2.1"},
	    {"2001:DB8::A", "2001:db8::a"},
	    {"2001:0db8:0000:0000:0000:0000:0000:000a", "2001:db8::a"},
	    {"[2001:db8::a]", "2001:db8::a"},
	    {"[2001:db8::a]:443", "2001:db8::a"},
	    {"::ffff:192.0.2.1", "192.0.2.1"},
	    {"::FFFF:C000:0201", "192.0.2.1"},
	    {"[::ffff:192.0.2.1]:1", "192.0.2.1"},
	    {"::1", "::1"},
	    {"ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255",
		"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
	};
	for (size_t i = 0; i < UNIT_COUNT(pairs); i++) {
		const char *found = normal(pairs[i][0]);
		CU_ASSERT_PTR_NOT_NULL_FATAL(found);
		CU_ASSERT_STRING_EQUAL(found, pairs[i][1]);
	}
}

static void an_address_is_cut_to_its_network(void)
{
	static const struct {
		const char *address;
		int64_t prefix;
		const char *network;
	} cases[] = {
	    {"2001:db8:1:2:3:4:5:6", 64, "2001:db8:1:2::"},
	    {"2001:db8:1:2:3:4:5:6", 128, "2001:db8:1:2:3:4:5:6"},
	    {"2001:db8:1:2:3:4:5:7", 127, "2001:db8:1:2:3:4:5:6"},
	    {"ffff::1", 1, "8000::"},
	    {"2001:db8:1:2ff::", 56, "2001:db8:1:200::"},
	    {"192.0.2.1", 64, "192.0.2.1"},
	    {"unknown", 64, "unknown"},
	};
	for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
		char address[ADDRESS_SIZE];
		snprintf(address, sizeof(address), "%s", cases[i].address);
		address_network(address, cases[i].prefix);
		CU_ASSERT_STRING_EQUAL(address, cases[i].network);
	}
}

static void what_is_no_address_is_refused(void)
{
	static const char *const texts[] = {"", " ", "unknown", "_hidden", "192.0.2", "192.0.2.256",
	    "192.0.2.1.5", "192.0.2.1:", "192.0.2.1:port", "192.0.2.1:123456", "192.0.2.1 5",
	    "[192.0.2.1]", "[::1", "::1]", "[::1]x", "[::1]:", "[]", "[", ":::", "fe80::1%eth0",
	    "\"192.0.2.1\"", "for=192.0.2.1", "10.0.0.0/8", "0x7f.1", "127.1",
	    "1111:2222:3333:4444:5555:6666:7777:8888:9999",
	    "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.2555"};
	for (size_t i = 0; i < UNIT_COUNT(texts); i++)
		CU_ASSERT_PTR_NULL(normal(texts[i]));
}

static void without_trust_the_peer_is_the_client(void)
{
	believe(false, 1, LINES(NULL));
	IS("192.0.2.1", LINES("203.0.113.9"), "192.0.2.1");
	IS("::ffff:192.0.2.1", LINES(NULL), "192.0.2.1");
}

static void a_peer_that_is_no_address_stands_as_it_is(void)
{
	believe(false, 1, LINES(NULL));
	IS("unix:", LINES(NULL), "unix:");
	IS("", LINES(NULL), "unknown");
	CU_ASSERT_EQUAL(strlen(client("a text that is much longer than any address that there is",
			    LINES(NULL))),
	    ADDRESS_SIZE - 1);
}

static void hops_are_counted_from_the_right(void)
{
	believe_all(1);
	IS("10.0.0.1", LINES("203.0.113.9"), "203.0.113.9");
	IS("10.0.0.1", LINES("1.1.1.1, 203.0.113.9"), "203.0.113.9");
	believe_all(2);
	IS("10.0.0.1", LINES("1.1.1.1, 203.0.113.9, 10.0.0.2"), "203.0.113.9");
	believe_all(3);
	IS("10.0.0.1", LINES("1.1.1.1,203.0.113.9,10.0.0.2"), "1.1.1.1");
}

static void with_too_few_entries_the_peer_is_the_client(void)
{
	believe_all(2);
	IS("10.0.0.1", LINES("203.0.113.9"), "10.0.0.1");
	IS("10.0.0.1", LINES(NULL), "10.0.0.1");
	IS("10.0.0.1", LINES("", " , ,"), "10.0.0.1");
	believe_all(INT64_MAX);
	IS("10.0.0.1", LINES("1.1.1.1, 2.2.2.2"), "10.0.0.1");
}

static void all_lines_are_one_list(void)
{
	believe_all(2);
	IS("10.0.0.1", LINES("1.1.1.1, 203.0.113.9", "10.0.0.2"), "203.0.113.9");
	IS("10.0.0.1", LINES("1.1.1.1", "203.0.113.9", "10.0.0.2"), "203.0.113.9");
	believe_all(3);
	IS("10.0.0.1", LINES("1.1.1.1, 2.2.2.2", "", "3.3.3.3"), "1.1.1.1");
}

static void empty_entries_are_none(void)
{
	believe_all(2);
	IS("10.0.0.1", LINES("1.1.1.1,, ,203.0.113.9,"), "1.1.1.1");
}

static void garbage_gives_the_peer(void)
{
	believe_all(1);
	IS("10.0.0.1", LINES("203.0.113.9, unknown"), "10.0.0.1");
	IS("10.0.0.1", LINES("203.0.113.9; for=x"), "10.0.0.1");
	believe_all(2);
	IS("10.0.0.1", LINES("nonsense, 203.0.113.9"), "10.0.0.1");
}

static void only_a_listed_proxy_is_believed(void)
{
	believe(true, 1, LINES("10.0.0.0/8", "192.0.2.7"));
	IS("10.1.2.3", LINES("203.0.113.9"), "203.0.113.9");
	IS("::ffff:10.1.2.3", LINES("203.0.113.9"), "203.0.113.9");
	IS("192.0.2.7", LINES("203.0.113.9"), "203.0.113.9");
	IS("11.0.0.1", LINES("203.0.113.9"), "11.0.0.1");
	IS("192.0.2.6", LINES("203.0.113.9"), "192.0.2.6");
	IS("::a01:203", LINES("203.0.113.9"), "::10.1.2.3");
	IS("unix:", LINES("203.0.113.9"), "unix:");
}

static void prefixes_are_compared_by_bits(void)
{
	believe(true, 1, LINES("192.0.2.128/25", "2001:db8::/33"));
	IS("192.0.2.128", LINES("1.1.1.1"), "1.1.1.1");
	IS("192.0.2.255", LINES("1.1.1.1"), "1.1.1.1");
	IS("192.0.2.127", LINES("1.1.1.1"), "192.0.2.127");
	IS("2001:db8:7fff::1", LINES("1.1.1.1"), "1.1.1.1");
	IS("2001:db8:8000::1", LINES("1.1.1.1"), "2001:db8:8000::1");
	believe(true, 1, LINES("192.0.2.1/32", "2001:db8::1/128"));
	IS("192.0.2.1", LINES("1.1.1.1"), "1.1.1.1");
	IS("192.0.2.0", LINES("1.1.1.1"), "192.0.2.0");
	IS("2001:db8::1", LINES("1.1.1.1"), "1.1.1.1");
	IS("2001:db8::", LINES("1.1.1.1"), "2001:db8::");
}

static void the_whole_of_one_family_is_not_that_of_the_other(void)
{
	believe(true, 1, LINES("0.0.0.0/0"));
	IS("192.0.2.1", LINES("1.1.1.1"), "1.1.1.1");
	IS("2001:db8::1", LINES("1.1.1.1"), "2001:db8::1");
	believe(true, 1, LINES("::/0"));
	IS("192.0.2.1", LINES("1.1.1.1"), "192.0.2.1");
	IS("2001:db8::1", LINES("1.1.1.1"), "1.1.1.1");
	believe(true, 1, LINES("::ffff:10.0.0.0/104"));
	IS("10.9.9.9", LINES("1.1.1.1"), "1.1.1.1");
	IS("11.9.9.9", LINES("1.1.1.1"), "11.9.9.9");
}

static const struct unit_test tests[] = {
    {"addresses have one form", addresses_have_one_form},
    {"an address is cut to its network", an_address_is_cut_to_its_network},
    {"what is no address is refused", what_is_no_address_is_refused},
    {"without trust the peer is the client", without_trust_the_peer_is_the_client},
    {"a peer that is no address stands as it is", a_peer_that_is_no_address_stands_as_it_is},
    {"hops are counted from the right", hops_are_counted_from_the_right},
    {"with too few entries the peer is the client", with_too_few_entries_the_peer_is_the_client},
    {"all lines are one list", all_lines_are_one_list},
    {"empty entries are none", empty_entries_are_none},
    {"garbage gives the peer", garbage_gives_the_peer},
    {"only a listed proxy is believed", only_a_listed_proxy_is_believed},
    {"prefixes are compared by bits", prefixes_are_compared_by_bits},
    {"the whole of one family is not that of the other",
	the_whole_of_one_family_is_not_that_of_the_other},
};

int main(void)
{
	int status = unit_main("address", tests, UNIT_COUNT(tests));
	address_trust_release(&trust);
	return status;
}
