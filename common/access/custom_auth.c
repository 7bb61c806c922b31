/* SPDX-License-Identifier: ISC */
/* Asking a plug-in who somebody is, and taking neither its users nor its refusals on trust. */
#include "access/authentication.h"

#include "agentgraph.h"
#include "base/id.h"
#include "base/json/json.h"
#include "base/memory.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define CODE_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

enum outcome { OUTCOME_NONE, OUTCOME_IN, OUTCOME_ACCOUNT, OUTCOME_REFUSED };

struct ag_request {
	const struct presented *presented;
	struct arena *arena;
	enum outcome outcome; /* the last one counts */
	cJSON *user;          /* in the arena */
	const char *code, *text;
	int status;
};

/* ---- what a plug-in may ask ---- */

const char *ag_request_method(const ag_request *request)
{
	return request->presented->method;
}

const char *ag_request_path(const ag_request *request)
{
	return request->presented->path;
}

const char *ag_request_address(const ag_request *request)
{
	return request->presented->address;
}

const char *ag_request_header(const ag_request *request, const char *name)
{
	const struct presented *presented = request->presented;
	return presented->header ? presented->header(presented->arg, name ? name : "") : NULL;
}

const char *ag_request_credential(const ag_request *request)
{
	return request->presented->credential;
}

bool ag_request_is_websocket(const ag_request *request)
{
	return request->presented->websocket;
}

/* ---- what it may answer ---- */

ag_result ag_let_in(ag_request *request, cJSON *user)
{
	request->outcome = OUTCOME_IN;
	request->user = arena_json(request->arena, json_adopt(user));
	return AG_OK;
}

static const char *custom_auth_format(struct arena *a, const char *fmt, va_list args)
{
	char *text = xvasprintf(fmt, args);
	utf8_repair(text);
	const char *copy = arena_strdup(a, text);
	free(text);
	return copy;
}

ag_result ag_refuse_account(ag_request *request, const char *code, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	request->outcome = OUTCOME_ACCOUNT;
	request->code = arena_strdup(request->arena, code);
	request->text = custom_auth_format(request->arena, fmt, args);
	va_end(args);
	return AG_ERROR;
}

ag_result ag_refuse(ag_request *request, int status, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	request->outcome = OUTCOME_REFUSED;
	request->status = status;
	request->text = custom_auth_format(request->arena, fmt, args);
	va_end(args);
	return AG_ERROR;
}

/* ---- what is made of it ---- */

static bool custom_auth_failed(struct error *err, const char *why)
{
	error_set(err, ERR_INTERNAL, NULL);
	return error_cause(err, "auth: the plug-in %s", why);
}

bool custom_auth_check(const struct custom_auth *auth, const struct presented *presented,
    struct arena *a, struct identity *identity, struct error *err)
{
	const struct ag_auth *table = auth->plugin.table;
	ag_request request = {.presented = presented, .arena = a};
	ag_result result = table->authenticate(&request, auth->data);
	*identity = (struct identity){0};
	/* A refusal holds whatever is returned after it. */
	if (request.outcome == OUTCOME_ACCOUNT) {
		size_t len = request.code ? strspn(request.code, CODE_LETTERS) : 0;
		if (len && !request.code[len] && len < sizeof(err->code))
			strcpy(err->code, request.code);
		return error_set(
		    err, ERR_ACCOUNT, "%s", *request.text ? request.text : "Account is disabled");
	}
	if (request.outcome == OUTCOME_REFUSED) {
		if (request.status < 400 || request.status > 599)
			return custom_auth_failed(err, "refused with a status that is no error");
		err->status = request.status;
		return error_set(err, ERR_AUTHENTICATION_FAILED, "%s",
		    *request.text ? request.text : "Authentication failed");
	}
	if (result != AG_OK)
		return custom_auth_failed(err, "failed without saying why");
	cJSON *user = request.user ? request.user : arena_json(a, cJSON_CreateObject());
	if (!cJSON_IsObject(user) || json_deeper_than(user, JSON_REQUEST_DEPTH))
		return custom_auth_failed(err, "let in a user that is no JSON object");
	/* a user_id that cannot be one is taken out, and a number becomes text */
	const char *id = id_user_text(json_get(user, "user_id"), a);
	if (id)
		json_set(user, "user_id", cJSON_CreateString(id));
	else
		cJSON_DeleteItemFromObjectCaseSensitive(user, "user_id");
	identity->user = user;
	identity->user_id = json_str(user, "user_id");
	identity->verified = identity->user_id != NULL;
	return true;
}

/* ---- its life ---- */

bool custom_auth_open(
    struct custom_auth *auth, const struct config *config, struct problems *problems)
{
	const struct plugin_want want = {"auth.path", config->auth_path, AG_AUTH, "struct ag_auth"};
	*auth = (struct custom_auth){0};
	if (!plugin_load(&auth->plugin, config, &want, problems))
		return false;
	const struct ag_auth *table = auth->plugin.table;
	if (table->authenticate && (!table->open || table->open(&auth->data) == 0))
		return true;
	problems_add(problems, "auth.path: %s: %s", config->auth_path,
	    table->authenticate ? "the plug-in refused to start"
				: "expected it to have a function authenticate");
	plugin_close(auth->plugin.library);
	*auth = (struct custom_auth){0};
	return false;
}

void custom_auth_close(struct custom_auth *auth)
{
	const struct ag_auth *table = auth->plugin.table;
	if (table && table->close)
		table->close(auth->data);
	plugin_close(auth->plugin.library);
	*auth = (struct custom_auth){0};
}
