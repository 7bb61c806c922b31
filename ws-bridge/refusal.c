/* SPDX-License-Identifier: ISC */
/* The error object with its metadata, printed. */
#include "ws-bridge/refusal.h"

#include "base/json/json.h"
#include "base/os/clock.h"

char *refusal_json(const struct error *err, const char *request_id)
{
	const struct error_view view = {
	    .code = error_code(err->kind),
	    .detail = err->detail,
	};
	char now[ISO_TIME_SIZE];
	cJSON *body = error_body(&view, request_id, clock_iso(clock_now(), now));
	if (error_close_code(err->kind))
		json_add_int(body, "close_code", error_close_code(err->kind));
	char *text = json_print(body);
	cJSON_Delete(body);
	return text;
}
