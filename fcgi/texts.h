/* SPDX-License-Identifier: ISC */
/* Texts that agentgraph-fcgi has inside (made by build-aux/embed-text). */
#ifndef AGENTGRAPH_FCGI_TEXTS_H
#define AGENTGRAPH_FCGI_TEXTS_H

extern const char text_document_json[];   /* the frame of the OpenAPI document */
extern const char text_operations_json[]; /* what it says of each route */
extern const char text_components_json[]; /* schemas, parameters, headers, errors */
extern const char text_docs_js[];         /* starts the page at DOCS_PATH */
extern const char text_redocs_js[];       /* starts the page at REDOCS_PATH */
extern const char text_reference_js[];    /* both pages where there are no others */
extern const char text_reference_css[];

/* The console's modules and its style. */
extern const char text_console_console_css[];
extern const char text_console_api_js[];
extern const char text_console_app_js[];
extern const char text_console_asked_js[];
extern const char text_console_audio_js[];
extern const char text_console_branches_js[];
extern const char text_console_chat_js[];
extern const char text_console_dom_js[];
extern const char text_console_drawing_js[];
extern const char text_console_evaluations_js[];
extern const char text_console_files_js[];
extern const char text_console_graph_js[];
extern const char text_console_history_js[];
extern const char text_console_list_js[];
extern const char text_console_live_js[];
extern const char text_console_memory_js[];
extern const char text_console_message_js[];
extern const char text_console_plot_js[];
extern const char text_console_run_js[];
extern const char text_console_runs_js[];
extern const char text_console_service_js[];
extern const char text_console_text_js[];
extern const char text_console_thread_js[];
extern const char text_console_threads_js[];
extern const char text_console_turn_js[];

#endif
