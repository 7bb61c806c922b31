/* SPDX-License-Identifier: ISC */
/* The handlers that the route table names: each reads what its row has not checked yet, calls one
 * service function and writes one answer. */
#ifndef AGENTGRAPH_FCGI_HANDLERS_HANDLERS_H
#define AGENTGRAPH_FCGI_HANDLERS_HANDLERS_H

#include <cjson/cJSON.h>

struct error_view;
struct request;

void get_ping(struct request *rq);
void get_service(struct request *rq);

void post_invoke(struct request *rq);
void post_stream(struct request *rq);
void post_stop(struct request *rq);
void post_fix(struct request *rq);
void post_setup(struct request *rq);
void post_ag_ui(struct request *rq);
void get_graph(struct request *rq);
void get_graph_tools(struct request *rq);
void get_graph_schema(struct request *rq);
void get_socket(struct request *rq);

void post_chat_completions(struct request *rq);
void get_models(struct request *rq);
void get_model(struct request *rq);

/* The bodies of errors in each protocol, for its struct dialect. */
cJSON *openai_error_body(struct request *rq, const struct error_view *view);

void post_mcp(struct request *rq);
void post_a2a(struct request *rq);
void get_agent_card(struct request *rq);
void get_protected_resource(struct request *rq);

/* And what WWW-Authenticate says on /v1/mcp. */
cJSON *mcp_error_body(struct request *rq, const struct error_view *view);
const char *mcp_challenge(struct request *rq);

cJSON *a2a_error_body(struct request *rq, const struct error_view *view);

void get_lg_ok(struct request *rq);
void get_lg_info(struct request *rq);
void post_lg_assistants(struct request *rq);
void get_lg_assistant(struct request *rq);
void get_lg_assistant_graph(struct request *rq);
void get_lg_assistant_schemas(struct request *rq);
void post_lg_threads(struct request *rq);
void get_lg_thread(struct request *rq);
void patch_lg_thread(struct request *rq);
void delete_lg_thread(struct request *rq);
void post_lg_copy(struct request *rq);
void post_lg_threads_search(struct request *rq);
void post_lg_threads_count(struct request *rq);
void get_lg_state(struct request *rq);
void get_lg_state_at(struct request *rq);
void post_lg_state_at(struct request *rq);
void post_lg_state(struct request *rq);
void post_lg_history(struct request *rq);
void get_lg_history(struct request *rq);
void post_lg_run_wait(struct request *rq);
void post_lg_run_stream(struct request *rq);
void post_lg_wait(struct request *rq);
void post_lg_stream(struct request *rq);
void post_lg_runs(struct request *rq);
void get_lg_runs(struct request *rq);
void get_lg_run(struct request *rq);
void delete_lg_run(struct request *rq);
void post_lg_run_cancel(struct request *rq);
void post_lg_cancel(struct request *rq);
void post_lg_prune(struct request *rq);
void post_lg_assistants_count(struct request *rq);
void put_lg_item(struct request *rq);
void get_lg_item(struct request *rq);
void delete_lg_item(struct request *rq);
void post_lg_items(struct request *rq);
void post_lg_namespaces(struct request *rq);
void get_lg_run_stream(struct request *rq);
void get_lg_run_join(struct request *rq);

cJSON *lg_error_body(struct request *rq, const struct error_view *view);

void get_observability(struct request *rq);

void get_history(struct request *rq);
void get_checkpoint(struct request *rq);
void post_rewind(struct request *rq);
void post_copy(struct request *rq);
void get_export(struct request *rq);
void post_import(struct request *rq);

void get_runs(struct request *rq);
void post_runs(struct request *rq);
void get_thread_runs(struct request *rq);
void get_run(struct request *rq);
void get_run_result(struct request *rq);
void get_run_stream(struct request *rq);
void post_run_stop(struct request *rq);
void delete_run(struct request *rq);

void get_threads(struct request *rq);
void post_threads(struct request *rq);
void patch_thread(struct request *rq);
void get_thread(struct request *rq);
void delete_thread(struct request *rq);
void get_state(struct request *rq);
void put_state(struct request *rq);
void delete_state(struct request *rq);
void get_messages(struct request *rq);
void post_messages(struct request *rq);
void get_message(struct request *rq);
void delete_message(struct request *rq);

void post_upload(struct request *rq);
void get_file(struct request *rq);
void get_file_info(struct request *rq);
void get_file_url(struct request *rq);
void get_multimodal(struct request *rq);

void post_memory(struct request *rq);
void post_memory_search(struct request *rq);
void post_memory_list(struct request *rq);
void post_memory_forget(struct request *rq);
void post_memory_read(struct request *rq);
void put_memory(struct request *rq);
void delete_memory(struct request *rq);

void get_eval_runs(struct request *rq);
void get_eval_run(struct request *rq);

void get_home(struct request *rq);
void get_document(struct request *rq);
void get_docs(struct request *rq);
void get_docs_asset(struct request *rq);
void get_redocs(struct request *rq);
void get_redocs_asset(struct request *rq);
void get_console(struct request *rq);
void get_console_asset(struct request *rq);

#endif
