/* SPDX-License-Identifier: ISC */
/* Reading the query of a stream that is followed, or of a wait for a result. */
#include "service/run/stream/follow.h"

#include "base/os/clock.h"
#include "service/run/records.h"
#include "service/run/stream/replay.h"

#include <stdlib.h>
#include <string.h>

#define LONGEST_WAIT 300.0

static bool follow_read_number(
    struct call *call, const char *where, const char *text, int64_t *value)
{
	size_t digits = strspn(text, "0123456789");
	*value = strtoll(text, NULL, 10); /* a number that is too large becomes the largest */
	return (digits && !text[digits]) ||
	    error_wrong(&call->error, where, "value_error", "must be a whole number from 0 on");
}

bool run_follow(struct call *call, const char *thread_id, const char *run_id,
    const struct follow_query *query, struct follow_place *place)
{
	struct run_record *record = &place->record;
	struct thread thread;
	struct replay_tail tail;
	bool ok = true;
	*place = (struct follow_place){0};
	if (query->after)
		ok = follow_read_number(call, "query.after", query->after, &place->after);
	else if (query->last_event_id)
		ok = follow_read_number(
		    call, "header.Last-Event-ID", query->last_event_id, &place->after);
	if (!granularity_read(call, "query.response_granularity",
		query->granularity ? query->granularity : "full", &place->granularity) ||
	    !ok || !record_find(call, thread_id, run_id, &thread, record))
		return false;
	bool over = !run_status_goes_on(record->status);
	if (record->kept_until == RUN_NOT_KEPT ||
	    (record->kept_until != RUN_KEPT && record->kept_until <= clock_now()))
		return error_set(&call->error, ERR_RUN_NOT_RECORDED,
		    "The chunks of run %s were not kept", run_id);
	if (over && place->after) {
		if (!replay_find_tail(call, record, &tail))
			return false;
		place->at_end = tail.done && tail.seq <= place->after;
	}
	return true;
}

bool run_wait_read(struct call *call, const char *text, double *seconds)
{
	size_t digits = text ? strspn(text, "0123456789.") : 0;
	char *end = NULL;
	*seconds = text ? strtod(text, &end) : 0;
	return !text || (digits && !text[digits] && !*end && *seconds <= LONGEST_WAIT) ||
	    error_wrong(&call->error, "query.wait", "value_error", "must be between 0 and 300");
}
