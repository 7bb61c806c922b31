/* SPDX-License-Identifier: ISC */
/* What the tests of live sessions share: a provider that does what the test says, a clock that the
 * test moves, and a client that notes what it hears. */
#ifndef AGENTGRAPH_UNIT_LIVE_FIXTURE_H
#define AGENTGRAPH_UNIT_LIVE_FIXTURE_H

#include "base/buf.h"
#include "graph/live/live.h"
#include "service/live/live.h"

#include <stdbool.h>

/* The provider: what it is to do, and what it was asked. */
struct fake {
	bool refuses;  /* open gives nothing */
	bool silent;   /* never says ready */
	bool loses;    /* lost as soon as it is opened */
	bool closes;   /* ready, and lost at once */
	bool stalls;   /* takes no input */
	bool stubborn; /* does not end after finish */
	int opened, closed;
	struct buf heard;                          /* input, each ended by '|' */
	struct buf asked;                          /* what the connections were opened with */
	ag_live_session *session;                  /* of the open connection, or NULL */
	void (*next)(ag_live_session *session);    /* said at the next step */
	const char *script;                        /* of client_says */
	void (*replies)(ag_live_session *session); /* said to each text, at once */
};
extern struct fake fake;
extern const struct ag_live_provider fake_provider;

extern int64_t fake_now;

/* A service whose live agent has the fake provider, tools and tags; settings are lines of the
 * dotenv file, more members of the configuration begin with a comma; both may be "". */
struct service *live_service(const char *settings, const char *more);

/* A session of that service, and what its client heard: "type text|", "audio N|", "close CODE
 * REASON|". */
struct client {
	struct live_sink sink; /* first */
	struct live *live;
	struct buf heard;
	bool full;
};
void client_open(struct client *c, struct service *service, const char *init);
void client_free(struct client *c);

/* Lets everything happen that can without more time. */
void client_settle(struct client *c);

/* The same, and waits for tools that end by themselves,
 * however long the machine makes them wait. */
void client_settle_tools(struct client *c);

/* Lets time pass, a step at each moment that something is due. */
void client_pass(struct client *c, int64_t ms);

/* What the provider does now. */
void client_does(struct client *c, void (*next)(ag_live_session *session));

/* What the provider says now, each thing ended by '|': "in TEXT" and "out TEXT" are pieces of
 * transcripts, with "!" finished ("out!" with nothing to finish); "audio N" is so many bytes; then
 * "complete", "interrupted", "ended", "handle H", "agent NAME", "error CODE TEXT", "fatal CODE
 * TEXT", "away SECONDS", "call ID TOOL JSON" and "lost TEXT". */
void client_says(struct client *c, const char *script);

/* What was heard since the last call; static. */
const char *client_heard(struct client *c);

/* What the provider has heard since the last call; static. */
const char *fake_heard(void);

/* The messages of a thread, "role: text|", or "none". */
const char *stored(struct service *service, const char *thread_id);

#endif
