/* SPDX-License-Identifier: ISC */
/* What leaves the service: spans, failures, and what is kept out of them. */
#include "base/json/json.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "config/environment/dsn.h"
#include "http_fixture.h"
#include "telemetry/otlp.h"
#include "telemetry/outlet.h"
#include "telemetry/tracker.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- the address of the error tracker ---- */

static const char *url_of(const char *text)
{
	static char url[600];
	struct dsn dsn;
	if (!dsn_parse(text, &dsn))
		return "";
	snprintf(url, sizeof(url), "%s %s", dsn.key, dsn.url);
	dsn_release(&dsn);
	return url;
}

static void an_address_is_read(void)
{
	CU_ASSERT_STRING_EQUAL(
	    url_of("https://abc123@example.com/42"), "abc123 https://example.com/api/42/envelope/");
	CU_ASSERT_STRING_EQUAL(
	    url_of("http://a:b@127.0.0.1:8000/1"), "a http://127.0.0.1:8000/api/1/envelope/");
	CU_ASSERT_STRING_EQUAL(url_of("https://k@[::1]:9000/some/path/7"),
	    "k https://[::1]:9000/some/path/api/7/envelope/");
}

static void garbage_is_no_address(void)
{
	static const char *const wrong[] = {"", "x", "https://", "https://example.com/1",
	    "https://@example.com/1", "https://k@/1", "https://k@example.com",
	    "https://k@example.com/", "https://k@example.com/x", "https://k@example.com/1/",
	    "ftp://k@example.com/1", "https://k@example.com:0/1", "https://k@example.com:99999/1",
	    "https://k@example.com:/1", "https://k k@example.com/1", "https://k@exa mple.com/1",
	    "https://k@example.com/1?x=1", "https://k@[::1/1", "https://k@[]/1",
	    "HTTPS://k@example.com/1", "https://k@example.com/1\r\nX: y"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CU_ASSERT_STRING_EQUAL(url_of(wrong[i]), "");
}

/* ---- what the error tracker does not want ---- */

static void check_limits(const char *header, int64_t errors, int64_t transactions)
{
	int64_t pause_ms[2] = {0};
	tracker_limits(header, pause_ms);
	CU_ASSERT_EQUAL(pause_ms[0], errors);
	CU_ASSERT_EQUAL(pause_ms[1], transactions);
}

static void limits_are_read_by_kind(void)
{
	check_limits("60:error:organization", 60000, 0);
	check_limits("60::organization", 60000, 60000);
	check_limits(
	    "60:transaction:key, 2700:default;error;security:organization", 2700000, 60000);
	check_limits("1.5:error;transaction:x", 1500, 1500);
	check_limits("60:session:key", 0, 0);
}

static void nonsense_limits_nothing(void)
{
	static const char *const wrong[] = {
	    "", ",", ":::", "x:error", "-5:error:k", ",,,:;;;", "1e99::"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		check_limits(wrong[i], 0, 0);
}

/* ---- what is kept out ---- */

static void check_scrub(const char *text, const char *expected)
{
	struct buf out = {0};
	scrub(&out, text);
	CU_ASSERT_STRING_EQUAL(buf_str(&out), expected);
	if (strcmp(buf_str(&out), expected) != 0)
		printf("# got %s\n", buf_str(&out));
	buf_release(&out);
}

static void personal_data_is_taken_out(void)
{
	check_scrub("mail to jane.doe+x@example.com failed", "mail to [mail] failed");
	check_scrub("<jane@example.com>: 5 times", "<[mail]>: 5 times");
	check_scrub("from 192.168.10.20:8080", "from [address]:8080");
	check_scrub("to [2001:db8:85a3::8a2e:370:7334]:5432", "to [[address]]:5432");
	check_scrub("peer:fe80::1%eth0, 2001:db8::/32", "peer:[address], [address]/32");
	check_scrub("::1: refused by ::ffff:10.0.0.7.", "[address]: refused by [address].");
	check_scrub("2001:0db8:0000:0000:0000:0000:0000:0001", "[address]");
	check_scrub("card 4111 1111 1111 1111 refused", "card [number] refused");
	check_scrub("call +49-151-12345678 now", "call [number] now");
	check_scrub("password=hunter2 given", "password=***REDACTED*** given");
}

static void what_is_nobodys_stays(void)
{
	check_scrub(
	    "node agent: 3 of 17 steps, version 1.2.3", "node agent: 3 of 17 steps, version 1.2.3");
	check_scrub("@ alone, a@ and @b", "@ alone, a@ and @b");
	static const char *const names[] = {"at 12:34:56, 12:34:56.789", "2026-11-27T12:34:56Z",
	    "std::move, dead::beef, vec::a1::b2, a::", "::", "id 4bf92f3577b34da6",
	    "tool.c:120:5: expected"};
	for (size_t i = 0; i < UNIT_COUNT(names); i++)
		check_scrub(names[i], names[i]);
	check_scrub("", "");
}

/* Of each it was looked how far a number may go. */
static void many_brackets_cost_no_more_than_they_are_long(void)
{
	struct buf text = {0};
	for (int i = 0; i < 80000; i++)
		buf_putc(&text, '(');
	clock_t start = clock();
	check_scrub(buf_str(&text), buf_str(&text));
	CU_ASSERT((clock() - start) / CLOCKS_PER_SEC < 5);
	buf_release(&text);
	check_scrub("(1) 2 3 (4) (0151) 12345678 now", "[number] now");
	check_scrub("(5 and (0151) 12345678", "(5 and [number]");
}

/* ---- spans ---- */

static struct span root = {.kind = SPAN_RUN, .id = "0000000000000001", .start = 1000, .end = 9000};
static struct span node = {.kind = SPAN_NODE,
    .id = "0000000000000002",
    .parent = &root,
    .name = "agent",
    .start = 2000,
    .end = 8000,
    .step = 1};
static struct span llm = {.kind = SPAN_LLM,
    .id = "0000000000000003",
    .parent = &node,
    .name = "demo",
    .start = 2000,
    .end = 3000,
    .input_tokens = 3,
    .output_tokens = 1};
static struct span tool = {.kind = SPAN_TOOL,
    .id = "0000000000000004",
    .parent = &node,
    .name = "add",
    .start = 3000,
    .end = 4000,
    .error = "the tool failed",
    .call_id = "c1"};
static const struct span *const spans[] = {&root, &node, &llm, &tool};

static struct run_report report = {
    .context = {"4bf92f3577b34da6a3ce929d0e0e4736", "0000000000000001", true},
    .parent = "00f067aa0ba902b7",
    .agent = "builtin:demo",
    .thread_id = "t1",
    .run_id = "r1",
    .spans = spans,
    .span_count = 4,
    .input_tokens = 3,
    .output_tokens = 1,
};

/* The spans as an array. */
static cJSON *written(enum trace_level level)
{
	struct buf out = {0};
	buf_putc(&out, '[');
	otlp_spans(&out, &report, level);
	buf_putc(&out, ']');
	cJSON *array = json_parse(buf_str(&out), out.len, JSON_TRUSTED_DEPTH, NULL);
	buf_release(&out);
	CU_ASSERT_PTR_NOT_NULL_FATAL(array);
	return array;
}

/* The value of an attribute as text, "" when there is none. */
static const char *attribute(const cJSON *array, int i, const char *key)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, json_get(cJSON_GetArrayItem(array, i), "attributes")) {
		if (strcmp(json_str(item, "key"), key) == 0) {
			const cJSON *value = json_get(item, "value")->child;
			CU_ASSERT_TRUE(strcmp(value->string, "stringValue") == 0 ||
			    strcmp(value->string, "intValue") == 0);
			return value->valuestring;
		}
	}
	return "";
}

static const char *name(const cJSON *array, int i)
{
	return json_str(cJSON_GetArrayItem(array, i), "name");
}

static void spans_have_names_times_and_status_only(void)
{
	cJSON *array = written(TRACE_SPANS);
	char *first = json_print(cJSON_GetArrayItem(array, 0));
	char *last = json_print(cJSON_GetArrayItem(array, 3));
	CU_ASSERT_STRING_EQUAL(first,
	    "{\"traceId\":\"4bf92f3577b34da6a3ce929d0e0e4736\",\"spanId\":\"0000000000000001\","
	    "\"parentSpanId\":\"00f067aa0ba902b7\",\"name\":\"invoke_agent builtin:demo\","
	    "\"kind\":1,\"startTimeUnixNano\":\"1000000\",\"endTimeUnixNano\":\"9000000\","
	    "\"attributes\":[],\"status\":{\"code\":1}}");
	CU_ASSERT_STRING_EQUAL(last,
	    "{\"traceId\":\"4bf92f3577b34da6a3ce929d0e0e4736\",\"spanId\":\"0000000000000004\","
	    "\"parentSpanId\":\"0000000000000002\",\"name\":\"execute_tool\",\"kind\":1,"
	    "\"startTimeUnixNano\":\"3000000\",\"endTimeUnixNano\":\"4000000\","
	    "\"attributes\":[],\"status\":{\"code\":2,\"message\":\"tool_error\"}}");
	CU_ASSERT_STRING_EQUAL(name(array, 1), "node agent");
	CU_ASSERT_STRING_EQUAL(name(array, 2), "chat");
	free(first);
	free(last);
	cJSON_Delete(array);
}

static void standard_adds_models_tokens_and_tools(void)
{
	cJSON *array = written(TRACE_STANDARD);
	CU_ASSERT_STRING_EQUAL(name(array, 2), "chat demo");
	CU_ASSERT_STRING_EQUAL(name(array, 3), "execute_tool add");
	CU_ASSERT_STRING_EQUAL(attribute(array, 0, "gen_ai.operation.name"), "invoke_agent");
	CU_ASSERT_STRING_EQUAL(attribute(array, 0, "gen_ai.conversation.id"), "t1");
	CU_ASSERT_STRING_EQUAL(attribute(array, 2, "gen_ai.operation.name"), "chat");
	CU_ASSERT_STRING_EQUAL(attribute(array, 2, "gen_ai.request.model"), "demo");
	CU_ASSERT_STRING_EQUAL(attribute(array, 2, "gen_ai.usage.input_tokens"), "3");
	CU_ASSERT_STRING_EQUAL(attribute(array, 2, "gen_ai.usage.output_tokens"), "1");
	CU_ASSERT_STRING_EQUAL(attribute(array, 3, "gen_ai.tool.name"), "add");
	CU_ASSERT_STRING_EQUAL(attribute(array, 3, "gen_ai.tool.call.id"), "c1");
	CU_ASSERT_STRING_EQUAL(attribute(array, 3, "error.type"), "tool_error");
	CU_ASSERT_STRING_EQUAL(attribute(array, 3, "gen_ai.tool.call.arguments"), "");
	cJSON_Delete(array);
}

static void full_adds_texts_and_arguments(void)
{
	cJSON *message = cJSON_Parse(
	    "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"it's \\\"so\\\"\"},"
	    "{\"type\":\"tool_call\",\"id\":\"c1\",\"name\":\"add\",\"args\":{\"a\":2}}]}");
	cJSON *input = cJSON_Parse(
	    "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]},{}]");
	cJSON *args = cJSON_Parse("{\"a\":2}");
	llm.message = message;
	tool.args = args;
	report.input = input;
	report.input_count = 1;
	cJSON *array = written(TRACE_FULL);
	CU_ASSERT_STRING_EQUAL(attribute(array, 0, "gen_ai.input.messages"),
	    "[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"hi\"}]}]");
	CU_ASSERT_STRING_EQUAL(attribute(array, 2, "gen_ai.output.messages"),
	    "[{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"content\":\"it's "
	    "\\\"so\\\"\"},{\"type\":\"tool_call\",\"id\":\"c1\",\"name\":\"add\",\"arguments\":{"
	    "\"a\":2}}]}]");
	CU_ASSERT_STRING_EQUAL(attribute(array, 3, "gen_ai.tool.call.arguments"), "{\"a\":2}");
	cJSON_Delete(array);
	array = written(TRACE_STANDARD);
	CU_ASSERT_STRING_EQUAL(attribute(array, 0, "gen_ai.input.messages"), "");
	CU_ASSERT_STRING_EQUAL(attribute(array, 2, "gen_ai.output.messages"), "");
	cJSON_Delete(array);
	llm.message = tool.args = report.input = NULL;
	cJSON_Delete(message);
	cJSON_Delete(input);
	cJSON_Delete(args);
}

/* What a node says when it fails may be a user's own words. */
static void a_failure_is_a_code_below_full(void)
{
	report.end = RUN_END_ERROR;
	report.error_code = "NODE_ERROR";
	root.error = "Graph execution failed: jane said no";
	for (int level = TRACE_SPANS; level <= TRACE_FULL; level++) {
		cJSON *array = written((enum trace_level)level);
		CU_ASSERT_STRING_EQUAL(
		    json_str(json_get(cJSON_GetArrayItem(array, 0), "status"), "message"),
		    level == TRACE_FULL ? root.error : "NODE_ERROR");
		cJSON_Delete(array);
	}
	report.end = RUN_END_DONE;
	report.error_code = root.error = NULL;
}

static char *events_of_node(enum trace_level level)
{
	cJSON *array = written(level);
	char *text = json_print(json_get(cJSON_GetArrayItem(array, 1), "events"));
	cJSON_Delete(array);
	return text;
}

static void attempts_that_failed_are_events(void)
{
	struct span_attempt second = {
	    .at = 5, .number = 2, .node = "agent", .code = "NODE_TIMEOUT", .error = "late"};
	struct span_attempt first = {
	    .next = &second, .at = 4, .number = 1, .node = "agent", .code = "X", .error = "jane"};
	static const char *const shown[] = {
	    "[{\"timeUnixNano\":\"4000\",\"name\":\"exception\",\"attributes\":[]},"
	    "{\"timeUnixNano\":\"5000\",\"name\":\"exception\",\"attributes\":[]}]",
	    "\"agentgraph.attempt\",\"value\":{\"intValue\":\"2\"}},{\"key\":\"exception.type\","
	    "\"value\":{\"stringValue\":\"NODE_TIMEOUT\"}}]}]",
	    "{\"key\":\"exception.message\",\"value\":{\"stringValue\":\"late\"}}]}]"};
	node.attempts = &first;
	for (int level = TRACE_SPANS; level <= TRACE_FULL; level++) {
		char *text = events_of_node((enum trace_level)level);
		CU_ASSERT_PTR_NOT_NULL(strstr(text, shown[level]));
		CU_ASSERT_EQUAL(strstr(text, "jane") != NULL, level == TRACE_FULL);
		free(text);
	}
	node.attempts = NULL;
}

static void spans_beyond_the_most_are_counted(void)
{
	report.spans_left_out = 17;
	cJSON *array = written(TRACE_STANDARD);
	CU_ASSERT_STRING_EQUAL(attribute(array, 0, "agentgraph.spans.left_out"), "17");
	cJSON_Delete(array);
	report.spans_left_out = 0;
}

static void a_request_is_whole(void)
{
	struct environment env = {.app_version = "1.0", .mode = "staging"};
	char *prefix = otlp_prefix(&env, "my \"service\""), *suffix = otlp_suffix();
	struct buf out = {0};
	buf_puts(&out, prefix);
	otlp_spans(&out, &report, TRACE_STANDARD);
	buf_puts(&out, suffix);
	cJSON *tree = json_parse(buf_str(&out), out.len, JSON_TRUSTED_DEPTH, NULL);
	CU_ASSERT_PTR_NOT_NULL(tree);
	cJSON_Delete(tree);
	buf_release(&out);
	free(prefix);
	free(suffix);
}

/* ---- what the other side answers ---- */

static void check_complaint(const char *body, const char *expected)
{
	struct http_response response = {.end = HTTP_DONE, .status = 200};
	buf_puts(&response.body, body);
	char *said = otlp_complaint(&response);
	CU_ASSERT_STRING_EQUAL(said ? said : "none", expected);
	free(said);
	http_response_release(&response);
}

static void spans_that_are_refused_are_told(void)
{
	check_complaint(
	    "{\"partialSuccess\":{\"rejectedSpans\":\"3\",\"errorMessage\":\"too many\"}}",
	    "3 spans of a request were refused: too many");
	check_complaint("{\"partialSuccess\":{\"rejectedSpans\":2}}",
	    "2 spans of a request were refused: it does not say why");
	check_complaint("{\"partialSuccess\":{}}", "none");
	check_complaint("{}", "none");
	check_complaint("<html>", "none");
	check_complaint("", "none");
}

/* The first answer has no end, the second one has. */
static bool trickle(int fd, const struct peer_request *request, void *arg)
{
	(void)arg;
	if (request->number > 1)
		return peer_reply(fd, 200, "", "{}");
	peer_puts(fd, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
	for (int i = 0; i < 900 && peer_puts(fd, " "); i++)
		clock_sleep_ms(100);
	return false;
}

static void an_answer_without_an_end_is_given_up(void)
{
	struct http_fixture *server = http_fixture_start(trickle, NULL);
	const struct outlet_setup setup = {.name = "test",
	    .url = xstrdup(http_fixture_url(server, "/")),
	    .batch = 1,
	    .patience_ms = 200,
	    .sent = METRIC_SPANS_SENT,
	    .dropped = METRIC_SPANS_DROPPED};
	struct outlet *outlet = outlet_new(&setup);
	int64_t began = clock_monotonic_ms();
	outlet_put(outlet, "x", 1, 0);
	while (http_fixture_requests(server) < 2 && clock_monotonic_ms() < began + 60000)
		clock_sleep_ms(10);
	CU_ASSERT_EQUAL(http_fixture_requests(server), 2);
	outlet_stop(outlet, clock_monotonic_ms() + 2000);
	outlet_free(outlet);
	http_fixture_stop(server);
}

/* Takes two items at most; arg counts those that it took. */
static bool take_two(int fd, const struct peer_request *request, void *arg)
{
	_Atomic int *taken = arg;
	cJSON *items = cJSON_Parse(request->body);
	int count = cJSON_GetArraySize(items);
	cJSON_Delete(items);
	if (count <= 2)
		*taken += count;
	return peer_reply(fd, count <= 2 ? 200 : 413, "", "{}");
}

static void a_request_that_is_too_large_is_made_in_halves(void)
{
	_Atomic int taken = 0;
	struct http_fixture *server = http_fixture_start(take_two, &taken);
	const struct outlet_setup setup = {.name = "test",
	    .url = xstrdup(http_fixture_url(server, "/")),
	    .prefix = xstrdup("["),
	    .suffix = xstrdup("]"),
	    .batch = 5,
	    .delay_ms = 10000,
	    .patience_ms = OUTLET_PATIENCE_MS,
	    .sent = METRIC_SPANS_SENT,
	    .dropped = METRIC_SPANS_DROPPED};
	struct outlet *outlet = outlet_new(&setup);
	for (int i = 0; i < 5; i++)
		outlet_put(outlet, "12", 2, 0);
	for (int i = 0; i < 1000 && taken < 5; i++)
		clock_sleep_ms(10);
	CU_ASSERT_EQUAL(taken, 5);
	CU_ASSERT_EQUAL(http_fixture_requests(server), 5); /* 5, 3, 2, 1, 2 */
	outlet_stop(outlet, clock_monotonic_ms() + 2000);
	outlet_free(outlet);
	http_fixture_stop(server);
}

static const struct unit_test tests[] = {
    {"an address of an error tracker is read", an_address_is_read},
    {"garbage is no address", garbage_is_no_address},
    {"limits are read by kind", limits_are_read_by_kind},
    {"nonsense limits nothing", nonsense_limits_nothing},
    {"personal data is taken out", personal_data_is_taken_out},
    {"what is nobody's stays", what_is_nobodys_stays},
    {"many brackets cost no more than they are long",
	many_brackets_cost_no_more_than_they_are_long},
    {"spans have names, times and status only", spans_have_names_times_and_status_only},
    {"standard adds models, tokens and tools", standard_adds_models_tokens_and_tools},
    {"full adds texts and arguments", full_adds_texts_and_arguments},
    {"a failure is a code below full", a_failure_is_a_code_below_full},
    {"attempts that failed are events", attempts_that_failed_are_events},
    {"spans beyond the most are counted", spans_beyond_the_most_are_counted},
    {"a request is whole", a_request_is_whole},
    {"spans that are refused are told", spans_that_are_refused_are_told},
    {"an answer without an end is given up", an_answer_without_an_end_is_given_up},
    {"a request that is too large is made in halves",
	a_request_that_is_too_large_is_made_in_halves},
};

int main(void)
{
	memory_init();
	return unit_main("telemetry", tests, UNIT_COUNT(tests));
}
