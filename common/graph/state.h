/* SPDX-License-Identifier: ISC */
/* AgentState (doc/protocol-messages.md#state): the state of a thread as clients see it, and the
 * graph's own fields in it.
 */
#ifndef AGENTGRAPH_GRAPH_STATE_H
#define AGENTGRAPH_GRAPH_STATE_H

#include "base/error.h"
#include "graph/graph.h"
#include "storage/threads.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/* A thread that has never run, with id and owner; its strings are static or the caller's. */
void thread_blank(struct thread *thread, const char *thread_id, const char *user_id);

/* The word that clients are shown for a status. */
const char *run_status_name(enum run_status status);

/* The open interrupt of a paused thread (doc/protocol-messages.md#interrupts), a new tree, or
 * NULL. */
cJSON *thread_interrupt(const struct thread *thread);

/* Adds "interrupts", an array, to out where several are open: branches paused. */
void thread_add_interrupts(const struct thread *thread, cJSON *out);

/* The message that asks for the calls that wait at the client, without those that were answered, a
 * new tree; NULL where none waits. */
cJSON *thread_waiting_message(const struct thread *thread);

/* How a thread came to pause. */
enum pause_kind { PAUSE_BY_NODE, PAUSE_BEFORE_NODE, PAUSE_AFTER_NODE };

/* The kind of a stored pause.  A node may give any reason and value, so the interrupt itself does
 * not tell. */
enum pause_kind pause_kind_of(const cJSON *pause);

/* Whether a resume is an object whose keys are all ids of these interrupts (an array, or NULL). */
bool interrupts_named(const cJSON *interrupts, const cJSON *resume);

/* Whether a resume is an object whose keys are all ids as interrupts have them, of which one is not
 * open at this pause: it answers something else. */
bool pause_is_missed(const cJSON *pause, const cJSON *resume);

/* Id of the message whose tool calls wait for the end of a stored pause, or NULL. */
const char *pause_asked(const cJSON *pause);

/* The same as pause_kind_of for a paused thread. */
enum pause_kind thread_pause_kind(const struct thread *thread);

/* What only the lease knows of a run in flight. */
struct run_flags {
	bool running;
	bool stop_requested;
};

/* The status that is shown of a thread.  One that says it is running while no run holds its lease
 * was left by a process that died: it is shown as failed (doc/protocol-messages.md#state). */
enum run_status thread_status(const struct thread *thread, const struct run_flags *flags);

/* The AgentState of a thread, a new tree. */
cJSON *state_json(const ag_graph *graph, const struct thread *thread, const struct run_flags *flags,
    cJSON *context);

/* The graph's own fields from their stored text, a new object; fields that are missing get their
 * defaults. */
cJSON *state_fields(const ag_graph *graph, const char *fields_json);

/* A value (taken over) that fits the field, as it is stored: 25.0 is the integer 25
 * (doc/protocol.md#request-bodies). */
cJSON *state_value(const struct field *field, cJSON *value);

/* Joins a value (taken over) to a field by its reducer, to which null adds nothing; false when it,
 * or the sum, does not fit the field's type. */
bool state_reduce(cJSON *fields, const struct field *field, cJSON *value);

#endif
