/* SPDX-License-Identifier: ISC */
/* The table of kinds with their status and code, and filling in a struct error. */
#include "base/error.h"

#include "base/buf.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOGIN_AGAIN "Invalid token, please login again"

static const struct {
	int status;
	const char *code;
	const char *text; /* NULL: depends on what happened */
} kinds[ERR_KINDS] = {
    [ERR_NONE] = {200, "OK", NULL},
    [ERR_BAD_REQUEST] = {400, "BAD_REQUEST", NULL},
    [ERR_INVALID_HOST] = {400, "INVALID_HOST", "Invalid host header"},
    [ERR_INVALID_CONTENT_LENGTH] = {400, "INVALID_CONTENT_LENGTH",
	"Invalid Content-Length header."},
    [ERR_REVOKED_TOKEN] = {403, "REVOKED_TOKEN", LOGIN_AGAIN},
    [ERR_EXPIRED_TOKEN] = {403, "EXPIRED_TOKEN", "Token has expired, please login again"},
    [ERR_INVALID_TOKEN] = {403, "INVALID_TOKEN", LOGIN_AGAIN},
    [ERR_JWT_SETTINGS] = {403, "JWT_SETTINGS_NOT_CONFIGURED", "JWT settings are not configured"},
    [ERR_ACCOUNT] = {403, "USER_ACCOUNT_DISABLE", NULL},
    [ERR_AUTHENTICATION_FAILED] = {403, "AUTHENTICATION_FAILED", NULL},
    [ERR_PERMISSION] = {403, "PERMISSION_ERROR", NULL},
    [ERR_RESOURCE_NOT_FOUND] = {404, "RESOURCE_NOT_FOUND", NULL},
    [ERR_NOT_FOUND] = {404, "NOT_FOUND", "Not Found"},
    [ERR_METHOD_NOT_ALLOWED] = {405, "METHOD_NOT_ALLOWED", "Method Not Allowed"},
    [ERR_REQUEST_TIMEOUT] = {408, "REQUEST_TIMEOUT", "Request timeout"},
    [ERR_THREAD_BUSY] = {409, "THREAD_BUSY", NULL},
    [ERR_THREAD_EXISTS] = {409, "THREAD_EXISTS", NULL},
    [ERR_RUN_ACTIVE] = {409, "RUN_ACTIVE", NULL},
    [ERR_RUN_NOT_RECORDED] = {409, "RUN_NOT_RECORDED", NULL},
    [ERR_REQUEST_TOO_LARGE] = {413, "REQUEST_TOO_LARGE", NULL},
    [ERR_FILE_TOO_LARGE] = {413, "FILE_TOO_LARGE", NULL},
    [ERR_THREAD_TOO_LARGE] = {413, "THREAD_TOO_LARGE", NULL},
    [ERR_UNSUPPORTED_MEDIA_TYPE] = {415, "UNSUPPORTED_MEDIA_TYPE", NULL},
    [ERR_RANGE_NOT_SATISFIABLE] = {416, "RANGE_NOT_SATISFIABLE", "Requested range not satisfiable"},
    [ERR_VALIDATION] = {422, "VALIDATION_ERROR", NULL},
    [ERR_INVALID_INPUT] = {422, "INVALID_INPUT", NULL},
    [ERR_GRAPH_IS_LIVE] = {422, "GRAPH_IS_LIVE",
	"This graph is a live (realtime) agent; connect to /v1/graph/live"},
    [ERR_UPGRADE_REQUIRED] = {426, "UPGRADE_REQUIRED", "This route needs a WebSocket upgrade"},
    [ERR_RATE_LIMIT] = {429, "RATE_LIMIT_EXCEEDED", NULL},
    [ERR_GRAPH] = {500, "GRAPH_ERROR", NULL},
    [ERR_NODE] = {500, "NODE_ERROR", NULL},
    [ERR_NODE_TIMEOUT] = {500, "NODE_TIMEOUT", NULL},
    [ERR_RECURSION_LIMIT] = {500, "GRAPH_RECURSION_LIMIT", NULL},
    [ERR_RUN_LOST] = {500, "RUN_LOST", NULL},
    [ERR_STORAGE] = {500, "STORAGE_ERROR", "An error occurred accessing storage."},
    [ERR_INTERNAL] = {500, "INTERNAL_ERROR",
	"An unexpected error occurred. Please contact support."},
    [ERR_TRANSIENT_STORAGE] = {503, "TRANSIENT_STORAGE_ERROR",
	"Storage is temporarily unavailable"},
    [ERR_QUEUE_FULL] = {503, "QUEUE_FULL", "Too many runs are waiting"},
    [ERR_RUNS_NOT_CONFIGURED] = {503, "RUNS_NOT_CONFIGURED", "Background runs are not configured"},
    [ERR_STORE_NOT_CONFIGURED] = {503, "STORE_NOT_CONFIGURED", "Store is not configured"},
    [ERR_STORE_UNAVAILABLE] = {503, "STORE_UNAVAILABLE", "Store is unavailable"},
    [ERR_TOO_MANY_CONNECTIONS] = {503, "TOO_MANY_CONNECTIONS", "Too many connections"},
    [ERR_SERVICE_UNAVAILABLE] = {503, "SERVICE_UNAVAILABLE", "Service is temporarily unavailable"},
};

int error_status(enum error_kind kind)
{
	return kinds[kind].status;
}

const char *error_code(enum error_kind kind)
{
	return kinds[kind].code;
}

bool error_is_of_token(enum error_kind kind)
{
	return kind == ERR_REVOKED_TOKEN || kind == ERR_EXPIRED_TOKEN ||
	    kind == ERR_INVALID_TOKEN || kind == ERR_JWT_SETTINGS;
}

enum error_kind error_kind_of(const char *code)
{
	for (int kind = ERR_NONE + 1; kind < ERR_KINDS; kind++)
		if (strcmp(kinds[kind].code, code) == 0)
			return (enum error_kind)kind;
	return ERR_INTERNAL;
}

int error_status_of(const struct error *err)
{
	return err->status ? err->status : error_status(err->kind);
}

const char *error_code_of(const struct error *err)
{
	return *err->code ? err->code : error_code(err->kind);
}

int error_close_code(enum error_kind kind)
{
	switch (kinds[kind].status) {
	case 403:
		return 1008;
	case 429:
	case 503:
		return 1013;
	case 500:
		return 1011;
	default:
		return 0;
	}
}

/* printf into a field of the error: valid UTF-8, and cut at a character when too long. */
static void error_write_text(char *out, size_t size, const char *fmt, va_list args)
{
	char *text = xvasprintf(fmt, args);
	utf8_repair(text);
	size_t len = strlen(text);
	if (len >= size)
		len = utf8_cut(text, size - 1);
	memcpy(out, text, len);
	out[len] = '\0';
	free(text);
}

bool error_vset(struct error *err, enum error_kind kind, const char *fmt, va_list args)
{
	if (error_is_set(err))
		return false;
	err->kind = kind;
	if (fmt)
		error_write_text(err->detail, sizeof(err->detail), fmt, args);
	else
		snprintf(err->detail, sizeof(err->detail), "%s",
		    kinds[kind].text ? kinds[kind].text : kinds[kind].code);
	return false;
}

bool error_set(struct error *err, enum error_kind kind, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	error_vset(err, kind, fmt, args);
	va_end(args);
	return false;
}

bool error_too_large(struct error *err, int64_t max)
{
	static const char said[] = "Request body too large. Maximum size is";
	double kb = (double)max / 1024, mb = kb / 1024;
	if (mb >= 0.05) /* it is 0.1 in the text */
		return error_set(err, ERR_REQUEST_TOO_LARGE, "%s %.1fMB", said, mb);
	if (kb >= 1)
		return error_set(err, ERR_REQUEST_TOO_LARGE, "%s %.1fKB", said, kb);
	return error_set(err, ERR_REQUEST_TOO_LARGE, "%s %dB", said, (int)max);
}

/* Length of "[digits]" at s, with the number in *index; 0 when something else stands there. */
static size_t error_index(const char *s, double *index)
{
	size_t digits = s[0] == '[' ? strspn(s + 1, "0123456789") : 0;
	if (!digits || s[1 + digits] != ']')
		return 0;
	*index = strtod(s + 1, NULL);
	return digits + 2;
}

/* "body.messages[0].role" → ["body","messages",0,"role"].  A name is whatever stands between, up to
 * the next dot or index. */
static cJSON *error_loc_from_path(const char *path)
{
	cJSON *loc = cJSON_CreateArray();
	double index, next;
	for (size_t len; *path; path += len) {
		len = error_index(path, &index);
		if (len) {
			cJSON_AddItemToArray(loc, cJSON_CreateNumber(index));
		} else {
			while (path[len] && path[len] != '.' && !error_index(path + len, &next))
				len++;
			char *name = xstrndup(path, len);
			utf8_repair(name);
			cJSON_AddItemToArray(loc, cJSON_CreateString(name));
			free(name);
		}
		if (path[len] == '.')
			len++;
	}
	return loc;
}

void error_put_path(struct buf *out, const cJSON *part)
{
	for (const char *dot = ""; part; part = part->next, dot = ".") {
		if (cJSON_IsNumber(part))
			buf_printf(out, "[%d]", part->valueint);
		else
			buf_printf(out, "%s%s", dot, part->valuestring);
	}
}

bool error_field(struct error *err, enum error_kind kind, const char *path, const char *type,
    const char *fmt, ...)
{
	struct error this = {0};
	va_list args;
	va_start(args, fmt);
	error_vset(&this, kind, fmt, args);
	va_end(args);
	if (err->mistakes++ < ERROR_DETAILS_MAX) {
		if (!err->details)
			err->details = cJSON_CreateArray();
		cJSON *entry = cJSON_CreateObject();
		cJSON_AddItemToObject(entry, "loc", error_loc_from_path(path));
		cJSON_AddStringToObject(entry, "msg", this.detail);
		cJSON_AddStringToObject(entry, "type", type);
		cJSON_AddItemToArray(err->details, entry);
	}
	return error_set(err, kind, "%s", this.detail);
}

bool error_wrong(struct error *err, const char *path, const char *type, const char *fmt, ...)
{
	const char *dot = strchr(path, '.');
	char says[sizeof(err->detail)];
	va_list args;
	va_start(args, fmt);
	vsnprintf(says, sizeof(says), fmt, args);
	va_end(args);
	return error_field(err, ERR_VALIDATION, path, type, "%s %s", dot ? dot + 1 : path, says);
}

bool error_cause(struct error *err, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	if (!err->cause[0])
		error_write_text(err->cause, sizeof(err->cause), fmt, args);
	va_end(args);
	return false;
}

cJSON *error_body(const struct error_view *view, const char *request_id, const char *time)
{
	cJSON *body = cJSON_CreateObject();
	json_add_str(body, "detail", view->detail);
	json_add_str(body, "error_code", view->code);
	cJSON *error = cJSON_AddObjectToObject(body, "error");
	json_add_str(error, "code", view->code);
	json_add_str(error, "message", view->detail);
	if (view->details) /* only read: a reference */
		json_refer(error, "details", view->details);
	else
		cJSON_AddArrayToObject(error, "details");
	cJSON *metadata = cJSON_AddObjectToObject(body, "metadata");
	json_add_str(metadata, "request_id", request_id);
	json_add_str(metadata, "timestamp", time);
	json_add_str(metadata, "message", view->detail);
	return body;
}

void error_move(struct error *dst, struct error *src)
{
	*dst = *src;
	*src = (struct error){0};
}

void error_release(struct error *err)
{
	cJSON_Delete(err->details);
	*err = (struct error){0};
}

char *error_logged(const struct error *err)
{
	const cJSON *loc = json_get(cJSON_GetArrayItem(err->details, 0), "loc");
	const char *node =
	    err->kind == ERR_NODE ? cJSON_GetStringValue(cJSON_GetArrayItem(loc, 1)) : NULL;
	return xasprintf("%s%s%s%s%s%s", err->detail, *err->cause ? ": " : "", err->cause,
	    node ? " (node " : "", node ? node : "", node ? ")" : "");
}
