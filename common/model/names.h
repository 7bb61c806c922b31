/* SPDX-License-Identifier: ISC */
/*
 * Names of tools that every provider takes: up to 64 letters, digits, _ and -, of which the first
 * is a letter or _.  A tool with any other name is sent by one that is made from it, which nobody
 * but the provider sees.
 */
#ifndef AGENTGRAPH_MODEL_NAMES_H
#define AGENTGRAPH_MODEL_NAMES_H

#include <cjson/cJSON.h>

#define CHAT_NAME_SIZE 65

/* A new object with the tools' own names, by the names that are sent for them.  tools is an array
 * of objects with a "name". */
cJSON *chat_names_new(const cJSON *tools);

/* The name that is sent for a tool: own itself, or the one in names, or, for a tool that is no
 * longer offered, one that is made in room. */
const char *chat_name_sent(const cJSON *names, const char *own, char room[CHAT_NAME_SIZE]);

/* The own name of the tool that was sent by this name; sent itself (or NULL) if there is none. */
const char *chat_name_own(const cJSON *names, const char *sent);

#endif
