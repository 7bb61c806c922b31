/* SPDX-License-Identifier: ISC */
/* Reading an argument list by a table of options, and complaining about what is not in it. */
#include "base/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The row that arg names ("--name" or "--name=…"); *value is what follows the "=", or NULL. */
static const struct option_spec *options_find(
    const struct option_spec *specs, const char *arg, const char **value)
{
	size_t len = strcspn(arg, "=");
	*value = arg[len] ? arg + len + 1 : NULL;
	for (; specs->name; specs++)
		if (strlen(specs->name) == len && memcmp(specs->name, arg, len) == 0)
			return specs;
	return NULL;
}

static bool option_takes_value(const struct option_spec *spec)
{
	return spec->kind == OPTION_TEXT || spec->kind == OPTION_NUMBER;
}

/* Sets an option; value is NULL where there is none. */
static bool options_set(const struct option_spec *spec, const char *value, struct error *err)
{
	char *end;
	long n;
	if (!option_takes_value(spec) && value)
		return error_set(err, ERR_INVALID_INPUT, "%s takes no value", spec->name);
	if (option_takes_value(spec) && (!value || !*value))
		return error_set(err, ERR_INVALID_INPUT, "%s needs a value", spec->name);
	switch (spec->kind) {
	case OPTION_TEXT:
		*(const char **)spec->value = value;
		return true;
	case OPTION_NUMBER:
		errno = 0;
		n = strtol(value, &end, 10);
		if (errno || end == value || *end || n < spec->min || n > spec->max)
			return error_set(err, ERR_INVALID_INPUT,
			    "%s must be a whole number from %ld to %ld, not \"%s\"", spec->name,
			    spec->min, spec->max, value);
		*(long *)spec->value = n;
		return true;
	case OPTION_FLAG:
		*(bool *)spec->value = true;
		return true;
	case OPTION_ANSWER:
		fputs(spec->value, stdout);
		exit(exit_status(EXIT_SUCCESS));
	}
	return true;
}

int options_parse(const struct option_spec *specs, int argc, char **argv, struct error *err)
{
	bool only_operands = false;
	int operands = 0;
	for (int i = 1; i < argc; i++) {
		const struct option_spec *spec;
		const char *value;
		if (only_operands || argv[i][0] != '-' || !argv[i][1]) {
			argv[operands++] = argv[i];
			continue;
		}
		if (strcmp(argv[i], "--") == 0) {
			only_operands = true;
			continue;
		}
		spec = options_find(specs, argv[i], &value);
		if (!spec) {
			error_set(err, ERR_INVALID_INPUT, "there is no option %s", argv[i]);
			return -1;
		}
		if (!value && option_takes_value(spec))
			value = argv[++i]; /* NULL behind the last */
		if (!options_set(spec, value, err))
			return -1;
	}
	return operands;
}

void options_take(const char *program, const struct option_spec *specs, int argc, char **argv)
{
	struct error err = {0};
	int operands = options_parse(specs, argc, argv, &err);
	if (operands == 0)
		return;
	if (operands > 0)
		error_set(&err, ERR_INVALID_INPUT, "takes options only, not \"%s\"", argv[0]);
	fprintf(stderr, "%s: %s; --help lists the options\n", program, err.detail);
	exit(EXIT_USAGE);
}

int exit_status(int status)
{
	bool complete = !ferror(stdout);
	errno = 0;
	if (fflush(stdout) == 0 && complete)
		return status;
	fprintf(stderr, "%s: cannot write all of the output%s%s\n", program_invocation_short_name,
	    errno ? ": " : "", errno ? strerror(errno) : "");
	return status ? status : EXIT_FAILURE;
}
