/* SPDX-License-Identifier: ISC */
/*
 * libwebsockets for the realtime providers: its functions, found when the first connection is made,
 * so that a process without one does not pay for it.
 */
#ifndef AGENTGRAPH_MODEL_REALTIME_REALTIME_LWS_H
#define AGENTGRAPH_MODEL_REALTIME_REALTIME_LWS_H

#include <libwebsockets.h>

struct realtime_lws {
	__typeof__(lws_get_library_version) *get_library_version;
	__typeof__(lws_set_log_level) *set_log_level;
	__typeof__(lws_create_context) *create_context;
	__typeof__(lws_context_destroy) *context_destroy;
	__typeof__(lws_context_user) *context_user;
	__typeof__(lws_get_context) *get_context;
	__typeof__(lws_client_connect_via_info) *client_connect_via_info;
	__typeof__(lws_service) *service;
	__typeof__(lws_cancel_service) *cancel_service;
	__typeof__(lws_callback_on_writable) *callback_on_writable;
	__typeof__(lws_close_reason) *close_reason;
	__typeof__(lws_write) *write;
	__typeof__(lws_rx_flow_control) *rx_flow_control;
	__typeof__(lws_remaining_packet_payload) *remaining_packet_payload;
	__typeof__(lws_is_final_fragment) *is_final_fragment;
	__typeof__(lws_add_http_header_by_name) *add_http_header_by_name;
};

/* The functions, or NULL with *why set to what is wrong with libwebsockets here. */
const struct realtime_lws *realtime_lws(const char **why);

#endif
