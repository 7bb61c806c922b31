/* SPDX-License-Identifier: ISC */
/* GET /v1/service (doc/protocol-service.md). */
#include "service/about.h"

#include "fcgi/handlers/handlers.h"
#include "fcgi/request/request.h"
#include "fcgi/server.h"

void get_service(struct request *rq)
{
	const struct route_table *table = rq->server->routes;
	struct permission *scopes =
	    arena_alloc(rq->call.arena, table->count * sizeof(struct permission));
	size_t count = 0;
	for (size_t i = 0; i < table->count; i++)
		if (table->rows[i].resource)
			scopes[count++] = (struct permission){
			    table->rows[i].resource, table->rows[i].action, NULL};
	reply_data(rq, service_status(&rq->call, service_rights(&rq->call, scopes, count)));
}
