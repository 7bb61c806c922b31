/* SPDX-License-Identifier: ISC */
/* Lines of the log: their form, and what is left out. */
#include "base/log/log.h"
#include "base/buf.h"
#include "base/log/redact.h"
#include "base/utf8.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char lines[65536]; /* what was logged since capture_begin */
static int saved_stderr, capture;

static void capture_begin(void)
{
	saved_stderr = dup(STDERR_FILENO);
	capture = open(unit_path("log"), O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
	dup2(capture, STDERR_FILENO);
}

static const char *capture_end(void)
{
	dup2(saved_stderr, STDERR_FILENO);
	close(saved_stderr);
	ssize_t len = pread(capture, lines, sizeof(lines) - 1, 0);
	lines[len < 0 ? 0 : len] = '\0';
	close(capture);
	return lines;
}

static bool matches(const char *text, const char *pattern)
{
	regex_t regex;
	CU_ASSERT_EQUAL_FATAL(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
	bool found = regexec(&regex, text, 0, NULL, 0) == 0;
	regfree(&regex);
	return found;
}

#define TIME "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6}Z"

static void a_line_has_time_level_name_and_process(void)
{
	log_init("my-logger", LOG_INFO);
	capture_begin();
	log_warning("%d files are gone", 3);
	const char *text = capture_end();
	char pattern[200];
	snprintf(pattern, sizeof(pattern),
	    "^" TIME " WARNING my-logger\\[%ld\\] 3 files are gone\n$", (long)getpid());
	CU_ASSERT_TRUE(matches(text, pattern));
}

static void the_request_id_is_in_its_lines(void)
{
	log_init("x", LOG_INFO);
	capture_begin();
	log_request("3f0e9f3c-0d7e-4c0d-9a52-5d1f8c1b2a77");
	log_info("inside");
	log_request(NULL);
	log_info("outside");
	const char *text = capture_end();
	CU_ASSERT_PTR_NOT_NULL(
	    strstr(text, "] request_id=3f0e9f3c-0d7e-4c0d-9a52-5d1f8c1b2a77 inside\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "] outside\n"));
}

static void *log_elsewhere(void *arg)
{
	log_info("elsewhere");
	return arg;
}

static void a_request_belongs_to_its_thread(void)
{
	pthread_t thread;
	log_init("x", LOG_INFO);
	capture_begin();
	log_request("mine");
	pthread_create(&thread, NULL, log_elsewhere, NULL);
	pthread_join(thread, NULL);
	log_request(NULL);
	CU_ASSERT_PTR_NOT_NULL(strstr(capture_end(), "] elsewhere\n"));
}

static void levels_below_the_threshold_are_silent(void)
{
	log_init("x", LOG_WARNING);
	capture_begin();
	log_debug("d");
	log_info("i");
	log_warning("w");
	log_error("e");
	const char *text = capture_end();
	CU_ASSERT_TRUE(matches(text, "^[^\n]* WARNING [^\n]* w\n[^\n]* ERROR [^\n]* e\n$"));
}

static void levels_have_names(void)
{
	static const struct {
		const char *text;
		enum log_level level;
	} known[] = {{"DEBUG", LOG_DEBUG}, {"info", LOG_INFO}, {"Warning", LOG_WARNING},
	    {"WARN", LOG_WARNING}, {"error", LOG_ERROR}, {"CRITICAL", LOG_ERROR}};
	enum log_level level;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		CU_ASSERT_TRUE(log_level_parse(known[i].text, &level));
		CU_ASSERT_EQUAL(level, known[i].level);
	}
	level = LOG_WARNING;
	CU_ASSERT_FALSE(log_level_parse("LOUD", &level));
	CU_ASSERT_FALSE(log_level_parse("", &level));
	CU_ASSERT_FALSE(log_level_parse("INFO ", &level));
	CU_ASSERT_EQUAL(level, LOG_WARNING);
}

static void one_record_is_one_line(void)
{
	log_init("x", LOG_INFO);
	capture_begin();
	log_info("a\nERROR forged\r\t\x1B[31m\x7F\xC2\x9B%s", "é");
	const char *text = capture_end();
	CU_ASSERT_PTR_NOT_NULL(
	    strstr(text, "] a\\nERROR forged\\r\\t\\u001b[31m\\u007f\\u009bé\n"));
	CU_ASSERT_PTR_EQUAL(strchr(text, '\n') + 1, text + strlen(text));
}

static void a_record_is_valid_utf8(void)
{
	log_init("x", LOG_INFO);
	capture_begin();
	log_info("bad \xFF\xC3 x");
	CU_ASSERT_PTR_NOT_NULL(strstr(capture_end(), "] bad ?? x\n"));
}

static void a_long_line_is_cut_at_a_character(void)
{
	log_init("x", LOG_INFO);
	struct buf b = {0};
	for (int i = 0; i < 5000; i++)
		buf_puts(&b, "é ");
	for (int shift = 0; shift < 3; shift++) {
		capture_begin();
		log_info("%.*s%s", shift, "---", buf_str(&b));
		const char *text = capture_end();
		size_t len = strlen(text);
		CU_ASSERT(len <= 8192 && len > 8180);
		CU_ASSERT_EQUAL(text[len - 1], '\n');
		CU_ASSERT_TRUE(utf8_valid(text, len));
	}
	buf_release(&b);
}

static void errno_survives(void)
{
	log_init("x", LOG_INFO);
	capture_begin();
	errno = ENOSPC;
	log_info("disk full");
	CU_ASSERT_EQUAL(errno, ENOSPC);
	close(STDERR_FILENO);
	errno = ENOSPC;
	log_info("nobody reads this");
	CU_ASSERT_EQUAL(errno, ENOSPC);
	CU_ASSERT_PTR_NULL(strstr(capture_end(), "nobody"));
}

static void check_redacted(const char *text, const char *expected, int line)
{
	struct buf b = {0};
	redact(&b, text);
	CU_assertImplementation(strcmp(buf_str(&b), expected) == 0, (unsigned)line, buf_str(&b),
	    __FILE__, "", CU_FALSE);
	buf_release(&b);
}

#define GIVES(text, expected) check_redacted(text, expected, __LINE__)
#define KEEPS(text) check_redacted(text, text, __LINE__)

static void known_secrets_are_struck(void)
{
	static const struct {
		const char *secret, *text, *expected;
	} rows[] = {
	    {"k3y-of-ours", "k3y-of-ours? k3y-of-ours", "***********? ***********"},
	    {"Bearer k3y-of-ours", "no Bearer k3y-of-ours, k3y-of-ours",
		"no ******************, ***********"},
	    {"Bearer abc", "abc Bearer abc", "abc **********"},
	    {"eu", "eu is closed", "eu is closed"},
	    {"", "nothing", "nothing"},
	};
	for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
		char text[64];
		unit_row("%s", rows[i].secret);
		snprintf(text, sizeof(text), "%s", rows[i].text);
		redact_known(text, rows[i].secret);
		CU_ASSERT_STRING_EQUAL(text, rows[i].expected);
	}
}

static void assigned_secrets_are_redacted(void)
{
	GIVES("password=hunter2 user=bob", "password=***REDACTED*** user=bob");
	GIVES("GET /v1/graph/ws?token=abc&x=1", "GET /v1/graph/ws?token=***REDACTED***&x=1");
	GIVES("JWT_SECRET_KEY = \"a b c\", MODE=x", "JWT_SECRET_KEY = ***REDACTED***, MODE=x");
	GIVES("api-key='x y'; z", "api-key=***REDACTED***; z");
	GIVES("(auth=1)", "(auth=***REDACTED***)");
	GIVES("Cookie=a\nb", "Cookie=***REDACTED***\nb");
	GIVES("session_id=", "session_id=***REDACTED***");
	GIVES("password=\"never closed", "password=***REDACTED***");
	GIVES("authorization=Bearer abc.def user=bob", "authorization=***REDACTED*** user=bob");
	GIVES("authorization=Basic dTpw== user=bob", "authorization=***REDACTED*** user=bob");
	GIVES("auth=Basic \"dTpw\" user=bob", "auth=***REDACTED*** user=bob");
	GIVES("auth=basic", "auth=***REDACTED***");
}

static void secrets_in_json_are_redacted(void)
{
	GIVES("{\"Password\": \"a\\\"b\", \"n\": 1}", "{\"Password\": ***REDACTED***, \"n\": 1}");
	GIVES("{\"pin\":1234,\"n\":1}", "{\"pin\":***REDACTED***,\"n\":1}");
	GIVES("{\"credentials\":{\"a\":[\"}\"],\"b\":2},\"n\":1}",
	    "{\"credentials\":***REDACTED***,\"n\":1}");
	GIVES("{\"keys\":[\"a\",\"b\"]}", "{\"keys\":***REDACTED***}");
	GIVES("\"{\\\"access_token\\\": \\\"x y\\\", \\\"n\\\": 1}\"",
	    "\"{\\\"access_token\\\": ***REDACTED***, \\\"n\\\": 1}\"");
	GIVES("{'ssn': 'x', 'n': 'y'}", "{'ssn': ***REDACTED***, 'n': 'y'}");
}

static void every_telling_name_is_known(void)
{
	static const char *const names[] = {"token", "password", "secret", "key", "credential",
	    "authorization", "auth", "bearer", "jwt", "session", "cookie", "passphrase", "pin",
	    "ssn", "credit_card"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char text[64], expected[64];
		snprintf(text, sizeof(text), "{\"my_%s\":\"v\"}", names[i]);
		snprintf(expected, sizeof(expected), "{\"my_%s\":***REDACTED***}", names[i]);
		GIVES(text, expected);
	}
}

static void running_text_is_left_alone(void)
{
	KEEPS("agentgraph.json: authorization: expected one of ownership, allow_all");
	KEEPS("the key is missing");
	KEEPS("user=bob, n=1, {\"name\": \"x\"}");
	KEEPS("3f0e9f3c-0d7e-4c0d-9a52-5d1f8c1b2a77");
	KEEPS("");
	KEEPS("it's a \"quoted\" é text [1] {2}");
	KEEPS("eyJustAWord. And. More");
}

static void tokens_are_recognised_anywhere(void)
{
	GIVES("got eyJhbGciOi.eyJzdWIiOiIx.sig_-1, bad", "got ***JWT_TOKEN***, bad");
	GIVES("eyJhbGciOiJub25lIn0.e30.", "***JWT_TOKEN***");
	GIVES("Authorization: Bearer abc.def/+= next", "Authorization: ***BEARER_TOKEN*** next");
	GIVES("bearer  xyz", "***BEARER_TOKEN***");
	GIVES("bearer Bearer xyz", "***BEARER_TOKEN***");
	KEEPS("Bearer");
	KEEPS("Bearer bearer");
	GIVES("Bearer  bearer=xyz", "Bearer  bearer=***REDACTED***");
	KEEPS("no bearer.");
}

/* Each looked for its credential behind all that follow. */
static void many_words_without_a_credential_cost_no_more_than_they_are_long(void)
{
	struct buf text = {0};
	for (int i = 0; i < 20000; i++)
		buf_puts(&text, "Bearer ");
	clock_t start = clock();
	KEEPS(buf_str(&text));
	CU_ASSERT((clock() - start) / CLOCKS_PER_SEC < 5);
	buf_release(&text);
}

static void long_runs_keep_their_ends(void)
{
	GIVES("id abcd5678901234567890123456789wxyz.", "id abcd...wxyz.");
	KEEPS("id abcd567890123456789012345678wxyz.");
	GIVES("x_0123456789012345678901234567890123456789-y", "x_0123...6789-y");
}

static void deep_nesting_is_dropped(void)
{
	KEEPS("[[[[[[[[[[1]]]]]]]]]]");
	GIVES("[[[[[[[[[[[1],{\"a\":2}]]]]]]]]]] end",
	    "[[[[[[[[[[***MAX_DEPTH_REACHED***,***MAX_DEPTH_REACHED***]]]]]]]]]] end");
	KEEPS("]]]]][[[[[[[[[[");
	GIVES("[[[[[[[[[[[never closed", "[[[[[[[[[[***MAX_DEPTH_REACHED***");
}

static void the_run_id_is_in_its_lines(void)
{
	log_init("l", LOG_INFO);
	capture_begin();
	log_request("req");
	log_run("run\n1");
	log_info("here");
	log_run(NULL);
	log_info("there");
	log_request(NULL);
	const char *text = capture_end();
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "request_id=req run_id=run\\n1 here\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "request_id=req there\n"));
}

static void a_line_can_be_a_json_object(void)
{
	char pattern[300];
	log_init("l", LOG_INFO);
	log_set_format(LOG_JSON);
	capture_begin();
	log_request("req");
	log_run("r\"1");
	log_error("a \"quoted\" line\nand password=secret");
	log_run(NULL);
	log_request(NULL);
	log_info("bare");
	const char *text = capture_end();
	log_set_format(LOG_PLAIN);
	snprintf(pattern, sizeof(pattern),
	    "^[{]\"time\":\"" TIME "\",\"level\":\"ERROR\",\"logger\":\"l\",\"pid\":%ld,"
	    "\"request_id\":\"req\",\"run_id\":\"r..1\",\"message\":",
	    (long)getpid());
	CU_ASSERT_TRUE(matches(text, pattern));
	CU_ASSERT_PTR_NOT_NULL(
	    strstr(text, "\"a \\\"quoted\\\" line\\nand password=***REDACTED***\"}\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, ",\"message\":\"bare\"}\n"));
}

static void a_long_message_leaves_the_json_whole(void)
{
	char *text = malloc(20001);
	memset(text, '\1', 20000);
	text[20000] = '\0';
	log_init("l", LOG_INFO);
	log_set_format(LOG_JSON);
	capture_begin();
	log_info("%s", text);
	const char *line = capture_end();
	log_set_format(LOG_PLAIN);
	CU_ASSERT_PTR_NOT_NULL(strstr(line, "\\u0001\"}\n"));
	CU_ASSERT_TRUE(strlen(line) < 8192);
	free(text);
}

static const struct unit_test tests[] = {
    {"the run id is in its lines", the_run_id_is_in_its_lines},
    {"a line can be a JSON object", a_line_can_be_a_json_object},
    {"a long message leaves the JSON whole", a_long_message_leaves_the_json_whole},
    {"a line has time, level, name and process", a_line_has_time_level_name_and_process},
    {"the request id is in its lines", the_request_id_is_in_its_lines},
    {"a request belongs to its thread", a_request_belongs_to_its_thread},
    {"levels below the threshold are silent", levels_below_the_threshold_are_silent},
    {"levels have names", levels_have_names},
    {"one record is one line", one_record_is_one_line},
    {"a record is valid UTF-8", a_record_is_valid_utf8},
    {"a long line is cut at a character", a_long_line_is_cut_at_a_character},
    {"errno survives", errno_survives},
    {"known secrets are struck", known_secrets_are_struck},
    {"assigned secrets are redacted", assigned_secrets_are_redacted},
    {"secrets in JSON are redacted", secrets_in_json_are_redacted},
    {"every telling name is known", every_telling_name_is_known},
    {"running text is left alone", running_text_is_left_alone},
    {"tokens are recognised anywhere", tokens_are_recognised_anywhere},
    {"many words without a credential cost no more than they are long",
	many_words_without_a_credential_cost_no_more_than_they_are_long},
    {"long runs keep their ends", long_runs_keep_their_ends},
    {"deep nesting is dropped", deep_nesting_is_dropped},
};

int main(void)
{
	return unit_main("log", tests, UNIT_COUNT(tests));
}
