/* SPDX-License-Identifier: ISC */
/* GET /ping. */
#include "handlers.h"
#include "request.h"

/* Proves that the server answers, and nothing else (doc/protocol.md#answers): no database is
 * touched. */
void get_ping(struct request *rq)
{
	reply_json(rq, "\"pong\"");
}
