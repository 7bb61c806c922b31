/* SPDX-License-Identifier: ISC */
/* Variables of the environment: defaults, and what is refused. */
#include "config_fixture.h"

#include "config/environment/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECRET "0123456789abcdef0123456789abcdef"
#define SHORT "hunter2-hunter2-hunter2-hunter2"

#define JWT ", \"auth\": \"jwt\""

/* Sets variables for the next load; each is "NAME=VALUE". */
static void set_variables(const char *const *set)
{
	for (; *set; set++) {
		const char *equals = strchr(*set, '=');
		char *name = strndup(*set, (size_t)(equals - *set));
		setenv(name, equals + 1, 1);
		free(name);
	}
}

#define SET(...) set_variables((const char *const[]){__VA_ARGS__, NULL})

/* What is said about a value that was not meant. */
static const struct row {
	const char *set[4]; /* "NAME=VALUE" */
	const char *part;   /* of the one error, or of a warning */
	const char *with;   /* more members of the configuration, or "" */
} refusals[] = {
    /* booleans */
    {{"HSTS_ENABLED=maybe"}, "HSTS_ENABLED: expected true, 1", ""},
    {{"IS_DEBUG=2"}, "IS_DEBUG", ""},
    /* numbers */
    {{"MAX_BODY_SECONDS=0"}, "MAX_BODY_SECONDS: expected seconds, an integer from 1 to 86400", ""},
    {{"MAX_BODY_SECONDS=86401"}, "found \"86401\"", ""},
    {{"AGENTGRAPH_SEND_TIMEOUT=soon"},
	"AGENTGRAPH_SEND_TIMEOUT: expected seconds, an integer from 1 to 31536000, found \"soon\"",
	""},
    {{"MAX_BODY_TEMP_BYTES=0"}, "MAX_BODY_TEMP_BYTES: expected an integer from 1", ""},
    {{"BODY_TEMP_PATH=/dev/null"},
	"BODY_TEMP_PATH: expected a directory that can be written, found \"/dev/null\"", ""},
    {{"MAX_REQUEST_SIZE=0"}, "MAX_REQUEST_SIZE: expected an integer from 1 to 1000000000000", ""},
    {{"MAX_REQUEST_SIZE=1000000000001"},
	"MAX_REQUEST_SIZE: expected an integer from 1 to 1000000000000", ""},
    {{"MAX_REQUEST_SIZE=10MB"}, "found \"10MB\"", ""},
    {{"MAX_REQUEST_SIZE= 5"}, "MAX_REQUEST_SIZE", ""},
    {{"MAX_REQUEST_SIZE=99999999999999999999"}, "MAX_REQUEST_SIZE", ""},
    {{"HSTS_MAX_AGE=-1"}, "HSTS_MAX_AGE", ""},
    {{"ERROR_TRACKER_TRACES_SAMPLE_RATE=1.1"}, "a number from 0 to 1", ""},
    {{"ERROR_TRACKER_PROFILES_SAMPLE_RATE=nan"}, "PROFILES_SAMPLE_RATE", ""},
    {{"MEDIA_MAX_SIZE_MB=0x10"}, "MEDIA_MAX_SIZE_MB", ""},
    {{"MEDIA_MAX_SIZE_MB=1e"}, "MEDIA_MAX_SIZE_MB", ""},
    {{"REALTIME_INPUT_QUEUE_MAXSIZE=0"}, "REALTIME_INPUT_QUEUE_MAXSIZE", ""},
    /* words and texts */
    {{"AGENTGRAPH_SYNCHRONOUS=off"}, "expected NORMAL or FULL, found \"off\"", ""},
    {{"LOG_LEVEL=loud"}, "LOG_LEVEL: expected DEBUG", ""},
    {{"OTEL_LEVEL=some"}, "spans, standard or full", ""},
    {{"MEDIA_STORAGE_TYPE=tape"}, "memory, local, cloud or database, found \"tape\"", ""},
    {{"MEDIA_STORAGE_TYPE=cloud"}, "MEDIA_CLOUD_BUCKET", ""},
    {{"APP_NAME=\xff"}, "APP_NAME: expected UTF-8", ""},
    {{"REFERRER_POLICY=a\r\nX-Evil: 1"}, "without control characters", ""},
    {{"SENTRY_DSN=\xff"}, "SENTRY_DSN", ""},
    {{"SENTRY_DSN=nowhere"}, "SENTRY_DSN: expected an address", ""},
    {{"OTEL_ENABLED=true", "OTEL_EXPORTER_OTLP_ENDPOINT=collector:4318"},
	"OTEL_EXPORTER_OTLP_ENDPOINT: expected an http or https address", ""},
    /* paths start with a slash and meet no route */
    {{"ROOT_PATH=api"}, "ROOT_PATH: expected a path that starts with /", ""},
    {{"ROOT_PATH=/a b"},
	"ROOT_PATH: expected a path that starts with / and has nothing that a URL escapes, found",
	""},
    {{"DOCS_PATH=/a?b"}, "DOCS_PATH", ""},
    {{"DOCS_PATH=/"}, "DOCS_PATH: expected a path like /docs", ""},
    {{"REDOCS_PATH=//"}, "REDOCS_PATH: expected a path like /docs", ""},
    {{"REDOCS_PATH=/docs"}, "REDOCS_PATH", ""},
    {{"CONSOLE_PATH=/redocs"}, "CONSOLE_PATH: expected another path than that of REDOCS_PATH", ""},
    {{"DOCS_PATH=/ping"}, "DOCS_PATH: expected a path that no route has", ""},
    {{"REDOCS_PATH=/v1/"}, "REDOCS_PATH: expected a path that no route has", ""},
    {{"DOCS_PATH=/_agentgraph/files"}, "DOCS_PATH: expected a path that no route has", ""},
    {{"DOCS_PATH=/v1/_large"}, "DOCS_PATH: expected a path that no route has", ""},
    {{"DOCS_PATH=/v1/files"}, "DOCS_PATH: expected a path that no route has", ""},
    {{"REDOCS_PATH=/.well-known/agent-card.json"}, "REDOCS_PATH: expected a path that no route has",
	""},
    {{"CONSOLE_PATH=/lg"}, "CONSOLE_PATH: expected a path that no route has",
	", \"langgraph\": {\"enabled\": true}"},
    /* a wildcard origin and credentials */
    {{"MODE=production", "CORS_ALLOW_CREDENTIALS=true"}, "CORS_ALLOW_CREDENTIALS: expected false",
	""},
    /* the layout of a snowflake */
    {{"SNOWFLAKE_NODE_ID=128"}, "SNOWFLAKE_NODE_ID: expected a number of 7 bits", ""},
    {{"SNOWFLAKE_WORKER_ID=32"}, "SNOWFLAKE_WORKER_ID", ""},
    {{"SNOWFLAKE_NODE_BITS=19"}, "SNOWFLAKE_TOTAL_BITS", ""},
    {{"SNOWFLAKE_NODE_BITS=-1"}, "SNOWFLAKE_NODE_BITS", ""},
    {{"SNOWFLAKE_TIME_BITS=20"}, "SNOWFLAKE_TIME_BITS", ""},
    {{"SNOWFLAKE_EPOCH=900000000000000"}, "SNOWFLAKE_EPOCH", ""},
    /* keys of tokens */
    {{"JWT_SECRET_KEY=" SECRET}, "JWT_ALGORITHM", JWT},
    {{"JWT_ALGORITHM=none", "JWT_SECRET_KEY=" SECRET}, "JWT_ALGORITHM: expected HS256", JWT},
    {{"JWT_ALGORITHM=hs256", "JWT_SECRET_KEY=" SECRET}, "JWT_ALGORITHM: expected HS256", JWT},
    {{"JWT_ALGORITHM=PS256", "JWT_SECRET_KEY=" SECRET}, "JWT_ALGORITHM: expected HS256", JWT},
    {{"JWT_ALGORITHM=HS1024", "JWT_SECRET_KEY=" SECRET}, "JWT_ALGORITHM: expected HS256", JWT},
    {{"JWT_SECRET_KEY=" SHORT, "JWT_ALGORITHM=HS512", "MODE=production"},
	"JWT_SECRET_KEY: expected at least 32 bytes", JWT},
    {{"JWT_ALGORITHM=ES256", "JWT_SECRET_KEY=" SECRET},
	"JWT_SECRET_KEY: expected a public key as PEM", JWT},
};

static void wrong_values(void)
{
	for (size_t i = 0; i < UNIT_COUNT(refusals); i++) {
		const struct row *r = &refusals[i];
		unit_row("%s", r->set[0]);
		set_variables(r->set);
		CHECK_REFUSED(r->with, r->part);
	}
}

/* Taken with a warning; without any of its own where there is no part. */
static const struct row warnings[] = {
    {{"MODE=prod"}, "MODE: found \"prod\", expected production, ", ""},
    {{"MODE=Staging"}, NULL, ""},
    {{"DOCUMENT_HANDLING=ocr"}, "skip; no text is extracted", ""},
    {{"DOCUMENT_HANDLING=pass_raw"}, NULL, ""},
    {{"ORIGINS=https://a.example,b.example"}, "found \"b.example\"", ""},
    {{"ORIGINS=https://a.example/"}, "without a slash at the end", ""},
    {{"ORIGINS=https://a.example:8443,null,*"}, NULL, ""},
    {{"MEDIA_ALLOWED_CONTENT_TYPES=image/*,.png"}, "image/* or */*, found \".png\"", ""},
    {{"ALLOWED_HOST=a.example,b.example:8080"}, "found \"b.example:8080\"", ""},
    {{"ALLOWED_HOST=https://a.example"}, "without scheme and port", ""},
    {{"ALLOWED_HOST=*.a.example,[::1],127.0.0.1,*"}, NULL, ""},
    {{"OTEL_ENABLED=true"}, "OTEL_EXPORTER_OTLP_ENDPOINT", ""},
    {{"MODE=production"}, "ORIGINS", ""},
    {{"MODE=production"}, "ALLOWED_HOST", ""},
    {{"JWT_SECRET_KEY=" SHORT, "JWT_ALGORITHM=HS256"}, "JWT_SECRET_KEY: expected at least 32 bytes",
	JWT},
};

static void doubtful_values(void)
{
	const size_t usual = 1; /* that there is no authentication */
	for (size_t i = 0; i < UNIT_COUNT(warnings); i++) {
		const struct row *r = &warnings[i];
		unit_row("%s", r->set[0]);
		set_variables(r->set);
		struct load l = fixture_load_with(r->with);
		CU_ASSERT_PTR_NOT_NULL(l.config);
		CU_ASSERT(r->part ? fixture_has_warning(&l, r->part) : l.problems.count == usual);
		for (size_t j = 0; j < l.problems.count; j++)
			CU_ASSERT_PTR_NULL(strstr(l.problems.items[j].text, "hunter2"));
		fixture_end(&l);
	}
}

static void defaults(void)
{
	struct load l = fixture_load_with("");
	CU_ASSERT_PTR_NOT_NULL_FATAL(l.config);
	const struct environment *e = &l.config->env;
	CU_ASSERT_STRING_EQUAL(e->mode, "development");
	CU_ASSERT(!e->production && e->is_debug && e->cors_allow_credentials);
	CU_ASSERT_EQUAL(e->log_level, LOG_INFO);
	CU_ASSERT_STRING_EQUAL(e->logger_name, "agentgraph-cli");
	CU_ASSERT_STRING_EQUAL(e->summary, "agentgraph backend");
	CU_ASSERT(e->origins.count == 1 && strcmp(e->origins.items[0], "*") == 0);
	CU_ASSERT_STRING_EQUAL(e->root_path, "");
	CU_ASSERT_STRING_EQUAL(e->docs_path, "/docs");
	CU_ASSERT_STRING_EQUAL(e->redocs_path, "/redocs");
	CU_ASSERT_STRING_EQUAL(e->console_path, "/console");
	CU_ASSERT(!e->cache_url && !e->jwt_secret && !e->jwt_algorithm && !e->error_tracker_dsn);
	CU_ASSERT_EQUAL(e->error_tracker_traces_rate, 0.1);
	CU_ASSERT_EQUAL(e->otel_level, TRACE_STANDARD);
	CU_ASSERT_EQUAL(e->hsts_max_age, 31536000);
	CU_ASSERT_STRING_EQUAL(e->xss_protection, "1; mode=block");
	CU_ASSERT_EQUAL(e->max_request_size, 10485760);
	CU_ASSERT_EQUAL(e->max_pending, 16);
	CU_ASSERT_EQUAL(e->max_body_seconds, 300);
	CU_ASSERT_EQUAL(e->max_body_files, 1073741824);
	CU_ASSERT_PTR_NULL(e->body_path);
	CU_ASSERT_EQUAL(e->media_max_size_mb, 25.0);
	CU_ASSERT_EQUAL(e->media_allowed_types.count, 0);
	CU_ASSERT_EQUAL(e->media_signed_url_ttl, 3600);
	CU_ASSERT(!e->use_snowflake);
	fixture_end(&l);
}

static void header_defaults(void)
{
	CHECK_ACCEPTED("",
	    strcmp(c->env.permissions_policy,
		"geolocation=(), microphone=(), camera=(), payment=(), usb=(), "
		"magnetometer=(), gyroscope=(), accelerometer=()") == 0);
	CHECK_ACCEPTED("",
	    strcmp(c->env.csp_policy,
		"default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src "
		"'self' data: blob:; media-src 'self' data: blob:; font-src 'self' data:; "
		"connect-src 'self'; frame-ancestors 'none'; base-uri 'self'; form-action "
		"'self'") == 0);
}

static void booleans(void)
{
	static const char *const yes[] = {"true", "1", "YES", "On"};
	static const char *const no[] = {"False", "0", "no", "OFF"};
	for (size_t i = 0; i < UNIT_COUNT(yes); i++) {
		unit_row("%s", yes[i]);
		setenv("HSTS_PRELOAD", yes[i], 1);
		setenv("HSTS_ENABLED", no[i], 1);
		CHECK_ACCEPTED("", c->env.hsts_preload && !c->env.hsts);
	}
}

static void numbers(void)
{
	SET("HSTS_MAX_AGE=0", "ERROR_TRACKER_TRACES_SAMPLE_RATE=1", "MEDIA_MAX_SIZE_MB=0.5");
	CHECK_ACCEPTED("",
	    c->env.hsts_max_age == 0 && c->env.error_tracker_traces_rate == 1 &&
		c->env.media_max_size_mb == 0.5);
}

static void words(void)
{
	SET("LOG_LEVEL=warning", "OTEL_LEVEL=full", "AGENTGRAPH_SYNCHRONOUS=full");
	CHECK_ACCEPTED("",
	    c->env.log_level == LOG_WARNING && c->env.otel_level == TRACE_FULL &&
		c->env.synchronous_full);
	SET("AGENTGRAPH_SYNCHRONOUS=Normal");
	CHECK_ACCEPTED("", !c->env.synchronous_full);
}

static void empty_counts_as_unset(void)
{
	SET("APP_NAME=", "HSTS_MAX_AGE=", "CACHE_URL=");
	CHECK_ACCEPTED("",
	    strcmp(c->env.app_name, "MyApp") == 0 && c->env.hsts_max_age == 31536000 &&
		!c->env.cache_url);
	SET("FRAME_OPTIONS=", "CSP_POLICY=");
	CHECK_ACCEPTED("", !c->env.frame_options[0] && !c->env.csp_policy[0]);
}

static void paths(void)
{
	SET("ROOT_PATH=/api/v2/", "DOCS_PATH=");
	CHECK_ACCEPTED("", strcmp(c->env.root_path, "/api/v2") == 0 && !c->env.docs_path[0]);
	SET("MODE=production");
	CHECK_ACCEPTED("", !c->env.docs_path[0] && !c->env.redocs_path[0]);
	SET("MODE=production", "DOCS_PATH=/docs");
	CHECK_ACCEPTED("", strcmp(c->env.docs_path, "/docs") == 0 && !c->env.redocs_path[0]);
	SET("DOCS_PATH=/_agentgraphs", "REDOCS_PATH=/lg", "CONSOLE_PATH=/ping/x");
	CHECK_ACCEPTED("", strcmp(c->env.redocs_path, "/lg") == 0);
}

static void mode_case(void)
{
	SET("MODE=Production");
	CHECK_ACCEPTED("", c->env.production && strcmp(c->env.mode, "production") == 0);
	SET("MODE=Staging");
	CHECK_ACCEPTED("", !c->env.production && strcmp(c->env.mode, "staging") == 0);
}

static void aliases(void)
{
	SET("REDIS_URL=redis://old", "SENTRY_DSN=http://k@dsn/1");
	CHECK_ACCEPTED("",
	    strcmp(c->env.cache_url, "redis://old") == 0 &&
		strcmp(c->env.error_tracker_dsn, "http://k@dsn/1") == 0);
	SET("REDIS_URL=redis://old", "CACHE_URL=redis://new");
	CHECK_ACCEPTED("", strcmp(c->cache, "redis://new") == 0);
}

static void lists(void)
{
	SET("ORIGINS= https://a.example , ,https://b.example,");
	CHECK_ACCEPTED("",
	    c->env.origins.count == 2 &&
		strcmp(c->env.origins.items[0], "https://a.example") == 0 &&
		strcmp(c->env.origins.items[1], "https://b.example") == 0);
}

static void credentials(void)
{
	SET("MODE=production");
	CHECK_ACCEPTED("", !c->env.cors_allow_credentials);
	SET("MODE=production", "CORS_ALLOW_CREDENTIALS=false");
	CHECK_ACCEPTED("", !c->env.cors_allow_credentials);
	SET("MODE=production", "ORIGINS=https://a.example", "CORS_ALLOW_CREDENTIALS=true");
	CHECK_ACCEPTED("", c->env.cors_allow_credentials);
	SET("CORS_ALLOW_CREDENTIALS=true");
	CHECK_ACCEPTED("", c->env.cors_allow_credentials);
}

static void cloud_bucket(void)
{
	SET("MEDIA_STORAGE_TYPE=cloud", "MEDIA_CLOUD_BUCKET=b",
	    "MEDIA_CLOUD_ENDPOINT=http://127.0.0.1:9000/");
	CHECK_ACCEPTED("", strcmp(c->env.media_cloud_endpoint, "http://127.0.0.1:9000") == 0);
}

static void snowflake(void)
{
	SET("SNOWFLAKE_NODE_ID=127");
	CHECK_ACCEPTED("",
	    c->env.use_snowflake && c->env.snowflake.node_id == 127 &&
		c->env.snowflake.worker_bits == 5 && c->env.snowflake.epoch_ms == 1723323246031);
	SET("SNOWFLAKE_NODE_BITS=18");
	CHECK_ACCEPTED("", snowflake_sequence_bits(&c->env.snowflake) == 1);
}

static void jwt_keys(void)
{
	struct load l = fixture_load_with(JWT);
	CU_ASSERT_EQUAL(l.problems.errors, 2);
	CU_ASSERT(fixture_has_error(&l, "JWT_SECRET_KEY"));
	CU_ASSERT(fixture_has_error(&l, "JWT_ALGORITHM"));
	fixture_end(&l);
	SET("JWT_SECRET_KEY=" SECRET, "JWT_ALGORITHM=HS256");
	CHECK_ACCEPTED(JWT, c->auth == AUTH_JWT);
	SET("JWT_SECRET_KEY=\n-----BEGIN PUBLIC KEY-----\n", "JWT_ALGORITHM=RS256");
	CHECK_ACCEPTED(JWT, c->auth == AUTH_JWT);
	SET("JWT_ALGORITHM=none");
	CHECK_ACCEPTED("", c->auth == AUTH_NONE);
}

static void all_mistakes_at_once(void)
{
	SET("LOG_LEVEL=loud", "HSTS_ENABLED=maybe");
	struct load l = fixture_load_with(", \"auth\": 7");
	CU_ASSERT_PTR_NULL(l.config);
	CU_ASSERT_EQUAL(l.problems.errors, 3);
	fixture_end(&l);
}

/* agentgraph.json(5); the tests clear the environment, which says where it is. */
static char manual[4096];

static void the_manual_names_all(void)
{
	static char text[256 << 10];
	const char *name;
	FILE *file = fopen(manual, "re");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	for (size_t i = 0; (name = environment_name(i)); i++) {
		unit_row("%s", name);
		CU_ASSERT_PTR_NOT_NULL(strstr(text, name));
	}
}

static const struct unit_test tests[] = {
    {"without variables everything has its default", defaults},
    {"the long security headers have their built-in texts", header_defaults},
    {"a value that is not meant is refused with what was expected", wrong_values},
    {"a value that hardly says what was meant is warned about, and no secret is shown",
	doubtful_values},
    {"booleans are eight words in any case", booleans},
    {"numbers may stand at the ends of their ranges", numbers},
    {"words may have any case", words},
    {"an empty variable counts as unset, but for texts of headers", empty_counts_as_unset},
    {"paths end without a slash, and pages are off in production", paths},
    {"the case of MODE does not matter", mode_case},
    {"the older names are read where the newer ones are not set", aliases},
    {"lists are split on commas and trimmed", lists},
    {"a wildcard origin and credentials exclude each other in production", credentials},
    {"cloud storage has a bucket", cloud_bucket},
    {"the snowflake layout fits", snowflake},
    {"jwt needs secret and algorithm", jwt_keys},
    {"all mistakes are reported at once", all_mistakes_at_once},
    {"the manual names all variables", the_manual_names_all},
};

int main(void)
{
	const char *top = getenv("top_srcdir");
	snprintf(manual, sizeof(manual), "%s/man/agentgraph.json.5", top ? top : ".");
	fixture_init();
	return unit_main("config_environment", tests, UNIT_COUNT(tests));
}
