/* SPDX-License-Identifier: ISC */
/*
 * The client library of PostgreSQL, as a table of its functions.
 *
 * The module agentgraph-postgresql.so consists of this table alone.  It is linked with libpq, and
 * only a process whose database is PostgreSQL loads it, because libpq brings Kerberos and LDAP into
 * a process.  The functions are libpq's own of the same names
 * (https://www.postgresql.org/docs/15/libpq.html); those that take or give an enum have its values
 * as int.
 */
#ifndef AGENTGRAPH_STORAGE_POSTGRESQL_LIBPQ_H
#define AGENTGRAPH_STORAGE_POSTGRESQL_LIBPQ_H

struct pg_conn;
struct pg_result;
struct pg_cancel;

#define LIBPQ_VERSION 5
#define LIBPQ_TABLE "agentgraph_libpq"

/* Those values of libpq's enums that are used here; the module checks them when it is compiled. */
enum { LIBPQ_CONNECTION_OK = 0 };
enum {
	LIBPQ_COMMAND_OK = 1,
	LIBPQ_TUPLES_OK = 2,
	LIBPQ_SINGLE_TUPLE = 9,
	LIBPQ_PIPELINE_SYNC = 10,
	LIBPQ_PIPELINE_ABORTED = 11,
};
#define LIBPQ_DIAG_SQLSTATE 'C'
#define LIBPQ_DIAG_MESSAGE_PRIMARY 'M'

struct libpq {
	unsigned version; /* LIBPQ_VERSION */

	/* Whether PQconninfoParse understands the text, a URL or another one, and finds a host and
	 * a port in it that are some.  libpq's own messages quote parts of a bad one, and the
	 * password may be among them. */
	int (*conninfo_is_valid)(const char *conninfo);

	struct pg_conn *(*connect_params)(
	    const char *const *keywords, const char *const *values, int expand_dbname);
	/* Tries to connect once more, and writes the SQLSTATE with which the server refuses; ""
	 * where it does not. */
	void (*refusal)(const char *const *keywords, const char *const *values, int expand_dbname,
	    char state[6]);
	void (*finish)(struct pg_conn *conn);
	int (*status)(const struct pg_conn *conn);
	char *(*error_message)(const struct pg_conn *conn);
	int (*server_version)(const struct pg_conn *conn);
	const char *(*parameter_status)(const struct pg_conn *conn, const char *name);
	char *(*host)(const struct pg_conn *conn);
	char *(*port)(const struct pg_conn *conn);
	char *(*db)(const struct pg_conn *conn);
	char *(*user)(const struct pg_conn *conn);
	int (*backend_pid)(const struct pg_conn *conn);
	int (*socket)(const struct pg_conn *conn);
	int (*consume_input)(struct pg_conn *conn);
	int (*is_busy)(struct pg_conn *conn);

	int (*send_query)(struct pg_conn *conn, const char *query);
	int (*send_prepare)(struct pg_conn *conn, const char *name, const char *query, int count,
	    const unsigned *types);
	int (*send_query_prepared)(struct pg_conn *conn, const char *name, int count,
	    const char *const *values, const int *lengths, const int *formats, int result_format);
	int (*send_query_params)(struct pg_conn *conn, const char *query, int count,
	    const unsigned *types, const char *const *values, const int *lengths,
	    const int *formats, int result_format);
	int (*enter_pipeline_mode)(struct pg_conn *conn);
	int (*exit_pipeline_mode)(struct pg_conn *conn);
	int (*pipeline_sync)(struct pg_conn *conn);
	int (*set_single_row_mode)(struct pg_conn *conn);
	struct pg_result *(*get_result)(struct pg_conn *conn);

	int (*result_status)(const struct pg_result *result);
	char *(*result_error_field)(const struct pg_result *result, int field);
	int (*ntuples)(const struct pg_result *result);
	int (*nfields)(const struct pg_result *result);
	char *(*fname)(const struct pg_result *result, int column);
	unsigned (*ftype)(const struct pg_result *result, int column);
	char *(*getvalue)(const struct pg_result *result, int row, int column);
	int (*getlength)(const struct pg_result *result, int row, int column);
	int (*getisnull)(const struct pg_result *result, int row, int column);
	char *(*cmd_tuples)(struct pg_result *result);
	void (*clear)(struct pg_result *result);

	struct pg_cancel *(*get_cancel)(struct pg_conn *conn);
	int (*cancel)(struct pg_cancel *cancel, char *error, int size);
	void (*free_cancel)(struct pg_cancel *cancel);
};

#endif
