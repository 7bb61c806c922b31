/* SPDX-License-Identifier: ISC */
/* A service that commands ask over HTTP. */
#ifndef AGENTGRAPH_CLI_SOURCE_ASK_URL_H
#define AGENTGRAPH_CLI_SOURCE_ASK_URL_H

#include "base/buf.h"
#include "base/error.h"
#include "base/http/http.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct url_service {
	char *url;           /* without a slash at its end */
	char *authorization; /* value of the header, or NULL */
};

/* Whether url can be the address of a service; false with err set. */
bool url_service_check(const char *url, struct error *err);

/* token may be NULL. */
void url_service_open(struct url_service *at, const char *url, const char *token);
void url_service_close(struct url_service *at);

/* Appends a field of a query, unless value is NULL; *between is '?' before the first one. */
void url_add_query(struct buf *out, const char *name, const char *value, char *between);

/* A request with the members that all have; body may be NULL.  headers must live as long as it. */
struct http_request url_request(
    const struct url_service *at, const char *url, const char *body, struct http_header headers[2]);

/* Asks a route for its data, a new tree, or NULL with err set; *status is that of the answer.  The
 * service may take `wait` seconds longer than usual. */
cJSON *url_ask(struct url_service *at, const char *url, const char *body, int64_t wait, int *status,
    struct error *err);

/* The same with a body of that media type. */
cJSON *url_send(struct url_service *at, const char *url, const char *type, const struct buf *body,
    struct error *err);

/* The lines of a stream, each without its newline. */
struct url_lines {
	void (*take)(void *arg, const char *line, size_t len);
	void *arg;
	struct buf rest; /* of the line that is not whole yet */
};

/* Takes bytes as they come, for a struct url_lines; false when a line is longer than any service
 * sends. */
bool url_lines(void *lines, const char *data, size_t len);

/* An answer that is taken as it comes, if its status is 200; any other is kept as a refusal. */
struct url_answer {
	bool (*take)(void *arg, const char *data, size_t len); /* false: nothing more is wanted */
	void *arg;
	int status; /* 0 until it is known */
	struct buf refusal;
};

/* Makes the request, whose functions get the answer as their argument. */
enum http_end url_answer_take(
    struct url_answer *answer, struct http_request *request, struct http_response *response);

/* Sets err to what the refusal says, or to the reason why there was no answer. */
void url_answer_refused(const struct url_service *at, const struct url_answer *answer,
    const struct http_response *response, struct error *err);

/* Writes an answer to out as it comes.  False with err set; part of it may have been written
 * then. */
bool url_save(struct url_service *at, const char *url, FILE *out, struct error *err);

#endif
