#include "refusal.h"

#include "base/clock.h"
#include "base/json.h"

#include <cjson/cJSON.h>

static cJSON *error_object(const char *code, const char *detail)
{
	cJSON *error = cJSON_CreateObject();
	json_add_str(error, "code", code);
	json_add_str(error, "message", detail);
	cJSON_AddArrayToObject(error, "details");
	return error;
}

static cJSON *metadata_object(const char *request_id, const char *detail)
{
	char now[ISO_TIME_SIZE];
	cJSON *metadata = cJSON_CreateObject();
	json_add_str(metadata, "request_id", request_id);
	json_add_str(metadata, "timestamp", clock_iso(clock_now(), now));
	json_add_str(metadata, "message", detail);
	return metadata;
}

char *refusal_json(const struct error *err, const char *request_id)
{
	const char *code = error_code(err->kind);
	const char *fixed = error_fixed_text(err->kind);
	const char *detail = *err->detail || !fixed ? err->detail : fixed;
	cJSON *body = cJSON_CreateObject();
	json_add_str(body, "detail", detail);
	json_add_str(body, "error_code", code);
	cJSON_AddItemToObject(body, "error", error_object(code, detail));
	cJSON_AddItemToObject(body, "metadata", metadata_object(request_id, detail));
	if (error_close_code(err->kind))
		json_add_int(body, "close_code", error_close_code(err->kind));
	char *text = json_print(body);
	cJSON_Delete(body);
	return text;
}
