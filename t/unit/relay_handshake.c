/* SPDX-License-Identifier: ISC */
/* The relay's handshake: which requests are good. */
#include "ws-bridge/relay/relay_handshake.h"
#include "base/http/http_head.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#define GET "GET /v1/graph/ws HTTP/1.1\r\n"
#define KEY "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define REST                                                                   \
	"Host: x\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n" \
	"Sec-WebSocket-Version: 13\r\n"

static char head[2048];
static struct handshake handshake;

static enum handshake_fault parse(const char *text)
{
	strcpy(head, text);
	return handshake_parse(head, strlen(text), &handshake);
}

static void a_good_request_is_taken_apart(void)
{
	CU_ASSERT_EQUAL(parse(GET REST KEY "x-AGENTGRAPH-ticket: \t abc \t\r\n\r\n"), HANDSHAKE_OK);
	CU_ASSERT_STRING_EQUAL(handshake.path, "/v1/graph/ws");
	CU_ASSERT_STRING_EQUAL(handshake.key, "dGhlIHNhbXBsZSBub25jZQ==");
	CU_ASSERT_STRING_EQUAL(handshake.ticket, "abc");
	CU_ASSERT_EQUAL(parse("GET /a?token=b HTTP/1.1\r\n" REST KEY "\r\n"), HANDSHAKE_OK);
	CU_ASSERT_STRING_EQUAL(handshake.path, "/a");
	CU_ASSERT_PTR_NULL(handshake.ticket);
}

static void other_requests_are_told_apart(void)
{
	CU_ASSERT_EQUAL(parse(GET "Host: x\r\n\r\n"), HANDSHAKE_NO_UPGRADE);
	CU_ASSERT_EQUAL(parse(GET "Host: x\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n"),
	    HANDSHAKE_NO_UPGRADE);
	CU_ASSERT_EQUAL(parse(GET "Host: x\r\nUpgrade: websocket\r\nConnection: close\r\n\r\n"),
	    HANDSHAKE_NO_UPGRADE);
	CU_ASSERT_EQUAL(
	    parse(GET "Host: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" KEY "\r\n"),
	    HANDSHAKE_VERSION);
}

static void malformed_requests_are_refused(void)
{
	static const char *const wrong[] = {"", "\r\n\r\n", "GET / HTTP/1.1\r\n",
	    "POST / HTTP/1.1\r\n" REST KEY "\r\n", "GET / HTTP/1.0\r\n" REST KEY "\r\n",
	    "GET  HTTP/1.1\r\n" REST KEY "\r\n", "GET /a b HTTP/1.1\r\n" REST KEY "\r\n",
	    "GET http://x/ HTTP/1.1\r\n" REST KEY "\r\n", GET REST "\r\n", GET REST KEY KEY "\r\n",
	    GET REST KEY "Host: y\r\n\r\n", GET REST KEY "Content-Length: 1\r\n\r\n",
	    GET REST KEY "Transfer-Encoding: chunked\r\n\r\n", GET REST KEY "Name\r\n\r\n",
	    GET REST KEY "Name : x\r\n\r\n", GET REST KEY " folded\r\n\r\n",
	    GET REST KEY ": x\r\n\r\n", GET REST KEY "A: x\001\r\n\r\n",
	    GET REST KEY "A: x\nB: y\r\n\r\n", GET REST KEY "A: x\ry\r\n\r\n",
	    GET REST KEY "\r\r\n\r\n",
	    GET REST "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZR==\r\n\r\n",
	    GET REST "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=\r\n\r\n",
	    GET REST KEY "X-Agentgraph-Ticket: a\r\nX-Agentgraph-Ticket: a\r\n\r\n"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CU_ASSERT_EQUAL(parse(wrong[i]), HANDSHAKE_MALFORMED);
}

static void a_head_ends_at_its_blank_line(void)
{
	CU_ASSERT_EQUAL(http_head_length("a\r\n\r\nb", 6), 5);
	CU_ASSERT_EQUAL(http_head_length("a\r\n\r", 4), 0);
	CU_ASSERT_EQUAL(http_head_length("", 0), 0);
}

static int answer(const char *text, bool *good)
{
	strcpy(head, text);
	return handshake_answer(head, strlen(text), "abc", good);
}

static void the_right_answer_is_known(void)
{
	bool good;
	CU_ASSERT_EQUAL(answer("HTTP/1.1 101 Fine\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
			       "Sec-WebSocket-Accept: abc\r\n\r\n",
			    &good),
	    101);
	CU_ASSERT(good);
	CU_ASSERT_EQUAL(answer("HTTP/1.1 101 Fine\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
			       "Sec-WebSocket-Accept: abd\r\n\r\n",
			    &good),
	    101);
	CU_ASSERT_FALSE(good);
	CU_ASSERT_EQUAL(answer("HTTP/1.1 429 Too Many Requests\r\n\r\n", &good), 429);
	CU_ASSERT_FALSE(good);
	CU_ASSERT_EQUAL(answer("HTTP/1.1 1010 x\r\n\r\n", &good), 0);
	CU_ASSERT_EQUAL(answer("SSH-2.0\r\n\r\n", &good), 0);
}

static void keys_have_their_answers(void)
{
	char key[HANDSHAKE_KEY_SIZE], other[HANDSHAKE_KEY_SIZE], accept[HANDSHAKE_ACCEPT_SIZE];
	handshake_accept("dGhlIHNhbXBsZSBub25jZQ==", accept);
	CU_ASSERT_STRING_EQUAL(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
	handshake_key(key);
	handshake_key(other);
	CU_ASSERT_EQUAL(strlen(key), HANDSHAKE_KEY_SIZE - 1);
	CU_ASSERT_STRING_NOT_EQUAL(key, other);
}

static const struct unit_test tests[] = {
    {"a good request is taken apart", a_good_request_is_taken_apart},
    {"other requests are told apart", other_requests_are_told_apart},
    {"malformed requests are refused", malformed_requests_are_refused},
    {"a head ends at its blank line", a_head_ends_at_its_blank_line},
    {"the right answer is known", the_right_answer_is_known},
    {"keys have their answers", keys_have_their_answers},
};

int main(void)
{
	return unit_main("relay_handshake", tests, UNIT_COUNT(tests));
}
