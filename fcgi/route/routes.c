/* SPDX-License-Identifier: ISC */
/* The table of routes. */
#include "base/metrics/metrics.h"
#include "config/config.h"
#include "fcgi/handlers/handlers.h"
#include "fcgi/route/route.h"

static const struct dialect ag_ui = {
    .on = offsetof(struct config, ag_ui_enabled), .not_json = "must be JSON", .late_thread = true};

static const char *const openai_lacks[] = {"responses", "completions", "embeddings", NULL};

static const struct dialect openai = {.on = offsetof(struct config, openai_enabled),
    .mistakes = 400,
    .late_thread = true,
    .lacks = openai_lacks,
    .lacks_says = "Not Found: of OpenAI's API there are /v1/chat/completions and /v1/models",
    .error_shape = "OpenAiError",
    .error_body = openai_error_body};

static const struct dialect mcp = {.on = offsetof(struct config, mcp.enabled),
    .mistakes = 400,
    .late_thread = true,
    .own_origins = true,
    .allow_rows = true,
    .error_shape = "McpError",
    .error_body = mcp_error_body,
    .challenge = mcp_challenge};

static const struct dialect mcp_about = {.on = offsetof(struct config, mcp.enabled)};

static const struct dialect a2a = {.on = offsetof(struct config, a2a.enabled),
    .mistakes = 400,
    .late_thread = true,
    .error_shape = "A2aError",
    .error_body = a2a_error_body};

static const struct dialect a2a_about = {.on = offsetof(struct config, a2a.enabled)};

static const struct dialect langgraph = {.on = offsetof(struct config, langgraph_enabled),
    .all_below = "lg",
    .api_key = true,
    .error_shape = "LangGraphError",
    .error_body = lg_error_body};

static const struct dialect evals = {.on = offsetof(struct config, evals_served)};

/*
 * Everything the service answers (doc/protocol.md#routes).  Of two rows that fit a request the
 * first one wins, so a literal segment stands before an {id}.  <NAME> is a setting (mount.h).
 */
/* clang-format off */
static const struct route rows[] = {
    {METHOD_GET, "/ping", NULL, NULL, BODY_NONE, get_ping,
        ROUTE_ANY_HOST | ROUTE_UNCOUNTED, NULL},

    {METHOD_POST, "/v1/graph/invoke", "graph", "invoke", BODY_REQUIRED, post_invoke, 0, NULL},
    {METHOD_POST, "/v1/graph/stream", "graph", "stream", BODY_REQUIRED, post_stream, 0, NULL},
    {METHOD_POST, "/v1/graph/stop", "graph", "stop", BODY_REQUIRED, post_stop, 0, NULL},
    {METHOD_POST, "/v1/graph/fix", "graph", "fix", BODY_REQUIRED, post_fix, 0, NULL},
    {METHOD_POST, "/v1/graph/setup", "graph", "setup", BODY_REQUIRED, post_setup, 0, NULL},
    {METHOD_GET, "/v1/graph/ws", "graph", "stream", BODY_NONE, get_socket, ROUTE_WEBSOCKET, NULL},
    {METHOD_GET, "/v1/graph/live", "graph", "stream", BODY_NONE, get_socket, ROUTE_WEBSOCKET, NULL},
    {METHOD_GET, "/v1/graph", "graph", "read", BODY_NONE, get_graph, 0, NULL},
    {METHOD_GET, "/v1/graph/tools", "graph", "read", BODY_NONE, get_graph_tools, 0, NULL},
    {METHOD_GET, "/v1/graph:StateSchema", "graph", "read", BODY_NONE, get_graph_schema, 0, NULL},
    {METHOD_GET, "/v1/graph/runs", "graph", "read", BODY_NONE, get_runs, 0, NULL},
    {METHOD_POST, "/v1/graph/runs", "graph", "invoke", BODY_REQUIRED, post_runs,
        ROUTE_BACKGROUND, NULL},

    {METHOD_POST, "/v1/ag-ui", "graph", "stream", BODY_REQUIRED, post_ag_ui,
        ROUTE_UNAUTHORIZED, &ag_ui},

    {METHOD_POST, "/v1/chat/completions", "graph", "invoke", BODY_REQUIRED, post_chat_completions,
        ROUTE_UNAUTHORIZED, &openai},
    {METHOD_GET, "/v1/models", "graph", "read", BODY_NONE, get_models, ROUTE_UNAUTHORIZED, &openai},
    {METHOD_GET, "/v1/models/{id}", "graph", "read", BODY_NONE, get_model,
        ROUTE_UNAUTHORIZED, &openai},

    {METHOD_POST, "/v1/mcp", "graph", "invoke", BODY_REQUIRED, post_mcp, ROUTE_UNAUTHORIZED, &mcp},
    {METHOD_GET, "/.well-known/oauth-protected-resource", NULL, NULL, BODY_NONE,
        get_protected_resource, 0, &mcp_about},

    {METHOD_POST, "/v1/a2a", "graph", "invoke", BODY_REQUIRED, post_a2a, ROUTE_UNAUTHORIZED, &a2a},
    {METHOD_GET, "/.well-known/agent-card.json", NULL, NULL, BODY_NONE, get_agent_card, 0,
        &a2a_about},
    {METHOD_GET, "/.well-known/agent.json", NULL, NULL, BODY_NONE, get_agent_card, 0, &a2a_about},

    {METHOD_GET, "/lg/ok", NULL, NULL, BODY_NONE, get_lg_ok, 0, &langgraph},
    {METHOD_GET, "/lg/info", NULL, NULL, BODY_NONE, get_lg_info, 0, &langgraph},
    {METHOD_POST, "/lg/assistants/search", "graph", "read", BODY_OPTIONAL, post_lg_assistants,
        ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_GET, "/lg/assistants/{assistant_id}", "graph", "read", BODY_NONE, get_lg_assistant,
        ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_GET, "/lg/assistants/{assistant_id}/graph", "graph", "read", BODY_NONE,
        get_lg_assistant_graph, ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_GET, "/lg/assistants/{assistant_id}/schemas", "graph", "read", BODY_NONE,
        get_lg_assistant_schemas, ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_POST, "/lg/assistants/count", "graph", "read", BODY_OPTIONAL,
        post_lg_assistants_count, ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_POST, "/lg/threads", "checkpointer", "write", BODY_OPTIONAL, post_lg_threads,
        ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_POST, "/lg/threads/search", "checkpointer", "read", BODY_OPTIONAL,
        post_lg_threads_search, ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_POST, "/lg/threads/count", "checkpointer", "read", BODY_OPTIONAL,
        post_lg_threads_count, ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_POST, "/lg/threads/prune", "checkpointer", "delete", BODY_REQUIRED,
        post_lg_prune, ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_GET, "/lg/threads/{thread_id}", "checkpointer", "read", BODY_NONE, get_lg_thread,
        ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_PATCH, "/lg/threads/{thread_id}", "checkpointer", "write", BODY_REQUIRED,
        patch_lg_thread, ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_DELETE, "/lg/threads/{thread_id}", "checkpointer", "delete", BODY_NONE,
        delete_lg_thread, ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_POST, "/lg/threads/{thread_id}/copy", "checkpointer", "write", BODY_NONE,
        post_lg_copy, ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_GET, "/lg/threads/{thread_id}/state", "checkpointer", "read", BODY_NONE,
        get_lg_state, ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_POST, "/lg/threads/{thread_id}/state", "checkpointer", "write", BODY_REQUIRED,
        post_lg_state, ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_POST, "/lg/threads/{thread_id}/state/checkpoint", "checkpointer", "read",
        BODY_REQUIRED, post_lg_state_at, ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_GET, "/lg/threads/{thread_id}/state/{checkpoint_id}", "checkpointer", "read",
        BODY_NONE, get_lg_state_at, ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_POST, "/lg/threads/{thread_id}/history", "checkpointer", "read", BODY_OPTIONAL,
        post_lg_history, ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_GET, "/lg/threads/{thread_id}/history", "checkpointer", "read", BODY_NONE,
        get_lg_history, ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_POST, "/lg/runs/stream", "graph", "stream", BODY_REQUIRED,
        post_lg_stream, ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_POST, "/lg/runs/wait", "graph", "invoke", BODY_REQUIRED,
        post_lg_wait, ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_POST, "/lg/runs/cancel", "graph", "stop", BODY_REQUIRED,
        post_lg_cancel, ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_PUT, "/lg/store/items", "store", "write", BODY_REQUIRED, put_lg_item,
        ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_GET, "/lg/store/items", "store", "read", BODY_NONE, get_lg_item,
        ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_DELETE, "/lg/store/items", "store", "delete", BODY_REQUIRED, delete_lg_item,
        ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_POST, "/lg/store/items/search", "store", "read", BODY_OPTIONAL, post_lg_items,
        ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_POST, "/lg/store/namespaces", "store", "read", BODY_OPTIONAL, post_lg_namespaces,
        ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_POST, "/lg/threads/{thread_id}/runs", "graph", "invoke", BODY_REQUIRED,
        post_lg_runs, ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_GET, "/lg/threads/{thread_id}/runs", "graph", "read", BODY_NONE,
        get_lg_runs, ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_POST, "/lg/threads/{thread_id}/runs/stream", "graph", "stream", BODY_REQUIRED,
        post_lg_run_stream, ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_POST, "/lg/threads/{thread_id}/runs/wait", "graph", "invoke", BODY_REQUIRED,
        post_lg_run_wait, ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_GET, "/lg/threads/{thread_id}/runs/{run_id}", "graph", "read", BODY_NONE,
        get_lg_run, ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_DELETE, "/lg/threads/{thread_id}/runs/{run_id}", "checkpointer", "delete", BODY_NONE,
        delete_lg_run, ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_POST, "/lg/threads/{thread_id}/runs/{run_id}/cancel", "graph", "stop", BODY_NONE,
        post_lg_run_cancel, ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_GET, "/lg/threads/{thread_id}/runs/{run_id}/join", "graph", "read", BODY_NONE,
        get_lg_run_join, ROUTE_UNAUTHORIZED, &langgraph},
    {METHOD_GET, "/lg/threads/{thread_id}/runs/{run_id}/stream", "graph", "stream", BODY_NONE,
        get_lg_run_stream, ROUTE_UNAUTHORIZED, &langgraph},

    {METHOD_GET, "/v1/observability/{thread_id}", "graph", "read", BODY_NONE, get_observability,
        0, NULL},

    {METHOD_GET, "/v1/threads", "checkpointer", "read", BODY_NONE, get_threads, 0, NULL},
    {METHOD_POST, "/v1/threads", "checkpointer", "write", BODY_OPTIONAL, post_threads, 0, NULL},
    {METHOD_POST, "/v1/threads/import", "checkpointer", "write", BODY_LINES, post_import, 0,
        NULL},
    {METHOD_GET, "/v1/threads/{thread_id}", "checkpointer", "read", BODY_NONE, get_thread,
        ROUTE_EMPTY_ID, NULL},
    {METHOD_PATCH, "/v1/threads/{thread_id}", "checkpointer", "write", BODY_REQUIRED,
        patch_thread, ROUTE_EMPTY_ID, NULL},
    {METHOD_DELETE, "/v1/threads/{thread_id}", "checkpointer", "delete", BODY_REQUIRED,
        delete_thread, ROUTE_EMPTY_ID, NULL},
    {METHOD_GET, "/v1/threads/{thread_id}/state", "checkpointer", "read", BODY_NONE, get_state,
        0, NULL},
    {METHOD_PUT, "/v1/threads/{thread_id}/state", "checkpointer", "write", BODY_REQUIRED,
        put_state, 0, NULL},
    {METHOD_DELETE, "/v1/threads/{thread_id}/state", "checkpointer", "delete", BODY_OPTIONAL,
        delete_state, 0, NULL},
    {METHOD_GET, "/v1/threads/{thread_id}/messages", "checkpointer", "read", BODY_NONE,
        get_messages, 0, NULL},
    {METHOD_POST, "/v1/threads/{thread_id}/messages", "checkpointer", "write", BODY_REQUIRED,
        post_messages, 0, NULL},
    {METHOD_GET, "/v1/threads/{thread_id}/messages/{message_id}", "checkpointer", "read",
        BODY_NONE, get_message, 0, NULL},
    {METHOD_DELETE, "/v1/threads/{thread_id}/messages/{message_id}", "checkpointer", "delete",
        BODY_OPTIONAL, delete_message, 0, NULL},
    {METHOD_GET, "/v1/threads/{thread_id}/history", "checkpointer", "read", BODY_NONE,
        get_history, 0, NULL},
    {METHOD_GET, "/v1/threads/{thread_id}/history/{checkpoint_id}", "checkpointer", "read",
        BODY_NONE, get_checkpoint, 0, NULL},
    {METHOD_POST, "/v1/threads/{thread_id}/rewind", "checkpointer", "write", BODY_REQUIRED,
        post_rewind, 0, NULL},
    {METHOD_POST, "/v1/threads/{thread_id}/copy", "checkpointer", "write", BODY_OPTIONAL,
        post_copy, 0, NULL},
    {METHOD_GET, "/v1/threads/{thread_id}/export", "checkpointer", "read", BODY_NONE, get_export,
        0, NULL},
    {METHOD_GET, "/v1/threads/{thread_id}/runs", "graph", "read", BODY_NONE, get_thread_runs,
        0, NULL},
    {METHOD_GET, "/v1/threads/{thread_id}/runs/{run_id}", "graph", "read", BODY_NONE, get_run,
        0, NULL},
    {METHOD_DELETE, "/v1/threads/{thread_id}/runs/{run_id}", "checkpointer", "delete",
        BODY_OPTIONAL, delete_run, 0, NULL},
    {METHOD_GET, "/v1/threads/{thread_id}/runs/{run_id}/result", "graph", "read", BODY_NONE,
        get_run_result, 0, NULL},
    {METHOD_GET, "/v1/threads/{thread_id}/runs/{run_id}/stream", "graph", "stream", BODY_NONE,
        get_run_stream, 0, NULL},
    {METHOD_POST, "/v1/threads/{thread_id}/runs/{run_id}/stop", "graph", "stop",
        BODY_OPTIONAL, post_run_stop, 0, NULL},

    {METHOD_POST, "/v1/store/memories", "store", "write", BODY_REQUIRED, post_memory, 0, NULL},
    {METHOD_POST, "/v1/store/search", "store", "read", BODY_REQUIRED, post_memory_search, 0, NULL},
    {METHOD_POST, "/v1/store/memories/list", "store", "read", BODY_OPTIONAL, post_memory_list,
        0, NULL},
    {METHOD_POST, "/v1/store/memories/forget", "store", "delete", BODY_REQUIRED,
        post_memory_forget, 0, NULL},
    {METHOD_POST, "/v1/store/memories/{memory_id}", "store", "read", BODY_OPTIONAL,
        post_memory_read, 0, NULL},
    {METHOD_PUT, "/v1/store/memories/{memory_id}", "store", "write", BODY_REQUIRED, put_memory,
        0, NULL},
    {METHOD_DELETE, "/v1/store/memories/{memory_id}", "store", "delete", BODY_OPTIONAL,
        delete_memory, 0, NULL},

    {METHOD_POST, "/v1/files/upload", "files", "upload", BODY_STREAM, post_upload, 0, NULL},
    {METHOD_GET, "/v1/files/{file_id}", "files", "read", BODY_NONE, get_file, 0, NULL},
    {METHOD_GET, "/v1/files/{file_id}/info", "files", "read", BODY_NONE, get_file_info, 0, NULL},
    {METHOD_GET, "/v1/files/{file_id}/url", "files", "read", BODY_NONE, get_file_url, 0, NULL},
    {METHOD_GET, "/v1/config/multimodal", "config", "read", BODY_NONE, get_multimodal,
        ROUTE_UNAUTHORIZED, NULL},

    {METHOD_GET, "/v1/service", "config", "read", BODY_NONE, get_service, 0, NULL},

    {METHOD_GET, "/v1/evals/runs", NULL, NULL, BODY_NONE, get_eval_runs, 0, &evals},
    {METHOD_GET, "/v1/evals/runs/{run_id}", NULL, NULL, BODY_NONE, get_eval_run, 0, &evals},

    {METHOD_GET, "/", NULL, NULL, BODY_NONE, get_home,
        ROUTE_INFRASTRUCTURE | ROUTE_HOME | ROUTE_EMPTY_ID, NULL},
    {METHOD_GET, "/openapi.json", NULL, NULL, BODY_NONE, get_document,
        ROUTE_INFRASTRUCTURE | ROUTE_DOCUMENT, NULL},
    {METHOD_GET, "<DOCS_PATH>", NULL, NULL, BODY_NONE, get_docs, ROUTE_INFRASTRUCTURE, NULL},
    {METHOD_GET, "<DOCS_PATH>/assets/{asset}", NULL, NULL, BODY_NONE, get_docs_asset,
        ROUTE_INFRASTRUCTURE, NULL},
    {METHOD_GET, "<REDOCS_PATH>", NULL, NULL, BODY_NONE, get_redocs, ROUTE_INFRASTRUCTURE, NULL},
    {METHOD_GET, "<REDOCS_PATH>/assets/{asset}", NULL, NULL, BODY_NONE, get_redocs_asset,
        ROUTE_INFRASTRUCTURE, NULL},
    {METHOD_GET, "<CONSOLE_PATH>", NULL, NULL, BODY_NONE, get_console, ROUTE_INFRASTRUCTURE, NULL},
    {METHOD_GET, "<CONSOLE_PATH>/{build}/{asset}", NULL, NULL, BODY_NONE, get_console_asset,
        ROUTE_INFRASTRUCTURE, NULL},
};
/* clang-format on */

_Static_assert(sizeof(rows) / sizeof(rows[0]) < METRIC_ROUTES, "metrics tell all rows apart");

const struct route_table routes = {rows, sizeof(rows) / sizeof(rows[0])};
