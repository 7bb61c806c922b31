#include "handlers.h"
#include "request.h"

/* Proves that the server answers, and nothing else (SPEC 4.18): no database is touched. */
void get_ping(struct request *rq)
{
	reply_json(rq, "\"pong\"");
}
