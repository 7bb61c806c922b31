#include "options.h"

#include "command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The row that arg names ("--name" or "--name=…"); *value is what follows the "=", or NULL. */
static const struct option_spec *find(
    const struct option_spec *specs, const char *arg, const char **value)
{
	size_t len = strcspn(arg, "=");

	*value = arg[len] ? arg + len + 1 : NULL;
	for (; specs->name; specs++)
		if (strlen(specs->name) == len && memcmp(specs->name, arg, len) == 0)
			return specs;
	return NULL;
}

static bool set_number(const struct option_spec *spec, const char *text)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (errno || end == text || *end || n < spec->min || n > spec->max) {
		complain(EXIT_USAGE, "%s must be a whole number from %ld to %ld, not \"%s\"",
		    spec->name, spec->min, spec->max, text);
		return false;
	}
	*(long *)spec->value = n;
	return true;
}

/* Stores one option; next is the argument after it.  *used says whether next was its value. */
static bool set(const struct option_spec *spec, const char *value, const char *next, bool *used)
{
	*used = spec->kind != OPTION_FLAG && !value;
	if (*used)
		value = next;
	if (spec->kind == OPTION_FLAG) {
		if (value) {
			complain(EXIT_USAGE, "%s takes no value", spec->name);
			return false;
		}
		*(bool *)spec->value = true;
		return true;
	}
	if (!value || !*value) {
		complain(EXIT_USAGE, "%s needs a value", spec->name);
		return false;
	}
	if (spec->kind == OPTION_NUMBER)
		return set_number(spec, value);
	*(const char **)spec->value = value;
	return true;
}

bool options_parse(
    const struct option_spec *specs, int argc, char **argv, int wanted, int *operands)
{
	const struct option_spec *spec;
	const char *name = argv[0], *value;
	bool only_operands = false, used;

	*operands = 0;
	for (int i = 1; i < argc; i++) {
		if (only_operands || argv[i][0] != '-') {
			argv[(*operands)++] = argv[i];
		} else if (strcmp(argv[i], "--") == 0) {
			only_operands = true;
		} else if (!(spec = find(specs, argv[i], &value))) {
			complain(EXIT_USAGE, "%s has no option %s; see agentgraph help %s", name,
			    argv[i], name);
			return false;
		} else if (!set(spec, value, argv[i + 1], &used)) {
			return false;
		} else {
			i += used;
		}
	}
	if (*operands == wanted)
		return true;
	complain(EXIT_USAGE, "%s takes %s, got %d; see agentgraph help %s", name,
	    wanted == 0 ? "no argument" : "one argument", *operands, name);
	return false;
}
