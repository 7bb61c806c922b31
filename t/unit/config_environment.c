/* SPDX-License-Identifier: ISC */
#include "config_fixture.h"

#include <stdlib.h>
#include <string.h>

#define SECRET "0123456789abcdef0123456789abcdef"

/* Asserts that the variable with this value stops the start with one error that has the part. */
static void check_refused(const char *name, const char *value, const char *part)
{
	setenv(name, value, 1);
	CHECK_REFUSED("", part);
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
	for (size_t i = 0; i < 4; i++) {
		setenv("HSTS_PRELOAD", yes[i], 1);
		setenv("HSTS_ENABLED", no[i], 1);
		CHECK_ACCEPTED("", c->env.hsts_preload && !c->env.hsts);
	}
	check_refused("HSTS_ENABLED", "maybe", "HSTS_ENABLED: expected true, 1");
	check_refused("IS_DEBUG", "2", "IS_DEBUG");
}

static void numbers(void)
{
	setenv("HSTS_MAX_AGE", "0", 1);
	setenv("ERROR_TRACKER_TRACES_SAMPLE_RATE", "1", 1);
	setenv("MEDIA_MAX_SIZE_MB", "0.5", 1);
	CHECK_ACCEPTED("",
	    c->env.hsts_max_age == 0 && c->env.error_tracker_traces_rate == 1 &&
		c->env.media_max_size_mb == 0.5);
	check_refused("MAX_BODY_SECONDS", "0",
	    "MAX_BODY_SECONDS: expected seconds, an integer from 1 to 86400");
	check_refused("MAX_BODY_SECONDS", "86401", "found \"86401\"");
	check_refused(
	    "MAX_BODY_TEMP_BYTES", "0", "MAX_BODY_TEMP_BYTES: expected an integer from 1");
	check_refused("BODY_TEMP_PATH", "/dev/null",
	    "BODY_TEMP_PATH: expected a directory that can be written, found \"/dev/null\"");
	check_refused("MAX_REQUEST_SIZE", "0",
	    "MAX_REQUEST_SIZE: expected an integer from 1 to 1000000000000");
	check_refused("MAX_REQUEST_SIZE", "1000000000001",
	    "MAX_REQUEST_SIZE: expected an integer from 1 to 1000000000000");
	check_refused("MAX_REQUEST_SIZE", "10MB", "found \"10MB\"");
	check_refused("MAX_REQUEST_SIZE", " 5", "MAX_REQUEST_SIZE");
	check_refused("MAX_REQUEST_SIZE", "99999999999999999999", "MAX_REQUEST_SIZE");
	check_refused("HSTS_MAX_AGE", "-1", "HSTS_MAX_AGE");
	check_refused("ERROR_TRACKER_TRACES_SAMPLE_RATE", "1.1", "a number from 0 to 1");
	check_refused("ERROR_TRACKER_PROFILES_SAMPLE_RATE", "nan", "PROFILES_SAMPLE_RATE");
	check_refused("MEDIA_MAX_SIZE_MB", "0x10", "MEDIA_MAX_SIZE_MB");
	check_refused("MEDIA_MAX_SIZE_MB", "1e", "MEDIA_MAX_SIZE_MB");
	check_refused("REALTIME_INPUT_QUEUE_MAXSIZE", "0", "REALTIME_INPUT_QUEUE_MAXSIZE");
}

static void words(void)
{
	setenv("LOG_LEVEL", "warning", 1);
	setenv("OTEL_LEVEL", "full", 1);
	setenv("AGENTGRAPH_SYNCHRONOUS", "full", 1);
	CHECK_ACCEPTED("",
	    c->env.log_level == LOG_WARNING && c->env.otel_level == TRACE_FULL &&
		c->env.synchronous_full);
	setenv("AGENTGRAPH_SYNCHRONOUS", "Normal", 1);
	CHECK_ACCEPTED("", !c->env.synchronous_full);
	check_refused("AGENTGRAPH_SYNCHRONOUS", "off", "expected NORMAL or FULL, found \"off\"");
	check_refused("LOG_LEVEL", "loud", "LOG_LEVEL: expected DEBUG");
	check_refused("OTEL_LEVEL", "some", "spans, standard or full");
	check_refused("MEDIA_STORAGE_TYPE", "tape", "memory, local or cloud, found \"tape\"");
	check_refused("APP_NAME", "\xff", "APP_NAME: expected UTF-8");
}

static void empty_counts_as_unset(void)
{
	setenv("APP_NAME", "", 1);
	setenv("HSTS_MAX_AGE", "", 1);
	setenv("CACHE_URL", "", 1);
	CHECK_ACCEPTED("",
	    strcmp(c->env.app_name, "MyApp") == 0 && c->env.hsts_max_age == 31536000 &&
		!c->env.cache_url);
}

static void empty_header_text(void)
{
	setenv("FRAME_OPTIONS", "", 1);
	setenv("CSP_POLICY", "", 1);
	CHECK_ACCEPTED("", !c->env.frame_options[0] && !c->env.csp_policy[0]);
	check_refused("REFERRER_POLICY", "a\r\nX-Evil: 1", "without control characters");
}

static void paths(void)
{
	setenv("ROOT_PATH", "/api/v2/", 1);
	setenv("DOCS_PATH", "", 1);
	CHECK_ACCEPTED("", strcmp(c->env.root_path, "/api/v2") == 0 && !c->env.docs_path[0]);
	check_refused("ROOT_PATH", "api", "ROOT_PATH: expected a path that starts with /");
	check_refused("DOCS_PATH", "/a?b", "DOCS_PATH");
	check_refused("DOCS_PATH", "/", "DOCS_PATH: expected a path like /docs");
	check_refused("REDOCS_PATH", "//", "REDOCS_PATH: expected a path like /docs");
	check_refused("REDOCS_PATH", "/docs", "REDOCS_PATH");
	check_refused("DOCS_PATH", "/ping", "DOCS_PATH: expected a path that no route has");
	check_refused("REDOCS_PATH", "/v1/", "REDOCS_PATH: expected a path that no route has");
}

static void pages_in_production(void)
{
	setenv("MODE", "production", 1);
	CHECK_ACCEPTED("", !c->env.docs_path[0] && !c->env.redocs_path[0]);
	setenv("MODE", "production", 1);
	setenv("DOCS_PATH", "/docs", 1);
	CHECK_ACCEPTED("", strcmp(c->env.docs_path, "/docs") == 0 && !c->env.redocs_path[0]);
}

static void mode_case(void)
{
	setenv("MODE", "Production", 1);
	CHECK_ACCEPTED("", c->env.production && strcmp(c->env.mode, "production") == 0);
	setenv("MODE", "Staging", 1);
	CHECK_ACCEPTED("", !c->env.production && strcmp(c->env.mode, "staging") == 0);
}

static void aliases(void)
{
	setenv("REDIS_URL", "redis://old", 1);
	setenv("SENTRY_DSN", "http://k@dsn/1", 1);
	CHECK_ACCEPTED("",
	    strcmp(c->env.cache_url, "redis://old") == 0 &&
		strcmp(c->env.error_tracker_dsn, "http://k@dsn/1") == 0);
	setenv("REDIS_URL", "redis://old", 1);
	setenv("CACHE_URL", "redis://new", 1);
	CHECK_ACCEPTED("", strcmp(c->cache, "redis://new") == 0);
	check_refused("SENTRY_DSN", "\xff", "SENTRY_DSN");
	check_refused("SENTRY_DSN", "nowhere", "SENTRY_DSN: expected an address");
}

static void lists(void)
{
	setenv("ORIGINS", " https://a.example , ,https://b.example,", 1);
	CHECK_ACCEPTED("",
	    c->env.origins.count == 2 &&
		strcmp(c->env.origins.items[0], "https://a.example") == 0 &&
		strcmp(c->env.origins.items[1], "https://b.example") == 0);
}

static void cors_in_production(void)
{
	setenv("MODE", "production", 1);
	struct load l = fixture_load_with("");
	CU_ASSERT(l.config && !l.config->env.cors_allow_credentials);
	CU_ASSERT(fixture_has_warning(&l, "ORIGINS"));
	CU_ASSERT(fixture_has_warning(&l, "ALLOWED_HOST"));
	fixture_end(&l);

	setenv("MODE", "production", 1);
	check_refused("CORS_ALLOW_CREDENTIALS", "true", "CORS_ALLOW_CREDENTIALS: expected false");
	setenv("MODE", "production", 1);
	setenv("CORS_ALLOW_CREDENTIALS", "false", 1);
	CHECK_ACCEPTED("", !c->env.cors_allow_credentials);
	setenv("MODE", "production", 1);
	setenv("ORIGINS", "https://a.example", 1);
	setenv("CORS_ALLOW_CREDENTIALS", "true", 1);
	CHECK_ACCEPTED("", c->env.cors_allow_credentials);
	setenv("CORS_ALLOW_CREDENTIALS", "true", 1);
	CHECK_ACCEPTED("", c->env.cors_allow_credentials);
}

static void cloud_bucket(void)
{
	check_refused("MEDIA_STORAGE_TYPE", "cloud", "MEDIA_CLOUD_BUCKET");
	setenv("MEDIA_STORAGE_TYPE", "cloud", 1);
	setenv("MEDIA_CLOUD_BUCKET", "b", 1);
	setenv("MEDIA_CLOUD_ENDPOINT", "http://127.0.0.1:9000/", 1);
	CHECK_ACCEPTED("", strcmp(c->env.media_cloud_endpoint, "http://127.0.0.1:9000") == 0);
}

static void snowflake(void)
{
	setenv("SNOWFLAKE_NODE_ID", "127", 1);
	CHECK_ACCEPTED("",
	    c->env.use_snowflake && c->env.snowflake.node_id == 127 &&
		c->env.snowflake.worker_bits == 5 && c->env.snowflake.epoch_ms == 1723323246031);
	check_refused("SNOWFLAKE_NODE_ID", "128", "SNOWFLAKE_NODE_ID: expected a number of 7 bits");
	check_refused("SNOWFLAKE_WORKER_ID", "32", "SNOWFLAKE_WORKER_ID");
	check_refused("SNOWFLAKE_NODE_BITS", "19", "SNOWFLAKE_TOTAL_BITS");
	check_refused("SNOWFLAKE_NODE_BITS", "-1", "SNOWFLAKE_NODE_BITS");
	check_refused("SNOWFLAKE_TIME_BITS", "20", "SNOWFLAKE_TIME_BITS");
	check_refused("SNOWFLAKE_EPOCH", "900000000000000", "SNOWFLAKE_EPOCH");
	setenv("SNOWFLAKE_NODE_BITS", "18", 1);
	CHECK_ACCEPTED("", snowflake_sequence_bits(&c->env.snowflake) == 1);
}

static void jwt_needs_both(void)
{
	struct load l = fixture_load_with(", \"auth\": \"jwt\"");
	CU_ASSERT_EQUAL(l.problems.errors, 2);
	CU_ASSERT(fixture_has_error(&l, "JWT_SECRET_KEY"));
	CU_ASSERT(fixture_has_error(&l, "JWT_ALGORITHM"));
	fixture_end(&l);

	setenv("JWT_SECRET_KEY", SECRET, 1);
	CHECK_REFUSED(", \"auth\": \"jwt\"", "JWT_ALGORITHM");
	setenv("JWT_SECRET_KEY", SECRET, 1);
	setenv("JWT_ALGORITHM", "HS256", 1);
	CHECK_ACCEPTED(", \"auth\": \"jwt\"", c->auth == AUTH_JWT);
}

static void jwt_algorithms(void)
{
	static const char *const wrong[] = {"none", "hs256", "PS256", "HS1024"};
	for (size_t i = 0; i < 4; i++) {
		setenv("JWT_SECRET_KEY", SECRET, 1);
		setenv("JWT_ALGORITHM", wrong[i], 1);
		CHECK_REFUSED(", \"auth\": \"jwt\"", "JWT_ALGORITHM: expected HS256");
	}
	setenv("JWT_ALGORITHM", "none", 1);
	CHECK_ACCEPTED("", c->auth == AUTH_NONE);
}

static void jwt_secret_length(void)
{
	setenv("JWT_SECRET_KEY", "hunter2-hunter2-hunter2-hunter2", 1);
	setenv("JWT_ALGORITHM", "HS256", 1);
	struct load l = fixture_load_with(", \"auth\": \"jwt\"");
	CU_ASSERT_PTR_NOT_NULL(l.config);
	CU_ASSERT(fixture_has_warning(&l, "JWT_SECRET_KEY: expected at least 32 bytes"));
	for (size_t i = 0; i < l.problems.count; i++)
		CU_ASSERT_PTR_NULL(strstr(l.problems.items[i].text, "hunter2"));
	fixture_end(&l);

	setenv("MODE", "production", 1);
	setenv("JWT_SECRET_KEY", "hunter2-hunter2-hunter2-hunter2", 1);
	setenv("JWT_ALGORITHM", "HS512", 1);
	CHECK_REFUSED(", \"auth\": \"jwt\"", "JWT_SECRET_KEY: expected at least 32 bytes");
}

static void jwt_public_key(void)
{
	setenv("JWT_SECRET_KEY", SECRET, 1);
	setenv("JWT_ALGORITHM", "ES256", 1);
	CHECK_REFUSED(", \"auth\": \"jwt\"", "JWT_SECRET_KEY: expected a public key as PEM");
	setenv("JWT_SECRET_KEY", "\n-----BEGIN PUBLIC KEY-----\n", 1);
	setenv("JWT_ALGORITHM", "RS256", 1);
	CHECK_ACCEPTED(", \"auth\": \"jwt\"", c->auth == AUTH_JWT);
}

static void otel_without_endpoint(void)
{
	setenv("OTEL_ENABLED", "true", 1);
	struct load l = fixture_load_with("");
	CU_ASSERT_PTR_NOT_NULL(l.config);
	CU_ASSERT(fixture_has_warning(&l, "OTEL_EXPORTER_OTLP_ENDPOINT"));
	fixture_end(&l);
}

/* True when the variable with this value is taken with a warning that has the part. */
static bool warned(const char *name, const char *value, const char *part)
{
	setenv(name, value, 1);
	struct load l = fixture_load_with("");
	CU_ASSERT_PTR_NOT_NULL(l.config);
	bool found = fixture_has_warning(&l, part);
	fixture_end(&l);
	return found;
}

static void words_nobody_meant(void)
{
	CU_ASSERT(warned("MODE", "prod", "MODE: found \"prod\", expected production, "));
	CU_ASSERT(!warned("MODE", "Staging", "MODE: "));
	CU_ASSERT(warned("DOCUMENT_HANDLING", "ocr", "skip; no text is extracted"));
	CU_ASSERT(!warned("DOCUMENT_HANDLING", "pass_raw", "DOCUMENT_HANDLING"));
	CU_ASSERT(warned("ORIGINS", "https://a.example,b.example", "found \"b.example\""));
	CU_ASSERT(warned("ORIGINS", "https://a.example/", "without a slash at the end"));
	CU_ASSERT(warned(
	    "MEDIA_ALLOWED_CONTENT_TYPES", "image/*,.png", "image/* or */*, found \".png\""));
	CU_ASSERT(!warned("ORIGINS", "https://a.example:8443,null,*", "ORIGINS"));
	CU_ASSERT(warned("ALLOWED_HOST", "a.example,b.example:8080", "found \"b.example:8080\""));
	CU_ASSERT(warned("ALLOWED_HOST", "https://a.example", "without scheme and port"));
	CU_ASSERT(!warned("ALLOWED_HOST", "*.a.example,[::1],127.0.0.1,*", "ALLOWED_HOST"));
}

static void all_mistakes_at_once(void)
{
	setenv("LOG_LEVEL", "loud", 1);
	setenv("HSTS_ENABLED", "maybe", 1);
	struct load l = fixture_load_with(", \"auth\": 7");
	CU_ASSERT_PTR_NULL(l.config);
	CU_ASSERT_EQUAL(l.problems.errors, 3);
	fixture_end(&l);
}

static const struct unit_test tests[] = {
    {"without variables everything has its default", defaults},
    {"the long security headers have their built-in texts", header_defaults},
    {"booleans are eight words in any case", booleans},
    {"numbers are strict and have ranges", numbers},
    {"a variable with fixed words accepts no others", words},
    {"an empty variable counts as unset", empty_counts_as_unset},
    {"an empty header text stays empty, a line break is refused", empty_header_text},
    {"paths start with a slash and end without one", paths},
    {"in production the pages are off unless their variables are set", pages_in_production},
    {"the case of MODE does not matter", mode_case},
    {"the older names are read where the newer ones are not set", aliases},
    {"lists are split on commas and trimmed", lists},
    {"a wildcard origin and credentials exclude each other in production", cors_in_production},
    {"cloud storage needs a bucket", cloud_bucket},
    {"the snowflake layout has to fit", snowflake},
    {"jwt needs secret and algorithm", jwt_needs_both},
    {"only nine jwt algorithms are known", jwt_algorithms},
    {"a short secret is refused in production and never shown", jwt_secret_length},
    {"the asymmetric algorithms need a key as PEM", jwt_public_key},
    {"telemetry without an endpoint is warned about", otel_without_endpoint},
    {"a word that hardly says what was meant is warned about", words_nobody_meant},
    {"all mistakes are reported at once", all_mistakes_at_once},
};

int main(void)
{
	fixture_init();
	return unit_main("config_environment", tests, UNIT_COUNT(tests));
}
