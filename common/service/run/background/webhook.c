/* SPDX-License-Identifier: ISC */
/* Checking addresses, making bodies, and signing them with HMAC-SHA256. */
#include "service/run/background/webhook.h"

#include "base/base64.h"
#include "base/http/url.h"
#include "base/json/json.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "graph/state.h"
#include "service/run/records.h"

#include <assert.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>

#define SECRET_PREFIX "whsec_"

/* ---- addresses ---- */

/* Whether address is the prefix, or continues it where a segment ends.  Both are in normal form. */
static bool webhook_below(const char *address, const char *prefix)
{
	size_t len = strlen(prefix);
	return strncmp(address, prefix, len) == 0 &&
	    (prefix[len - 1] == '/' || !address[len] || strchr("/?", address[len]));
}

char *webhook_address(const struct string_list *prefixes, const char *url)
{
	char *address = url_normal(url);
	if (!address)
		return NULL;
	bool below = false;
	if (!url_climbs(address))
		for (size_t i = 0; i < prefixes->count && !below; i++)
			below = webhook_below(address, prefixes->items[i]);
	if (below)
		return address;
	free(address);
	return NULL;
}

bool webhook_allows(const struct string_list *prefixes, const char *url)
{
	char *address = webhook_address(prefixes, url);
	free(address);
	return address;
}

bool webhook_check(struct call *call, const char *url)
{
	return webhook_allows(&call->service->config->runs_webhooks, url) ||
	    error_wrong(&call->error, "body.webhook", "value_error",
		"must begin with one of the configured addresses");
}

/* ---- what is sent ---- */

char *webhook_body(void *service, const struct run_record *record)
{
	struct call call;
	char time[ISO_TIME_SIZE];
	struct log_ids ids = log_ids();
	cJSON *event = cJSON_CreateObject();
	char *type = xasprintf("run.%s", run_status_name(record->status));
	call_init(&call, service, NULL);
	json_add_str(event, "type", type);
	json_add_str(event, "timestamp", clock_iso(record->finished_at, time));
	cJSON_AddItemToObject(event, "data", record_view(&call, record));
	char *text = json_print(event);
	call_release(&call);
	log_run(ids.run); /* this thread may be the one that executes the run */
	cJSON_Delete(event);
	free(type);
	return text;
}

/* ---- signatures ---- */

void webhook_sign(struct buf *out, const char *secret, const char *id, int64_t seconds,
    const char *body, size_t len)
{
	unsigned char hash[EVP_MAX_MD_SIZE];
	unsigned hash_len = 0;
	size_t key_len = 0;
	struct buf text = {0};
	char *key = base64_decode(secret + strlen(SECRET_PREFIX), &key_len);
	buf_printf(&text, "%s.%" PRId64 ".", id, seconds);
	buf_add(&text, body, len);
	assert(key);
	const void *done = HMAC(EVP_sha256(), key, (int)key_len, (const unsigned char *)text.data,
	    text.len, hash, &hash_len);
	assert(done);
	char *signature = base64_encode(hash, hash_len);
	buf_printf(out, "v1,%s", signature);
	free(signature);
	buf_release(&text);
	free(key);
}
