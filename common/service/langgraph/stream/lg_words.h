/* SPDX-License-Identifier: ISC */
/* Telling kept chunks as server-sent events of LangGraph's stream modes
 * (doc/protocol-langgraph.md#streams). */
#ifndef AGENTGRAPH_SERVICE_LANGGRAPH_STREAM_LG_WORDS_H
#define AGENTGRAPH_SERVICE_LANGGRAPH_STREAM_LG_WORDS_H

#include "service/run/stream/kept_line.h"

/* The modes of these words are those of lg_input.h. */
extern const struct kept_words lg_words;

/* Finds the modes that the request of a kept run asked for; where that is not known, those that
 * pages ask for, with LG_LATER where the run has no chunks yet. */
bool lg_words_modes(struct storage *storage, const struct storage_context *ctx, struct run_key run,
    unsigned *modes, struct error *err);

#endif
