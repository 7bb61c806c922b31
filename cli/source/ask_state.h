/* SPDX-License-Identifier: ISC */
/* The storage of a state directory, which commands ask through the use cases of the routes, also
 * while no service runs on it. */
#ifndef AGENTGRAPH_CLI_SOURCE_ASK_STATE_H
#define AGENTGRAPH_CLI_SOURCE_ASK_STATE_H

#include "config/config.h"
#include "service/service.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

struct state_service {
	struct service *service;
	const char *user_id; /* who asks, or NULL */
	struct call call;    /* of the operation under way */
};

/* False after complaints about the configuration.  user_id is borrowed until it is closed. */
bool state_service_open(
    struct state_service *at, const struct config_source *where, const char *user_id);
void state_service_close(struct state_service *at);

/* Tells whoever waits for a run if no service is there to take it up.  Where machines share a
 * database another one may do so, and nothing is said. */
void state_say_unserved(const struct state_service *at);

/* Begins a call, which state_end ends. */
struct call *state_begin(struct state_service *at);

/* Makes the call one of the user who asks, or else of the user whom the thread belongs to;
 * thread_id may be NULL.  False with the call's error set. */
bool state_identify(struct state_service *at, const char *thread_id);

/* Ends the call that gave data.  Returns the tree that a client would read, a new one; NULL with
 * err set when data is NULL. */
cJSON *state_end(struct state_service *at, const cJSON *data, struct error *err);

#endif
