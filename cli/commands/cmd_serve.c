/* SPDX-License-Identifier: ISC */
/* agentgraph serve: the options of the supervisor, and what they are by default. */
#include "cli/command.h"
#include "cli/serve/supervisor.h"

#define DEFAULT_LISTEN "127.0.0.1:8080"

int cmd_serve(int argc, char **argv)
{
	struct serve_options o = {
	    .listen = DEFAULT_LISTEN,
	    .processes = -1,
	    .threads = -1,
	    .drain = -1,
	    .argv = argv,
	};
	const char *mode = NULL, *group = NULL;
	const struct option_spec specs[] = {
	    {"--config", OPTION_TEXT, &o.source.file, 0, 0},
	    {"--state", OPTION_TEXT, &o.source.state_dir, 0, 0},
	    {"--listen", OPTION_TEXT, &o.listen, 0, 0},
	    {"--socket", OPTION_TEXT, &o.socket, 0, 0},
	    {"--socket-mode", OPTION_TEXT, &mode, 0, 0},
	    {"--socket-group", OPTION_TEXT, &group, 0, 0},
	    {"--processes", OPTION_NUMBER, &o.processes, 1, 1024},
	    {"--threads", OPTION_NUMBER, &o.threads, 1, 4096},
	    {"--drain", OPTION_NUMBER, &o.drain, 0, 86400},
	    {"--no-nginx", OPTION_FLAG, &o.no_nginx, 0, 0},
	    OPTION_END,
	};
	if (!command_options(specs, argc, argv, 0) || !tcp_address(o.listen) ||
	    !socket_access_read(&o.access, mode, group))
		return EXIT_USAGE;
	return supervise(&o);
}
