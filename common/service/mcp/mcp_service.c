/* SPDX-License-Identifier: ISC */
/* The methods, and a call of the tool from its arguments to its result. */
#include "service/mcp/mcp_service.h"

#include "base/json/json.h"
#include "base/json/json_rpc.h"
#include "service/mcp/mcp_answer.h"
#include "service/mcp/mcp_offer.h"
#include "service/mcp/mcp_request.h"

#include <string.h>

#define MCP_FRESH_MS 300000 /* how long a client may keep a list, which only a reload changes */

/* ---- who this is ---- */

static cJSON *mcp_service_initialize(struct call *call, const struct mcp_request *rq)
{
	const struct environment *env = &call->service->config->env;
	const struct mcp_version *asked = mcp_version_find(json_str(rq->params, "protocolVersion"));
	bool speaks = asked && asked->served && !asked->stateless;
	cJSON *result = mcp_result(call, rq);
	json_add_str(result, "protocolVersion", speaks ? asked->name : MCP_LATEST_SESSION);
	json_add(
	    json_add(result, "capabilities", cJSON_CreateObject()), "tools", cJSON_CreateObject());
	cJSON *info = json_add(result, "serverInfo", cJSON_CreateObject());
	json_add_str(info, "name", env->app_name);
	json_add_str(info, "version", env->app_version);
	return result;
}

static cJSON *mcp_ping(struct call *call, const struct mcp_request *rq)
{
	return mcp_result(call, rq);
}

/* Adds how long a client may keep the result, and whether others may be given it. */
static void mcp_add_freshness(struct call *call, const struct mcp_request *rq, cJSON *result)
{
	bool open = call->service->config->auth == AUTH_NONE;
	if (!rq->version->stateless)
		return;
	json_add_int(result, "ttlMs", MCP_FRESH_MS);
	json_add_str(result, "cacheScope", open ? "public" : "private");
}

static cJSON *mcp_service_discover(struct call *call, const struct mcp_request *rq)
{
	cJSON *result = mcp_result(call, rq);
	cJSON *supported = json_add(result, "supportedVersions", cJSON_CreateArray());
	for (size_t i = 0; i < mcp_version_count; i++)
		if (mcp_versions[i].served)
			json_append(supported, cJSON_CreateString(mcp_versions[i].name));
	json_add(
	    json_add(result, "capabilities", cJSON_CreateObject()), "tools", cJSON_CreateObject());
	mcp_add_freshness(call, rq, result);
	return result;
}

static cJSON *mcp_list(struct call *call, const struct mcp_request *rq)
{
	cJSON *result = mcp_result(call, rq);
	if (json_opt(rq->params, "cursor")) {
		mcp_fault(call, rq, MCP_INVALID_PARAMS, "params.cursor: there is one page only");
		return NULL;
	}
	json_append(json_add(result, "tools", cJSON_CreateArray()),
	    cJSON_Duplicate(mcp_offer_tool(call->service->mcp), true));
	mcp_add_freshness(call, rq, result);
	return result;
}

/* ---- a call ---- */

/* Whether the run itself has failed: then the model that called is told. */
static bool mcp_run_failed(const struct call *call)
{
	enum error_kind kind = call->error.kind;
	return kind == ERR_GRAPH || kind == ERR_NODE || kind == ERR_NODE_TIMEOUT ||
	    kind == ERR_RECURSION_LIMIT;
}

/* Whether the input was wrong, so that the model may send a better one. */
static bool mcp_input_failed(const struct call *call)
{
	enum error_kind kind = call->error.kind;
	return kind == ERR_VALIDATION || kind == ERR_INVALID_INPUT;
}

/* Runs the open turn; returns its result, or NULL with call->error set. */
static cJSON *mcp_run(struct turn *turn, const struct mcp_request *rq,
    const struct mcp_reply *reply, struct mcp_writer *writer)
{
	struct call *call = turn->call;
	enum mcp_verdict verdict =
	    reply->thread_id ? mcp_reply_take(turn, rq, reply) : MCP_REPLY_ANSWERS;
	switch (verdict) {
	case MCP_REPLY_STALE:
		return NULL;
	case MCP_REPLY_DECLINES:
		return mcp_result_of(turn, rq);
	case MCP_REPLY_LACKS:
		return mcp_question(turn, rq);
	case MCP_REPLY_ANSWERS:
		break;
	}
	bool ok = turn_run(turn, &writer->observer);
	turn_end(turn); /* the result goes out when the thread is free again */
	if (!ok && !mcp_run_failed(call))
		return NULL;
	if (!ok) {
		turn_log_failure(turn);
		return mcp_result_failed(call, turn, rq);
	}
	cJSON *interrupt = arena_json(call->arena, turn_interrupt(turn));
	return interrupt && mcp_asks(rq) ? mcp_question(turn, rq) : mcp_result_of(turn, rq);
}

/* The result as the answer, or as the last event; an error can only be that where others went
 * before it. */
static bool mcp_tell(struct call *call, struct mcp_post *post, const struct mcp_request *rq,
    struct mcp_writer *writer, cJSON *result)
{
	struct error_view view;
	cJSON *message;
	if (result) {
		message = json_rpc_message(call->arena, rq->id);
		json_refer(message, "result", result);
	} else if (writer->progress > 0) {
		call_error_view(call, &view);
		message = mcp_error(call, post, &view);
	} else {
		return false;
	}
	post->streamed = writer->progress > 0;
	if (post->streamed)
		mcp_writer_end(writer, message);
	else
		post->answer = message;
	return true;
}

static bool mcp_turn(struct call *call, struct mcp_post *post, const struct mcp_request *rq,
    const struct mcp_reply *reply, struct run_input *in)
{
	struct turn turn;
	struct mcp_writer writer;
	const struct permission streams = {"graph", "stream", in->thread_id},
				invokes = {"graph", "invoke", in->thread_id};
	turn_init(&turn, call, in);
	mcp_writer_init(&writer, rq, post);
	cJSON *result = NULL;
	if ((!writer.token || call_permit(call, &streams)) && call_permit(call, &invokes) &&
	    turn_open(&turn))
		result = mcp_run(&turn, rq, reply, &writer);
	turn_end(&turn);
	if (!result && !writer.progress && mcp_input_failed(call))
		result = mcp_result_failed(call, NULL, rq);
	else if (!result && writer.progress)
		turn_log_failure(&turn);
	bool told = mcp_tell(call, post, rq, &writer, result);
	mcp_writer_release(&writer);
	return told;
}

static bool mcp_call(struct call *call, struct mcp_post *post, const struct mcp_request *rq)
{
	const struct mcp_offer *offer = call->service->mcp;
	const char *name = json_str(rq->params, "name");
	const cJSON *arguments = json_opt(rq->params, "arguments");
	struct mcp_writer none = {0};
	struct mcp_reply reply;
	struct run_input in;
	if (call->service->graph->live)
		return error_set(&call->error, ERR_GRAPH_IS_LIVE, NULL);
	if (!name)
		return mcp_fault(call, rq, MCP_INVALID_PARAMS, "params.name must be a string");
	if (strcmp(name, mcp_offer_name(offer)) != 0)
		return mcp_fault(call, rq, MCP_INVALID_PARAMS, "Unknown tool: %.128s", name);
	if (arguments && !cJSON_IsObject(arguments))
		return mcp_fault(
		    call, rq, MCP_INVALID_PARAMS, "params.arguments must be an object");
	if (!mcp_reply_read(call, rq, &reply))
		return false;
	run_input_default(call, &in);
	in.message_resumes = true;
	in.ends_with_client = rq->version->stateless;
	if (!mcp_offer_read(
		call, arguments ? arguments : arena_json(call->arena, cJSON_CreateObject()), &in))
		return mcp_input_failed(call) &&
		    mcp_tell(call, post, rq, &none, mcp_result_failed(call, NULL, rq));
	if (reply.thread_id) { /* the thread has the call's message already */
		in.thread_id = reply.thread_id;
		in.messages = arena_json(call->arena, cJSON_CreateArray());
	}
	return mcp_turn(call, post, rq, &reply, &in);
}

/* ---- the methods ---- */

enum mcp_era { MCP_WITH_HANDSHAKE = 1, MCP_STATELESS = 2 };

static const struct mcp_method {
	const char *name;
	unsigned eras;
	cJSON *(*answer)(struct call *call, const struct mcp_request *rq); /* NULL: a call */
} mcp_methods[] = {
    {"initialize", MCP_WITH_HANDSHAKE, mcp_service_initialize},
    {"ping", MCP_WITH_HANDSHAKE, mcp_ping},
    {"server/discover", MCP_STATELESS, mcp_service_discover},
    {"tools/list", MCP_WITH_HANDSHAKE | MCP_STATELESS, mcp_list},
    {"tools/call", MCP_WITH_HANDSHAKE | MCP_STATELESS, NULL},
};

bool mcp_answer(struct call *call, struct mcp_post *post)
{
	struct mcp_request rq;
	post->answer = NULL;
	post->streamed = false;
	if (!mcp_request_read(call, post, &rq))
		return false;
	if (!rq.id) /* nothing here waits for a notification */
		return true;
	unsigned era = rq.version->stateless ? MCP_STATELESS : MCP_WITH_HANDSHAKE;
	const struct mcp_method *method = NULL;
	for (size_t i = 0; i < sizeof(mcp_methods) / sizeof(mcp_methods[0]); i++)
		if ((mcp_methods[i].eras & era) && strcmp(mcp_methods[i].name, rq.method) == 0)
			method = &mcp_methods[i];
	if (!method)
		return mcp_fault(
		    call, &rq, MCP_METHOD_NOT_FOUND, "Unknown method: %.100s", rq.method);
	if (!method->answer)
		return mcp_call(call, post, &rq);
	cJSON *result = method->answer(call, &rq);
	if (!result)
		return false;
	post->answer = json_rpc_message(call->arena, rq.id);
	json_refer(post->answer, "result", result);
	return true;
}
