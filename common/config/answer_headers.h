/* SPDX-License-Identifier: ISC */
/*
 * The header lines that every answer carries, whoever gives it: security headers
 * (doc/protocol.md#headers) and CORS (doc/protocol.md#cors).  Workers and the web server, which
 * answers some requests by itself, both go by these lists.
 */
#ifndef AGENTGRAPH_CONFIG_ANSWER_HEADERS_H
#define AGENTGRAPH_CONFIG_ANSWER_HEADERS_H

#include "config/config.h"

/* A value that is NULL or "" stands for no line. */
struct answer_header {
	const char *name, *value;
};

/* Indices in the list of those security headers that some kinds of answer replace. */
enum { HEADER_SNIFFING, HEADER_PERMISSIONS = 4, HEADER_POLICY, SECURITY_HEADERS };

/* Fills headers as the environment says, which owns the values.  Strict-Transport-Security is not
 * among them, as it depends on how the client came (environment_hsts). */
void answer_security_headers(
    const struct environment *env, struct answer_header headers[SECURITY_HEADERS]);

enum { HEADER_EXPOSED = 3, CORS_HEADERS };

/* Fills headers for an answer to a page of an allowed origin, which the first of them names. */
void answer_cors_headers(
    const struct environment *env, const char *origin, struct answer_header headers[CORS_HEADERS]);

#endif
