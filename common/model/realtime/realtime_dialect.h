/* SPDX-License-Identifier: ISC */
/*
 * What the files of the realtime providers share: realtime.c has the connection, and
 * realtime_openai.c and realtime_gemini.c have each a dialect, which turns input into the
 * provider's events and its events into reports.
 */
#ifndef AGENTGRAPH_MODEL_REALTIME_REALTIME_DIALECT_H
#define AGENTGRAPH_MODEL_REALTIME_REALTIME_DIALECT_H

#include "base/buf.h"
#include "model/realtime/realtime.h"
#include "model/realtime/realtime_socket.h"
#include "model/realtime/resample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REALTIME_IN_HZ 16000
#define REALTIME_OUT_HZ 24000

struct realtime;

struct realtime_dialect {
	const char *name;
	const char *home;        /* base URL of its own service */
	const char *url_env;     /* variable that names another one */
	const char *key_envs[3]; /* variables that hold the key, ended by NULL */
	unsigned in_hz;          /* rate of the audio that it takes */

	/* The URL to connect to, malloc'd; where that does not hold the key, the header that does,
	 * and what stands before the key in it. */
	char *(*url)(const struct realtime *r, const char *model);
	const char *header, *prefix;

	/* The first event that is sent, before extra is merged into its member of that name. */
	cJSON *(*opening)(const struct ag_live_setup *setup);
	const char *session;

	/* Takes an event of the provider, which is an object. */
	void (*take)(struct realtime *r, const cJSON *event);

	/* Input, as in struct ag_live_provider; audio is in in_hz, activity is a change. */
	void (*audio)(struct realtime *r, const void *pcm, size_t bytes);
	void (*text)(struct realtime *r, const char *text);
	void (*activity)(struct realtime *r, bool starts);
	void (*tool_result)(struct realtime *r, const char *id, const char *name,
	    const cJSON *result, bool is_error);
	void (*finish)(struct realtime *r);

	/* Called at the time that realtime.again names; NULL: this dialect names none. */
	void (*again)(struct realtime *r);

	/* After how many milliseconds of rest everything is answered; -1: something still goes
	 * on. */
	int64_t (*rest)(const struct realtime *r);
};

extern const struct realtime_dialect realtime_openai, realtime_gemini;

struct realtime_settings {
	const struct realtime_dialect *dialect;
	char *base_url;
	char *key;    /* or NULL */
	char *lack;   /* the variable that should hold it and does not, or NULL */
	cJSON *extra; /* or NULL */
};

struct realtime_call {
	struct realtime_call *next;
	char id[];
};

/* A connection. */
struct realtime {
	ag_live_session *session;
	const struct realtime_settings *settings;
	const struct realtime_dialect *dialect;
	struct realtime_socket *socket;
	void (*send)(struct realtime *r, const char *text); /* a message, by the socket */
	char *opening;                                      /* sent when the socket is open */
	cJSON *names;                                       /* of the tools (names.h) */
	char *problem; /* why nothing can be done; NULL once that was told */
	bool fatal;    /* the problem is there for good */
	struct resampler *in, *out;
	unsigned out_hz; /* what out resamples from */

	bool text_only, manual;
	int silence_ms;
	bool ready, over, finishing;
	int64_t now, last; /* the time, and when something happened */
	bool fed;          /* the provider was sent audio since it last answered */
	/* the user speaks: between the bounds that are told, or as the provider heard */
	bool speaking;
	bool cut;                    /* the answer was cut: what still comes of it is not told */
	struct realtime_call *calls; /* calls without a result */
	int64_t ahead;               /* when the audio so far will have been played */
	bool halved;                 /* the audio ended within a sample: half is its first byte */
	char half;
	int64_t again; /* when to try again what could not be done; 0: nothing */

	bool responding; /* an answer goes on */
	bool called;     /* the answer has called tools */
	bool expected;   /* another answer is expected, though it may not come */

	/* OpenAI */
	bool wanted;
	unsigned requests;  /* how many responses were asked for so far */
	unsigned requested; /* number of the request that was not answered yet; 0: none */
	bool unsure;        /* a request seems to have failed, and may go on all the same */
	bool keeps_talking; /* the user's speech does not cut a response */
	bool marks;         /* the provider gives our marks back */
	bool writes;        /* the provider writes down what it hears */
	unsigned unwritten; /* utterances that are not written down yet */
	char *item;         /* id of the item whose audio comes, or NULL */
	int64_t item_ms;    /* milliseconds of audio of that item so far */

	/* Gemini */
	char *model;   /* or NULL */
	unsigned owed; /* how many answers are still to come */
	bool resulted; /* results were sent since it called */
	bool used;     /* it was given input at all */
};

/* Sends an event, which is taken over. */
void realtime_send(struct realtime *r, cJSON *event);

/* An event of the provider, as it came; text is changed. */
void realtime_take(struct realtime *r, char *text, size_t len);

/* The provider takes input from here on; told once. */
void realtime_ready(struct realtime *r);

/* Tells an error of the provider.  One that passes ends a connection that is not ready yet; the
 * service may make another. */
void realtime_error(struct realtime *r, const char *code, bool fatal, const char *message);

/* Audio of the provider, in base64.  Returns its milliseconds. */
int64_t realtime_play(struct realtime *r, const char *base64, unsigned hz);

/* A call of the model; arguments are taken over. */
void realtime_call_add(struct realtime *r, const char *id, const char *name, cJSON *args);

/* Whether a call of that id had no result yet; now it has. */
bool realtime_call_end(struct realtime *r, const char *id);

/* Begins and ends what the tests drive without a network. */
struct realtime *realtime_new(ag_live_session *session, const struct ag_live_setup *setup,
    const struct realtime_settings *settings);
void realtime_free(struct realtime *r);

#endif
