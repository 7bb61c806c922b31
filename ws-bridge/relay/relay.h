/* SPDX-License-Identifier: ISC */
/*
 * agentgraph-relay: one event loop over all WebSockets (doc/inside.md#a-websocket-frame).
 *
 * A connection has two sides.  The client's side is a WebSocket that came through the web server;
 * the helper's side is one to websocketd, which starts a helper program for it.  A worker has
 * decided who may come in, and its ticket says so; the relay itself decides only how many
 * connections there may be.
 */
#ifndef AGENTGRAPH_WS_BRIDGE_RELAY_RELAY_H
#define AGENTGRAPH_WS_BRIDGE_RELAY_RELAY_H

#include "access/ticket/ticket.h"
#include "base/os/event_loop.h"
#include "config/config.h"
#include "ws-bridge/relay/relay_frames.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* ---- relay_tally.c: a count for each of many texts.  An all-zero struct is empty. */

#define TALLY_BUCKETS 1024

struct tally_entry;

struct tally {
	struct tally_entry *buckets[TALLY_BUCKETS];
};

/* 0 for a text that was never added. */
int64_t tally_count(const struct tally *tally, const char *text);

/* Adds to a text's count; entries at 0 are forgotten. */
void tally_add(struct tally *tally, const char *text, int64_t change);

/* Forgets everything. */
void tally_clear(struct tally *tally);

/* ---- relay.c */

struct connection;

struct relay_settings {
	struct sockaddr_storage websocketd;
	socklen_t websocketd_size;
	const char *host; /* of websocketd, for the Host header */
	struct ticket_key key;
	int64_t max_connections; /* 0: unlimited */
	int64_t max_connections_per_user;
	size_t message_limit; /* bytes of a client's message */
	size_t slow_bytes;    /* when so many wait for a client, its helper is not read */
	int64_t ping_ms;      /* a client that is silent for so long gets a ping */
	int64_t stall_ms;     /* one that takes nothing for so long is closed */
	int64_t bye_ms;       /* a helper may take so long for its last word */
	int64_t linger_ms;    /* a client may take so long to close its end */
	/* Called at SIGHUP: updates the settings that may change, for connections to come. */
	void (*reload)(struct relay_settings *settings);
	const void *origin; /* for reload */
	/* Reads the key again, which all instances of a service share: the first worker of a new
	 * instance fetches it when the relay has started already (ticket_key_share). */
	bool (*rekey)(struct relay_settings *settings);
	char *state_dir; /* for rekey; malloc'd */
};

struct relay {
	struct relay_settings *settings;
	struct event_loop loop;
	struct connection *connections;
	struct connection *dead;        /* to be freed at the end of the turn */
	int64_t taken;                  /* how many slots are */
	struct tally users;             /* slots of each verified user */
	int64_t leaving;                /* helpers whose client has left */
	struct tally users_leaving;     /* such helpers of each verified user */
	struct frames_room room;        /* for messages that have not arrived completely */
	struct tally used, used_before; /* tickets used in this period and in the one before */
	int64_t period_end;
};

/*
 * Serves until SIGTERM arrives at signals, a signalfd that does not block; the death of the parent
 * sends that, too.  Then all clients are closed with 1001 within some seconds.  False when it could
 * not begin, or when a second signal cut that time short.
 */
bool relay_run(struct relay_settings *settings, int listener, int signals);

/* The command line. */
#define RELAY_PROGRAM "agentgraph-relay"

struct relay_options {
	struct config_source source;
	const char *socket;     /* NULL: descriptor 0 is the listening socket */
	const char *unlink;     /* a socket to remove when the parent process has died */
	const char *websocketd; /* HOST:PORT */
	long ping, stall, bye;  /* seconds; bye is -1 when it was not given */
	long slow_bytes, linger_ms;
};

/* Ends the process after --help, --version or a mistake. */
void relay_options_parse(struct relay_options *options, int argc, char **argv);

#endif
