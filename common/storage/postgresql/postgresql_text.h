/* SPDX-License-Identifier: ISC */
/* Statements as PostgreSQL takes them: with numbers where sql/ has names. */
#ifndef AGENTGRAPH_STORAGE_POSTGRESQL_POSTGRESQL_TEXT_H
#define AGENTGRAPH_STORAGE_POSTGRESQL_POSTGRESQL_TEXT_H

#include "sql.h"

#include <stdbool.h>

#define POSTGRESQL_PARAMETERS 48

struct postgresql_text {
	char *sql;                          /* ":thread" is "$1" in it, at each place */
	char *names[POSTGRESQL_PARAMETERS]; /* ":thread" */
	int count;
	bool gives_number; /* it makes a row, and returns its number */
};

/* That of a statement, made when it is first asked for; it lives as long as the process. */
const struct postgresql_text *postgresql_text(enum sql_id id);

#endif
