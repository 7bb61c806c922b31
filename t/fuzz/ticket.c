/* SPDX-License-Identifier: ISC */
/* Tickets: whatever the bytes, nobody gets in with another key, and a ticket with a good signature
 * is complete or refused.  An input is used twice: as a ticket, and as the claims of one. */
#include "access/ticket/run_ticket.h"
#include "base/memory.h"
#include "replay.h"
#include "t/unit/mint_fixture.h"

#include <stdlib.h>
#include <string.h>

static const struct ticket_key key = {"0123456789abcdef0123456789abcde"};

static bool take(const char *text, bool may_pass)
{
	struct arena *a = arena_new();
	struct ticket ticket;
	struct error err = {0};
	bool good = ticket_verify(&key, text, NULL, a, &ticket, &err);
	if (good) {
		require(may_pass && cJSON_IsObject(ticket.user) && ticket.user_id);
		require(ticket.request_id != NULL);
		require(!strcmp(ticket.route, "/v1/graph/ws") ||
		    !strcmp(ticket.route, "/v1/graph/live"));
	} else {
		require(err.kind == ERR_INVALID_TOKEN || err.kind == ERR_SERVICE_UNAVAILABLE);
	}
	error_release(&err);
	arena_free(a);
	return good;
}

static void take_run(const char *text, bool may_pass)
{
	struct arena *a = arena_new();
	struct run_ticket ticket;
	struct error err = {0};
	if (run_ticket_verify(&key, text, a, &ticket, &err)) {
		require(may_pass && ticket.request_id && ticket.thread_id && ticket.run_id);
		require(ticket.kind == RUN_TICKET_STREAM || cJSON_IsObject(ticket.identity.user));
	} else {
		require(err.kind == ERR_INVALID_TOKEN || err.kind == ERR_SERVICE_UNAVAILABLE);
	}
	error_release(&err);
	arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char secret[sizeof(key.bytes) + 1] = "";
	char *text = strndup((const char *)data, size);
	memory_init();
	memcpy(secret, key.bytes, sizeof(key.bytes));
	take(text, false);
	take_run(text, false);
	char *token = mint_plain("HS256", secret, text);
	take(token, true);
	take_run(token, true);
	free(token);
	free(text);
	return 0;
}
