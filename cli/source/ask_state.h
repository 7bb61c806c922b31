/* SPDX-License-Identifier: ISC */
/* The storage of a state directory that commands ask by the use cases that the routes have, also
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

/* False after complaints about the configuration.  user_id lives as long. */
bool state_service_open(
    struct state_service *at, const struct config_source *where, const char *user_id);
void state_service_close(struct state_service *at);

/* Whether a service runs there. */
bool state_is_served(const char *state_dir);

/* Where nobody takes up what is queued, says so, for whoever waits for it.  Of several machines
 * over one database another one may. */
void state_say_unserved(const struct state_service *at);

/* Begins a call, which state_end ends. */
struct call *state_begin(struct state_service *at);

/* Makes the call that of who asks, else of whom the thread belongs to, which may be NULL.  False
 * with the call's error set. */
bool state_identify(struct state_service *at, const char *thread_id);

/* Ends the call that gave data: the tree that a client reads, new, or NULL with err set. */
cJSON *state_end(struct state_service *at, const cJSON *data, struct error *err);

#endif
