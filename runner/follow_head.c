/* SPDX-License-Identifier: ISC */
/* HTTP as far as the web server needs it. */
#include "runner/follow_head.h"

#include "access/ticket/ticket.h"
#include "base/http/http_head.h"
#include "base/id.h"
#include "base/json/json.h"
#include "base/os/clock.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool follow_head_parse(char *data, size_t len, struct follow_head *head)
{
	char *rest = data, *line;
	*head = (struct follow_head){0};
	if (len < 4 || memchr(data, '\0', len))
		return false;
	data[len - 2] = '\0'; /* in the blank line, so that the head is a string */
	line = http_head_line(&rest);
	if (!line || strncmp(line, "GET /", 5) != 0 || !strstr(line, " HTTP/1."))
		return false;
	while ((line = http_head_line(&rest))) {
		char *colon = strchr(line, ':');
		if (!colon || strpbrk(line, "\r\n")) /* CR and LF only end lines, together */
			return false;
		*colon = '\0';
		const char *value = colon + 1 + strspn(colon + 1, " \t");
		/* the web server sends each of these once; one that comes twice is not its own */
		if (strcasecmp(line, TICKET_HEADER) == 0 && !http_head_once(&head->ticket, value))
			return false;
		if (strcasecmp(line, "X-Agentgraph-Waited") == 0 &&
		    !http_head_once(&head->waited, value))
			return false;
	}
	return *rest == '\0';
}

void follow_head_stream(struct buf *out)
{
	buf_puts(out,
	    "HTTP/1.1 200 OK\r\n"
	    "Content-Type: text/event-stream; charset=utf-8\r\n"
	    "Cache-Control: no-cache, no-transform\r\n"
	    "X-Accel-Buffering: no\r\n"
	    "Content-Encoding: identity\r\n"
	    "Transfer-Encoding: chunked\r\n"
	    "Connection: close\r\n\r\n");
}

void follow_head_waited(struct buf *out, const char *where, const char *ticket)
{
	buf_printf(out,
	    "HTTP/1.1 200 OK\r\nX-Accel-Redirect: %s\r\n" TICKET_HEADER ": %s\r\n"
	    "Content-Length: 0\r\nConnection: close\r\n\r\n",
	    where, ticket);
}

void follow_head_silent(struct buf *out)
{
	buf_puts(out, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
}

void follow_head_error(struct buf *out, const struct error *err, const char *request_id)
{
	char id[UUID_SIZE], now[ISO_TIME_SIZE];
	const struct error_view view = {.code = error_code(err->kind), .detail = err->detail};
	cJSON *body =
	    error_body(&view, request_id ? request_id : uuid4(id), clock_iso(clock_now(), now));
	char *text = json_print(body);
	buf_printf(out,
	    "HTTP/1.1 %d Refused\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
	    "Cache-Control: no-store\r\nConnection: close\r\n\r\n%s",
	    error_status(err->kind), strlen(text), text);
	free(text);
	cJSON_Delete(body);
}
