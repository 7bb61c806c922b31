/* SPDX-License-Identifier: ISC */
/*
 * The thread record and the messages of a live session.  All of it is read and written by a thread
 * of its own, in the order of the calls, so that audio never waits for a disk.
 */
#ifndef AGENTGRAPH_SERVICE_LIVE_LIVE_KEEPER_H
#define AGENTGRAPH_SERVICE_LIVE_LIVE_KEEPER_H

#include "service/service.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

struct keeper;

/* wake, an eventfd, is written when something was done.  All are borrowed. */
struct keeper *keeper_new(
    struct service *service, const struct identity *identity, const char *request_id, int wake);

/* Waits until everything is stored, and gives the thread back. */
void keeper_free(struct keeper *k);

/* Opens the storage where needed, takes the thread and creates it where it is new; NULL: a new one.
 */
void keeper_open(struct keeper *k, const char *thread_id);

enum keeper_state { KEEPER_OPENING, KEEPER_OPEN, KEEPER_REFUSED };
/* How far keeper_open has come. */
enum keeper_state keeper_state(struct keeper *k);

/* Once refused: why.  Once open: the thread as it was found, and the resumption handle it has, or
 * NULL.  They live as long as the keeper. */
const struct error *keeper_error(const struct keeper *k);
const struct thread *keeper_thread(const struct keeper *k);
const char *keeper_handle(const struct keeper *k);

/* Adds a message in output form, which is taken over; stores a handle, or forgets it when it is
 * NULL. */
void keeper_add(struct keeper *k, cJSON *message);
void keeper_set_handle(struct keeper *k, const char *handle);

/* The client is gone: another session may have the thread from now on.  What still comes is stored
 * when nobody else has it at that moment. */
void keeper_let_go(struct keeper *k);

/* Whether everything is done. */
bool keeper_rests(struct keeper *k);

#endif
