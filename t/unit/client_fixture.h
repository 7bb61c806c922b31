/* SPDX-License-Identifier: ISC */
/*
 * What the tests of fcgi/ share: a client without a socket, and a server whose configuration the
 * test fills in.
 */
#ifndef AGENTGRAPH_UNIT_CLIENT_FIXTURE_H
#define AGENTGRAPH_UNIT_CLIENT_FIXTURE_H

#include "base/buf.h"
#include "config/config.h"
#include "fcgi/request/client.h"
#include "fcgi/route/route.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

struct fake_client {
	struct client client; /* first: the callbacks get it back */
	const char *body;
	size_t len, taken;
	bool cut;  /* the body ends early */
	int reads; /* calls of read */
	struct buf out;
	int flushes;
};

/* A client that sends len bytes of body and then ends, or breaks off. */
void fake_client_init(struct fake_client *fake, const char *body, size_t len, bool cut);

/* One answer, taken apart. */
struct answer {
	int status;
	char *head; /* the lines, each ended by \r\n */
	char *body;
	cJSON *json; /* of the body, NULL when it is none */
	int flushes, reads;
};

/* Serves one request over these rows with this environment.  params is ended by NULL; the one named
 * BODY is what the client sends.  A jwt_secret in the environment turns authentication on. */
struct answer fixture_answer(
    const struct route_table *table, const struct environment *env, const char *const params[]);
void fixture_answer_end(struct answer *answer);

/* Whether the head has this line. */
bool fixture_has_line(const struct answer *answer, const char *line);

/* The value of a header, in a static buffer; NULL when the head lacks it. */
const char *fixture_header(const struct answer *answer, const char *name);

#endif
