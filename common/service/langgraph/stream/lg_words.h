/* SPDX-License-Identifier: ISC */
/* Kept chunks told as server-sent events of LangGraph's stream modes
 * (doc/protocol-langgraph.md#streams). */
#ifndef AGENTGRAPH_SERVICE_LANGGRAPH_STREAM_LG_WORDS_H
#define AGENTGRAPH_SERVICE_LANGGRAPH_STREAM_LG_WORDS_H

#include "service/run/stream/kept_line.h"

/* Its modes are those of lg_input.h. */
extern const struct kept_words lg_words;

/* The modes that the request of a kept run asked for; those of a page's where that is not known. */
bool lg_words_modes(struct call *call, struct run_key run, unsigned *modes);

#endif
