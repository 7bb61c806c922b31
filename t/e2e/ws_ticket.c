/* SPDX-License-Identifier: ISC */
/*
 * Signs a ticket as the service does after it has let somebody in, and prints it.
 *
 *     ws_ticket STATE ROUTE [USER [SUBPROTOCOL]]
 *
 * With a USER the credential counts as verified.
 */
#include "access/ticket/ticket.h"
#include "base/id.h"
#include "base/memory.h"

#include <stdio.h>

int main(int argc, char **argv)
{
	struct ticket_key key;
	struct error err = {0};
	char id[UUID_SIZE];
	memory_init();
	if (argc < 3 || argc > 5) {
		fprintf(stderr, "usage: ws_ticket STATE ROUTE [USER [SUBPROTOCOL]]\n");
		return 2;
	}
	if (!ticket_key_load(&key, argv[1], &err)) {
		fprintf(stderr, "ws_ticket: %s\n", err.detail);
		return 1;
	}
	const struct ticket ticket = {.route = argv[2],
	    .request_id = uuid4(id),
	    .user_id = argc > 3 ? argv[3] : "anonymous",
	    .verified = argc > 3,
	    .subprotocol = argc > 4 ? argv[4] : NULL,
	    .address = "127.0.0.1"};
	struct arena *a = arena_new();
	puts(ticket_sign(&key, &ticket, a));
	arena_free(a);
	return 0;
}
