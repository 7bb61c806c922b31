/* SPDX-License-Identifier: ISC */
/*
 * What the tests of chat models share: a provider that answers by a script, and a caller that keeps
 * what it was given.
 */
#ifndef AGENTGRAPH_UNIT_CHAT_FIXTURE_H
#define AGENTGRAPH_UNIT_CHAT_FIXTURE_H

#include "base/buf.h"
#include "model/chat.h"

#include <stdbool.h>
#include <stddef.h>

enum step_kind {
	STEP_WHOLE,  /* status, headers and body, with their length */
	STEP_STREAM, /* 200, body as server-sent events in one write */
	STEP_BYTES,  /* the same, a write for each byte */
	STEP_HEARD,  /* the same, an event at a time, once something of the one before was heard */
	STEP_CUT,    /* the same, and the connection ends before it should */
	STEP_STALL,  /* the same, and nothing more comes */
	STEP_PINGS,  /* the same, and comments and empty events for ever */
	STEP_NEVER,  /* no answer at all */
	STEP_FLOOD   /* 200 and 100 MB of `body` again and again */
};

/* One answer of the provider.  The last one of a script is given again and again. */
struct step {
	enum step_kind kind;
	int status;
	const char *headers; /* lines that end in \r\n; NULL: a JSON content type */
	const char *body;
};

/* Starts the provider, ends it, and gives it the script, a count of 0 is a refusal to answer. */
void provider_start(void);
void provider_stop(void);
void provider_script(const struct step *steps, size_t count);

/* "http://127.0.0.1:PORT". */
const char *provider_url(void);

/* Requests since the script was given; head and body of the latest one, which stay until the next
 * script. */
unsigned provider_requests(void);

/* Whether it comes to so many, and no more: one that was given up may be read later. */
bool provider_comes_to(unsigned count);
const char *provider_head(void);
const cJSON *provider_body(void);

/* Connections that it accepted since it was started. */
unsigned provider_connections(void);

/* What a call gave to its callbacks. */
struct heard {
	struct buf text, reasoning;
	int pieces;
	int stop_after; /* pieces; 0: never */
	bool refuse;    /* the callback says false then; else stop says true */
};

void heard_release(struct heard *h);

/* A model from settings in JSON, with single quotes for double ones; base_url is the provider's
 * where the settings name none. */
struct chat_model *model_from(const char *settings);

/* JSON in the same notation. */
cJSON *json_from(const char *text);

/* Calls a model made from settings with one user message; heard may be NULL. */
enum chat_end ask(const char *settings, struct heard *heard, struct chat_result *result);

/* Calls with a request whose callbacks it sets, where heard is given. */
enum chat_end ask_with(const char *settings, struct chat_request *request, struct heard *heard,
    struct chat_result *result);

/* That settings in that notation are refused with these problems, a line "PATH: TEXT" each. */
void settings_are_refused(const char *settings, const char *problems);

/* The text of JSON at a path like "content/0/text"; "(none)" when there is none.  Static. */
const char *at(const cJSON *json, const char *path);

#endif
