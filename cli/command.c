/* SPDX-License-Identifier: ISC */
/* What every command does alike. */
#include "cli/command.h"

#include "base/buf.h"
#include "base/id.h"
#include "base/texts.h"
#include "base/utf8.h"
#include "cli/terminal.h"
#include "graph/state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

void command_keep_options(struct option_spec *specs, const char *const *own)
{
	static const char *const where[] = {"--url", "--config", "--state", "--environment", NULL};
	struct option_spec *kept = specs;
	for (; specs->name; specs++)
		if (texts_has(where, specs->name) || texts_has(own, specs->name))
			*kept++ = *specs;
	*kept = (struct option_spec)OPTION_END;
}

bool command_url_alone(const struct config_source *source, const char *user, struct error *err)
{
	const char *beside = source->file ? "--config"
	    : source->state_dir           ? "--state"
	    : source->environment         ? "--environment"
	    : user                        ? "--user"
					  : NULL;
	return !beside ||
	    error_set(err, ERR_INVALID_INPUT, "--url and %s exclude each other", beside);
}

bool command_status_fits(
    const char *status, enum run_status first, enum run_status last, struct error *err)
{
	struct buf names = {0};
	bool fits = !status;
	for (enum run_status s = first; s <= last; s++) {
		fits = fits || strcmp(status, run_status_name(s)) == 0;
		buf_printf(&names, "%s%s", s == first ? "" : ", ", run_status_name(s));
	}
	if (!fits)
		error_set(err, ERR_INVALID_INPUT, "--status must be one of %s, not \"%s\"",
		    buf_str(&names), status);
	buf_release(&names);
	return fits;
}

bool command_user_fits(const char *user, struct error *err)
{
	return !user || (utf8_valid(user, strlen(user)) && !id_blank(user)) ||
	    error_set(err, ERR_INVALID_INPUT, "--user must be UTF-8 and not blank");
}

int complain(int status, const char *fmt, ...)
{
	char text[2048];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	fprintf(stderr, "agentgraph: %s\n", terminal_clean(text)); /* it may be a server's */
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
