/* SPDX-License-Identifier: ISC */
/* Forms of pauses, the state that comes back, and the answers in it. */
#include "service/mcp/mcp_answer.h"

#include "access/ticket/ticket.h"
#include "base/json/json.h"
#include "base/os/clock.h"
#include "base/texts.h"
#include "service/mcp/mcp_offer.h"
#include "service/run/said.h"
#include "tool/schema.h"

#include <string.h>

#define ROUTE "mcp" /* the route that these tickets are for */
#define ANSWER "answer"
#define STATE_SECONDS 86400 /* how long an answer may take */

/* The schema for a pause that has none a form can be made of. */
static const char mcp_answer_schema[] = "{\"type\":\"object\",\"properties\":{\"" ANSWER
					"\":{\"type\":\"string\"}},\"required\":[\"" ANSWER "\"]}";

bool mcp_asks(const struct mcp_request *rq)
{
	const cJSON *form = json_opt(json_get(rq->meta, MCP_META_CAPABILITIES), "elicitation");
	return rq->version->stateless && cJSON_IsObject(form) &&
	    (!form->child || json_opt(form, "form"));
}

/* ---- the pauses ---- */

/* The open interrupts, an array in the arena. */
static const cJSON *mcp_interrupts(const struct turn *turn)
{
	cJSON *all = arena_json(turn->call->arena, cJSON_CreateObject());
	turn_add_interrupts(turn, all);
	if (all->child)
		return all->child;
	cJSON *one = turn_interrupt(turn);
	cJSON *list = json_add(all, "interrupts", cJSON_CreateArray());
	if (one)
		json_append(list, one);
	return list;
}

/* The ids of the interrupts, joined by commas, in the arena. */
static const char *mcp_interrupt_ids(struct arena *a, const cJSON *interrupts)
{
	const cJSON *interrupt;
	struct buf ids = {0};
	cJSON_ArrayForEach(interrupt, interrupts)
		buf_printf(&ids, "%s%s", ids.len ? "," : "", json_str(interrupt, "id"));
	return arena_take(a, &ids);
}

bool mcp_schema_is_flat(const cJSON *schema)
{
	static const char *const plain[] = {"string", "number", "integer", "boolean", NULL};
	const char *type = json_str(schema, "type");
	const cJSON *properties = json_get(schema, "properties"), *property;
	if (!type || strcmp(type, "object") != 0 || !cJSON_IsObject(properties))
		return false;
	cJSON_ArrayForEach(property, properties) {
		if (!texts_has(plain, json_str(property, "type")))
			return false;
	}
	return true;
}

/* ---- asking ---- */

cJSON *mcp_question(struct turn *turn, const struct mcp_request *rq)
{
	struct call *call = turn->call;
	struct ticket_key key;
	const cJSON *interrupts = mcp_interrupts(turn), *interrupt;
	if (!ticket_key_load(&key, call->service->config->state_dir, &call->error))
		return NULL;
	cJSON *claims = arena_json(call->arena, cJSON_CreateObject());
	json_add_str(claims, "route", ROUTE);
	json_add_str(claims, "tool", mcp_offer_name(call->service->mcp));
	json_add_str(claims, "user_id", call->user_id);
	json_add_str(claims, "thread_id", turn->thread.thread_id);
	json_add_str(claims, "interrupts", mcp_interrupt_ids(call->arena, interrupts));
	cJSON *result = mcp_result(call, rq);
	json_set(result, "resultType", cJSON_CreateString("input_required"));
	cJSON *requests = json_add(result, "inputRequests", cJSON_CreateObject());
	cJSON_ArrayForEach(interrupt, interrupts) {
		const cJSON *schema = json_opt(interrupt, "response_schema");
		cJSON *request =
		    json_add(requests, json_str(interrupt, "id"), cJSON_CreateObject());
		json_add_str(request, "method", "elicitation/create");
		cJSON *params = json_add(request, "params", cJSON_CreateObject());
		json_add_str(params, "mode", "form");
		json_add_str(params, "message", interrupt_question(call->arena, interrupt));
		json_add(params, "requestedSchema",
		    mcp_schema_is_flat(schema) ? cJSON_Duplicate(schema, true)
					       : json_parse_own(mcp_answer_schema));
	}
	json_add_str(result, "requestState",
	    ticket_sign_claims(&key, claims, clock_now(), STATE_SECONDS, call->arena));
	return result;
}

/* ---- the reply ---- */

static bool mcp_claim_is(const cJSON *claims, const char *name, const char *value)
{
	const char *claim = json_str(claims, name);
	return claim && strcmp(claim, value) == 0;
}

bool mcp_reply_read(struct call *call, const struct mcp_request *rq, struct mcp_reply *reply)
{
	const cJSON *state = json_opt(rq->params, "requestState");
	const char *text = cJSON_GetStringValue(state);
	struct ticket_key key;
	struct error refused = {0};
	*reply = (struct mcp_reply){.responses = json_opt(rq->params, "inputResponses")};
	if (!rq->version->stateless || !state) /* answers without a state belong to no question */
		return true;
	if (reply->responses && !cJSON_IsObject(reply->responses))
		return mcp_fault(
		    call, rq, MCP_INVALID_PARAMS, "params.inputResponses must be an object");
	if (!text)
		return mcp_fault(call, rq, MCP_INVALID_PARAMS,
		    "params.requestState must be the one that came with the question");
	if (!ticket_key_load(&key, call->service->config->state_dir, &call->error))
		return false;
	const cJSON *claims = ticket_claims(&key, text, clock_now(), call->arena, &refused);
	error_release(&refused);
	if (!claims || !mcp_claim_is(claims, "route", ROUTE) ||
	    !mcp_claim_is(claims, "tool", mcp_offer_name(call->service->mcp)) ||
	    !mcp_claim_is(claims, "user_id", call->user_id))
		return mcp_fault(call, rq, MCP_INVALID_PARAMS,
		    "params.requestState is not the one that came with the question, or it is too "
		    "old");
	reply->thread_id = json_str(claims, "thread_id");
	reply->interrupts = json_str(claims, "interrupts");
	return true;
}

/* What a person entered, as the run takes it; NULL where it does not fit. */
static const cJSON *mcp_value_of(const cJSON *interrupt, const cJSON *content)
{
	const cJSON *schema = json_opt(interrupt, "response_schema");
	char why[SCHEMA_WHY_SIZE];
	if (!cJSON_IsObject(content))
		return NULL;
	if (!mcp_schema_is_flat(schema)) {
		const cJSON *answer = json_get(content, ANSWER);
		return cJSON_IsString(answer) ? answer : NULL;
	}
	struct problems problems = {0};
	struct schema *compiled = schema_compile(schema, "response_schema", &problems);
	bool fits = !compiled || schema_accepts(compiled, content, "content", why);
	schema_free(compiled);
	problems_release(&problems);
	return fits ? content : NULL;
}

enum mcp_verdict mcp_reply_take(
    struct turn *turn, const struct mcp_request *rq, const struct mcp_reply *reply)
{
	struct call *call = turn->call;
	const cJSON *interrupts = mcp_interrupts(turn), *interrupt, *value = NULL;
	cJSON *values = arena_json(call->arena, cJSON_CreateObject());
	if (strcmp(mcp_interrupt_ids(call->arena, interrupts), reply->interrupts) != 0) {
		mcp_fault(call, rq, MCP_INVALID_PARAMS,
		    "params.requestState is of a question that is not open any more");
		return MCP_REPLY_STALE;
	}
	cJSON_ArrayForEach(interrupt, interrupts) {
		const char *id = json_str(interrupt, "id");
		const cJSON *response = json_get(reply->responses, id);
		const char *action = json_str(response, "action");
		if (action && (strcmp(action, "decline") == 0 || strcmp(action, "cancel") == 0))
			return MCP_REPLY_DECLINES;
		value = action && strcmp(action, "accept") == 0
		    ? mcp_value_of(interrupt, json_get(response, "content"))
		    : NULL;
		if (!value)
			return MCP_REPLY_LACKS;
		json_refer(values, id, value);
	}
	turn->in.resume = cJSON_GetArraySize(interrupts) > 1 ? values : value;
	turn->in.has_resume = true;
	return MCP_REPLY_ANSWERS;
}
