/* SPDX-License-Identifier: ISC */
/*
 * agentgraph-relay: one event loop over all WebSockets (doc/inside.md#a-frame).
 *
 * A connection has two sides.  The client's side is a WebSocket that came through the web server;
 * the helper's side is one to websocketd, which has started a helper program for it.  What the
 * relay decides by itself is how many connections there may be; who may come in was decided
 * before, and the ticket says so.
 */
#ifndef AGENTGRAPH_WS_BRIDGE_RELAY_RELAY_H
#define AGENTGRAPH_WS_BRIDGE_RELAY_RELAY_H

#include "access/ticket/ticket.h"
#include "config/config.h"
#include "ws-bridge/relay/relay_frames.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* ---- relay_tally.c: how often each of many texts was counted.  An all-zero struct is empty. */

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
	size_t slow_bytes;    /* that may wait for a client before its helper is not read */
	int64_t ping_ms;      /* of silence before a ping */
	int64_t stall_ms;     /* that a client may take nothing of what waits for it */
	int64_t bye_ms;       /* that a helper may take for its last word */
	int64_t linger_ms;    /* that a client may take to close after us */
	/* At SIGHUP: takes over of a changed configuration what can change, for what comes. */
	void (*reload)(struct relay_settings *settings);
	const void *origin; /* reload's own */
	/* Reads the key again: instances of one service share it, and the first worker of one that
	 * is new gets it while the relay is there already (ticket_key_share). */
	bool (*rekey)(struct relay_settings *settings);
	char *state_dir; /* rekey's own, malloc'd */
};

struct relay {
	struct relay_settings *settings;
	int epoll;
	int signals;
	int listener; /* -1 once it stops */
	bool deaf;    /* out of descriptors: nothing is accepted for a moment */
	bool stopping;
	int64_t now; /* of this turn of the loop, by clock_monotonic_ms */
	struct connection *connections;
	struct connection *dead;        /* to be freed at the end of the turn */
	int64_t taken;                  /* slots */
	struct tally users;             /* slots of each verified user */
	int64_t leaving;                /* helpers without a client */
	struct tally users_leaving;     /* those of each verified user */
	struct frames_room room;        /* for what clients have sent in part */
	struct tally used, used_before; /* tickets of this period and the one before */
	int64_t period_end;
};

/*
 * Serves until signals (a signalfd, not blocking) has SIGTERM or the process that started it is
 * gone; then all clients are closed with 1001 within some seconds.  False when a second signal cut
 * that short.
 */
bool relay_run(struct relay_settings *settings, int listener, int signals);

/* The command line. */
#define RELAY_PROGRAM "agentgraph-relay"

struct relay_options {
	struct config_source source;
	const char *socket;     /* NULL: descriptor 0 is the listening socket */
	const char *unlink;     /* remove this when the parent process has died */
	const char *websocketd; /* HOST:PORT */
	long ping, stall, bye;  /* seconds; bye is -1 when it was not given */
	long slow_bytes, linger_ms;
};

/* Options that answer by themselves, and wrong ones, end the process. */
void relay_options_parse(struct relay_options *options, int argc, char **argv);

#endif
