/* SPDX-License-Identifier: ISC */
/*
 * The commands of `agentgraph`.  Each is a row of the table in commands.c and a function in a file
 * of its own; the function parses its arguments, does the work and returns the exit status: 0, 1
 * for a failure, 2 for a wrong command line.
 */
#ifndef AGENTGRAPH_CLI_COMMAND_H
#define AGENTGRAPH_CLI_COMMAND_H

#include "base/options.h"
#include "base/problems.h"
#include "config/config.h"
#include "storage/threads.h"

struct command {
	const char *name;
	const char *arguments; /* synopsis, after the name */
	const char *summary;   /* one line */
	int (*run)(int argc, char **argv);
};

/* The table, ended by a row without a name. */
extern const struct command commands[];

/* The row called name, or NULL. */
const struct command *command_find(const char *name);

/* argv[0] is the command's name. */
int cmd_serve(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_init(int argc, char **argv);
int cmd_nginx_conf(int argc, char **argv);
int cmd_chat(int argc, char **argv);
int cmd_runs(int argc, char **argv);
int cmd_threads(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_graph(int argc, char **argv);
int cmd_routes(int argc, char **argv);
int cmd_backup(int argc, char **argv);
int cmd_restore(int argc, char **argv);
int cmd_copy(int argc, char **argv);
int cmd_embed(int argc, char **argv);
int cmd_version(int argc, char **argv);
int cmd_help(int argc, char **argv);

/*
 * Reads a command's options, and moves its operands to argv[0..operands-1]; there must be that
 * many, which is none or one.  False after a complaint.
 */
bool command_options(const struct option_spec *specs, int argc, char **argv, int operands);

/* The rows by which a command's options say where its configuration is: a struct config_source. */
#define COMMAND_SOURCE(source)                                            \
	{"--config", OPTION_TEXT, &(source).file, 0, 0},                  \
	    {"--state", OPTION_TEXT, &(source).state_dir, 0, 0},          \
	{                                                                 \
		"--environment", OPTION_TEXT, &(source).environment, 0, 0 \
	}

/* Takes the options that a subcommand does not have out of its command's table: what is left are
 * those that say which service is meant, and those whose names stand in own, up to a NULL. */
void command_keep_options(struct option_spec *specs, const char *const *own);

/* Whether --url stands without another option that says which service is meant, or who asks; false
 * with err set. */
bool command_url_alone(const struct config_source *source, const char *user, struct error *err);

/* Whether status, or NULL, is the name of one from first to last; false with err set. */
bool command_status_fits(
    const char *status, enum run_status first, enum run_status last, struct error *err);

/* Whether user, or NULL, can be somebody's id, as --user has it; false with err set. */
bool command_user_fits(const char *user, struct error *err);

/* "agentgraph: <sentence>" on standard error.  Returns status, for `return complain(1, …)`. */
int complain(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The same with an error, by its cause if it has one; releases err and returns 1. */
int complain_error(struct error *err);

/* Prints problems on standard error, a line each.  Commands that serve nobody, and are run by cron,
 * leave the warnings out: problems_print_errors with COMMAND_MISTAKE. */
void problems_print(const struct problems *problems);

#define COMMAND_MISTAKE "agentgraph: error"

#endif
