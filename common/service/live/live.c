/* SPDX-License-Identifier: ISC */
/* The session: its beginning, the client's frames, and its end. */
#include "service/live/live.h"

#include "base/json/json.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "service/live/live_internal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define INIT_MS 30000 /* how long the first frame may take */
#define IGNORED_LOGGED 10

static void live_session_refuse(
    struct live *live, const char *code, const char *message, int close_code, const char *reason)
{
	live_send_error(live, code, message, true);
	live_close(live, close_code, reason);
}

static void live_session_refuse_init(struct live *live)
{
	live_close(live, 1003, "Invalid init frame");
}

/* ---- the beginning ---- */

struct live *live_new(const struct live_setup *setup)
{
	struct live *live = xcalloc(1, sizeof(*live));
	live->setup = *setup;
	live->session.event = live_take_event;
	call_init(&live->call, setup->service, setup->request_id);
	call_identify(&live->call, setup->identity);
	live_queue_init(&live->queue, (size_t)setup->service->config->env.realtime_input_queue);
	live->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	live->deadline = live_now(live) + INIT_MS;
	live->step_at = -1;
	if (setup->service->graph->live)
		live->agent = setup->service->graph->live->live;
	else
		live_session_refuse(live, "not_live",
		    "This graph is not a live (realtime) agent; use the turn-based /v1/graph/ws "
		    "endpoint instead of /v1/graph/live.",
		    1008, "Graph is not live");
	return live;
}

static void live_session_begin(struct live *live, const char *text, size_t len)
{
	struct call *call = &live->call;
	switch (live_config_read(call, text, len, &live->config)) {
	case LIVE_INIT_OK:
		live->state = LIVE_PREPARES;
		live->deadline = 0;
		live->keeper = live_keeper_new(
		    call->service, live->setup.identity, live->setup.request_id, live->wake);
		live_keeper_open(live->keeper, live->config.thread_id);
		break;
	case LIVE_INIT_NO_OBJECT:
		live_session_refuse_init(live);
		break;
	case LIVE_INIT_INVALID:
		live_session_refuse(live, "invalid_config", call->error.detail, 1000, NULL);
		break;
	}
}

/* Goes on when the keeper has opened the thread, or was refused; the first event comes after
 * this. */
static void live_session_prepare(struct live *live)
{
	enum live_keeper_state state = live_keeper_state(live->keeper);
	if (state == KEEPER_REFUSED) {
		const struct error *err = live_keeper_error(live->keeper);
		if (err->kind == ERR_PERMISSION) {
			live_session_refuse(
			    live, "not_authorized", err->detail, 1008, "Not authorized");
		} else if (err->kind == ERR_THREAD_BUSY) {
			live_session_refuse(live, "thread_busy", err->detail, 1000, NULL);
		} else {
			log_error("%s", error_why(err));
			live_close(live, 1011, "Internal error");
		}
	} else if (state == KEEPER_OPEN) {
		live->thread = *live_keeper_thread(live->keeper);
		live->handle = xstrdup(live_keeper_handle(live->keeper));
		if (live->ending && !live->queue.first) { /* nobody has anything to say */
			live_close(live, 1000, NULL);
			return;
		}
		/* the config, as nodes see it */
		cJSON *config = arena_json(live->call.arena, cJSON_CreateObject());
		json_add_str(config, "thread_id", live->thread.thread_id);
		json_add(config, "user", cJSON_Duplicate(live->call.user, true));
		const struct live_tools_setup setup = {
		    .service = live->call.service,
		    .node = live->agent->tools,
		    .thread = &live->thread,
		    .config = config,
		    .request_id = live->setup.request_id,
		    .wake = live->wake,
		};
		live->tools = live_tools_new(&setup);
		live_connect(live);
	}
}

/* ---- frames ---- */

static bool live_session_takes_frames(const struct live *live)
{
	return live->state < LIVE_CLOSES && !live->ending;
}

static void live_session_end_input(struct live *live)
{
	if (!live_session_takes_frames(live))
		return;
	live->ending = true;
	live->end_by =
	    live_now(live) + live->call.service->config->env.realtime_drain_timeout * 1000;
	bool idle = live->state != LIVE_TALKS && !live->queue.first;
	if (live->state == LIVE_AWAITS_INIT || (idle && live->state != LIVE_PREPARES))
		live_close(live, 1000, NULL);
}

/* Ignores a frame, and logs that; but a client that sends nonsense all the time must not fill the
 * log. */
static void live_ignore(struct live *live, const char *why)
{
	if (live->ignored++ < IGNORED_LOGGED)
		log_info("a frame of the live socket is ignored: %s", why);
}

void live_text(struct live *live, const char *text, size_t len)
{
	if (!live_session_takes_frames(live))
		return;
	if (live->state == LIVE_AWAITS_INIT) {
		live_session_begin(live, text, len);
		return;
	}
	size_t values = live->call.values; /* in each frame */
	live->halved = false;
	cJSON *frame = json_parse_within(text, len, JSON_REQUEST_DEPTH, &values, NULL);
	const char *type = json_str(frame, "type"), *said = json_str(frame, "text");
	if (!cJSON_IsObject(frame))
		live_ignore(live, "it is no JSON object");
	else if (!type)
		live_ignore(live, "it has no type");
	else if (strcmp(type, "text") == 0 && said)
		live_queue_push(&live->queue, LIVE_INPUT_TEXT, NULL, said, strlen(said));
	else if (strcmp(type, "text") == 0)
		live_ignore(live, "its text is no string");
	else if (strcmp(type, "activity_start") == 0)
		live_queue_push(&live->queue, LIVE_INPUT_START, NULL, NULL, 0);
	else if (strcmp(type, "activity_end") == 0)
		live_queue_push(&live->queue, LIVE_INPUT_END, NULL, NULL, 0);
	else if (strcmp(type, "close") == 0)
		live_session_end_input(live);
	else
		live_ignore(live, "its type is unknown");
	cJSON_Delete(frame);
}

/* Half a sample at the end of a frame belongs to the audio that follows at once: clients may cut
 * where they like. */
void live_audio(struct live *live, const void *pcm, size_t bytes)
{
	const char *half = live->halved ? &live->half : NULL;
	size_t odd = (live->halved + bytes) % 2;
	if (!live_session_takes_frames(live))
		return;
	if (live->state == LIVE_AWAITS_INIT) {
		live_session_refuse_init(live);
	} else if (bytes > (size_t)live->call.service->config->env.realtime_max_frame_bytes) {
		live_large(live, true);
	} else if (bytes > 0) {
		if (half || bytes > odd)
			live_queue_push(&live->queue, LIVE_INPUT_AUDIO, half, pcm, bytes - odd);
		live->halved = odd;
		live->half = ((const char *)pcm)[bytes - 1];
	}
}

void live_large(struct live *live, bool binary)
{
	if (!live_session_takes_frames(live))
		return;
	live->halved = false;
	if (live->state == LIVE_AWAITS_INIT)
		live_session_refuse_init(live);
	else if (live->ignored++ < IGNORED_LOGGED)
		log_warning("a %s frame of the live socket is too large: dropped",
		    binary ? "binary" : "text");
}

void live_gone(struct live *live)
{
	live_session_end_input(live);
	if (live->gone)
		return;
	live->gone = true;
	if (live->keeper)
		live_keeper_let_go(live->keeper);
}

void live_stop(struct live *live)
{
	live_close(live, 1001, "Shutting down");
	if (live->state == LIVE_CLOSES)
		live_shut(live);
}

/* ---- time ---- */

static int64_t live_session_earlier(int64_t a, int64_t b)
{
	return a && (!b || a < b) ? a : b;
}

static bool live_session_listens(const struct live *live)
{
	return live->connection && live_may_speak(live);
}

/* When something is due at the latest; 0: never. */
static int64_t live_session_next_time(struct live *live)
{
	int64_t time = live->deadline, now = live_now(live);
	if (live->state == LIVE_CLOSED)
		return live->tools && live_tools_open(live->tools) && now < time ? time : 0;
	if (live->state == LIVE_CLOSES)
		return time;
	if (live->lost || live->fatal || live->ended)
		return now;
	if (live->ending) { /* it does not rotate any more */
		time = live_session_earlier(live->end_by, time);
	} else if (live->state == LIVE_TALKS && live->rotate_by) {
		time = live_session_earlier(live->rotate_by, time);
		if (live->asked && now < live->asked_until)
			time = live_session_earlier(live->asked_until, time);
		if (now < live->settles_until)
			time = live_session_earlier(live->settles_until, time);
	}
	if (live_session_listens(live) && live->step_at >= 0)
		time = live_session_earlier(live->step_at ? live->step_at : 1, time);
	return time;
}

int live_poll(struct live *live, struct pollfd fds[LIVE_FDS])
{
	short events = 0;
	int fd = live_session_listens(live)
	    ? live->agent->provider->descriptor(live->connection, &events)
	    : -1;
	fds[0] = (struct pollfd){.fd = live->wake, .events = POLLIN};
	fds[1] = (struct pollfd){.fd = fd, .events = events};
	int64_t time = live_session_next_time(live);
	if (!time)
		return -1;
	int64_t wait = time - live_now(live);
	return wait < 0 ? 0 : wait < INT32_MAX ? (int)wait : INT32_MAX;
}

void live_step(struct live *live)
{
	uint64_t count;
	struct tool_done *done;
	bool woken = read(live->wake, &count, sizeof(count)) == sizeof(count);
	while (woken && live->tools && (done = live_tools_take(live->tools))) {
		live_tool_done(live, done);
		tool_done_free(done);
	}
	if (live->state == LIVE_PREPARES)
		live_session_prepare(live);
	if (live->state == LIVE_CLOSED)
		return;
	live_tell_unstored(live);
	int64_t now = live_now(live);
	if (live->state == LIVE_CLOSES) {
		if (now >= live->deadline || live_rests(live))
			live_shut(live);
	} else if (live->ending && now >= live->end_by) {
		log_info("the model does not come to an end: cancelled");
		live_close(live, 1000, NULL);
	} else if (live->deadline && now >= live->deadline) {
		live->deadline = 0;
		if (live->state == LIVE_AWAITS_INIT)
			live_session_refuse_init(live);
		else
			live_late(live);
	}
	if (live->state < LIVE_CLOSES)
		live_work(live);
}

/* ---- the end ---- */

bool live_is_closed(const struct live *live)
{
	return live->state == LIVE_CLOSED;
}

bool live_is_over(struct live *live)
{
	if (live->state != LIVE_CLOSED)
		return false;
	if (live->tools && live_tools_open(live->tools) > 0 && live_now(live) < live->deadline)
		return false;
	return !live->keeper || live_keeper_rests(live->keeper);
}

bool live_free(struct live *live)
{
	live_stop(live);
	bool all_ended = live_tools_free(live->tools, LIVE_GRACE_MS);
	if (live->keeper)
		live_keeper_end(live->keeper);
	if (!all_ended)
		return false;
	if (live->keeper)
		live_keeper_free(live->keeper);
	live_queue_clear(&live->queue);
	for (size_t i = 0; i < sizeof(live->said) / sizeof(live->said[0]); i++)
		buf_release(&live->said[i]);
	free(live->handle);
	free(live->why);
	close(live->wake);
	call_release(&live->call);
	free(live);
	return true;
}
