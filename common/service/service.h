/* SPDX-License-Identifier: ISC */
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

#include "access/access.h"
#include "access/limit.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/http/traceparent.h"
#include "base/id.h"
#include "base/os/waiter.h"
#include "base/problems.h"
#include "config/config.h"
#include "graph/graph.h"
#include "service/thread/names.h"
#include "storage/threads.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

struct eval_cache;
struct chunk_keepers;
struct memories;
struct mcp_offer;

struct service {
	struct config *config;
	ag_graph *graph;
	struct shared *shared; /* the memory of the instance */
	struct storage *storage;
	char *lacking; /* why there is no storage yet, malloc'd (service_open_early); else NULL */
	struct files *files;           /* uploaded files */
	struct chunk_keepers *keepers; /* of runs' chunks */
	struct memories *memories;     /* NULL: no store is configured */
	struct traces *traces;         /* NULL in production, and while storage is */
	struct telemetry *telemetry;   /* what reports to systems outside; NULL in tests */
	struct access *access;         /* who may do what */
	struct limiter *limiter;       /* how often callers may ask */
	struct names names;            /* what new threads are called */
	struct id_source ids;          /* thread, run and message ids */
	struct snowflake snowflake;    /* their layout */
	struct mcp_offer *mcp;         /* the tool that the graph is; NULL: mcp is off */
	struct eval_cache *evals;      /* eval reports that were read */
	cJSON *anonymous;              /* the user of all calls where authentication is off */
};

/* Loads configuration and graph, sets the log up, and opens the storage; NULL with every mistake in
 * problems. */
struct service *service_open(const struct config_source *source, struct problems *problems);

/*
 * The same for a process that can start without its database: where that is on a server that cannot
 * be reached now, the service is opened without storage and lacking says why; no calls can be made
 * yet.  service_open_late then tries to open the rest; true when that is done.
 */
struct service *service_open_early(const struct config_source *source, struct problems *problems);
bool service_open_late(struct service *service);

/*
 * The same in two steps, for a process that may never need the storage.  Until service_open_storage
 * has succeeded, storage is NULL and no calls can be made.  It returns false with err set, and can
 * be tried again.
 */
struct service *service_load(const struct config_source *source, struct problems *problems);
bool service_open_storage(struct service *service, struct error *err);

/* A part of that, for a process that opens its storage by itself: where there are several instances
 * over one database, this one gets their common key, and a node of its own for snowflakes. */
bool service_join(struct service *service, struct error *err);

void service_close(struct service *service);

/* A list of messages that is put into an answer as it is sent (feed.h). */
struct feed {
	enum { FEED_NONE, FEED_CONTEXT, FEED_MESSAGES } kind;
	int64_t thread_row;
	struct thread_view view;
	struct page page;
	/* Appends a message in the form of the answer, or nothing; NULL: messages go out as they
	 * are stored. */
	void (*put)(struct buf *out, const char *body_json);
};

struct call {
	struct service *service;
	struct arena *arena;
	struct identity identity;
	struct permission permission; /* what call_permit has allowed; or all NULL */
	const cJSON *user;            /* the identity's, an object; never NULL */
	const char *user_id;          /* its user_id, "anonymous" when it has none */
	const char *owner;            /* listings reach this user's threads only; NULL: all */
	struct trace_headers trace;   /* of the request */
	struct storage_context ctx; /* of the request; without a waiter the call runs to its end */
	bool reported;              /* the error was reported to the error tracker */
	struct feed feed;           /* the answer's, where it has one */
	struct feed list;           /* the second one, where the answer has two (feed_beside) */
	size_t values;              /* that JSON of the client may still have */
	struct limit_verdict limit; /* what the rate limit said, where it was asked */
	struct error error;
};

/* A call by the anonymous user; call_release ends it, whatever happened. */
void call_init(struct call *call, struct service *service, const char *request_id);
void call_release(struct call *call);

/* From now on the call is made by somebody else, whose texts must live as long as the call. */
void call_identify(struct call *call, const struct identity *identity);

/* Whether the call's user may do this (access_permit).  The permission's texts must live as long as
 * the call. */
bool call_permit(struct call *call, const struct permission *permission);

/* Reads a thread, or the record of a run, as it is stored, without asking whose it is.  False where
 * there is none, or with the error set. */
bool call_thread(struct call *call, const char *thread_id, struct thread *thread);
bool call_record(
    struct call *call, const char *thread_id, const char *run_id, struct run_record *record);

/* Whether its user may have a thread that exists, by what call_permit was asked (access_owns). */
bool call_owns(struct call *call, const struct thread *thread);

/* The data of a call that has changed something, to which members may be added:
 * {"success": true, "message"}; in the arena. */
cJSON *call_done(struct call *call, const char *message);

/* What the client is shown of call->error; texts that production hides are replaced
 * (doc/protocol-errors.md#errors-in-production). */
void call_error_view(const struct call *call, struct error_view *view);

/* The same for another error. */
void call_view_of(const struct call *call, const struct error *err, struct error_view *view);

#endif
