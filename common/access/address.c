/* SPDX-License-Identifier: ISC */
/* Parsing addresses and networks, and going through X-Forwarded-For from its right end. */
#include "access/address.h"

#include "base/memory.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t"
#define V4_BITS 32

/* An address in the 16 bytes of IPv6, into which IPv4 is mapped. */
struct ip {
	unsigned char bytes[16];
};

struct network {
	struct ip ip;
	unsigned bits; /* how many of the bits of all 16 bytes */
};

static const unsigned char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

static bool ip_is_v4(const struct ip *ip)
{
	return memcmp(ip->bytes, mapped, sizeof(mapped)) == 0;
}

static bool ip_parse(const char *text, struct ip *ip)
{
	memcpy(ip->bytes, mapped, sizeof(mapped));
	return inet_pton(AF_INET, text, ip->bytes + sizeof(mapped)) == 1 ||
	    inet_pton(AF_INET6, text, ip->bytes) == 1;
}

static void ip_print(const struct ip *ip, char out[ADDRESS_SIZE])
{
	if (ip_is_v4(ip))
		inet_ntop(AF_INET, ip->bytes + sizeof(mapped), out, ADDRESS_SIZE);
	else
		inet_ntop(AF_INET6, ip->bytes, out, ADDRESS_SIZE);
}

/* ---- the text of one address ---- */

struct span {
	const char *start;
	size_t len;
};

static struct span address_trimmed(struct span s)
{
	while (s.len && strchr(BLANKS, s.start[0])) {
		s.start++;
		s.len--;
	}
	while (s.len && strchr(BLANKS, s.start[s.len - 1]))
		s.len--;
	return s;
}

static bool address_is_port(const char *text, size_t len)
{
	size_t digits = 0;
	while (digits < len && text[digits] >= '0' && text[digits] <= '9')
		digits++;
	return digits == len && len >= 1 && len <= 5;
}

/* Takes brackets, and a port behind them, off [address] or [address]:port. */
static bool span_strip_brackets(struct span *s)
{
	const char *close = memchr(s->start, ']', s->len);
	if (!close)
		return false;
	size_t rest = s->len - (size_t)(close + 1 - s->start);
	if (rest && (close[1] != ':' || !address_is_port(close + 2, rest - 1)))
		return false;
	s->start++;
	s->len = (size_t)(close - s->start);
	return memchr(s->start, ':', s->len) != NULL; /* only IPv6 has brackets */
}

/* Takes a port off.  A single colon is that of a port: IPv6 has at least two. */
static bool span_strip_port(struct span *s)
{
	const char *colon = memchr(s->start, ':', s->len);
	if (!colon)
		return true;
	size_t before = (size_t)(colon - s->start), behind = s->len - before - 1;
	if (memchr(colon + 1, ':', behind))
		return true;
	s->len = before;
	return address_is_port(colon + 1, behind);
}

static bool address_parse_entry(struct span s, struct ip *ip)
{
	char text[ADDRESS_SIZE];
	s = address_trimmed(s);
	if (!s.len || !(s.start[0] == '[' ? span_strip_brackets(&s) : span_strip_port(&s)))
		return false;
	if (s.len >= sizeof(text) || memchr(s.start, '\0', s.len))
		return false;
	memcpy(text, s.start, s.len);
	text[s.len] = '\0';
	return ip_parse(text, ip);
}

/* ---- trust ---- */

/* The network that text describes.  The configuration was checked, so all of it parses; else
 * nothing would match. */
static struct network network_parse(const char *text)
{
	struct network network = {.bits = UINT32_MAX};
	char address[ADDRESS_SIZE];
	size_t len = strcspn(text, "/");
	if (len >= sizeof(address))
		return network;
	memcpy(address, text, len);
	address[len] = '\0';
	if (!ip_parse(address, &network.ip))
		return network;
	unsigned whole = strchr(address, ':') ? 128 : V4_BITS;
	unsigned bits = text[len] ? (unsigned)strtoul(text + len + 1, NULL, 10) : whole;
	network.bits = 128 - whole + bits;
	return network;
}

void address_trust_init(struct address_trust *trust, const struct rate_limit_config *config)
{
	const struct string_list *proxies = &config->trusted_proxies;
	*trust = (struct address_trust){
	    .headers = config->trusted_proxy_headers,
	    .hops = config->trusted_proxy_hops,
	    .networks = xcalloc(proxies->count, sizeof(struct network)),
	    .count = proxies->count,
	};
	for (size_t i = 0; i < proxies->count; i++)
		trust->networks[i] = network_parse(proxies->items[i]);
}

void address_trust_release(struct address_trust *trust)
{
	free(trust->networks);
	*trust = (struct address_trust){0};
}

/* Whether a peer is believed.  A short IPv6 prefix like ::/0 does not mean IPv4, although that is
 * mapped into it. */
static bool address_is_trusted(const struct address_trust *trust, const struct ip *peer)
{
	for (size_t i = 0; peer && i < trust->count; i++) {
		const struct network *n = &trust->networks[i];
		unsigned bytes = n->bits / 8, rest = n->bits % 8;
		if (n->bits <= 128 && ip_is_v4(peer) == ip_is_v4(&n->ip) &&
		    memcmp(n->ip.bytes, peer->bytes, bytes) == 0 &&
		    (!rest || (n->ip.bytes[bytes] ^ peer->bytes[bytes]) >> (8 - rest) == 0))
			return true;
	}
	return trust->count == 0;
}

/* ---- the header ---- */

/* The entry that is `hops` from the right, all lines taken as one; empty entries do not count. */
static bool address_forwarded(int64_t hops, const char *const *lines, size_t count, struct ip *ip)
{
	while (count--) {
		const char *line = lines[count];
		for (size_t end = strlen(line), start; end; end = start ? start - 1 : 0) {
			for (start = end; start && line[start - 1] != ',';)
				start--;
			struct span entry =
			    address_trimmed((struct span){line + start, end - start});
			if (entry.len && --hops == 0)
				return address_parse_entry(entry, ip);
		}
	}
	return false;
}

void address_client(const struct address_trust *trust, const char *peer, const char *const *lines,
    size_t count, char out[ADDRESS_SIZE])
{
	struct ip ip, client;
	bool known = address_parse_entry((struct span){peer, strlen(peer)}, &ip);
	if (trust->headers && address_is_trusted(trust, known ? &ip : NULL) &&
	    address_forwarded(trust->hops, lines, count, &client))
		ip_print(&client, out);
	else if (known)
		ip_print(&ip, out);
	else
		snprintf(out, ADDRESS_SIZE, "%s", *peer ? peer : "unknown");
}

void address_network(char address[ADDRESS_SIZE], int64_t prefix)
{
	struct ip ip;
	if (!ip_parse(address, &ip) || ip_is_v4(&ip))
		return;
	for (int64_t bit = prefix; bit < 128; bit++)
		ip.bytes[bit / 8] &= (unsigned char)~(0x80 >> bit % 8);
	ip_print(&ip, address);
}
