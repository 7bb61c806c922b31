/* SPDX-License-Identifier: ISC */
/*
 * Who a request comes from: the peer of the web server, or what proxies in front of it say
 * (doc/protocol-access.md#rate-limits).
 *
 * The web server of the service itself is no hop: its peer is what counts as the first one.
 */
#ifndef AGENTGRAPH_ACCESS_ADDRESS_H
#define AGENTGRAPH_ACCESS_ADDRESS_H

#include "config/config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ADDRESS_SIZE 46 /* the longest IPv6 address and its NUL */

/* Which proxies are believed; immutable between init and release. */
struct address_trust {
	bool headers;
	int64_t hops;
	struct network *networks;
	size_t count; /* 0: every peer is believed */
};

/* config has been validated. */
void address_trust_init(struct address_trust *trust, const struct rate_limit_config *config);
void address_trust_release(struct address_trust *trust);

/*
 * The client's address.  peer is the web server's peer; lines are the values of the request's
 * X-Forwarded-For headers in their order.  Addresses may have a port and, for IPv6, brackets; out
 * has them in one form, IPv6 in lower case and as short as can be, and an IPv4 address that is
 * mapped into IPv6 as IPv4.  Whatever is wrong with them, the peer's address is the answer; one
 * that is no IP address (a Unix socket's) stands as it is, cut to fit, or as "unknown" when it is
 * empty.
 */
void address_client(const struct address_trust *trust, const char *peer, const char *const *lines,
    size_t count, char out[ADDRESS_SIZE]);

/*
 * Clears all bits of an IPv6 address (as address_client writes it) behind the first prefix bits:
 * whoever has an address of a network has all of them.  Everything else stays as it is.
 */
void address_network(char address[ADDRESS_SIZE], int64_t prefix);

#endif
