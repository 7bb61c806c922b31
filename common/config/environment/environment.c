/* SPDX-License-Identifier: ISC */
/* The table of variables and a parser for each kind of value. */
#include "config/environment/environment.h"

#include "base/fields.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "config/found.h"
#include "config/string_list.h"
#include "config/text_file.h"
#include "config/words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DEFAULT_PERMISSIONS                                                               \
	"geolocation=(), microphone=(), camera=(), payment=(), usb=(), magnetometer=(), " \
	"gyroscope=(), accelerometer=()"
#define DEFAULT_CSP                                                                         \
	"default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; "         \
	"img-src 'self' data: blob:; media-src 'self' data: blob:; font-src 'self' data:; " \
	"connect-src 'self'; frame-ancestors 'none'; base-uri 'self'; form-action 'self'"

enum variable_kind {
	VAR_TEXT,      /* char *; NULL without a preset */
	VAR_LOWER,     /* char *; turned into lower case */
	VAR_WORD,      /* char *; one of the names of choices */
	VAR_URL,       /* char *; without the slashes at its end */
	VAR_HEADER,    /* char *; may stand in a header line, "" when the variable is empty */
	VAR_PREFIX,    /* char *; a path without a slash at its end, so "" for the root */
	VAR_PAGE,      /* char *; a path below the root, "" when the variable is empty */
	VAR_DIRECTORY, /* char *; made absolute */
	VAR_LIST,      /* struct string_list; what is between the commas */
	VAR_BOOL,      /* bool */
	VAR_INTEGER,   /* int64_t from min to max */
	VAR_INT,       /* int from min to max */
	VAR_NUMBER,    /* double from min to max */
	VAR_CHOICE,    /* an enum; one of choices */
	VAR_FULL,      /* bool; FULL or NORMAL */
	VAR_LOG_LEVEL  /* enum log_level */
};

struct variable {
	const char *name;
	const char *alias; /* read when name is not set; may be NULL */
	enum variable_kind kind;
	size_t offset;        /* of the member it fills */
	const char *preset;   /* the default, written like a value; NULL for none */
	double min, max;      /* a max of 0 is FIELD_INTEGER_MAX */
	const char *expected; /* ends the sentence "expected …" where the kind does not */
	const struct choice *choices;
};

static const struct choice trace_levels[] = {
    {"spans", TRACE_SPANS}, {"standard", TRACE_STANDARD}, {"full", TRACE_FULL}, {NULL, 0}};

static const struct choice log_formats[] = {{"plain", LOG_PLAIN}, {"json", LOG_JSON}, {NULL, 0}};

static const struct choice storage_types[] = {
    {"memory", 0}, {"local", 0}, {"cloud", 0}, {"database", 0}, {NULL, 0}};

#define COUNT .expected = "an integer from 0 to 1000000000000"
#define POSITIVE .min = 1, .expected = "an integer from 1 to 1000000000000"
#define RATE .max = 1, .expected = "a number from 0 to 1"
#define YEAR .min = 1, .max = 31536000, .expected = "seconds, an integer from 1 to 31536000"
#define BITS .max = 63, .expected = "an integer from 0 to 63"
#define TEXT(name, member, value) ROW(name, VAR_TEXT, member, .preset = (value))
#define HEADER(name, member, value) ROW(name, VAR_HEADER, member, .preset = (value))
#define BOOL(name, member, value) ROW(name, VAR_BOOL, member, .preset = (value))
#define ROW(variable, type, member, ...)                                    \
	{                                                                   \
		.name = (variable), .kind = (type),                         \
		.offset = offsetof(struct environment, member), __VA_ARGS__ \
	}

static const struct variable variables[] = {
    ROW("AGENTGRAPH_SYNCHRONOUS", VAR_FULL, synchronous_full, .preset = "NORMAL"),
    ROW("MODE", VAR_LOWER, mode, .preset = "development"),
    BOOL("IS_DEBUG", is_debug, "true"),
    ROW("LOG_LEVEL", VAR_LOG_LEVEL, log_level, .preset = "INFO"),
    TEXT("LOGGER_NAME", logger_name, "agentgraph-cli"),
    ROW("AGENTGRAPH_LOG_FORMAT", VAR_CHOICE, log_format, .preset = "plain", .choices = log_formats,
	.expected = "plain or json"),
    ROW("AGENTGRAPH_PROCESSES", VAR_INTEGER, processes, .preset = NULL, .min = 1, .max = 1024,
	.expected = "an integer from 1 to 1024"),
    ROW("AGENTGRAPH_THREADS", VAR_INTEGER, threads, .preset = "64", .min = 1, .max = 4096,
	.expected = "an integer from 1 to 4096"),
    ROW("AGENTGRAPH_DRAIN", VAR_INTEGER, drain, .preset = "30", .max = 86400,
	.expected = "seconds, an integer from 0 to 86400"),
    ROW("AGENTGRAPH_READ_TIMEOUT", VAR_INTEGER, read_timeout, .preset = "3600", YEAR),
    ROW("AGENTGRAPH_SEND_TIMEOUT", VAR_INTEGER, send_timeout, .preset = "60", YEAR),
    TEXT("AGENTGRAPH_ACCESS_LOG", access_log, NULL),
    TEXT("APP_NAME", app_name, "MyApp"),
    TEXT("APP_VERSION", app_version, "0.1.0"),
    TEXT("SUMMARY", summary, "agentgraph backend"),
    ROW("ORIGINS", VAR_LIST, origins, .preset = "*"),
    ROW("ALLOWED_HOST", VAR_LIST, allowed_hosts, .preset = "*"),
    BOOL("CORS_ALLOW_CREDENTIALS", cors_allow_credentials, "true"),
    ROW("ROOT_PATH", VAR_PREFIX, root_path, .preset = "/"),
    ROW("DOCS_PATH", VAR_PAGE, docs_path, .preset = "/docs"),
    ROW("REDOCS_PATH", VAR_PAGE, redocs_path, .preset = "/redocs"),
    ROW("CONSOLE_PATH", VAR_PAGE, console_path, .preset = "/console"),
    TEXT("DATABASE_URL", database_url, NULL),
    ROW("CACHE_URL", VAR_TEXT, cache_url, .alias = "REDIS_URL"),
    TEXT("JWT_SECRET_KEY", jwt_secret, NULL),
    TEXT("JWT_ALGORITHM", jwt_algorithm, NULL),
    TEXT("JWT_ISSUER", jwt_issuer, NULL),
    TEXT("JWT_AUDIENCE", jwt_audience, NULL),
    TEXT("WEBHOOK_SECRET", webhook_secret, NULL),
    ROW("ERROR_TRACKER_DSN", VAR_TEXT, error_tracker_dsn, .alias = "SENTRY_DSN"),
    ROW("ERROR_TRACKER_TRACES_SAMPLE_RATE", VAR_NUMBER, error_tracker_traces_rate, .preset = "0.1",
	RATE),
    ROW("ERROR_TRACKER_PROFILES_SAMPLE_RATE", VAR_NUMBER, error_tracker_profiles_rate,
	.preset = "0", RATE),
    BOOL("OTEL_ENABLED", otel_enabled, "false"),
    TEXT("OTEL_SERVICE_NAME", otel_service_name, "agentgraph-api"),
    ROW("OTEL_EXPORTER_OTLP_ENDPOINT", VAR_URL, otel_endpoint, .preset = NULL),
    TEXT("OTEL_EXPORTER_OTLP_HEADERS", otel_headers, NULL),
    ROW("OTEL_BSP_SCHEDULE_DELAY", VAR_INTEGER, otel_delay_ms, .preset = "5000",
	.expected = "milliseconds, an integer from 0 to 1000000000000"),
    ROW("OTEL_LEVEL", VAR_CHOICE, otel_level, .preset = "standard", .choices = trace_levels,
	.expected = "spans, standard or full"),
    BOOL("SECURITY_HEADERS_ENABLED", security_headers, "true"),
    BOOL("HSTS_ENABLED", hsts, "true"),
    ROW("HSTS_MAX_AGE", VAR_INTEGER, hsts_max_age, .preset = "31536000", COUNT),
    BOOL("HSTS_INCLUDE_SUBDOMAINS", hsts_subdomains, "true"),
    BOOL("HSTS_PRELOAD", hsts_preload, "false"),
    HEADER("FRAME_OPTIONS", frame_options, "DENY"),
    HEADER("CONTENT_TYPE_OPTIONS", content_type_options, "nosniff"),
    HEADER("XSS_PROTECTION", xss_protection, "1; mode=block"),
    HEADER("REFERRER_POLICY", referrer_policy, "strict-origin-when-cross-origin"),
    HEADER("PERMISSIONS_POLICY", permissions_policy, DEFAULT_PERMISSIONS),
    HEADER("CSP_POLICY", csp_policy, DEFAULT_CSP),
    ROW("BODY_TEMP_PATH", VAR_DIRECTORY, body_path, .preset = NULL),
    ROW("MAX_BODY_SECONDS", VAR_INTEGER, max_body_seconds, .preset = "300", .min = 1, .max = 86400,
	.expected = "seconds, an integer from 1 to 86400"),
    ROW("MAX_BODY_TEMP_BYTES", VAR_INTEGER, max_body_files, .preset = "1073741824", POSITIVE),
    ROW("MAX_PENDING_PER_ADDRESS", VAR_INTEGER, max_pending, .preset = "16", POSITIVE),
    ROW("MAX_REQUEST_SIZE", VAR_INTEGER, max_request_size, .preset = "10485760", POSITIVE),
    ROW("MEDIA_MAX_SIZE_MB", VAR_NUMBER, media_max_size_mb, .preset = "25", .min = 1e-6, .max = 1e6,
	.expected = "a number above 0 and up to 1000000"),
    ROW("MEDIA_STORAGE_TYPE", VAR_WORD, media_storage_type, .preset = "local",
	.choices = storage_types, .expected = "memory, local, cloud or database"),
    ROW("MEDIA_STORAGE_PATH", VAR_DIRECTORY, media_storage_path, .preset = "./uploads"),
    TEXT("DOCUMENT_HANDLING", document_handling, "extract_text"),
    ROW("MEDIA_ALLOWED_CONTENT_TYPES", VAR_LIST, media_allowed_types, .preset = NULL),
    BOOL("MEDIA_REQUIRE_OWNER", media_require_owner, "false"),
    TEXT("MEDIA_CLOUD_PROVIDER", media_cloud_provider, "aws"),
    TEXT("MEDIA_CLOUD_BUCKET", media_cloud_bucket, ""),
    TEXT("MEDIA_CLOUD_REGION", media_cloud_region, "us-east-1"),
    TEXT("MEDIA_CLOUD_PREFIX", media_cloud_prefix, "agentgraph-media"),
    ROW("MEDIA_CLOUD_ENDPOINT", VAR_URL, media_cloud_endpoint, .preset = NULL),
    TEXT("MEDIA_CLOUD_ACCESS_KEY_ID", media_cloud_key_id, NULL),
    TEXT("MEDIA_CLOUD_SECRET_ACCESS_KEY", media_cloud_secret, NULL),
    TEXT("MEDIA_CLOUD_SESSION_TOKEN", media_cloud_session_token, NULL),
    TEXT("MEDIA_CLOUD_PROJECT_ID", media_cloud_project_id, NULL),
    TEXT("MEDIA_CLOUD_CREDENTIALS_JSON", media_cloud_credentials, NULL),
    /* A signed URL of the cloud providers lives for a week at most. */
    ROW("MEDIA_SIGNED_URL_TTL_SECONDS", VAR_INTEGER, media_signed_url_ttl, .preset = "3600",
	.min = 1, .max = 604800, .expected = "an integer from 1 to 604800"),
    ROW("REALTIME_MAX_FRAME_BYTES", VAR_INTEGER, realtime_max_frame_bytes, .preset = "1048576",
	POSITIVE),
    ROW("REALTIME_INPUT_QUEUE_MAXSIZE", VAR_INTEGER, realtime_input_queue, .preset = "1000",
	POSITIVE),
    ROW("REALTIME_DRAIN_TIMEOUT", VAR_INTEGER, realtime_drain_timeout, .preset = "30", COUNT),
    ROW("SNOWFLAKE_EPOCH", VAR_INTEGER, snowflake.epoch_ms, .preset = "1723323246031", .max = 1e15,
	.expected = "milliseconds since 1970, an integer from 0 to 1000000000000000"),
    ROW("SNOWFLAKE_TOTAL_BITS", VAR_INT, snowflake.total_bits, .preset = "64", .min = 2, .max = 64,
	.expected = "an integer from 2 to 64"),
    ROW("SNOWFLAKE_TIME_BITS", VAR_INT, snowflake.time_bits, .preset = "39", BITS),
    ROW("SNOWFLAKE_NODE_BITS", VAR_INT, snowflake.node_bits, .preset = "7", BITS),
    ROW("SNOWFLAKE_WORKER_BITS", VAR_INT, snowflake.worker_bits, .preset = "5", BITS),
    ROW("SNOWFLAKE_NODE_ID", VAR_INTEGER, snowflake.node_id, .preset = "0", COUNT),
    ROW("SNOWFLAKE_WORKER_ID", VAR_INTEGER, snowflake.worker_id, .preset = "0", COUNT),
};

#define VARIABLES (sizeof(variables) / sizeof(variables[0]))

/* Puts a text into the variable's member; false when it is not what the variable expects. */
typedef bool parse_fn(const struct variable *v, const char *text, void *slot);

static bool variable_parse_text(const struct variable *v, const char *text, void *slot)
{
	(void)v;
	string_replace(slot, text);
	return true;
}

static bool variable_parse_lower(const struct variable *v, const char *text, void *slot)
{
	variable_parse_text(v, text, slot);
	for (char *c = *(char **)slot; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return true;
}

static bool variable_parse_word(const struct variable *v, const char *text, void *slot)
{
	int unused;
	return choice_find(v->choices, text, &unused) && variable_parse_text(v, text, slot);
}

static bool variable_parse_url(const struct variable *v, const char *text, void *slot)
{
	variable_parse_text(v, text, slot);
	drop_slashes(*(char **)slot);
	return true;
}

/* A line break would let the value add headers of its own. */
static bool variable_parse_header(const struct variable *v, const char *text, void *slot)
{
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return false;
	return variable_parse_text(v, text, slot);
}

static bool variable_parse_prefix(const struct variable *v, const char *text, void *slot)
{
	return word_path(text) && variable_parse_url(v, text, slot);
}

static bool variable_parse_page(const struct variable *v, const char *text, void *slot)
{
	if (!*text)
		return variable_parse_text(v, text, slot);
	return variable_parse_prefix(v, text, slot) && **(char **)slot;
}

static bool variable_parse_directory(const struct variable *v, const char *text, void *slot)
{
	(void)v;
	char **path = slot;
	free(*path);
	*path = path_absolute(NULL, text);
	return true;
}

static bool variable_parse_list(const struct variable *v, const char *text, void *slot)
{
	(void)v;
	string_list_split(slot, text);
	return true;
}

static bool variable_parse_bool(const struct variable *v, const char *text, void *slot)
{
	(void)v;
	return word_bool(text, slot);
}

static bool environment_in_range(const struct variable *v, double n)
{
	return n >= v->min && n <= (v->max > 0 ? v->max : (double)FIELD_INTEGER_MAX);
}

static bool variable_parse_integer(const struct variable *v, const char *text, void *slot)
{
	int64_t n;
	if (!word_integer(text, &n) || !environment_in_range(v, (double)n))
		return false;
	*(int64_t *)slot = n;
	return true;
}

static bool variable_parse_int(const struct variable *v, const char *text, void *slot)
{
	int64_t n;
	if (!variable_parse_integer(v, text, &n))
		return false;
	*(int *)slot = (int)n;
	return true;
}

static bool variable_parse_number(const struct variable *v, const char *text, void *slot)
{
	double n;
	if (!word_number(text, &n) || !environment_in_range(v, n))
		return false;
	*(double *)slot = n;
	return true;
}

static bool variable_parse_choice(const struct variable *v, const char *text, void *slot)
{
	int n;
	if (!choice_find(v->choices, text, &n))
		return false;
	*(unsigned *)slot = (unsigned)n; /* what an enum without negative values is */
	return true;
}

static bool variable_parse_full(const struct variable *v, const char *text, void *slot)
{
	(void)v;
	*(bool *)slot = strcasecmp(text, "FULL") == 0;
	return *(bool *)slot || strcasecmp(text, "NORMAL") == 0;
}

static bool variable_parse_log_level(const struct variable *v, const char *text, void *slot)
{
	(void)v;
	return log_level_parse(text, slot);
}

static void variable_release_list(void *slot)
{
	string_list_release(slot);
}

static const struct {
	parse_fn *parse;
	void (*release)(void *slot);
	const char *expected; /* for kinds whose rows have none */
} kinds[] = {
    [VAR_TEXT] = {variable_parse_text, field_release_string, NULL},
    [VAR_LOWER] = {variable_parse_lower, field_release_string, NULL},
    [VAR_WORD] = {variable_parse_word, field_release_string, NULL},
    [VAR_URL] = {variable_parse_url, field_release_string, NULL},
    [VAR_HEADER] = {variable_parse_header, field_release_string, "text without control characters"},
    [VAR_PREFIX] = {variable_parse_prefix, field_release_string,
	"a path that starts with / and has nothing that a URL escapes"},
    [VAR_PAGE] = {variable_parse_page, field_release_string, "a path like /docs"},
    [VAR_DIRECTORY] = {variable_parse_directory, field_release_string, NULL},
    [VAR_LIST] = {variable_parse_list, variable_release_list, NULL},
    [VAR_BOOL] = {variable_parse_bool, NULL, "true, 1, yes, on, false, 0, no or off"},
    [VAR_INTEGER] = {variable_parse_integer, NULL, NULL},
    [VAR_INT] = {variable_parse_int, NULL, NULL},
    [VAR_NUMBER] = {variable_parse_number, NULL, NULL},
    [VAR_CHOICE] = {variable_parse_choice, NULL, NULL},
    [VAR_FULL] = {variable_parse_full, NULL, "NORMAL or FULL"},
    [VAR_LOG_LEVEL] = {variable_parse_log_level, NULL, "DEBUG, INFO, WARNING, ERROR or CRITICAL"},
};

const char *environment_text(const char *name)
{
	const char *text = getenv(name);
	return text && *text ? text : NULL;
}

const char *environment_name(size_t i)
{
	size_t others = i - VARIABLES;
	if (i < VARIABLES)
		return variables[i].name;
	for (size_t v = 0; v < VARIABLES; v++)
		if (variables[v].alias && others-- == 0)
			return variables[v].alias;
	return NULL;
}

void environment_fill(struct environment *env, struct problems *problems)
{
	for (size_t i = 0; i < VARIABLES; i++) {
		const struct variable *v = &variables[i];
		void *slot = (char *)env + v->offset;
		bool keeps_empty = v->kind == VAR_HEADER || v->kind == VAR_PAGE;
		const char *name = v->name;
		const char *text = keeps_empty ? getenv(name) : environment_text(name);
		if (!text && v->alias) {
			name = v->alias;
			text = environment_text(name);
		}
		/* secrets are of the kinds that take any text, which are never refused and shown */
		char shown[FOUND_SIZE];
		bool utf8 = text && utf8_valid(text, strlen(text));
		bool taken = utf8 && kinds[v->kind].parse(v, text, slot);
		if (text && !utf8)
			problems_add(problems, "%s: expected UTF-8 text, found other bytes", name);
		else if (text && !taken)
			problems_add(problems, "%s: expected %s, found %s", name,
			    v->expected ? v->expected : kinds[v->kind].expected,
			    found_text(shown, text));
		if (!taken && v->preset)
			kinds[v->kind].parse(v, v->preset, slot);
	}
}

void environment_release(struct environment *env)
{
	for (size_t i = 0; i < VARIABLES; i++)
		if (kinds[variables[i].kind].release)
			kinds[variables[i].kind].release((char *)env + variables[i].offset);
}
