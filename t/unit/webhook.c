/* SPDX-License-Identifier: ISC */
/* Which addresses a request may name, and the signature of what they are sent. */
#include "service/run/background/webhook.h"
#include "base/http/url.h"
#include "base/json/json.h"
#include "config/string_list.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- addresses ---- */

static const struct {
	const char *prefix, *url, *sent; /* sent: NULL where it is refused */
} addresses[] = {
    /* scheme and host */
    {"https://hooks.example", "https://hooks.example", "https://hooks.example/"},
    {"https://hooks.example", "https://hooks.example/", "https://hooks.example/"},
    {"https://hooks.example/", "https://hooks.example", "https://hooks.example/"},
    {"https://hooks.example", "https://hooks.example/a/b?c=d", "https://hooks.example/a/b?c=d"},
    {"https://hooks.example", "https://hooks.example?c=d", "https://hooks.example/?c=d"},
    {"https://hooks.example", "HTTPS://Hooks.EXAMPLE/A", "https://hooks.example/A"},
    {"HTTPS://HOOKS.example", "https://hooks.example/a", "https://hooks.example/a"},
    {"https://hooks.example", "http://hooks.example/", NULL},
    {"http://hooks.example", "https://hooks.example/", NULL},
    {"https://hooks.example", "https://hooks.example.evil/", NULL},
    {"https://hooks.example", "https://hooks.example.evil", NULL},
    {"https://hooks.example", "https://hooks.examples/", NULL},
    {"https://hooks.example", "https://evil-hooks.example/", NULL},
    {"https://hooks.example", "https://evil.example/https://hooks.example/", NULL},
    {"https://hooks.example", "https://evil.example/?https://hooks.example/", NULL},
    {"https://hooks.example", "https://evil.example#https://hooks.example/", NULL},
    {"https://hooks.example", "https://hooks.example#x", "https://hooks.example/"},
    {"https://hooks.example", "https://hooks.example./", NULL},
    {"http://[::1]:80", "http://[::1]/a", "http://[::1]/a"},
    {"http://[::1]", "http://[::2]/a", NULL},
    {"http://127.0.0.1", "http://127.0.0.10/", NULL},
    {"http://127.0.0.1", "http://0x7f.1/", NULL},
    /* the port */
    {"https://hooks.example", "https://hooks.example:443/a", "https://hooks.example/a"},
    {"https://hooks.example:443", "https://hooks.example/a", "https://hooks.example/a"},
    {"http://hooks.example:80", "http://hooks.example/a", "http://hooks.example/a"},
    {"https://hooks.example", "https://hooks.example:/a", "https://hooks.example/a"},
    {"https://hooks.example", "https://hooks.example:444/a", NULL},
    {"https://hooks.example:80", "https://hooks.example/a", NULL},
    {"https://hooks.example:44", "https://hooks.example:443/a", NULL},
    {"http://hooks.example:8080", "http://hooks.example:8080/a", "http://hooks.example:8080/a"},
    {"http://hooks.example:8080", "http://hooks.example:80801/a", NULL},
    {"http://hooks.example", "http://hooks.example:65536/", NULL},
    {"http://hooks.example", "http://hooks.example:0/", NULL},
    {"http://hooks.example", "http://hooks.example:8o/", NULL},
    /* user and password */
    {"https://hooks.example", "https://hooks.example@evil.example/", NULL},
    {"https://hooks.example", "https://hooks.example:443@evil.example/", NULL},
    {"https://hooks.example", "https://user@hooks.example/", NULL},
    {"https://hooks.example", "https://user:secret@hooks.example/", NULL},
    {"https://hooks.example", "https://@hooks.example/", NULL},
    {"https://hooks.example", "https://hooks.example/@evil.example/",
	"https://hooks.example/@evil.example/"},
    /* the path */
    {"https://h.example/in", "https://h.example/in", "https://h.example/in"},
    {"https://h.example/in", "https://h.example/in/a", "https://h.example/in/a"},
    {"https://h.example/in", "https://h.example/in?a=b", "https://h.example/in?a=b"},
    {"https://h.example/in", "https://h.example/in#a", "https://h.example/in"},
    {"https://h.example/in", "https://h.example/inner", NULL},
    {"https://h.example/in", "https://h.example/in%2Fa", NULL},
    {"https://h.example/in", "https://h.example/In", NULL},
    {"https://h.example/in", "https://h.example/", NULL},
    {"https://h.example/in", "https://h.example", NULL},
    {"https://h.example/in/", "https://h.example/in/a", "https://h.example/in/a"},
    {"https://h.example/in/", "https://h.example/in/", "https://h.example/in/"},
    {"https://h.example/in/", "https://h.example/in", NULL},
    {"https://h.example/in", "https://h.example/%69n/%61", "https://h.example/in/a"},
    {"https://h.example/%69n", "https://h.example/in", "https://h.example/in"},
    {"https://h.example/in", "https://h.example/in/p%2fq", "https://h.example/in/p%2Fq"},
    {"https://h.example/in", "https://h.example/in/a..b/..c", "https://h.example/in/a..b/..c"},
    {"https://h.example/in", "https://h.example/in?a=/../b", "https://h.example/in?a=/../b"},
    /* ways out of it */
    {"https://h.example/in", "https://h.example/in/../out", NULL},
    {"https://h.example/in", "https://h.example/in/..", NULL},
    {"https://h.example/in", "https://h.example/out/../in/a", "https://h.example/in/a"},
    {"https://h.example/in", "https://h.example/in/./a", "https://h.example/in/a"},
    {"https://h.example/in", "https://h.example/in/%2e%2E/out", NULL},
    {"https://h.example/in", "https://h.example/in/.%2e/out", NULL},
    {"https://h.example/in", "https://h.example/in/..%2Fout", NULL},
    {"https://h.example/in", "https://h.example/in/%2e%2e%2fout", NULL},
    {"https://h.example/in", "https://h.example/in/a%2F..", NULL},
    {"https://h.example/in", "https://h.example/in/..%5Cout", NULL},
    {"https://h.example/in", "https://h.example/in/..;/out", NULL},
    {"https://h.example/in", "https://h.example/in\\..\\out", NULL},
    /* what is no address */
    {"https://hooks.example", "", NULL},
    {"https://hooks.example", "hooks.example", NULL},
    {"https://hooks.example", "//hooks.example/", NULL},
    {"https://hooks.example", "https:/hooks.example/", NULL},
    {"https://hooks.example", "https:hooks.example/", NULL},
    {"https://hooks.example", " https://hooks.example/", NULL},
    {"https://hooks.example", "https://hooks.example/ a", NULL},
    {"https://hooks.example", "https://hooks.example/a\r\nHost: evil.example", NULL},
    {"https://hooks.example", "https://hooks.example\\@evil.example/", NULL},
    {"https://hooks.example", "https://hooks.example\t/", NULL},
    {"https://hooks.example", "https://hooks%2Eexample/", NULL},
    {"https://hooks.example", "https://hooks.example/%zz", NULL},
    {"https://hooks.example", "https://hooks.example/\xc3\xa9", NULL},
    {"https://hooks.example", "ftp://hooks.example/", NULL},
    {"https://hooks.example", "file:///etc/passwd", NULL},
    {"https://hooks.example", "unix:///run/hooks.example", NULL},
};

/* As the configuration keeps them. */
static void prefix_add(struct string_list *prefixes, const char *text)
{
	char *normal = url_normal(text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(normal);
	string_list_add(prefixes, normal, strlen(normal));
	free(normal);
}

static void an_address_is_below_a_prefix_or_refused(void)
{
	for (size_t i = 0; i < UNIT_COUNT(addresses); i++) {
		struct string_list prefixes = {0};
		unit_row("%s, %s", addresses[i].prefix, addresses[i].url);
		prefix_add(&prefixes, addresses[i].prefix);
		char *sent = webhook_address(&prefixes, addresses[i].url);
		CU_ASSERT_STRING_EQUAL(
		    sent ? sent : "refused", addresses[i].sent ? addresses[i].sent : "refused");
		free(sent);
		string_list_release(&prefixes);
	}
}

static void any_of_several_prefixes_will_do(void)
{
	struct string_list prefixes = {0};
	prefix_add(&prefixes, "https://one.example/a");
	prefix_add(&prefixes, "http://two.example");
	char *sent = webhook_address(&prefixes, "http://two.example/b");
	CU_ASSERT_STRING_EQUAL(sent ? sent : "", "http://two.example/b");
	free(sent);
	CU_ASSERT_PTR_NULL(webhook_address(&prefixes, "http://one.example/a"));
	string_list_release(&prefixes);
	CU_ASSERT_PTR_NULL(webhook_address(&prefixes, "http://two.example/b"));
}

/* ---- what is sent ---- */

static const struct {
	enum run_status status;
	const char *type, *shown; /* shown: status of the record, its node, its error's code */
} ends[] = {
    {RUN_COMPLETED, "run.completed", "completed END -"},
    {RUN_INTERRUPTED, "run.interrupted", "interrupted END -"},
    {RUN_STOPPED, "run.stopped", "stopped END -"},
    {RUN_ERROR, "run.error", "error END NODE_ERROR"},
};

/* What a program reads: the record in data, as routes show it. */
static void an_end_is_told_with_its_record(void)
{
	struct config config = {.env.production = true};
	struct service service = {.config = &config};
	for (size_t i = 0; i < UNIT_COUNT(ends); i++) {
		const struct run_record record = {.run_id = "r1",
		    .thread_id = "t1",
		    .status = ends[i].status,
		    .node = "END",
		    .created_at = 1767225600000000,
		    .finished_at = 1767225604250000,
		    .metadata_json = "{}",
		    .error_json = "{\"code\": \"NODE_ERROR\", \"status\": 500, \"message\": "
				  "\"Error in node secret\"}"};
		unit_row("%s", ends[i].type);
		char *text = webhook_body(&service, &record), shown[128];
		cJSON *body = json_parse(text, strlen(text), JSON_TRUSTED_DEPTH, NULL);
		const cJSON *data = json_get(body, "data"), *error = json_opt(data, "error");
		CU_ASSERT_STRING_EQUAL(json_str(body, "type"), ends[i].type);
		CU_ASSERT_STRING_EQUAL(json_str(body, "timestamp"), "2026-01-01T00:00:04.250000Z");
		CU_ASSERT_STRING_EQUAL(json_str(data, "run_id"), "r1");
		CU_ASSERT_STRING_EQUAL(json_str(data, "thread_id"), "t1");
		snprintf(shown, sizeof(shown), "%s %s %s", json_str(data, "status"),
		    json_str(data, "node"), error ? json_str(error, "code") : "-");
		CU_ASSERT_STRING_EQUAL(shown, ends[i].shown);
		CU_ASSERT_PTR_NULL(strstr(text, "secret")); /* in production */
		cJSON_Delete(body);
		free(text);
	}
}

/* ---- signatures ---- */

/* With the bytes of "agentgraph-webhook-tests", by openssl:
 *   printf '%s.%s.%s' msg_1 1767225600 '{"type":"run.completed"}' |
 *       openssl dgst -sha256 -hmac agentgraph-webhook-tests -binary | openssl base64 */
static void a_body_is_signed_with_id_and_time(void)
{
	static const char secret[] = "whsec_YWdlbnRncmFwaC13ZWJob29rLXRlc3Rz",
			  body[] = "{\"type\":\"run.completed\"}";
	struct buf signature = {0};
	webhook_sign(&signature, secret, "msg_1", 1767225600, body, strlen(body));
	CU_ASSERT_STRING_EQUAL(
	    buf_str(&signature), "v1,W3uiLFi2Uu1DPwaXltAh5feFLUE8dkz9MXhHRMShsAQ=");
	buf_reset(&signature);
	webhook_sign(&signature, secret, "msg_1", 1767225601, body, strlen(body));
	CU_ASSERT_STRING_NOT_EQUAL(
	    buf_str(&signature), "v1,W3uiLFi2Uu1DPwaXltAh5feFLUE8dkz9MXhHRMShsAQ=");
	buf_release(&signature);
}

/* The example of the specification of Standard Webhooks' own libraries. */
static void the_published_example_is_signed_alike(void)
{
	static const char body[] = "{\"test\": 2432232314}";
	struct buf signature = {0};
	webhook_sign(&signature, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
	    "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body, strlen(body));
	CU_ASSERT_STRING_EQUAL(
	    buf_str(&signature), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
	buf_release(&signature);
}

static const struct unit_test tests[] = {
    {"an address is below a prefix or refused", an_address_is_below_a_prefix_or_refused},
    {"any of several prefixes will do, and none is not enough", any_of_several_prefixes_will_do},
    {"an end is told with its record", an_end_is_told_with_its_record},
    {"a body is signed with id and time", a_body_is_signed_with_id_and_time},
    {"the published example is signed alike", the_published_example_is_signed_alike},
};

int main(void)
{
	return unit_main("webhook", tests, UNIT_COUNT(tests));
}
