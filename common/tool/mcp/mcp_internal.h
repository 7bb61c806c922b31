/* SPDX-License-Identifier: ISC */
/*
 * What the files of the MCP client share: mcp.c begins and ends sessions, mcp_session.c pairs
 * requests and replies, mcp_call.c calls tools, mcp_stdio.c and mcp_http.c carry messages, each as
 * a transport.
 */
#ifndef AGENTGRAPH_TOOL_MCP_MCP_INTERNAL_H
#define AGENTGRAPH_TOOL_MCP_MCP_INTERNAL_H

#include "base/buf.h"
#include "tool/mcp/mcp.h"
#include "tool/mcp/mcp_message.h"

#include <pthread.h>

enum mcp_state {
	MCP_IDLE, /* no session; one may begin at once */
	MCP_STARTING,
	MCP_READY,
	MCP_DOWN /* it could not begin: not again before retry_at */
};

/* A request that waits for its reply; on the stack of who waits. */
struct mcp_pending {
	struct mcp_pending *next;
	int64_t id;
	cJSON *headers; /* headers of HTTP that only this request has, or NULL */
	/* the call that it is of, where that may be asked something; or NULL */
	const struct mcp_call *call;

	/* guarded by the server's lock */
	cJSON *questions; /* requests of the server that wait for an answer; or NULL */
	cJSON *reply;     /* the reply, once it has come */
	bool lost;        /* the session is over: a reply comes at once or never */
	bool given_up;    /* nobody wants it any more */
	int status;       /* the status of HTTP, or 0 */
	int64_t done_at;  /* when the reply came, or the session was lost */
};

/* How a message was handed over. */
enum mcp_sent {
	MCP_SENT,
	MCP_UNSENT, /* the session is over, and the server has not seen the message */
	MCP_FAILED  /* why says what happened; the server may have seen the message */
};

/* What carries messages: what sessions ask of it, and who begins and ends them. */
struct mcp_transport {
	/* Sends one message, and waits until pending has its reply, or is lost, or the time is up.
	 * A message that gets no reply has no pending. */
	enum mcp_sent (*send)(struct mcp_server *server, const char *text,
	    struct mcp_pending *pending, const struct mcp_wait *wait, char why[MCP_WHY_SIZE]);

	/* Sends an answer to a request of the server's, while that is being handled: an answer that
	 * cannot go at once waits for send_answers, which sends what it can until wait is over. */
	void (*answer)(struct mcp_server *server, const char *text);
	void (*send_answers)(struct mcp_server *server, const struct mcp_wait *wait);

	/* Ends the session, if there is one, whatever its state. */
	void (*close)(struct mcp_server *server);
};

extern const struct mcp_transport mcp_over_stdio, mcp_over_http;

struct mcp_stdio;

struct mcp_server {
	struct mcp_settings settings; /* except its oauth, which mcp_oauth owns */
	const struct mcp_transport *transport;
	struct mcp_oauth *oauth; /* NULL: no tokens */
	pthread_mutex_t lock;
	pthread_cond_t changed; /* anything below has changed; by CLOCK_MONOTONIC */

	/* guarded by lock */
	enum mcp_state state;
	unsigned session;       /* counts sessions, so that news of an old one are known as such */
	unsigned attempts;      /* how many sessions were begun, ready or failed */
	char why[MCP_WHY_SIZE]; /* the latest failure */
	int64_t retry_at;
	unsigned failures; /* since a session was good for something */
	unsigned silences; /* calls that timed out since the server was last heard */
	bool wanted, closing, stale;
	bool heard; /* it is known whether the server can be listened to */
	int64_t next_id;
	struct mcp_pending *pending;
	struct mcp_tools *tools;
	int64_t fresh_until; /* when the tools are to be listed again */
	int64_t list_from;   /* the tools are not listed before, however often they change */
	struct buf *answers; /* answers to the server that are still to be sent (HTTP) */
	size_t answer_count;
	char *session_id; /* HTTP, or NULL */
	char version[16]; /* of the protocol, "" before it is known */
	int64_t log_from; /* since when log_lines counts the server's lines in the log */
	unsigned log_lines;

	/* the keeper's */
	pthread_t keeper;
	bool has_keeper; /* guarded by lock */
	struct mcp_stdio *stdio;
	pthread_t listener;
	bool has_listener;
};

/* A request, and what has become of it. */
struct mcp_asked {
	const char *method;
	cJSON *params; /* taken over */
	const struct mcp_wait *wait;
	const struct mcp_call *call; /* the call that gets the server's questions; or NULL */
	const cJSON *parameters; /* of the tool, whose marked arguments go into headers; or NULL */

	bool unsent; /* the server never saw it, and there is a new session to be had */
	int status;  /* the status of HTTP, where the answer was whole; or 0 */
};

/* Sends it and waits for its reply (a tree to delete), or returns NULL with why. */
cJSON *mcp_exchange(struct mcp_server *server, struct mcp_asked *asked, char why[MCP_WHY_SIZE]);

/* Hands the server's questions to whoever made the call, and sends the answers, until wait is over;
 * without the lock.  False when the call is given up. */
bool mcp_answer_questions(
    struct mcp_server *server, struct mcp_pending *pending, const struct mcp_wait *wait);

/* Whether the server is spoken to without a session; with the lock held, or on the keeper. */
bool mcp_is_stateless(const struct mcp_server *server);

/* Sends a notification, and never mind whether it arrives; params, or NULL, are taken over. */
void mcp_notify(struct mcp_server *server, const char *method, cJSON *params);

/* Takes a message of the server's, or an array of them.  pending, or NULL, is the request that it
 * came in answer to.  False when text is no JSON. */
bool mcp_take(struct mcp_server *server, struct mcp_pending *pending, const char *text, size_t len);

/* Ends the session, unless another one has begun since: nobody waits for its replies any more. */
void mcp_lose(struct mcp_server *server, unsigned session, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* How long to wait after that many failures in a row. */
int64_t mcp_retry_ms(unsigned failures);

/* Starts a thread with a stack that is enough for a session. */
bool mcp_thread(pthread_t *thread, void *(*run)(void *), void *arg);

/* Waits for changed until that time, some hundred ms at most; with the lock held. */
void mcp_pause(struct mcp_server *server, int64_t until_ms);

/* Whether the time is up or stop says so; without the lock. */
bool mcp_is_over(const struct mcp_wait *wait);

/* A line that the server wrote for people; a flood of them is cut. */
void mcp_log(struct mcp_server *server, const char *line);

/* ---- Standard streams */

/* Starts the server's program; false with why. */
bool mcp_stdio_open(struct mcp_server *server, unsigned session, char why[MCP_WHY_SIZE]);

/* Whether the program is gone, or has closed its output; with the lock held. */
bool mcp_stdio_is_over(const struct mcp_server *server);

/* ---- HTTP */

/* Starts to listen for what the server says unasked, and waits a little until it does. */
void mcp_http_listen(struct mcp_server *server);

/*
 * ---- mcp_oauth.c: tokens for MCP servers that ask for them: OAuth's client credentials (RFC
 * 6749, 4.4).
 *
 * Where a token is had is what the settings say, or what the server says when it refuses a request:
 * it names its metadata (RFC 9728), that its authorization server, and that one's metadata (RFC
 * 8414) where tokens are given.  A token is asked for when one is needed, kept until it ends, and
 * had anew when the server refuses it.  No text here has a secret in it.
 */

struct mcp_oauth;

/* Takes over what settings own; url is the server's, borrowed. */
struct mcp_oauth *mcp_oauth_new(const struct mcp_oauth_settings *settings, const char *url);
void mcp_oauth_free(struct mcp_oauth *oauth);

/* The value of Authorization, malloc'd.  NULL with why "" while no token is known to be needed, and
 * with why where none can be had. */
char *mcp_oauth_header(
    struct mcp_oauth *oauth, const struct mcp_wait *wait, char why[MCP_WHY_SIZE]);

/* The same from what is known already, without asking anybody. */
char *mcp_oauth_known(struct mcp_oauth *oauth);

/* The server has refused a request that had that header, or none (NULL); challenge is its
 * WWW-Authenticate, or NULL.  True when another token is there to try; else false with why. */
bool mcp_oauth_refused(struct mcp_oauth *oauth, const char *header, const char *challenge,
    const struct mcp_wait *wait, char why[MCP_WHY_SIZE]);

/* A parameter of a challenge, malloc'd; NULL when it is not there. */
char *mcp_challenge_get(const char *challenge, const char *name);

#endif
