/*
 * The use cases, free of any transport: JSON in, JSON or chunks out, or a typed error.
 *
 * A struct service is what one process serves: configuration, graph and storage, immutable once
 * open.  A struct call is one request's context; every function below takes it, answers with a
 * cJSON tree that lives in the call's arena, or returns NULL (false) with call->error set.  Bodies
 * are borrowed trees from json_parse with JSON_REQUEST_DEPTH; NULL stands for "no body".
 */
#ifndef AGENTGRAPH_SERVICE_SERVICE_H
#define AGENTGRAPH_SERVICE_SERVICE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/id.h"
#include "base/problems.h"
#include "config/config.h"
#include "graph/graph.h"
#include "storage/storage.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

struct service {
	struct config *config;
	ag_graph *graph;
	struct storage *storage;
	struct id_source ids; /* thread, run and message ids */
	cJSON *anonymous;     /* the user where authentication is off */
};

/* Loads configuration and graph and opens the storage; NULL with every mistake in problems. */
struct service *service_open(const struct config_source *source, struct problems *problems);
void service_close(struct service *service);

struct call {
	struct service *service;
	struct arena *arena;
	const cJSON *user;      /* the verified user, an object with user_id; never NULL */
	const char *user_id;    /* its user_id */
	const char *owner;      /* listings reach this user's threads only; NULL: all */
	const char *request_id; /* for the log */
	struct error error;
};

/* A call by the anonymous user; call_release ends it, whatever happened. */
void call_init(struct call *call, struct service *service, const char *request_id);
void call_release(struct call *call);

/* What is shown to the client of call->error: texts that production hides are replaced (WIRE 7.1).
 */
struct error_view {
	int status;
	const char *code;
	const char *detail;
	const cJSON *details; /* NULL: [] */
};
void call_error_view(const struct call *call, struct error_view *view);

#endif
