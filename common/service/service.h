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
	char *lacking;                 /* why there is no storage yet (service_open_early) */
	struct files *files;           /* uploaded ones */
	struct chunk_keepers *keepers; /* of chunks */
	struct memories *memories;     /* NULL: no store is configured */
	struct traces *traces;         /* NULL in production, and while storage is */
	struct telemetry *telemetry;   /* who is told outside; NULL in tests */
	struct access *access;         /* who is let in to what */
	struct limiter *limiter;       /* and how often */
	struct names names;            /* what new threads are called */
	struct id_source ids;          /* thread, run and message ids */
	struct snowflake snowflake;    /* their layout */
	struct mcp_offer *mcp;         /* the tool that the graph is; NULL: mcp is off */
	struct eval_cache *evals;      /* what was read of eval reports */
	cJSON *anonymous;              /* the user where authentication is off */
};

/* Loads configuration and graph, sets the log up, and opens the storage; NULL with every mistake in
 * problems. */
struct service *service_open(const struct config_source *source, struct problems *problems);

/*
 * The same for a process that serves without its database: where that is elsewhere and cannot be
 * reached now, the service is opened without its storage, there are no calls to make, and lacking
 * says why.  service_open_late tries again what is left then; true when it is done.
 */
struct service *service_open_early(const struct config_source *source, struct problems *problems);
bool service_open_late(struct service *service);

/*
 * The same in two steps, for a process that may never need the storage: until service_open_storage
 * has succeeded, storage is NULL and there are no calls to make.  That returns false with err set,
 * and can be tried again.
 */
struct service *service_load(const struct config_source *source, struct problems *problems);
bool service_open_storage(struct service *service, struct error *err);

/* Part of that, for a process that opens its storage by itself: of instances over one database each
 * gets their key, and a snowflake's node of its own. */
bool service_join(struct service *service, struct error *err);

void service_close(struct service *service);

/* A list of messages that an answer is still to get (feed.h). */
struct feed {
	enum { FEED_NONE, FEED_CONTEXT, FEED_MESSAGES } kind;
	int64_t thread_row;
	struct thread_view view;
	struct page page;
	/* Appends a message as the answer has it, or nothing; NULL: as it is stored. */
	void (*put)(struct buf *out, const char *body_json);
};

struct call {
	struct service *service;
	struct arena *arena;
	struct identity identity;
	struct permission permission; /* what call_permit allowed, for texts; or all NULL */
	const cJSON *user;            /* the identity's, an object; never NULL */
	const char *user_id;          /* its user_id, "anonymous" when it has none */
	const char *owner;            /* listings reach this user's threads only; NULL: all */
	const char *traceparent;      /* of the request, as it came, or NULL */
	struct storage_context
	    ctx;          /* of the request; no waiter: the answer is worth having anyway */
	bool reported;    /* the error tracker knows of the error */
	struct feed feed; /* of the answer, where it has one */
	struct feed list; /* beside it, where it has two (feed_beside) */
	struct limit_verdict limit; /* what the rate limit said, where it was asked */
	struct error error;
};

/* A call by the anonymous user; call_release ends it, whatever happened. */
void call_init(struct call *call, struct service *service, const char *request_id);
void call_release(struct call *call);

/* The call is from now on by somebody else, whose texts live as long as it. */
void call_identify(struct call *call, const struct identity *identity);

/* Whether its user may do that (access_permit); the permission's texts live as long as the call. */
bool call_permit(struct call *call, const struct permission *permission);

/* Reads a thread, or the record of a run, as it is stored, whoever's it is; false where there is
 * none, or with the error set. */
bool call_thread(struct call *call, const char *thread_id, struct thread *thread);
bool call_record(
    struct call *call, const char *thread_id, const char *run_id, struct run_record *record);

/* Whether its user may have a thread that exists, by what call_permit was asked (access_owns). */
bool call_owns(struct call *call, const struct thread *thread);

/* What is shown to the client of call->error: texts that production hides are replaced
 * (doc/protocol-errors.md#what-production-hides).
 */
void call_error_view(const struct call *call, struct error_view *view);

/* The same for an error that lies elsewhere. */
void call_view_of(const struct call *call, const struct error *err, struct error_view *view);

#endif
