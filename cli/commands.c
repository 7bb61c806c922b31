/* SPDX-License-Identifier: ISC */
/* The table of the commands, and agentgraph help, which says what they are and what each of their
 * options means. */
#include "cli/command.h"

#include "base/memory.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHERE "[--config FILE] [--state DIR]"
#define SERVICE WHERE " [--environment FILE]"
#define SERVE_OPTIONS                                                                          \
	WHERE " [--listen [HOST:]PORT] [--processes N] [--threads T]\n"                        \
	      "    [--socket PATH] [--socket-mode MODE] [--socket-group GROUP] [--no-nginx]\n" \
	      "    [--drain SECONDS]"

#define CHECK_OPTIONS                                                 \
	SERVICE " [--socket PATH] [--prefix PATH] [--snippet FILE]\n" \
		"    [--nginx-conf FILE | -] [--web-user NAME]"

#define RUNS_OPTIONS                                                                                 \
	"list [--thread ID] [--status STATUS] [--limit N] [--json] WHERE\n"                          \
	"       agentgraph runs show THREAD RUN [--follow] [--json] WHERE\n"                         \
	"       agentgraph runs follow THREAD RUN [--after N] [--granularity HOW] WHERE\n"           \
	"       agentgraph runs stop THREAD RUN [--json] WHERE\n"                                    \
	"       agentgraph runs submit --message TEXT [--thread ID] [--user ID] [--delay SECONDS]\n" \
	"           [--metadata JSON] [--webhook URL] [--wait] [--json] WHERE\n"                     \
	"where WHERE is --url URL, or " SERVICE

#define THREADS_OPTIONS                                                                            \
	"list [--search TEXT] [--status STATUS] [--metadata JSON] [--limit N] [--user ID]\n"       \
	"           [--json] WHERE\n"                                                              \
	"       agentgraph threads show THREAD [--checkpoint ID] [--json] WHERE\n"                 \
	"       agentgraph threads history THREAD [--limit N] [--before ID] [--run ID] [--json]\n" \
	"           WHERE\n"                                                                       \
	"       agentgraph threads copy THREAD [--checkpoint ID] [--to ID] [--user ID] [--json]\n" \
	"           WHERE\n"                                                                       \
	"       agentgraph threads export THREAD WHERE\n"                                          \
	"       agentgraph threads import FILE | - [--to ID] [--user ID] [--json] WHERE\n"         \
	"where WHERE is --url URL, or " SERVICE

const struct command commands[] = {
    {"serve", SERVE_OPTIONS, "run the service in the foreground", cmd_serve},
    {"check", CHECK_OPTIONS, "test configuration, environment, graph, databases and web server",
	cmd_check},
    {"init", "DIR [TEMPLATE] | --list | --from FILE [DIR]",
	"make a project to start from, or convert another service's configuration", cmd_init},
    {"nginx-conf", SERVICE " [--socket PATH] [--prefix PATH | --full]",
	"print the nginx snippet for an existing server block", cmd_nginx_conf},
    {"chat", "[URL] [--thread ID]", "talk to a service on the terminal", cmd_chat},
    {"runs", RUNS_OPTIONS, "list, show, follow, stop and submit runs in the background", cmd_runs},
    {"threads", THREADS_OPTIONS, "list, show, copy, export and import threads", cmd_threads},
    {"status", SERVICE " [--json]", "say whether the service is up, and what it does", cmd_status},
    {"graph", "[--format HOW] [--config FILE] [--environment FILE]",
	"print the graph, as text or for programs that draw it", cmd_graph},
    {"routes", "[--config FILE] [--environment FILE]", "print the route table with permissions",
	cmd_routes},
    {"backup", "DIR " SERVICE, "copy all databases, also while the service runs", cmd_backup},
    {"restore", "DIR [--files DIR] [--force] " SERVICE,
	"restore the databases of a backup, while no service runs", cmd_restore},
    {"copy", "--from PLACE --to PLACE",
	"copy everything between a state directory and PostgreSQL, while no service runs",
	cmd_copy},
    {"embed", SERVICE " [--show]", "recompute the vectors of memories, after a change of model",
	cmd_embed},
    {"version", "", "print the version", cmd_version},
    {"help", "[COMMAND]", "print this help, or that of a command", cmd_help},
    {NULL, NULL, NULL, NULL},
};

const struct command *command_find(const char *name)
{
	for (const struct command *c = commands; c->name; c++)
		if (strcmp(c->name, name) == 0)
			return c;
	return NULL;
}

/* ---- help ---- */

struct explained {
	const char *option; /* as it stands in a synopsis */
	const char *value;
	const char *words; /* what it means, in a line or two */
};

/* An option with the same value means the same to every command, so each stands here once. */
static const struct explained options[] = {
    {"--config", "FILE", "the configuration; else $GRAPH_PATH, else ./agentgraph.json"},
    {"--state", "DIR",
	"where databases and sockets are kept; else\n$AGENTGRAPH_STATE_DIR, else ./.agentgraph"},
    {"--environment", "FILE", "set these variables first, as systemd does for the service"},
    {"--files", "DIR", "restore this copy of uploaded files, too"},
    {"--force", "", "replace existing databases"},
    {"--listen", "[HOST:]PORT",
	"address of the private nginx (127.0.0.1:8080);\nport 0 takes a free one"},
    {"--processes", "N", "worker processes (one for each processor, at least two)"},
    {"--threads", "T", "requests that each worker serves at the same time (64)"},
    {"--socket", "PATH", "where the workers take FastCGI requests from a web server\nof your own"},
    {"--socket-mode", "MODE", "mode of that socket, octal (0660; in the state directory 0600)"},
    {"--socket-group", "GROUP", "its group"},
    {"--no-nginx", "",
	"no private nginx: a web server of your own is in front;\nsee agentgraph help nginx-conf"},
    {"--drain", "SECONDS",
	"how long requests in hand may take when the service stops\nor a worker is replaced (30)"},
    {"--prefix", "PATH", "path of the site below which it is served; else $ROOT_PATH"},
    {"--full", "", "the whole configuration of a private nginx instead"},
    {"--snippet", "FILE", "check that this is what nginx-conf would print now"},
    {"--nginx-conf", "FILE",
	"the web server's main file, or - for what nginx -T prints:\n"
	"check that it includes the snippet and reaches the socket"},
    {"--web-user", "NAME", "user of the web server's workers, if that file does not say it"},
    {"--list", "", "print the templates"},
    {"--from", "FILE", "convert the configuration of another service"},
    {"--from", "PLACE", "sqlite:DIR, a state directory, or postgresql://..., a database"},
    {"--to", "PLACE", "the other kind of place, still without data"},
    {"--thread", "ID", "this conversation"},
    {"--url", "URL",
	"a service, asked with the token in $AGENTGRAPH_TOKEN; else\nthe storage of --state"},
    {"--status", "STATUS",
	"idle (of threads), queued (of runs), running, completed,\ninterrupted, stopped or error"},
    {"--limit", "N", "at most so many, the latest (100)"},
    {"--search", "TEXT", "those whose id, name or metadata contain this"},
    {"--checkpoint", "ID", "the thread as it was at this checkpoint"},
    {"--before", "ID", "only checkpoints older than this one"},
    {"--run", "ID", "only checkpoints of this run"},
    {"--to", "ID", "id of the copy, else a new one; or of the imported thread,\nelse its own"},
    {"--follow", "", "print its chunks as they come, a line of JSON each"},
    {"--after", "N", "only those after the one with this metadata.seq"},
    {"--granularity", "HOW", "low, partial or full (low)"},
    {"--message", "TEXT", "what the user says; - reads it from standard input"},
    {"--user", "ID", "who asks, without --url; else the owner of the thread"},
    {"--delay", "SECONDS", "begin no earlier than after this time"},
    {"--metadata", "JSON", "an object: metadata of the run's record, or of listed threads"},
    {"--webhook", "URL", "address to notify when it is over"},
    {"--wait", "", "print the answer when it is over; the exit status says how it ended"},
    {"--format", "HOW", "text, dot (Graphviz) or mermaid (text)"},
    {"--json", "", "print JSON, for programs"},
    {"--show", "", "only print how many vectors are of which model"},
};

/* Whether synopsis has the option with that value, and not just a longer one that begins like
 * it. */
static bool commands_has_option(const char *synopsis, const struct explained *o)
{
	char option[64];
	size_t len = (size_t)snprintf(
	    option, sizeof(option), "%s%s%s", o->option, *o->value ? " " : "", o->value);
	for (const char *at = strstr(synopsis, option); at; at = strstr(at + len, option))
		if (!islower((unsigned char)at[len]) && at[len] != '-')
			return true;
	return false;
}

int cmd_help(int argc, char **argv)
{
	const struct command *c;
	if (argc < 2) {
		printf("usage: agentgraph COMMAND [OPTION]...\n\n");
		for (c = commands; c->name; c++)
			printf("  %-12s %s\n", c->name, c->summary);
		printf("\nagentgraph help COMMAND shows a command's options; the manual page "
		       "agentgraph(1)\nexplains them.\n");
		return 0;
	}
	c = command_find(argv[1]);
	if (!c)
		return complain(EXIT_USAGE, "there is no command \"%s\"", argv[1]);
	if (argc == 3) { /* a line of the synopsis begins with it */
		char *synopsis = xasprintf("agentgraph %s %s", c->name, c->arguments);
		char *begin = xasprintf("agentgraph %s %s ", c->name, argv[2]);
		bool has = strstr(synopsis, begin) != NULL;
		free(synopsis);
		free(begin);
		if (!has)
			return complain(
			    EXIT_USAGE, "there is no command \"%s %s\"", argv[1], argv[2]);
	}
	if (argc > 3)
		return complain(EXIT_USAGE, "help takes one command, got %d", argc - 1);
	printf("usage: agentgraph %s%s%s\n\n%s\n", c->name, *c->arguments ? " " : "", c->arguments,
	    c->summary);
	if (strstr(c->arguments, "--"))
		putchar('\n');
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		const struct explained *o = &options[i];
		const char *words = o->words;
		int width = 22 - (int)strlen(o->option);
		if (!commands_has_option(c->arguments, o))
			continue;
		printf("  %s %-*s ", o->option, width, o->value);
		for (size_t len; len = strcspn(words, "\n"), words[len]; words += len + 1)
			printf("%.*s\n%26s", (int)len, words, "");
		puts(words);
	}
	return 0;
}
