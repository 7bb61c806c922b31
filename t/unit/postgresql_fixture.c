/* SPDX-License-Identifier: ISC */
/* A database of PostgreSQL for one test program. */
#include "postgresql_fixture.h"

#include "base/hash.h"
#include "base/memory.h"
#include "storage/postgresql/postgresql_server.h"
#include "storage/sql/engine.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[256]; /* of the server */
static pid_t owner;

bool postgresql_wanted(void)
{
	const char *engine = getenv("AGENTGRAPH_ENGINE");
	return engine && strcmp(engine, "postgresql") == 0;
}

/* The first line of what t/postgresql-server says. */
static bool tell_server(const char *what, char *said, size_t size)
{
	const char *top = getenv("top_srcdir");
	char *command = xasprintf("%s/t/postgresql-server %s", top ? top : "..", what);
	FILE *f = popen(command, "r");
	bool got = f && fgets(said, (int)size, f);
	free(command);
	said[got ? strcspn(said, "\n") : 0] = '\0';
	return f && pclose(f) == 0;
}

static void end_server(void)
{
	char command[300], said[8];
	if (getpid() != owner)
		return;
	snprintf(command, sizeof(command), "stop '%s'", directory);
	tell_server(command, said, sizeof(said));
}

void postgresql_start(void)
{
	const char *build = getenv("top_builddir");
	char command[64], why[200], *module;
	if (!tell_server("there", why, sizeof(why))) {
		printf("1..0 # SKIP %s\n", why);
		exit(0);
	}
	module = xasprintf("%s/agentgraph-postgresql.so", build ? build : ".");
	if (access(module, R_OK) != 0) {
		printf("1..0 # SKIP the module for PostgreSQL was not built\n");
		exit(0);
	}
	free(module);
	owner = getpid();
	snprintf(command, sizeof(command), "start %ld", (long)owner);
	if (!tell_server(command, directory, sizeof(directory))) {
		printf("Bail out! PostgreSQL does not start\n");
		exit(1);
	}
	atexit(end_server);
	postgresql_module_directory(build ? build : ".");
}

void postgresql_crash(bool stays_away)
{
	char command[300], said[8];
	snprintf(command, sizeof(command), "crash '%s%s'", directory, stays_away ? "." : "");
	tell_server(command, said, sizeof(said));
}

char *postgresql_url(const char *schema)
{
	return xasprintf("postgresql:///postgres?host=%s&user=agent&options=-csearch_path%%3D%s",
	    directory, schema);
}

struct storage *postgresql_open_for(
    const struct config *config, struct shared *shared, struct error *err)
{
	struct config own = *config;
	struct storage *st;
	char schema[24];
	snprintf(schema, sizeof(schema), "t%016llx",
	    (unsigned long long)hash_text(HASH_START, config->state_dir));
	own.database = postgresql_url(schema);
	st = storage_open_engine(&postgresql_engine, &own, shared, err);
	free(own.database);
	return st;
}

int64_t postgresql_ask(struct storage *st, const char *sql)
{
	struct postgresql_server *s = engine_of(st)->source.server;
	struct error err = {0};
	struct postgresql_connection *c = postgresql_take(s, POSTGRESQL_ANY, &err);
	char answer[32] = "";
	if (!c || postgresql_execute(s, c, sql, answer, sizeof(answer), &err) != POSTGRESQL_FINE)
		printf("# %s: %s\n", sql, err.cause);
	if (c)
		postgresql_give_back(s, c);
	error_release(&err);
	return strtoll(answer, NULL, 10);
}

void postgresql_skip(void)
{
	if (!postgresql_wanted())
		return;
	printf("1..0 # SKIP this is about the files of SQLite\n");
	exit(0);
}
