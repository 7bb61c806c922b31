/* SPDX-License-Identifier: ISC */
/* Adding an item to the outbox, for a job's webhook or a push. */
#include "base/http/url.h"
#include "base/id.h"
#include "base/os/clock.h"
#include "storage/sql/run/runs_engine.h"

#include <stdio.h>
#include <stdlib.h>

bool outbox_put(struct db *db, const struct outgoing *out, struct error *err)
{
	char *site = url_site(out->url);
	char random[HEX_ID_SIZE], id[HEX_ID_SIZE + 4];
	struct query q;
	bool ok;
	snprintf(id, sizeof(id), "msg_%s", hex_id(random));
	query_start(&q, db, SQL_WEBHOOK_INSERT, err);
	if (out->job)
		query_int(&q, ":row", out->job);
	query_int(&q, ":thread", out->thread);
	query_text(&q, ":id", id);
	query_text(&q, ":site", site ? site : out->url);
	query_text(&q, ":url", out->url);
	query_text(&q, ":body", out->body);
	query_text(&q, ":how", out->how_json);
	query_int(&q, ":now", clock_now());
	ok = query_run(&q);
	free(site);
	return ok;
}
