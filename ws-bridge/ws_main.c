/* SPDX-License-Identifier: ISC */
/*
 * agentgraph-ws: one WebSocket connection.
 *
 * websocketd starts it for each connection of agentgraph-relay.  Without a valid ticket it says so
 * and ends before it has looked at anything else: anybody on this machine can connect to
 * websocketd.
 */
#include "access/ticket/ticket.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/os/clock.h"
#include "base/os/process/process.h"
#include "config/environment/environment.h"
#include "service/service.h"
#include "ws-bridge/record.h"
#include "ws-bridge/refusal.h"
#include "ws-bridge/ws_session.h"

#include <malloc.h>
#include <openssl/crypto.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM "agentgraph-ws"
#define MAX_DESCRIPTOR 65535
#define DEFAULT_STATE "./.agentgraph"
#define FAREWELL_MS 5000 /* a client that is refused has so long to hang up */

struct options {
	struct config_source source;
	const char *route;
	long log; /* a descriptor for the log, or -1 */
	bool by_hand, ticket;
};

static char usage[] =
    "usage: " PROGRAM " [OPTION]...\n"
    "One WebSocket connection, as records on standard input and output: agentgraph-record(7).\n"
    "websocketd starts it, with a ticket in its environment.\n"
    "\n"
    "  --config FILE   configuration (default $GRAPH_PATH, else ./agentgraph.json)\n"
    "  --state DIR     state directory (default $AGENTGRAPH_STATE_DIR, else ./.agentgraph)\n"
    "  --accepted FILE use these text files, as accepted by `agentgraph serve`\n"
    "  --log FD        open descriptor for the log (default 2)\n"
    "  --by-hand       for use in a shell: needs no ticket, but the right to make one\n"
    "  --ticket        print a ticket and exit\n"
    "  --route ROUTE   route for --by-hand and --ticket (default " TICKET_TURNS ")\n"
    "  --help, --version\n";

static char version_text[] = PROGRAM " " AGENTGRAPH_VERSION "\n";

static void ws_main_parse_options(struct options *options, int argc, char **argv)
{
	const struct option_spec specs[] = {
	    {"--config", OPTION_TEXT, &options->source.file, 0, 0},
	    {"--state", OPTION_TEXT, &options->source.state_dir, 0, 0},
	    {"--accepted", OPTION_TEXT, &options->source.accepted, 0, 0},
	    {"--log", OPTION_NUMBER, &options->log, 0, MAX_DESCRIPTOR},
	    {"--by-hand", OPTION_FLAG, &options->by_hand, 0, 0},
	    {"--ticket", OPTION_FLAG, &options->ticket, 0, 0},
	    {"--route", OPTION_TEXT, &options->route, 0, 0},
	    {"--help", OPTION_ANSWER, usage, 0, 0},
	    {"--version", OPTION_ANSWER, version_text, 0, 0},
	    OPTION_END,
	};
	options_take(PROGRAM, specs, argc, argv);
	if (strcmp(options->route, TICKET_TURNS) == 0 || strcmp(options->route, TICKET_LIVE) == 0)
		return;
	fprintf(stderr,
	    PROGRAM ": --route must be " TICKET_TURNS " or " TICKET_LIVE ", not \"%s\"\n",
	    options->route);
	exit(EXIT_USAGE);
}

/* ---- the ticket ---- */

struct visitor {
	struct arena *arena;
	struct ticket_key key;
	struct ticket ticket;
	struct error err;
};

/* Signs a ticket for the anonymous user: whoever may read the key may have one. */
static const char *ws_sign(struct visitor *visitor, const char *route)
{
	cJSON *user = arena_json(visitor->arena, cJSON_CreateObject());
	char *id = arena_alloc(visitor->arena, UUID_SIZE);
	cJSON_AddStringToObject(user, "user_id", "anonymous");
	const struct ticket ticket = {
	    .route = route, .request_id = uuid4(id), .user_id = "anonymous", .user = user};
	return ticket_sign(&visitor->key, &ticket, visitor->arena);
}

static bool ws_main_let_in(struct visitor *visitor, const struct options *options)
{
	const char *text = environment_text("HTTP_X_AGENTGRAPH_TICKET");
	const char *route = environment_text("PATH_INFO");
	if (!ticket_key_load(&visitor->key, options->source.state_dir, &visitor->err))
		return false;
	if (options->by_hand) {
		text = ws_sign(visitor, options->route);
		route = options->route;
	}
	if (!ticket_verify(
		&visitor->key, text, route, visitor->arena, &visitor->ticket, &visitor->err))
		return false;
	const char *version = environment_text("HTTP_X_AGENTGRAPH_RECORD");
	if (!version || atoi(version) == RECORD_VERSION)
		return true;
	error_set(&visitor->err, ERR_SERVICE_UNAVAILABLE, NULL);
	return error_cause(&visitor->err, "the relay speaks version %s of the records, not %d",
	    version, RECORD_VERSION);
}

static int ws_main_refuse(struct visitor *visitor)
{
	struct error *err = &visitor->err;
	struct buf record = {0};
	char id[UUID_SIZE];
	if (error_status(err->kind) == 500) {
		/* a failure of our own, here with the key, is told to the log and not to the
		 * client */
		struct error shown = {0};
		error_set(&shown, err->kind, NULL);
		error_cause(&shown, "%s", err->detail);
		error_release(err);
		error_move(err, &shown);
	}
	char *json =
	    refusal_json(err, visitor->ticket.request_id ? visitor->ticket.request_id : uuid4(id));
	log_warning("refused: %s", error_why(err));
	record_refuse(&record, error_status(err->kind), json);
	puts(buf_str(&record));
	fflush(stdout);
	/* a process that ends while websocketd still writes to it costs websocketd memory */
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	int64_t end = clock_monotonic_ms() + FAREWELL_MS, left;
	char ignored[4096];
	while ((left = end - clock_monotonic_ms()) > 0 && poll(&input, 1, (int)left) > 0)
		if (read(STDIN_FILENO, ignored, sizeof(ignored)) <= 0)
			break;
	free(json);
	buf_release(&record);
	return EXIT_FAILURE;
}

/* ---- serving ---- */

static int ws_main_serve(struct visitor *visitor, const struct options *options)
{
	struct service *service = NULL;
	static const int told[] = {SIGTERM, SIGINT, SIGHUP, 0};
	int signals =
	    process_signals(options->by_hand ? NULL : told); /* at a shell Ctrl-C ends it */
	if (ws_main_let_in(visitor, options)) {
		struct problems problems = {0};
		service = service_load(&options->source, &problems);
		for (size_t i = 0; !service && i < problems.count; i++)
			log_error("%s", problems.items[i].text);
		problems_release(&problems);
		if (!service)
			error_set(&visitor->err, ERR_SERVICE_UNAVAILABLE, NULL);
	}
	if (!service)
		return ws_main_refuse(visitor);
	const struct session_setup setup = {.ticket = &visitor->ticket,
	    .signals = signals,
	    .joins = !options->by_hand && environment_text("HTTP_X_AGENTGRAPH_RECORD")};
	if (strcmp(visitor->ticket.route, TICKET_LIVE) != 0)
		session_run(service, &setup);
	else if (!ws_live_run(service, &setup)) {
		process_end_all();
		_exit(EXIT_SUCCESS); /* a tool still uses the service */
	}
	service_close(service);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct options options = {.route = TICKET_TURNS, .log = -1};
	struct visitor visitor = {0};
	/* there may be a thousand of this process */
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	mallopt(M_TRIM_THRESHOLD, 128 << 10);
	mallopt(M_TOP_PAD, 16 << 10);
	OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL); /* model/realtime/realtime_socket.h */
	memory_init();
	ws_main_parse_options(&options, argc, argv);
	/* websocketd would stop reading a long line of standard error,
	 * and then block this process */
	if (options.log >= 0 && options.log != STDERR_FILENO) {
		dup2((int)options.log, STDERR_FILENO);
		close((int)options.log);
	}
	/* the key is looked for before the configuration is read, so the dotenv file has no say */
	const char *variable = environment_text("AGENTGRAPH_STATE_DIR");
	if (!options.source.state_dir)
		options.source.state_dir = variable ? variable : DEFAULT_STATE;
	visitor.arena = arena_new();
	int status = EXIT_FAILURE;
	if (!options.ticket) {
		status = ws_main_serve(&visitor, &options);
	} else if (ticket_key_load(&visitor.key, options.source.state_dir, &visitor.err)) {
		puts(ws_sign(&visitor, options.route));
		status = exit_status(EXIT_SUCCESS);
	} else {
		fprintf(stderr, PROGRAM ": %s\n", visitor.err.detail);
	}
	error_release(&visitor.err);
	arena_free(visitor.arena);
	return status;
}
