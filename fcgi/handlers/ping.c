/* SPDX-License-Identifier: ISC */
/* GET /ping. */
#include "fcgi/handlers/handlers.h"
#include "fcgi/request/request.h"

/* Proves that the server answers, and nothing else (doc/protocol.md#answers): no database is
 * touched. */
void get_ping(struct request *rq)
{
	reply_json(rq, "\"pong\"");
}
