/* SPDX-License-Identifier: ISC */
/*
 * The one error type.
 *
 * A function that can fail takes a struct error *, fills it where the fact is known and returns
 * false (or NULL).  The kind decides HTTP status and error code (table in error.c,
 * doc/protocol-errors.md#error-codes).  The detail is what a client reads; the cause is only for
 * the log.  Several mistakes can be collected: the detail is that of the first, details holds all
 * of them.
 */
#ifndef AGENTGRAPH_BASE_ERROR_H
#define AGENTGRAPH_BASE_ERROR_H

#include <cjson/cJSON.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum error_kind {
	ERR_NONE,
	ERR_BAD_REQUEST,
	ERR_INVALID_HOST,
	ERR_INVALID_CONTENT_LENGTH,
	ERR_REVOKED_TOKEN,
	ERR_EXPIRED_TOKEN,
	ERR_INVALID_TOKEN,
	ERR_JWT_SETTINGS,
	ERR_ACCOUNT,
	ERR_AUTHENTICATION_FAILED,
	ERR_PERMISSION,
	ERR_RESOURCE_NOT_FOUND,
	ERR_NOT_FOUND,
	ERR_METHOD_NOT_ALLOWED,
	ERR_REQUEST_TIMEOUT,
	ERR_THREAD_BUSY,
	ERR_THREAD_EXISTS,
	ERR_RUN_ACTIVE,
	ERR_RUN_NOT_RECORDED,
	ERR_REQUEST_TOO_LARGE,
	ERR_FILE_TOO_LARGE,
	ERR_THREAD_TOO_LARGE,
	ERR_UNSUPPORTED_MEDIA_TYPE,
	ERR_RANGE_NOT_SATISFIABLE,
	ERR_VALIDATION,
	ERR_INVALID_INPUT,
	ERR_GRAPH_IS_LIVE,
	ERR_UPGRADE_REQUIRED,
	ERR_RATE_LIMIT,
	ERR_GRAPH,
	ERR_NODE,
	ERR_NODE_TIMEOUT,
	ERR_RECURSION_LIMIT,
	ERR_RUN_LOST,
	ERR_STORAGE,
	ERR_INTERNAL,
	ERR_TRANSIENT_STORAGE,
	ERR_QUEUE_FULL,
	ERR_RUNS_NOT_CONFIGURED,
	ERR_STORE_NOT_CONFIGURED,
	ERR_STORE_UNAVAILABLE,
	ERR_TOO_MANY_CONNECTIONS,
	ERR_SERVICE_UNAVAILABLE,
	ERR_KINDS
};

struct buf; /* base/buf.h */

#define ERROR_NOBODY_WAITS 499 /* the status where the client has left, as web servers log it */

/* A small body can hold millions of mistakes, and a detail is a hundred times its size. */
#define ERROR_DETAILS_MAX 1000

struct error {
	enum error_kind kind;
	char detail[1024]; /* UTF-8, cut at a character */
	char cause[512];   /* log only; "" when the detail says it all */
	cJSON *details;    /* NULL, or an owned array of {loc, msg, type} */
	size_t mistakes;   /* calls of error_field; details holds the first ERROR_DETAILS_MAX */
	int status;        /* overrides the kind's, where the route or a plug-in says so; or 0 */
	char code[64];     /* overrides the kind's, where a plug-in says so; or "" */
};

/* HTTP status and error code of a kind. */
int error_status(enum error_kind kind);
const char *error_code(enum error_kind kind);

/* Whether it is about the token, or the lack of one: some routes say 401 then where the others say
 * 403 (doc/protocol-access.md#tokens). */
bool error_is_of_token(enum error_kind kind);

/* The kind that has this code; ERR_INTERNAL when none has. */
enum error_kind error_kind_of(const char *code);

/* The same for an error, whatever overrides its kind. */
int error_status_of(const struct error *err);
const char *error_code_of(const struct error *err);

/* The close code for a WebSocket handshake that is refused with this kind
 * (doc/protocol-sockets.md#the-handshake); 0 where none belongs to the status. */
int error_close_code(enum error_kind kind);

/* Sets kind and detail unless an error is set already; without fmt the detail is the fixed text of
 * the kind (doc/protocol-errors.md#error-codes), or its code where that varies.  Returns false
 * always, for `return error_set(…)`. */
bool error_set(struct error *err, enum error_kind kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
bool error_vset(struct error *err, enum error_kind kind, const char *fmt, va_list args)
    __attribute__((format(printf, 3, 0)));

/* The same for a request whose body has more than max bytes. */
bool error_too_large(struct error *err, int64_t max);

/*
 * Adds one mistake in one field.  path is such as "body.messages[0].role", whose first part is
 * body, query, path, header or node; it becomes loc.  type is missing, type_error, value_error,
 * json_invalid or node_error.  The first call sets kind and detail; every call appends to details
 * while there is room.  Always false.
 */
bool error_field(struct error *err, enum error_kind kind, const char *path, const char *type,
    const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* The same with ERR_VALIDATION.  The text comes behind the path without its first part, as clients
 * know it: "messages[0].role must be a string". */
bool error_wrong(struct error *err, const char *path, const char *type, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Appends a loc as the path that it was made of, from this part on: "messages[0].role".  NULL, as
 * behind the last part, adds nothing. */
void error_put_path(struct buf *out, const cJSON *part);

/* Sets the cause, unless there is one already.  Always false. */
bool error_cause(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static inline bool error_is_set(const struct error *err)
{
	return err->kind != ERR_NONE;
}

/* What the log says of an error: the cause, else the detail. */
static inline const char *error_why(const struct error *err)
{
	return *err->cause ? err->cause : err->detail;
}

/* All that the log says of an error that ends a run or a request, malloc'd: detail, cause, and
 * which node failed. */
char *error_logged(const struct error *err);

/* What a client is told of an error. */
struct error_view {
	int status;
	const char *code;
	const char *detail;
	const cJSON *details; /* NULL: [] */
};

/*
 * The body of an answer with an error (doc/protocol-errors.md#error-body), which the
 * caller owns and may add members to.  view->details is referred to, and must outlive it; time is
 * an ISO time.
 */
cJSON *error_body(const struct error_view *view, const char *request_id, const char *time);

/* Moves src into dst, which must be empty or released; src is then empty. */
void error_move(struct error *dst, struct error *src);

/* Empties err and frees what it owns.  An all-zero struct is an empty error. */
void error_release(struct error *err);

#endif
