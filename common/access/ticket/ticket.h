/* SPDX-License-Identifier: ISC */
/*
 * Tickets: how agentgraph-fcgi tells the relay and agentgraph-ws whom it let in to a WebSocket
 * (doc/inside.md#a-websocket-frame), and agentgraph-follow whom to which run (run_ticket.h).
 *
 * A ticket is a JWT (HS256) signed with a key that only the service can read, <state>/ticket.key
 * (0600, 32 random bytes, made by whoever needs it first, or shared by instances over one
 * database).  It is good for TICKET_SECONDS and for one route.
 */
#ifndef AGENTGRAPH_ACCESS_TICKET_TICKET_H
#define AGENTGRAPH_ACCESS_TICKET_TICKET_H

#include "access/access.h"
#include "base/arena.h"
#include "base/error.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#define TICKET_SECONDS 30
/* The header that carries a ticket between nginx and the others; clients cannot set it. */
#define TICKET_HEADER "X-Agentgraph-Ticket"

/* The routes that there are tickets for. */
#define TICKET_TURNS "/v1/graph/ws"
#define TICKET_LIVE "/v1/graph/live"

struct ticket {
	const char *route;       /* TICKET_TURNS or TICKET_LIVE */
	const char *request_id;  /* of the handshake */
	const char *user_id;     /* the user_id in user */
	bool verified;           /* a credential was checked: counts for max_connections_per_user */
	const char *owner;       /* what the user's listings reach; NULL: everything */
	const char *subprotocol; /* to echo, or NULL */
	const char *address;     /* the client's, for limits */
	int64_t credential_exp;  /* Unix seconds when the credential ends, 0: never */
	const cJSON *user;       /* the whole user context */
};

struct ticket_key {
	unsigned char bytes[32];
};

/* Whether nobody but the service's user, and root, can change the state directory or has the key
 * that is there.  What is not there is no problem. */
bool ticket_place_check(const char *state_dir, struct error *err);

/* Reads the key of a state directory, which it makes first where there is none; false with err
 * set and the key as it was. */
bool ticket_key_load(struct ticket_key *key, const char *state_dir, struct error *err);

/* Makes secret, which is as long as a key, the key of that directory: other instances of the
 * service have the same. */
bool ticket_key_share(const char *state_dir, const unsigned char *secret, struct error *err);

/* The signed text, in the arena. */
const char *ticket_sign(const struct ticket_key *key, const struct ticket *ticket, struct arena *a);

/*
 * Checks signature, algorithm, time and route (NULL: any of the two), and fills ticket from the
 * arena.  False with ERR_INVALID_TOKEN set, or ERR_SERVICE_UNAVAILABLE when it has expired, and the
 * cause for the log.
 */
bool ticket_verify(const struct ticket_key *key, const char *text, const char *route,
    struct arena *a, struct ticket *ticket, struct error *err);

/* Whom the ticket let in, with user, a copy of its context that permissions may leave a stamp on.
 * A user without an id is nobody, whatever name threads get. */
struct identity ticket_identity(const struct ticket *ticket, cJSON *user);

/* ---- for tickets of other kinds ---- */

/* Adds issuer and times to the claims, good for so many seconds from now (microseconds), and signs
 * them.  Between processes of one machine now is clock_of_machine's, since the relay has no
 * database to agree with; between instances it is clock_now's. */
const char *ticket_sign_claims(
    const struct ticket_key *key, cJSON *claims, int64_t now, int64_t seconds, struct arena *a);

/* The claims of a ticket, in the arena, if its signature, algorithm, issuer and time are good, by
 * the clock that now is of; NULL with err set. */
const cJSON *ticket_claims(const struct ticket_key *key, const char *text, int64_t now,
    struct arena *a, struct error *err);

/* Adds the user context to the claims, and gets it back from there; NULL when it was never
 * added. */
void ticket_add_user(cJSON *claims, const cJSON *user);
cJSON *ticket_user(const cJSON *claims, struct arena *a);

/* Sets ERR_INVALID_TOKEN with that cause; returns false. */
bool ticket_refuse(struct error *err, const char *why);

#endif
