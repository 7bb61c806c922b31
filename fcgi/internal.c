/* SPDX-License-Identifier: ISC */
/* The metrics, which have no row in the table of routes. */
#include "fcgi/server.h"

#include "base/json/json.h"
#include "base/memory.h"
#include "base/metrics/metrics.h"
#include "config/text_file.h"
#include "fcgi/request/request.h"
#include "storage/queue.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#define TEXT_FORMAT                                                  \
	"Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n" \
	"Cache-Control: no-store\r\n"

static bool internal_name_route(size_t row, struct metric_route *name)
{
	if (row >= routes.count)
		return false;
	*name = (struct metric_route){method_name(routes.rows[row].method), routes.rows[row].path};
	return true;
}

/* ---- what this process does not count itself ---- */

static void internal_put_number(
    struct buf *out, const char *name, const char *type, const char *help, int64_t value)
{
	buf_printf(out,
	    "# HELP agentgraph_%s %s\n# TYPE agentgraph_%s %s\nagentgraph_%s %" PRId64 "\n", name,
	    help, name, type, name, value);
}

/* What the supervisor counts, which it keeps in a file; another supervisor has no such file. */
static void internal_put_supervision(struct buf *out, const char *state_dir)
{
	char *path = xasprintf("%s/run/status.json", state_dir);
	cJSON *status = text_file_json(path);
	const cJSON *item;
	free(path);
	if (!status)
		return;
	buf_puts(out,
	    "# HELP agentgraph_restarts_total Processes that died and were started again.\n"
	    "# TYPE agentgraph_restarts_total counter\n");
	cJSON_ArrayForEach(item, json_get(status, "restarts"))
		buf_printf(out, "agentgraph_restarts_total{process=\"%s\"} %.0f\n", item->string,
		    item->valuedouble);
	const cJSON *reloads = json_get(status, "reloads");
	internal_put_number(out, "reloads_total", "counter", "Configurations that were taken over.",
	    json_int(reloads, "done", 0));
	internal_put_number(out, "reloads_failed_total", "counter",
	    "Configurations, and new versions, that were refused.", json_int(reloads, "failed", 0));
	internal_put_number(out, "start_time_seconds", "gauge",
	    "When the service was started, in Unix time.", json_int(status, "since", 0) / 1000000);
	cJSON_Delete(status);
}

void internal_answer(struct request *rq)
{
	struct buf text = {0};
	struct statvfs disk;
	if (strcmp(rq->head.internal, "metrics") != 0) {
		error_set(&rq->call.error, ERR_NOT_FOUND, NULL);
		reply_error(rq);
		return;
	}
	const char *state_dir = rq->server->service->config->state_dir;
	metrics_write(&text, internal_name_route);
	internal_put_number(&text, "background_runs_queued", "gauge",
	    "Runs that wait in the queue, delayed ones too.",
	    queue_waiting(rq->server->service->shared));
	internal_put_supervision(&text, state_dir);
	buf_puts(&text,
	    "# HELP agentgraph_info The version that answers.\n# TYPE agentgraph_info gauge\n"
	    "agentgraph_info{version=\"" AGENTGRAPH_VERSION "\"} 1\n");
	if (statvfs(state_dir, &disk) == 0) {
		internal_put_number(&text, "state_free_bytes", "gauge",
		    "Free on the state directory's file system.",
		    (int64_t)disk.f_bavail * (int64_t)disk.f_frsize);
		internal_put_number(&text, "state_size_bytes", "gauge",
		    "Size of the state directory's file system.",
		    (int64_t)disk.f_blocks * (int64_t)disk.f_frsize);
	}
	reply_bytes(rq, TEXT_FORMAT, buf_str(&text), text.len);
	buf_release(&text);
}
