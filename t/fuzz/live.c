/* SPDX-License-Identifier: ISC */
/* What a client sends on a live socket: the input is lines, the first one the init frame, each
 * other one a text frame, or audio if it begins with an asterisk. */
#include "graph/live/live.h"
#include "base/os/clock.h"
#include "replay.h"
#include "service/live/live_internal.h"
#include "service/live/live_parts.h"

#include <string.h>

static void drop_event(struct live_sink *sink, const char *json, size_t len)
{
	(void)sink, (void)json, (void)len;
}

static void drop_audio(struct live_sink *sink, const void *pcm, size_t bytes)
{
	(void)sink, (void)pcm, (void)bytes;
}

static void drop_close(struct live_sink *sink, int code, const char *reason)
{
	(void)sink, (void)code, (void)reason;
}

static bool never_full(struct live_sink *sink)
{
	(void)sink;
	return false;
}

static struct service *service_of_demo(void)
{
	static struct config config = {.env = {.max_request_size = 10 << 20,
					   .realtime_max_frame_bytes = 1000,
					   .realtime_input_queue = 10,
					   .realtime_drain_timeout = 30}};
	static struct service service = {.config = &config};
	struct problems problems = {0};
	if (service.graph)
		return &service;
	service.access = access_open(&config, NULL, NULL, &problems);
	service.anonymous = cJSON_CreateObject();
	service.graph = graph_new("fuzz");
	graph_live_demo(service.graph);
	require(graph_compile(service.graph));
	return &service;
}

static void feed(struct live *live, const char *line, size_t len)
{
	if (len && *line == '*')
		live_audio(live, line + 1, len - 1);
	else
		live_text(live, line, len);
}

static void check_init(struct service *service, const char *text, size_t len)
{
	struct live_config config;
	struct call call;
	call_init(&call, service, NULL);
	enum live_init result = live_config_read(&call, text, len, &config);
	require((result == LIVE_INIT_INVALID) == error_is_set(&call.error));
	require(result != LIVE_INIT_OK || (config.tools && cJSON_IsObject(config.vad)));
	call_release(&call);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct service *service = service_of_demo();
	const struct identity anonymous = {.user_id = "anonymous"};
	struct live_sink sink = {drop_event, drop_audio, drop_close, never_full};
	const struct live_setup setup = {service, &anonymous, "r", &sink, clock_monotonic_ms};
	const char *text = (const char *)data, *end = text + size;
	const char *first = size ? memchr(text, '\n', size) : NULL;
	first = first ? first : end;
	check_init(service, text, (size_t)(first - text));
	struct live *live = live_new(&setup);
	live->state = LIVE_CONNECTS; /* so that frames wait for a connection, which is never made */
	while (first < end) {
		const char *line = first + 1;
		first = memchr(line, '\n', (size_t)(end - line));
		first = first ? first : end;
		feed(live, line, (size_t)(first - line));
	}
	live_free(live);
	return 0;
}
