/* SPDX-License-Identifier: ISC */
/* The table of routes. */
#include "handlers.h"
#include "route.h"

/*
 * Everything the service answers (doc/protocol.md#routes).  Of two rows that fit a request the
 * first one wins, so a literal segment stands before an {id}.  <NAME> is a setting (mount.h).
 */
/* clang-format off */
static const struct route rows[] = {
    {METHOD_GET, "/ping", NULL, NULL, BODY_NONE, get_ping,
        ROUTE_ANY_HOST | ROUTE_UNCOUNTED},

    {METHOD_POST, "/v1/graph/invoke", "graph", "invoke", BODY_REQUIRED, post_invoke, 0},
    {METHOD_POST, "/v1/graph/stream", "graph", "stream", BODY_REQUIRED, post_stream, 0},
    {METHOD_POST, "/v1/graph/stop", "graph", "stop", BODY_REQUIRED, post_stop, 0},
    {METHOD_POST, "/v1/graph/fix", "graph", "fix", BODY_REQUIRED, post_fix, 0},
    {METHOD_POST, "/v1/graph/setup", "graph", "setup", BODY_REQUIRED, post_setup, 0},
    {METHOD_GET, "/v1/graph/ws", "graph", "stream", BODY_NONE, get_socket, ROUTE_WEBSOCKET},
    {METHOD_GET, "/v1/graph/live", "graph", "stream", BODY_NONE, get_socket, ROUTE_WEBSOCKET},
    {METHOD_GET, "/v1/graph", "graph", "read", BODY_NONE, get_graph, 0},
    {METHOD_GET, "/v1/graph/tools", "graph", "read", BODY_NONE, get_graph_tools, 0},
    {METHOD_GET, "/v1/graph:StateSchema", "graph", "read", BODY_NONE, get_graph_schema, 0},

    {METHOD_POST, "/v1/ag-ui", "graph", "stream", BODY_REQUIRED, post_ag_ui,
        ROUTE_AG_UI | ROUTE_UNAUTHORIZED},

    {METHOD_GET, "/v1/observability/{thread_id}", "graph", "read", BODY_NONE, get_observability,
        0},

    {METHOD_GET, "/v1/threads", "checkpointer", "read", BODY_NONE, get_threads, 0},
    {METHOD_GET, "/v1/threads/{thread_id}", "checkpointer", "read", BODY_NONE, get_thread,
        ROUTE_EMPTY_ID},
    {METHOD_DELETE, "/v1/threads/{thread_id}", "checkpointer", "delete", BODY_REQUIRED,
        delete_thread, ROUTE_EMPTY_ID},
    {METHOD_GET, "/v1/threads/{thread_id}/state", "checkpointer", "read", BODY_NONE, get_state, 0},
    {METHOD_PUT, "/v1/threads/{thread_id}/state", "checkpointer", "write", BODY_REQUIRED,
        put_state, 0},
    {METHOD_DELETE, "/v1/threads/{thread_id}/state", "checkpointer", "delete", BODY_OPTIONAL,
        delete_state, 0},
    {METHOD_GET, "/v1/threads/{thread_id}/messages", "checkpointer", "read", BODY_NONE,
        get_messages, 0},
    {METHOD_POST, "/v1/threads/{thread_id}/messages", "checkpointer", "write", BODY_REQUIRED,
        post_messages, 0},
    {METHOD_GET, "/v1/threads/{thread_id}/messages/{message_id}", "checkpointer", "read",
        BODY_NONE, get_message, 0},
    {METHOD_DELETE, "/v1/threads/{thread_id}/messages/{message_id}", "checkpointer", "delete",
        BODY_OPTIONAL, delete_message, 0},

    {METHOD_POST, "/v1/store/memories", "store", "write", BODY_REQUIRED, post_memory, 0},
    {METHOD_POST, "/v1/store/search", "store", "read", BODY_REQUIRED, post_memory_search, 0},
    {METHOD_POST, "/v1/store/memories/list", "store", "read", BODY_OPTIONAL, post_memory_list, 0},
    {METHOD_POST, "/v1/store/memories/forget", "store", "delete", BODY_REQUIRED,
        post_memory_forget, 0},
    {METHOD_POST, "/v1/store/memories/{memory_id}", "store", "read", BODY_OPTIONAL,
        post_memory_read, 0},
    {METHOD_PUT, "/v1/store/memories/{memory_id}", "store", "write", BODY_REQUIRED, put_memory, 0},
    {METHOD_DELETE, "/v1/store/memories/{memory_id}", "store", "delete", BODY_OPTIONAL,
        delete_memory, 0},

    {METHOD_POST, "/v1/files/upload", "files", "upload", BODY_STREAM, post_upload, 0},
    {METHOD_GET, "/v1/files/{file_id}", "files", "read", BODY_NONE, get_file, 0},
    {METHOD_GET, "/v1/files/{file_id}/info", "files", "read", BODY_NONE, get_file_info, 0},
    {METHOD_GET, "/v1/files/{file_id}/url", "files", "read", BODY_NONE, get_file_url, 0},
    {METHOD_GET, "/v1/config/multimodal", "config", "read", BODY_NONE, get_multimodal,
        ROUTE_UNAUTHORIZED},

    {METHOD_GET, "/v1/evals/runs", NULL, NULL, BODY_NONE, get_eval_runs, ROUTE_EVALS},
    {METHOD_GET, "/v1/evals/runs/{run_id}", NULL, NULL, BODY_NONE, get_eval_run, ROUTE_EVALS},

    {METHOD_GET, "/", NULL, NULL, BODY_NONE, get_home,
        ROUTE_INFRASTRUCTURE | ROUTE_HOME | ROUTE_EMPTY_ID},
    {METHOD_GET, "/openapi.json", NULL, NULL, BODY_NONE, get_document,
        ROUTE_INFRASTRUCTURE | ROUTE_DOCUMENT},
    {METHOD_GET, "<DOCS_PATH>", NULL, NULL, BODY_NONE, get_docs, ROUTE_INFRASTRUCTURE},
    {METHOD_GET, "<DOCS_PATH>/assets/{asset}", NULL, NULL, BODY_NONE, get_docs_asset,
        ROUTE_INFRASTRUCTURE},
    {METHOD_GET, "<REDOCS_PATH>", NULL, NULL, BODY_NONE, get_redocs, ROUTE_INFRASTRUCTURE},
    {METHOD_GET, "<REDOCS_PATH>/assets/{asset}", NULL, NULL, BODY_NONE, get_redocs_asset,
        ROUTE_INFRASTRUCTURE},
};
/* clang-format on */

const struct route_table routes = {rows, sizeof(rows) / sizeof(rows[0])};
