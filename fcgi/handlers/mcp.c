/* SPDX-License-Identifier: ISC */
/* /v1/mcp: the agent as a tool of MCP hosts (doc/protocol-mcp.md), and where its tokens come from
 * (RFC 9728). */
#include "service/mcp/mcp_service.h"

#include "base/json/json.h"
#include "config/config.h"
#include "fcgi/handlers/handlers.h"
#include "fcgi/request/request.h"
#include "fcgi/server.h"

/* Who takes one of them gets a stream. */
static const char *const mcp_events[] = {"text/event-stream", "text/*", "*/*"};

static struct mcp_post mcp_post_of(const struct request *rq)
{
	char *const *params = rq->client->params;
	const char *accept = param_find(params, "HTTP_ACCEPT");
	return (struct mcp_post){.body = rq->body,
	    .version = param_find(params, "HTTP_MCP_PROTOCOL_VERSION"),
	    .method = param_find(params, "HTTP_MCP_METHOD"),
	    .name = param_find(params, "HTTP_MCP_NAME"),
	    /* who names nothing but JSON gets that */
	    .events = !*accept || accept_first(accept, mcp_events, 3) >= 0};
}

void post_mcp(struct request *rq)
{
	struct reply_stream stream;
	struct mcp_post post = mcp_post_of(rq);
	reply_events_init(&stream, rq);
	post.sink = &stream.sink;
	if (!mcp_answer(&rq->call, &post)) {
		reply_error(rq);
	} else if (post.answer) {
		reply_bare(rq, post.answer);
	} else if (!post.streamed) {
		response_header(rq, "Content-Length", "0");
		reply_empty(rq, 202);
	}
}

cJSON *mcp_error_body(struct request *rq, const struct error_view *view)
{
	const struct mcp_post post = mcp_post_of(rq);
	return mcp_error(&rq->call, &post, view);
}

/* ---- RFC 9728 ---- */

const char *mcp_challenge(struct request *rq)
{
	return arena_printf(rq->call.arena,
	    "Bearer resource_metadata=\"%s/.well-known/oauth-protected-resource\"",
	    head_base(&rq->head, rq->call.arena));
}

void get_protected_resource(struct request *rq)
{
	const struct string_list *servers = &rq->server->service->config->mcp.authorization_servers;
	cJSON *body = arena_json(rq->call.arena, cJSON_CreateObject());
	json_add_str(body, "resource",
	    arena_printf(rq->call.arena, "%s/v1/mcp", head_base(&rq->head, rq->call.arena)));
	cJSON *list = json_add(body, "authorization_servers", cJSON_CreateArray());
	for (size_t i = 0; i < servers->count; i++)
		json_append(list, cJSON_CreateString(servers->items[i]));
	json_append(json_add(body, "bearer_methods_supported", cJSON_CreateArray()),
	    cJSON_CreateString("header"));
	reply_bare(rq, body);
}
