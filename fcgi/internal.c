#include "internal.h"

#include "base/metrics.h"
#include "request.h"
#include "server.h"

#include <string.h>

#define TEXT_FORMAT                                                  \
	"Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n" \
	"Cache-Control: no-store\r\n"

static bool name_route(size_t row, struct metric_route *name)
{
	if (row >= routes.count)
		return false;
	*name = (struct metric_route){method_name(routes.rows[row].method), routes.rows[row].path};
	return true;
}

void internal_answer(struct request *rq)
{
	struct buf text = {0};
	if (strcmp(rq->head.internal, "metrics") != 0) {
		error_set(&rq->call.error, ERR_NOT_FOUND, "%s", error_fixed_text(ERR_NOT_FOUND));
		reply_error(rq);
		return;
	}
	metrics_write(&text, name_route);
	reply_bytes(rq, TEXT_FORMAT, buf_str(&text), text.len);
	buf_release(&text);
}
