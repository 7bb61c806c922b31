/* SPDX-License-Identifier: ISC */
/* Who is let in to a WebSocket: the handshake's headers and its credential. */
#include "fcgi/admission/upgrade.h"
#include "access/ticket/ticket.h"
#include "client_fixture.h"
#include "fcgi/handlers/handlers.h"
#include "fcgi/request/request.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

/* ---- the credential ---- */

static char *names[] = {"service-bearer", "other-bearer"};
static const struct string_list bearer = {names, 2};
static struct arena *arena;

/* "credential subprotocol" with - for what is absent. */
static const char *offer(const char *query, char *const *params)
{
	struct upgrade_offer found;
	arena_free(arena);
	arena = arena_new();
	upgrade_offer(&found, params, query, &bearer, arena);
	return arena_printf(arena, "%s %s", found.credential ? found.credential : "-",
	    found.subprotocol ? found.subprotocol : "-");
}

#define PROTOCOL "HTTP_SEC_WEBSOCKET_PROTOCOL="
#define CHECK_OFFER(expected, query, ...) \
	CU_ASSERT_STRING_EQUAL(offer(query, (char *[]){"X=y", __VA_ARGS__, NULL}), expected)

static void takes_the_authorization_header(void)
{
	CHECK_OFFER("t -", "", "HTTP_AUTHORIZATION=Bearer t");
}

static void the_scheme_has_no_case(void)
{
	CHECK_OFFER("t.u -", "", "HTTP_AUTHORIZATION=bEARER   t.u  ");
	CHECK_OFFER("t -", "", "HTTP_AUTHORIZATION= Bearer\tt");
}

static void other_schemes_go_on(void)
{
	CHECK_OFFER("- -", "", "HTTP_AUTHORIZATION=Basic abc");
	CHECK_OFFER("- -", "", "HTTP_AUTHORIZATION=Bearer");
	CHECK_OFFER("- -", "", "HTTP_AUTHORIZATION=Bearer  ");
	CHECK_OFFER("- -", "", "HTTP_AUTHORIZATION=Bearert");
	CHECK_OFFER("q -", "token=q", "HTTP_AUTHORIZATION=Basic abc");
	CHECK_OFFER("p service-bearer", "token=q", "HTTP_AUTHORIZATION=Bearer ",
	    PROTOCOL "service-bearer, p");
}

static void takes_an_offer_of_two_protocols(void)
{
	CHECK_OFFER("t service-bearer", "", PROTOCOL "service-bearer,t");
	CHECK_OFFER("t other-bearer", "", PROTOCOL "  other-bearer , t  ");
}

static void the_lines_of_an_offer_are_one(void)
{
	CHECK_OFFER("t service-bearer", "", PROTOCOL "service-bearer", PROTOCOL "t");
	CHECK_OFFER("- service-bearer", "", PROTOCOL "service-bearer,t", PROTOCOL "x");
}

#define SIXTEEN "0123456789abcdef"
#define LONG SIXTEEN SIXTEEN SIXTEEN SIXTEEN

static void the_first_name_of_other_offers_is_echoed(void)
{
	CHECK_OFFER("- service-bearer", "", PROTOCOL "service-bearer");
	CHECK_OFFER("- t", "", PROTOCOL "t, service-bearer");
	CHECK_OFFER("- service-bearer", "", PROTOCOL "service-bearer, t, u");
	CHECK_OFFER("- Service-Bearer", "", PROTOCOL "Service-Bearer, t");
	CHECK_OFFER("- service-bearerx", "", PROTOCOL "service-bearerx, t");
	CHECK_OFFER("- service", "", PROTOCOL "service, t");
	CHECK_OFFER("- graphql-ws", "", PROTOCOL "graphql-ws, t");
	CHECK_OFFER("- -", "", PROTOCOL "");
	CHECK_OFFER("q service-bearer", "token=q", PROTOCOL "service-bearer, t, u");
	CHECK_OFFER("h chat", "token=q", "HTTP_AUTHORIZATION=Bearer h", PROTOCOL "chat");
}

static void long_names_and_what_is_none_are_not_echoed(void)
{
	CHECK_OFFER("- " LONG, "", PROTOCOL LONG);
	CHECK_OFFER("- -", "", PROTOCOL LONG "x");
	CHECK_OFFER("- t", "", PROTOCOL LONG "x", PROTOCOL "t, u");
	CHECK_OFFER("- t", "", PROTOCOL "a b, \"c\", t, u");
	CHECK_OFFER("- -", "", PROTOCOL "a b");
}

static void the_header_wins_and_the_offer_is_echoed(void)
{
	CHECK_OFFER("h service-bearer", "token=q", "HTTP_AUTHORIZATION=Bearer h",
	    PROTOCOL "service-bearer, p");
}

static void the_query_comes_last(void)
{
	CHECK_OFFER("a.b -", "x=1&token=a%2Eb", "Y=z");
	CHECK_OFFER("- -", "token=", "Y=z");
	CHECK_OFFER("- -", "tokens=a", "Y=z");
	CHECK_OFFER("p service-bearer", "token=q", PROTOCOL "service-bearer, p");
}

/* ---- the request ---- */

static const struct route rows[] = {
    {METHOD_GET, "/v1/graph/ws", "graph", "stream", BODY_NONE, get_socket, ROUTE_WEBSOCKET, NULL}};
static const struct route_table table = {rows, 1};

#define URI "REQUEST_URI=/v1/graph/ws"
#define GET "REQUEST_METHOD=GET"
#define UPGRADE "HTTP_UPGRADE=websocket"
#define CONNECTION "HTTP_CONNECTION=keep-alive, Upgrade"
#define VERSION "HTTP_SEC_WEBSOCKET_VERSION=13"
#define KEY "HTTP_SEC_WEBSOCKET_KEY=dGhlIHNhbXBsZSBub25jZQ=="

static char any_host[] = "*";
static char *hosts[] = {any_host};
static const struct environment env = {.allowed_hosts = {hosts, 1}};

static struct answer ask(const char *const params[])
{
	return fixture_answer(&table, &env, params);
}

#define ANSWER(answer, ...) \
	struct answer answer = ask((const char *const[]){URI, __VA_ARGS__, NULL})

static void redirects_to_where_the_web_server_says(void)
{
	ANSWER(answer, GET, UPGRADE, CONNECTION, VERSION, KEY, "REMOTE_ADDR=192.0.2.7",
	    "AGENTGRAPH_RELAY=/agent/relay");
	CU_ASSERT(fixture_has_line(&answer, "X-Accel-Redirect: /agent/relay/v1/graph/ws"));
	fixture_answer_end(&answer);
}

static void lets_in_with_a_ticket(void)
{
	ANSWER(answer, GET, UPGRADE, CONNECTION, VERSION, KEY, "REMOTE_ADDR=192.0.2.7");
	static const struct ticket_key key;
	struct ticket ticket;
	struct error err = {0};
	CU_ASSERT_EQUAL(answer.status, 200);
	CU_ASSERT(fixture_has_line(&answer, "X-Accel-Redirect: /_agentgraph/relay/v1/graph/ws"));
	const char *start = strstr(answer.head, TICKET_HEADER ": ");
	CU_ASSERT_PTR_NOT_NULL_FATAL(start);
	start += strlen(TICKET_HEADER ": ");
	arena_free(arena);
	arena = arena_new();
	const char *text = arena_strndup(arena, start, strcspn(start, "\r"));
	CU_ASSERT_FATAL(ticket_verify(&key, text, "/v1/graph/ws", arena, &ticket, &err));
	CU_ASSERT_STRING_EQUAL(ticket.request_id, fixture_header(&answer, "X-Request-ID"));
	CU_ASSERT_STRING_EQUAL(ticket.user_id, "anonymous");
	CU_ASSERT_STRING_EQUAL(ticket.address, "192.0.2.7");
	CU_ASSERT_PTR_NULL(ticket.subprotocol);
	CU_ASSERT_FALSE(ticket.verified);
	fixture_answer_end(&answer);
}

static void ignores_a_ticket_of_the_client(void)
{
	ANSWER(answer, GET, UPGRADE, CONNECTION, VERSION, KEY, "HTTP_X_AGENTGRAPH_TICKET=mine");
	CU_ASSERT_EQUAL(answer.status, 200);
	CU_ASSERT_PTR_NULL(strstr(answer.head, "mine"));
	fixture_answer_end(&answer);
}

static void check_426(struct answer answer)
{
	CU_ASSERT_EQUAL(answer.status, 426);
	CU_ASSERT(fixture_has_line(&answer, "Upgrade: websocket"));
	CU_ASSERT(fixture_has_line(&answer, "Sec-WebSocket-Version: 13"));
	CU_ASSERT_PTR_NULL(fixture_header(&answer, "X-Accel-Redirect"));
	CU_ASSERT_PTR_NULL(fixture_header(&answer, "X-WebSocket-Close-Code"));
	fixture_answer_end(&answer);
}

#define CHECK_426(...) check_426(ask((const char *const[]){URI, __VA_ARGS__, NULL}))

static void what_is_no_upgrade_needs_one(void)
{
	CHECK_426(GET);
	CHECK_426(GET, CONNECTION, VERSION, KEY);
	CHECK_426(GET, UPGRADE, VERSION, KEY);
	CHECK_426(GET, UPGRADE, CONNECTION, KEY);
	CHECK_426(GET, UPGRADE, CONNECTION, "HTTP_SEC_WEBSOCKET_VERSION=8", KEY);
	CHECK_426(GET, "HTTP_UPGRADE=h2c", CONNECTION, VERSION, KEY);
	CHECK_426(GET, UPGRADE, "HTTP_CONNECTION=keep-alive", VERSION, KEY);
	CHECK_426(GET, UPGRADE, "HTTP_CONNECTION=upgraded", VERSION, KEY);
}

static void words_have_no_case(void)
{
	ANSWER(answer, GET, "HTTP_UPGRADE=WebSocket", "HTTP_CONNECTION=UPGRADE", VERSION, KEY);
	CU_ASSERT_EQUAL(answer.status, 200);
	fixture_answer_end(&answer);
}

static void head_is_no_handshake(void)
{
	ANSWER(answer, "REQUEST_METHOD=HEAD", UPGRADE, CONNECTION, VERSION, KEY);
	CU_ASSERT_EQUAL(answer.status, 426);
	CU_ASSERT_STRING_EQUAL(answer.body, "");
	fixture_answer_end(&answer);
}

static void check_key(const char *key)
{
	ANSWER(answer, GET, UPGRADE, CONNECTION, VERSION, key);
	CU_ASSERT_EQUAL(answer.status, 400);
	CU_ASSERT_PTR_NULL(cJSON_GetObjectItem(answer.json, "close_code"));
	fixture_answer_end(&answer);
}

static void refuses_what_is_no_key(void)
{
	check_key("X=y");
	check_key("HTTP_SEC_WEBSOCKET_KEY=");
	check_key("HTTP_SEC_WEBSOCKET_KEY=dGhlIHNhbXBsZSBub25jZQ");
	check_key("HTTP_SEC_WEBSOCKET_KEY=dGhlIHNhbXBsZSBub25jZ===");
	check_key("HTTP_SEC_WEBSOCKET_KEY=dGhlIHNhbXBsZSBub25jZQ==x");
	check_key("HTTP_SEC_WEBSOCKET_KEY=dGhlIHNhbXBsZSBub25jZSB0b28=");
}

static enum error_kind refusal;

static void refuse_handler(struct request *rq)
{
	error_set(&rq->call.error, refusal, NULL);
	reply_error(rq);
}

static const struct route refusing[] = {{METHOD_GET, "/v1/graph/ws", "graph", "stream", BODY_NONE,
					    refuse_handler, ROUTE_WEBSOCKET, NULL},
    {METHOD_GET, "/other", "graph", "stream", BODY_NONE, refuse_handler, 0, NULL}};
static const struct route_table refusals = {refusing, 2};

static void check_refusal(enum error_kind kind, int status, const char *code)
{
	refusal = kind;
	struct answer answer = fixture_answer(&refusals, &env,
	    (const char *const[]){URI, GET, UPGRADE, CONNECTION, VERSION, KEY, NULL});
	CU_ASSERT_EQUAL(answer.status, status);
	CU_ASSERT_STRING_EQUAL(fixture_header(&answer, "X-WebSocket-Close-Code"), code);
	const cJSON *close_code = cJSON_GetObjectItem(answer.json, "close_code");
	CU_ASSERT(cJSON_IsNumber(close_code) && close_code->valueint == atoi(code));
	fixture_answer_end(&answer);
	answer =
	    fixture_answer(&refusals, &env, (const char *const[]){"REQUEST_URI=/other", GET, NULL});
	CU_ASSERT_EQUAL(answer.status, status);
	CU_ASSERT_PTR_NULL(fixture_header(&answer, "X-WebSocket-Close-Code"));
	CU_ASSERT_PTR_NULL(cJSON_GetObjectItem(answer.json, "close_code"));
	fixture_answer_end(&answer);
}

static void a_refusal_says_the_close_code(void)
{
	check_refusal(ERR_INVALID_TOKEN, 403, "1008");
	check_refusal(ERR_TOO_MANY_CONNECTIONS, 503, "1013");
	check_refusal(ERR_INTERNAL, 500, "1011");
}

static const struct unit_test tests[] = {
    {"the Authorization header has the credential", takes_the_authorization_header},
    {"its scheme has no case, and blanks around the token do not count", the_scheme_has_no_case},
    {"another scheme, or none behind it, leaves the credential to the next place",
	other_schemes_go_on},
    {"an offer of two protocols carries a token and is echoed", takes_an_offer_of_two_protocols},
    {"an offer in several lines is one offer", the_lines_of_an_offer_are_one},
    {"any other offer carries nothing, and its first name is echoed",
	the_first_name_of_other_offers_is_echoed},
    {"names of more than 64 characters and what is none are passed over",
	long_names_and_what_is_none_are_not_echoed},
    {"the header wins, and the offer is echoed all the same",
	the_header_wins_and_the_offer_is_echoed},
    {"the query's token comes last and is decoded", the_query_comes_last},
    {"a handshake is let in by a redirect with a ticket", lets_in_with_a_ticket},
    {"the web server says where the redirect leads", redirects_to_where_the_web_server_says},
    {"a ticket that a client sends is ignored", ignores_a_ticket_of_the_client},
    {"a request without an upgrade is 426", what_is_no_upgrade_needs_one},
    {"the words of an upgrade have no case", words_have_no_case},
    {"HEAD is no handshake", head_is_no_handshake},
    {"a key that is not 16 bytes in base64 is 400", refuses_what_is_no_key},
    {"a refused handshake says the close code, other refusals do not",
	a_refusal_says_the_close_code},
};

int main(void)
{
	int status = unit_main("upgrade", tests, UNIT_COUNT(tests));
	arena_free(arena);
	return status;
}
