/* SPDX-License-Identifier: ISC */
/* Sending lines to the client that waits for their run, from memory or from the disk. */
#include "service/run/stream/kept_line.h"

#include "base/log/log.h"
#include "base/os/clock.h"
#include "service/run/runs.h"
#include "storage/runs.h"

/* Sends one chunk, in parts if it is large; false when nobody reads the rest.  part is a buffer for
 * the parts. */
static bool kept_live_send_line(const struct kept_live *live, const struct kept_line *line,
    enum granularity granularity, struct buf *part, struct error *err)
{
	struct kept_reader reader = live->reader;
	struct chunk_sink *sink = live->sink;
	struct kept_place place = {0};
	bool more = true, begun = false, ok = true;
	reader.granularity = granularity;
	if (!line->seq)
		reader.run.number = 0;
	while (ok && more) {
		buf_reset(part);
		ok = kept_line_print(line, &reader, &place, part, &more, err);
		if (ok && more) {
			begun = true;
			ok = sink->part(sink, part->data, part->len);
		}
	}
	if (ok && (begun || part->len))
		sink->chunk(sink, part->data, part->len);
	else if (begun && error_is_set(err))
		sink->cut(sink, err->cause);
	return ok || (error_is_set(err) && !begun);
}

/* Sends one chunk.  If its state cannot be read for the moment, this waits; if not at all, the
 * chunk goes without it. */
static bool kept_live_send(
    const struct kept_live *live, const struct kept_line *line, struct buf *part)
{
	int64_t end = clock_monotonic_ms() + KEPT_AWAY_MS;
	enum granularity granularity = live->reader.granularity;
	struct error err = {0};
	bool reads = kept_live_send_line(live, line, granularity, part, &err);
	while (reads && err.kind == ERR_TRANSIENT_STORAGE && clock_monotonic_ms() < end) {
		error_release(&err);
		clock_sleep_ms(KEPT_AGAIN_MS);
		reads = kept_live_send_line(live, line, granularity, part, &err);
	}
	if (reads && error_is_set(&err)) {
		log_error(
		    "a state of run %s cannot be shown: %s", live->reader.run_id, error_why(&err));
		error_release(&err);
		reads = kept_live_send_line(live, line, GRANULARITY_LOW, part, &err);
	}
	error_release(&err);
	return reads;
}

bool kept_live_tell(struct kept_live *live, const struct buf *lines, bool numbered)
{
	struct chunk_sink *sink = live->sink;
	const char *at = lines->data, *end = at + lines->len;
	struct kept_line line;
	struct buf part = {0};
	bool reads = true;
	sink_cork(sink, true);
	for (; reads && at < end; at += line.len + 1) {
		if (!kept_line_read(&line, at, (size_t)(end - at)))
			continue; /* it was deleted */
		if (!numbered)
			line.seq = 0;
		if (line.seq && line.seq <= live->seq)
			continue;
		if (line.seq)
			live->seq = line.seq;
		if (line.least <= live->reader.granularity)
			reads = kept_live_send(live, &line, &part);
	}
	buf_release(&part);
	sink_cork(sink, false);
	return reads;
}

struct kept_row {
	struct buf lines;
	int64_t until;
};

static bool kept_live_take_row(void *arg, const struct chunk_batch *batch)
{
	struct kept_row *row = arg;
	buf_add(&row->lines, batch->lines, batch->len);
	row->until = batch->seq + batch->count - 1;
	return false;
}

bool kept_live_catch_up(struct kept_live *live, int64_t stored)
{
	const struct kept_reader *reader = &live->reader;
	struct kept_row row = {.until = stored};
	struct error err = {0};
	bool reads = reader->storage->runs->chunks_read(
	    reader->storage, NULL, reader->run, live->seq, kept_live_take_row, &row, &err);
	if (reads)
		reads = kept_live_tell(live, &row.lines, true);
	else
		live->sink->cut(live->sink, err.cause);
	if (reads && live->seq < row.until)
		live->seq = row.until;
	buf_release(&row.lines);
	error_release(&err);
	return reads;
}
