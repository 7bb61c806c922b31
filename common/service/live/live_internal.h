/* SPDX-License-Identifier: ISC */
/* What the files of the live session (live.c, live_link.c, live_events.c) share. */
#ifndef AGENTGRAPH_SERVICE_LIVE_LIVE_INTERNAL_H
#define AGENTGRAPH_SERVICE_LIVE_LIVE_INTERNAL_H

#include "base/buf.h"
#include "graph/live/live.h"
#include "service/live/live.h"
#include "service/live/live_parts.h"

enum live_state {
	LIVE_AWAITS_INIT,
	LIVE_PREPARES, /* the keeper opens the thread */
	LIVE_CONNECTS, /* the provider has not said ready yet */
	LIVE_TALKS,
	LIVE_WAITS,  /* before connecting again */
	LIVE_CLOSES, /* closes once all is stored */
	LIVE_CLOSED
};

struct live {
	ag_live_session session; /* first: what the provider reports to */
	struct live_setup setup;
	const struct live_agent *agent;
	struct call call; /* holds what the session needs throughout */
	enum live_state state;
	int64_t deadline; /* when the state's time is up; 0: never */
	struct live_config config;
	struct live_queue queue;
	struct live_keeper *keeper;
	struct live_tools *tools; /* NULL before the thread is open */
	struct thread thread;     /* as tools see it */
	int wake;                 /* an eventfd of keeper and tools */
	unsigned ignored;         /* frames that were ignored and logged */
	bool halved;              /* the latest audio ended within a sample, */
	char half;                /* of which this is the first byte */

	/* the connection to the model (live_link.c) */
	void *connection;      /* NULL: none */
	unsigned epoch;        /* counts the connections */
	char *handle;          /* resumption handle for the next connection, or NULL */
	bool resumed;          /* the first connection was tried with a handle */
	bool was_ready;        /* some connection was ready */
	int attempts;          /* attempts to connect again since a connection was of use */
	int64_t ready_at;      /* when the connection became ready */
	int64_t step_at;       /* when the connection wants to be stepped; -1: never */
	bool fed;              /* the connection was given input */
	bool answering;        /* the model is in the middle of a turn */
	unsigned reports;      /* counts what the provider says */
	unsigned asked;        /* inputs whose answers have not begun */
	int64_t asked_until;   /* until when these are waited for */
	int64_t settles_until; /* until when a handle that knows of the last turn is waited for */
	bool speaking; /* the client has said that its speech starts, and not yet that it ends */
	bool unsaid;   /* this connection was not told so */
	int64_t rotate_by; /* when a new connection must be made at the latest; 0: no need */

	/* what the provider said and nobody acted on yet */
	bool lost, ended, fatal;
	char *why; /* why it is lost */

	/* transcripts that are not finished, by direction */
	struct buf said[2];
	bool user_ends; /* the provider itself finishes what the user said */

	/* the end */
	bool gone;      /* the client is gone */
	bool ending;    /* no more input will come */
	bool finished;  /* the provider was told so */
	int64_t end_by; /* until when the provider is waited for */
	int close_code; /* the close to be sent, and its reason */
	const char *close_reason;
};

#define LIVE_GRACE_MS 3000  /* time for tools to stop, and for storing */
#define LIVE_ASKED_MS 10000 /* time for an answer to begin, before a connection is left */

/* Each of the three calls those below it: live.c, live_link.c, live_events.c. */

/* ---- live_link.c: the connection to the model */

/* Begins a connection, which resumes the conversation if there is a handle; an event tells the
 * outcome. */
void live_connect(struct live *live);

/* Ends the connection; the close is sent when all is stored, or the time for that is up.  reason is
 * static. */
void live_close(struct live *live, int code, const char *reason);

/* Sends the close that is due. */
void live_shut(struct live *live);

/* Whether no tool runs and everything is stored. */
bool live_rests(struct live *live);

/* Whether the client takes what the provider says; one that is gone does. */
bool live_may_speak(const struct live *live);

/* Hands over input that waits, steps the provider, and acts on what it said. */
void live_work(struct live *live);

/* Acts when the time of the state is up. */
void live_late(struct live *live);

/* ---- live_events.c: what the provider reports, what the client is told and the thread keeps */

/* Milliseconds by the clock of the session. */
int64_t live_now(const struct live *live);

/* Queues the client's event "error"; a fatal one ends nothing by itself.  message NULL: "". */
void live_send_error(struct live *live, const char *code, const char *message, bool fatal);

/* Acts on one event; event is the caller's. */
void live_take_event(ag_live_session *session, const struct live_event *event);

/* Notes input that is to be answered. */
void live_ask(struct live *live);

/* Finishes transcripts that the provider left open. */
void live_finish_transcripts(struct live *live);

/* Tells the client once that something is not stored. */
void live_tell_unstored(struct live *live);

/* Stores what a user wrote, and what came of a tool call, which is also told. */
void live_keep_text(struct live *live, const char *text);
void live_tool_done(struct live *live, struct tool_done *done);

#endif
