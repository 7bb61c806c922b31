/* SPDX-License-Identifier: ISC */
/* What a handshake offers, the checks on it, and the ticket that it is given. */
#include "fcgi/admission/upgrade.h"

#include "access/ticket/ticket.h"
#include "base/http/header_list.h"
#include "base/http/http_head.h"
#include "config/string_list.h"
#include "fcgi/admission/admit.h"
#include "fcgi/handlers/handlers.h"
#include "fcgi/request/credential.h"
#include "fcgi/request/query.h"
#include "fcgi/request/request.h"
#include "fcgi/server.h"

#include <string.h>

#define KEY_DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
#define PROTOCOL_PARAM "HTTP_SEC_WEBSOCKET_PROTOCOL="
#define LONGEST_ECHO 64 /* what is longer may be a token that was offered in the wrong way */

/* ---- the credential ---- */

struct protocols {
	const char *entry[2]; /* the first two */
	size_t len[2];
	size_t count;
	const char *name; /* the first one that can be echoed, or NULL */
};

/* A header that came in several lines is one list; the web server may hand over each line. */
static void protocols_read(struct protocols *offered, char *const *params, struct arena *arena)
{
	*offered = (struct protocols){0};
	for (; *params; params++) {
		size_t len;
		const char *entry;
		if (strncmp(*params, PROTOCOL_PARAM, strlen(PROTOCOL_PARAM)) != 0)
			continue;
		const char *list = *params + strlen(PROTOCOL_PARAM);
		while ((entry = header_list_next(&list, &len))) {
			if (offered->count < 2) {
				offered->entry[offered->count] = entry;
				offered->len[offered->count] = len;
			}
			offered->count++;
			if (!offered->name && len <= LONGEST_ECHO) {
				const char *name = arena_strndup(arena, entry, len);
				offered->name = http_is_token(name) ? name : NULL;
			}
		}
	}
}

/*
 * Browsers can set no header but that of the protocols, so a token comes as if it were one.  They,
 * and most libraries, give a connection up when none of what they offered is taken: of any other
 * offer a name is echoed too.
 */
void upgrade_offer(struct upgrade_offer *offer, char *const *params, const char *query,
    const struct string_list *bearer_protocols, struct arena *arena)
{
	struct protocols offered;
	protocols_read(&offered, params, arena);
	const char *first =
	    offered.count == 2 ? arena_strndup(arena, offered.entry[0], offered.len[0]) : NULL;
	bool bearer = first && string_list_has(bearer_protocols, first);
	*offer = (struct upgrade_offer){
	    .credential = credential_bearer(param_find(params, "HTTP_AUTHORIZATION"), arena),
	    .subprotocol = bearer ? first : offered.name};
	if (bearer && !offer->credential)
		offer->credential = arena_strndup(arena, offered.entry[1], offered.len[1]);
	if (offer->credential)
		return;
	struct query_field field = {.name = "token", .empty_is_absent = true};
	struct error ignored = {0}; /* what is no text is a token that nothing verifies */
	query_read(arena, query, &field, 1, &ignored);
	error_release(&ignored);
	offer->credential = field.value;
}

static void upgrade_read_offer(struct request *rq, struct upgrade_offer *offer)
{
	upgrade_offer(offer, rq->client->params, rq->path.query,
	    &rq->server->service->config->websocket.bearer_protocols, rq->call.arena);
}

const char *upgrade_credential(struct request *rq)
{
	struct upgrade_offer offer;
	upgrade_read_offer(rq, &offer);
	return offer.credential;
}

/* ---- the request ---- */

bool upgrade_is_asked(const struct request *rq)
{
	char *const *params = rq->client->params;
	return (rq->match.flags & ROUTE_WEBSOCKET) && rq->method == METHOD_GET &&
	    header_list_has(param_find(params, "HTTP_UPGRADE"), "websocket") &&
	    header_list_has(param_find(params, "HTTP_CONNECTION"), "upgrade") &&
	    !strcmp(param_find(params, "HTTP_SEC_WEBSOCKET_VERSION"), "13");
}

bool upgrade_check(struct request *rq)
{
	char *const *params = rq->client->params;
	if (!rq->handshake) {
		/* later versions have no such header: their clients would take the answer for
		 * broken (RFC 9113, section 8.2.2) */
		const char *protocol = param_find(params, "SERVER_PROTOCOL");
		if (!*protocol || strncmp(protocol, "HTTP/1.", 7) == 0)
			response_header(rq, "Upgrade", "websocket");
		response_header(rq, "Sec-WebSocket-Version", "13");
		return error_set(&rq->call.error, ERR_UPGRADE_REQUIRED, NULL);
	}
	const char *key = param_find(params, "HTTP_SEC_WEBSOCKET_KEY");
	if (strspn(key, KEY_DIGITS) == 22 && strcmp(key + 22, "==") == 0)
		return true;
	return error_set(
	    &rq->call.error, ERR_BAD_REQUEST, "Sec-WebSocket-Key must be 16 bytes in base64");
}

/* ---- letting in ---- */

void get_socket(struct request *rq)
{
	const char *redirect = param_find(rq->client->params, UPGRADE_PARAM);
	struct upgrade_offer offer;
	upgrade_read_offer(rq, &offer);
	const struct ticket ticket = {
	    .route = rq->match.route->path,
	    .request_id = rq->id,
	    .user_id = rq->call.user_id,
	    .verified = rq->call.identity.verified,
	    .owner = rq->call.owner,
	    .subprotocol = offer.subprotocol,
	    .address = caller_address(rq),
	    .credential_exp = rq->call.identity.expires,
	    .user = rq->call.user,
	};
	response_header(
	    rq, TICKET_HEADER, ticket_sign(&rq->server->ticket_key, &ticket, rq->call.arena));
	response_header(rq, "X-Accel-Redirect",
	    arena_printf(rq->call.arena, "%s%s", *redirect ? redirect : UPGRADE_REDIRECT,
		rq->match.route->path));
	reply_empty(rq, 200);
}
