/* SPDX-License-Identifier: ISC */
/* Operations built from rows and their descriptions, with shared answers and errors. */
#include "fcgi/route/openapi.h"

#include "base/error.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "fcgi/route/mount.h"
#include "fcgi/texts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMAS "#/components/schemas/"

static void openapi_add_copy(cJSON *to, const char *key, const cJSON *item)
{
	if (item)
		cJSON_AddItemToObject(to, key, cJSON_Duplicate(item, true));
}

/* {"$ref": "<where><name>"} */
static cJSON *openapi_reference(const char *where, const char *name)
{
	cJSON *ref = cJSON_CreateObject();
	char *target = xasprintf("%s%s", where, name);
	json_add_str(ref, "$ref", target);
	free(target);
	return ref;
}

static cJSON *openapi_json_content(cJSON *schema)
{
	cJSON *content = cJSON_CreateObject();
	cJSON *json = cJSON_AddObjectToObject(content, "application/json");
	cJSON_AddItemToObject(json, "schema", schema);
	return content;
}

/* ---- Answers ---- */

static void openapi_add_header(cJSON *headers, const char *name, const char *component)
{
	cJSON_AddItemToObject(headers, name, openapi_reference("#/components/headers/", component));
}

static cJSON *openapi_headers_of(const struct route *row)
{
	cJSON *headers = cJSON_CreateObject();
	openapi_add_header(headers, "X-Request-ID", "RequestId");
	openapi_add_header(headers, "X-Timestamp", "Timestamp");
	if (row->flags & ROUTE_UNCOUNTED)
		return headers;
	openapi_add_header(headers, "X-RateLimit-Limit", "RateLimit");
	openapi_add_header(headers, "X-RateLimit-Remaining", "RateLimitRemaining");
	openapi_add_header(headers, "X-RateLimit-Reset", "RateLimitReset");
	openapi_add_header(headers, "X-RateLimit-Reset-After", "RateLimitResetAfter");
	return headers;
}

/* Adds an answer: the envelope of doc/protocol.md#answers around the schema of data. */
static void openapi_add_answer(cJSON *responses, const char *status, const char *description,
    const char *data, const char *metadata)
{
	static const char *const members[] = {
	    "success", "data", "message", "timestamp", "metadata"};
	cJSON *schema = json_typed("object");
	json_add(schema, "required",
	    cJSON_CreateStringArray(members, sizeof(members) / sizeof(members[0])));
	cJSON *properties = cJSON_AddObjectToObject(schema, "properties");
	cJSON_AddTrueToObject(cJSON_AddObjectToObject(properties, "success"), "const");
	json_add(properties, "data", openapi_reference(SCHEMAS, data));
	json_add_str(cJSON_AddObjectToObject(properties, "message"), "type", "string");
	json_add(properties, "timestamp", openapi_reference(SCHEMAS, "Time"));
	json_add(properties, "metadata", openapi_reference(SCHEMAS, metadata));
	cJSON *response = cJSON_AddObjectToObject(responses, status);
	json_add_str(response, "description", description);
	json_add(response, "content", openapi_json_content(schema));
}

/* Adds an error in the shape of the row's protocol, which may have another status for mistakes. */
static void openapi_add_error(cJSON *responses, const struct route *row, int status)
{
	const struct dialect *dialect = row->dialect;
	char key[16], name[32];
	if (dialect && dialect->mistakes && status == 422)
		status = dialect->mistakes;
	snprintf(key, sizeof(key), "%d", status);
	if (json_get(responses, key))
		return;
	if (dialect && dialect->error_shape) {
		cJSON *response = cJSON_AddObjectToObject(responses, key);
		json_add_str(response, "description", "An error.");
		json_add(response, "headers", openapi_headers_of(row));
		json_add(response, "content",
		    openapi_json_content(openapi_reference(SCHEMAS, dialect->error_shape)));
		return;
	}
	snprintf(name, sizeof(name), "Error%d", status);
	cJSON_AddItemToObject(responses, key, openapi_reference("#/components/responses/", name));
}

static void openapi_add_errors(cJSON *responses, const struct route *row, const cJSON *spec)
{
	const cJSON *more;
	openapi_add_error(responses, row, 400);
	if (row->resource && (row->flags & ROUTE_UNAUTHORIZED))
		openapi_add_error(responses, row, 401);
	if (row->resource)
		openapi_add_error(responses, row, 403);
	if (row->body != BODY_NONE)
		openapi_add_error(responses, row, 408);
	openapi_add_error(responses, row, 413);
	/* something of the request besides its path is looked at */
	if (row->body != BODY_NONE || json_get(spec, "query") ||
	    (row->resource && strchr(row->path, '{')))
		openapi_add_error(responses, row, 422);
	if (!(row->flags & ROUTE_UNCOUNTED))
		openapi_add_error(responses, row, 429);
	openapi_add_error(responses, row, 500);
	openapi_add_error(responses, row, 503);
	cJSON_ArrayForEach(more, json_get(spec, "errors"))
		openapi_add_error(responses, row, more->valueint);
}

static cJSON *openapi_responses_of(const struct route *row, const cJSON *spec)
{
	cJSON *responses = cJSON_Duplicate(json_get(spec, "responses"), true), *response;
	if (!responses)
		responses = cJSON_CreateObject();
	const char *data = json_str(spec, "data"), *metadata = json_str(spec, "metadata");
	const char *accepted = json_str(spec, "accepted");
	if (data)
		openapi_add_answer(
		    responses, "200", "Success.", data, metadata ? metadata : "Metadata");
	if (accepted)
		openapi_add_answer(responses, "202", "Not over yet.", accepted, "Metadata");
	cJSON_ArrayForEach(response, responses)
		cJSON_AddItemToObject(response, "headers", openapi_headers_of(row));
	openapi_add_errors(responses, row, spec);
	return responses;
}

/* ---- Operations ---- */

static cJSON *openapi_parameters_of(const struct route *row, const cJSON *spec)
{
	static const char components[] = "#/components/parameters/";
	const cJSON *name;
	cJSON *parameters = cJSON_CreateArray();
	for (const char *p = row->path; (p = strchr(p, '{')); p++) {
		char *id = xstrndup(p + 1, strcspn(p + 1, "}"));
		cJSON_AddItemToArray(parameters, openapi_reference(components, id));
		free(id);
	}
	cJSON_ArrayForEach(name, json_get(spec, "query"))
		cJSON_AddItemToArray(parameters, openapi_reference(components, name->valuestring));
	return parameters;
}

static cJSON *openapi_operation_of(const struct route *row, const cJSON *spec)
{
	cJSON *operation = cJSON_CreateObject();
	openapi_add_copy(operation, "operationId", json_get(spec, "operationId"));
	openapi_add_copy(operation, "tags", json_get(spec, "tags"));
	openapi_add_copy(operation, "summary", json_get(spec, "summary"));
	openapi_add_copy(operation, "description", json_get(spec, "description"));
	cJSON *parameters = openapi_parameters_of(row, spec);
	if (parameters->child)
		cJSON_AddItemToObject(operation, "parameters", parameters);
	else
		cJSON_Delete(parameters);
	openapi_add_copy(operation, "requestBody", json_get(spec, "requestBody"));
	const char *body = json_str(spec, "body");
	if (body) {
		cJSON *request = cJSON_AddObjectToObject(operation, "requestBody");
		cJSON_AddBoolToObject(request, "required", row->body == BODY_REQUIRED);
		cJSON_AddItemToObject(
		    request, "content", openapi_json_content(openapi_reference(SCHEMAS, body)));
	}
	cJSON_AddItemToObject(operation, "responses", openapi_responses_of(row, spec));
	if (row->flags & ROUTE_WEBSOCKET)
		cJSON_AddTrueToObject(operation, "x-websocket");
	if (row->resource) {
		char *scope = xasprintf("%s:%s", row->resource, row->action);
		json_add_str(operation, "x-permission", scope);
		free(scope);
	} else {
		cJSON_AddArrayToObject(operation, "security");
	}
	return operation;
}

/* ---- The document ---- */

/* Adds the codes that each status comes with. */
static void openapi_add_codes(cJSON *responses)
{
	cJSON *response;
	cJSON_ArrayForEach(response, responses) {
		int status = atoi(response->string + strlen("Error"));
		cJSON *codes = cJSON_AddArrayToObject(response, "x-error-codes");
		for (int kind = ERR_NONE + 1; kind < ERR_KINDS; kind++) {
			if (error_status(kind) == status ||
			    (status == 401 && error_is_of_token(kind)))
				cJSON_AddItemToArray(codes, cJSON_CreateString(error_code(kind)));
		}
	}
}

cJSON *openapi_document(const struct route_table *table, const struct config *config)
{
	cJSON *document = json_parse_own(text_document_json);
	cJSON *operations = json_parse_own(text_operations_json);
	cJSON *paths = json_get(document, "paths");
	const struct environment *env = &config->env;
	cJSON *info = json_get(document, "info");
	json_add_str(info, "title", env->app_name);
	json_add_str(info, "version", env->app_version);
	json_add_str(info, "summary", env->summary);
	cJSON *server = cJSON_CreateObject();
	json_add_str(server, "url", *env->root_path ? env->root_path : "/");
	cJSON_AddItemToArray(json_get(document, "servers"), server);
	for (size_t i = 0; i < table->count; i++) {
		const struct route *row = &table->rows[i];
		char *key =
		    xasprintf("%s %s", method_name(row->method), route_written(&routes, row)->path);
		const cJSON *spec = json_get(operations, key);
		free(key);
		if (!spec)
			continue;
		char method[METHOD_LIST_SIZE];
		cJSON *path = json_get(paths, row->path);
		if (!path)
			path = cJSON_AddObjectToObject(paths, row->path);
		snprintf(method, sizeof(method), "%s", method_name(row->method));
		for (char *c = method; *c; c++)
			*c = (char)tolower((unsigned char)*c);
		cJSON_AddItemToObject(path, method, openapi_operation_of(row, spec));
	}
	cJSON_Delete(operations);
	cJSON *components = json_parse_own(text_components_json);
	openapi_add_codes(json_get(components, "responses"));
	cJSON_AddItemToObject(document, "components", components);
	/* with authentication a token is asked for wherever nothing else is said */
	cJSON *security = cJSON_AddArrayToObject(document, "security");
	if (config->auth == AUTH_NONE) {
		cJSON_DeleteItemFromObjectCaseSensitive(components, "securitySchemes");
	} else {
		cJSON *requirement = cJSON_CreateObject();
		cJSON_AddArrayToObject(requirement, "bearer");
		cJSON_AddItemToArray(security, requirement);
	}
	openapi_prune(document);
	return document;
}
