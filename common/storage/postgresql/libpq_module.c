/* SPDX-License-Identifier: ISC */
/* agentgraph-postgresql.so: the table of libpq's functions (libpq.h), and nothing else.  It is no
 * part of the library. */
#include "storage/postgresql/libpq.h"

#include <libpq-fe.h>
#include <poll.h>
#include <string.h>

_Static_assert((int)LIBPQ_CONNECTION_OK == (int)CONNECTION_OK &&
	(int)LIBPQ_COMMAND_OK == (int)PGRES_COMMAND_OK &&
	(int)LIBPQ_TUPLES_OK == (int)PGRES_TUPLES_OK &&
	(int)LIBPQ_SINGLE_TUPLE == (int)PGRES_SINGLE_TUPLE &&
	(int)LIBPQ_PIPELINE_SYNC == (int)PGRES_PIPELINE_SYNC &&
	(int)LIBPQ_PIPELINE_ABORTED == (int)PGRES_PIPELINE_ABORTED &&
	LIBPQ_DIAG_SQLSTATE == PG_DIAG_SQLSTATE &&
	LIBPQ_DIAG_MESSAGE_PRIMARY == PG_DIAG_MESSAGE_PRIMARY,
    "libpq has other numbers");

/* Whether each '@' begins the name of an abstract socket.  Of several hosts all are such names: a
 * password with a comma before its '@' would pass otherwise. */
static int module_hosts_are_valid(const char *hosts)
{
	for (const char *at = hosts; (at = strchr(at, '@')); at++)
		if (at > hosts && (*hosts != '@' || at[-1] != ','))
			return 0;
	return 1;
}

/* A password with a bare '@', '/' or '?' ends up in the host or the port, which libpq would refuse
 * only when it connects, in a message that shows them. */
static int module_conninfo_is_valid(const char *conninfo)
{
	PQconninfoOption *options = PQconninfoParse(conninfo, NULL), *option;
	int valid = options != NULL;
	for (option = options; option && option->keyword; option++) {
		const char *value = option->val ? option->val : "";
		if (strcmp(option->keyword, "host") == 0)
			valid = valid && module_hosts_are_valid(value);
		if (strcmp(option->keyword, "port") == 0)
			valid = valid && !value[strspn(value, "0123456789,")];
	}
	PQconninfoFree(options);
	return valid;
}

static void module_ignore(void *arg, const char *notice)
{
	(void)arg, (void)notice;
}

/* Ignores notices, which libpq would write to standard error. */
static PGconn *module_connect_params(
    const char *const *keywords, const char *const *values, int expand_dbname)
{
	PGconn *conn = PQconnectdbParams(keywords, values, expand_dbname);
	if (conn)
		PQsetNoticeProcessor(conn, module_ignore, NULL);
	return conn;
}

#define REFUSAL_MS 5000

/* A failed connection has no field for it.  But its message is "…:  STATE", where so little is
 * asked for. */
static void module_refusal(
    const char *const *keywords, const char *const *values, int expand_dbname, char state[6])
{
	PGconn *conn = PQconnectStartParams(keywords, values, expand_dbname);
	PostgresPollingStatusType wants = PGRES_POLLING_WRITING;
	const char *at = NULL;
	*state = '\0';
	PQsetErrorVerbosity(conn, PQERRORS_SQLSTATE);
	while (conn && (wants == PGRES_POLLING_READING || wants == PGRES_POLLING_WRITING)) {
		const short events = wants == PGRES_POLLING_READING ? POLLIN : POLLOUT;
		struct pollfd pfd = {.fd = PQsocket(conn), .events = events};
		if (poll(&pfd, 1, REFUSAL_MS) <= 0)
			break; /* the server says nothing for too long */
		wants = PQconnectPoll(conn);
	}
	if (PQconnectionNeedsPassword(conn))
		strcpy(state, "28P01");
	for (const char *next = PQerrorMessage(conn); (next = strstr(next, ":  ")); next += 3)
		at = next;
	if (at && strspn(at + 3, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 5)
		memcpy(state, at + 3, 5), state[5] = '\0';
	PQfinish(conn);
}

static int module_status(const PGconn *conn)
{
	return (int)PQstatus(conn);
}

static int module_result_status(const PGresult *result)
{
	return (int)PQresultStatus(result);
}

extern const struct libpq agentgraph_libpq;

__attribute__((visibility("default"))) const struct libpq agentgraph_libpq = {
    .version = LIBPQ_VERSION,
    .conninfo_is_valid = module_conninfo_is_valid,
    .connect_params = module_connect_params,
    .refusal = module_refusal,
    .finish = PQfinish,
    .status = module_status,
    .error_message = PQerrorMessage,
    .server_version = PQserverVersion,
    .parameter_status = PQparameterStatus,
    .host = PQhost,
    .port = PQport,
    .db = PQdb,
    .user = PQuser,
    .backend_pid = PQbackendPID,
    .socket = PQsocket,
    .consume_input = PQconsumeInput,
    .is_busy = PQisBusy,
    .send_query = PQsendQuery,
    .send_prepare = PQsendPrepare,
    .send_query_prepared = PQsendQueryPrepared,
    .send_query_params = PQsendQueryParams,
    .enter_pipeline_mode = PQenterPipelineMode,
    .exit_pipeline_mode = PQexitPipelineMode,
    .pipeline_sync = PQpipelineSync,
    .set_single_row_mode = PQsetSingleRowMode,
    .get_result = PQgetResult,
    .result_status = module_result_status,
    .result_error_field = PQresultErrorField,
    .ntuples = PQntuples,
    .nfields = PQnfields,
    .fname = PQfname,
    .ftype = PQftype,
    .getvalue = PQgetvalue,
    .getlength = PQgetlength,
    .getisnull = PQgetisnull,
    .cmd_tuples = PQcmdTuples,
    .clear = PQclear,
    .get_cancel = PQgetCancel,
    .cancel = PQcancel,
    .free_cancel = PQfreeCancel,
};
