/* SPDX-License-Identifier: ISC */
/* agentgraph help: the commands, and what each of their options means. */
#include "command.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct explained {
	const char *option; /* as it stands in a synopsis */
	const char *value;
	const char *words; /* a line or two of them */
};

/* An option means the same to every command that takes it, so each stands here once. */
static const struct explained options[] = {
    {"--config", "FILE", "the configuration; else $GRAPH_PATH, else ./agentgraph.json"},
    {"--state", "DIR",
	"where databases and sockets are kept; else\n$AGENTGRAPH_STATE_DIR, else ./.agentgraph"},
    {"--environment", "FILE", "set these variables first, as systemd does for the service"},
    {"--files", "DIR", "put this copy of uploaded files back, too"},
    {"--force", "", "replace the databases that are there"},
    {"--listen", "[HOST:]PORT",
	"address of the private nginx (127.0.0.1:8080);\nport 0 takes a free one"},
    {"--processes", "N", "worker processes (one for each processor, at least two)"},
    {"--threads", "T", "requests that each worker serves at the same time (64)"},
    {"--socket", "PATH", "where the workers take FastCGI requests from a web server\nof one's own"},
    {"--socket-mode", "MODE", "mode of that socket, octal (0660; in the state directory 0600)"},
    {"--socket-group", "GROUP", "its group"},
    {"--no-nginx", "",
	"no private nginx: a web server of one's own is in front;\nsee agentgraph help nginx-conf"},
    {"--drain", "SECONDS",
	"how long requests in hand may take when the service stops\nor a worker is replaced (30)"},
    {"--prefix", "PATH", "path of the site below which the service is; else $ROOT_PATH"},
    {"--full", "", "the whole configuration of a private nginx instead"},
    {"--snippet", "FILE", "whether this is what nginx-conf would print now"},
    {"--nginx-conf", "FILE",
	"the web server's main file, or - for what nginx -T prints:\n"
	"whether it includes the snippet and reaches the socket"},
    {"--web-user", "NAME", "user of the web server's workers, where that file does not say it"},
    {"--list", "", "print the templates"},
    {"--from", "FILE", "make the project of another service's configuration"},
    {"--thread", "ID", "go on with this conversation"},
    {"--json", "", "for programs"},
    {"--show", "", "only print how many vectors are of which model"},
};

static void print_all(void)
{
	printf("usage: agentgraph COMMAND [OPTION]...\n\n");
	for (const struct command *c = commands; c->name; c++)
		printf("  %-12s %s\n", c->name, c->summary);
	printf(
	    "\nagentgraph help COMMAND shows a command's options; the manual page agentgraph(1)\n"
	    "explains them.\n");
}

/* Whether synopsis has the option, and not one whose name only begins like it. */
static bool has_option(const char *synopsis, const char *option)
{
	size_t len = strlen(option);

	for (const char *at = strstr(synopsis, option); at; at = strstr(at + len, option))
		if (!islower((unsigned char)at[len]) && at[len] != '-')
			return true;
	return false;
}

static void print_options(const char *synopsis)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		const struct explained *o = &options[i];
		const char *words = o->words;
		int width = 22 - (int)strlen(o->option);

		if (!has_option(synopsis, o->option))
			continue;
		printf("  %s %-*s ", o->option, width, o->value);
		for (size_t len; len = strcspn(words, "\n"), words[len]; words += len + 1)
			printf("%.*s\n%26s", (int)len, words, "");
		puts(words);
	}
}

int cmd_help(int argc, char **argv)
{
	const struct command *c;

	if (argc < 2) {
		print_all();
		return 0;
	}
	if (argc > 2)
		return complain(EXIT_USAGE, "help takes one command, got %d", argc - 1);
	c = command_find(argv[1]);
	if (!c)
		return complain(EXIT_USAGE, "there is no command \"%s\"", argv[1]);
	printf("usage: agentgraph %s%s%s\n\n%s\n", c->name, *c->arguments ? " " : "", c->arguments,
	    c->summary);
	if (strstr(c->arguments, "--"))
		putchar('\n');
	print_options(c->arguments);
	return 0;
}
