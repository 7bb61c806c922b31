/* SPDX-License-Identifier: ISC */
/* What every command does alike. */
#include "cli/command.h"

#include <stdarg.h>
#include <stdio.h>

bool command_options(const struct option_spec *specs, int argc, char **argv, int operands)
{
	const char *name = argv[0];
	struct error err = {0};
	int count = options_parse(specs, argc, argv, &err);

	if (count == operands)
		return true;
	if (count >= 0)
		error_set(&err, ERR_INVALID_INPUT, "%s takes %s, got %d", name,
		    operands ? "one argument" : "no argument", count);
	complain(EXIT_USAGE, "%s; see agentgraph help %s", err.detail, name);
	return false;
}

int complain(int status, const char *fmt, ...)
{
	char text[2048];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	fprintf(stderr, "agentgraph: %s\n", text);
	return status;
}

int complain_error(struct error *err)
{
	complain(1, "%s", error_why(err));
	error_release(err);
	return 1;
}

void problems_print(const struct problems *problems)
{
	for (size_t i = 0; i < problems->count; i++)
		complain(0, "%s: %s", problems->items[i].warning ? "warning" : "error",
		    problems->items[i].text);
}

void problems_print_errors(const struct problems *problems)
{
	for (size_t i = 0; i < problems->count; i++)
		if (!problems->items[i].warning)
			complain(0, "error: %s", problems->items[i].text);
}

struct config *command_config(const struct config_source *source)
{
	struct problems problems = {0};
	struct config *config = config_load(source, &problems);

	problems_print_errors(&problems);
	problems_release(&problems);
	return config;
}
