/* SPDX-License-Identifier: ISC */
/* Answers that refuse a handshake: those that a helper gave, and those that are made here. */
#include "ws-bridge/relay/relay_handshake.h"

#include "base/id.h"
#include "base/json/json.h"
#include "ws-bridge/refusal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Appends a header line, unless the value is absent or would end the line. */
static void relay_refusal_put_header(struct buf *out, const char *name, const char *value)
{
	if (value && !strpbrk(value, "\r\n"))
		buf_printf(out, "%s: %s\r\n", name, value);
}

/* The head repeats some of what the body says. */
bool refusal_given(struct buf *out, int status, const char *json, size_t len)
{
	static const struct {
		int status;
		const char *phrase; /* clients go by the number */
	} phrases[] = {{400, "Bad Request"}, {403, "Forbidden"}, {426, "Upgrade Required"},
	    {429, "Too Many Requests"}, {503, "Service Unavailable"}};
	cJSON *body = json_parse(json, len, JSON_TRUSTED_DEPTH, NULL);
	if (!cJSON_IsObject(body)) {
		cJSON_Delete(body);
		return false;
	}
	const char *phrase = "Refused";
	for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++)
		if (phrases[i].status == status)
			phrase = phrases[i].phrase;
	const cJSON *metadata = json_get(body, "metadata");
	int64_t close_code;
	char *text = json_print(body);
	buf_printf(out, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\n", status, phrase);
	buf_printf(out, "Content-Length: %zu\r\nCache-Control: no-store\r\n", strlen(text));
	relay_refusal_put_header(out, "X-Request-ID", json_str(metadata, "request_id"));
	relay_refusal_put_header(out, "X-Timestamp", json_str(metadata, "timestamp"));
	if (json_integer(json_get(body, "close_code"), &close_code))
		buf_printf(out, "X-WebSocket-Close-Code: %lld\r\n", (long long)close_code);
	if (status == 426)
		buf_puts(out, "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n");
	buf_puts(out,
	    status == 426 ? "Connection: Upgrade, close\r\n\r\n" : "Connection: close\r\n\r\n");
	buf_puts(out, text);
	free(text);
	cJSON_Delete(body);
	return true;
}

void refusal_error(struct buf *out, const struct error *err, const char *request_id)
{
	char id[UUID_SIZE];
	char *body = refusal_json(err, request_id ? request_id : uuid4(id));
	refusal_given(out, error_status(err->kind), body, strlen(body));
	free(body);
}
