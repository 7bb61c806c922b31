/* SPDX-License-Identifier: ISC */
/* Reading the environment: the variables, then the rules that bind several of them together. */
#include "config/environment/environment.h"

#include "base/base64.h"
#include "base/fields.h"
#include "base/http/url.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "base/texts.h"
#include "config/environment/dsn.h"
#include "config/found.h"
#include "config/string_list.h"
#include "config/words.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HMAC_SECRET_MIN 32 /* bytes, doc/protocol-access.md#tokens */
#define WEBHOOK_SECRET_MIN 24

static const char *const page_names[] = {"DOCS_PATH", "REDOCS_PATH", "CONSOLE_PATH"};

static void environment_rules_refuse_page(size_t i, const char *path, struct problems *problems)
{
	problems_add(
	    problems, "%s: expected a path that no route has, found \"%s\"", page_names[i], path);
}

/* Whether nginx has a location at that path.  The worker knows the paths of all other routes. */
static bool environment_rules_page_is_taken(const char *path)
{
	static const char *const taken[] = {"/ping", "/openapi.json", "/v1", "/v1/_large",
	    "/v1/files", "/.well-known/oauth-protected-resource", "/.well-known/agent-card.json",
	    "/.well-known/agent.json", NULL};
	static const char own[] = "/_agentgraph"; /* with all that lies below */
	const size_t len = sizeof(own) - 1;
	return texts_has(taken, path) ||
	    (strncmp(path, own, len) == 0 && (!path[len] || path[len] == '/'));
}

/* doc/protocol.md#the-openapi-document: in production a page is off unless its variable turns it
 * on. */
static void environment_rules_apply_pages(struct environment *env, struct problems *problems)
{
	char **paths[] = {&env->docs_path, &env->redocs_path, &env->console_path};
	for (size_t i = 0; i < sizeof(page_names) / sizeof(page_names[0]); i++) {
		if (env->production && !getenv(page_names[i]))
			string_replace(paths[i], "");
		if (environment_rules_page_is_taken(*paths[i]))
			environment_rules_refuse_page(i, *paths[i], problems);
		for (size_t other = 0; other < i; other++)
			if (**paths[i] && strcmp(*paths[i], *paths[other]) == 0)
				problems_add(problems,
				    "%s: expected another path than that of %s, found the same",
				    page_names[i], page_names[other]);
	}
}

void environment_check_langgraph(const struct environment *env, struct problems *problems)
{
	const char *paths[] = {env->docs_path, env->redocs_path, env->console_path};
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (strcmp(paths[i], "/lg") == 0)
			environment_rules_refuse_page(i, paths[i], problems);
}

/* doc/protocol-errors.md#startup-errors: everybody's pages with everybody's cookies is
 * never what production wants. */
static void environment_rules_apply_cors(struct environment *env, struct problems *problems)
{
	bool wildcard = string_list_has(&env->origins, "*");
	if (!env->production || !wildcard || !env->cors_allow_credentials)
		return;
	bool asked_for;
	const char *text = environment_text("CORS_ALLOW_CREDENTIALS");
	if (text && word_bool(text, &asked_for))
		problems_add(problems,
		    "CORS_ALLOW_CREDENTIALS: expected false in production while "
		    "ORIGINS allows *, found true");
	else
		problems_warn(problems,
		    "ORIGINS allows * in production, so cross-origin requests "
		    "run without credentials");
	env->cors_allow_credentials = false;
}

/* Warns of a word that is not known: it has a meaning, but hardly the one that was intended. */
static void environment_rules_warn_unknown(const char *name, const char *text,
    const struct choice *known, const char *sentence, struct problems *problems)
{
	char shown[FOUND_SIZE];
	int unused;
	if (!choice_find(known, text, &unused))
		problems_warn(
		    problems, "%s: found %s, %s", name, found_text(shown, text), sentence);
}

static void environment_rules_check_words(const struct environment *env, struct problems *problems)
{
	static const struct choice modes[] = {
	    {"production", 0}, {"staging", 0}, {"development", 0}, {"test", 0}, {NULL, 0}};
	static const struct choice handlings[] = {
	    {"extract_text", 0}, {"pass_raw", 0}, {"skip", 0}, {NULL, 0}};
	environment_rules_warn_unknown("MODE", env->mode, modes,
	    "expected production, staging, development or test; all but production is development",
	    problems);
	environment_rules_warn_unknown("DOCUMENT_HANDLING", env->document_handling, handlings,
	    "expected extract_text, pass_raw or skip; no text is extracted", problems);
}

/* Warns of origins that no browser sends: an origin has a scheme and no path, not even a slash. */
static void environment_rules_check_origins(
    const struct environment *env, struct problems *problems)
{
	char shown[FOUND_SIZE];
	for (size_t i = 0; i < env->origins.count; i++) {
		const char *origin = env->origins.items[i], *host = strstr(origin, "://");
		bool sent = host ? host[3] && !strchr(host + 3, '/') : strcmp(origin, "null") == 0;
		if (strcmp(origin, "*") != 0 && !sent)
			problems_warn(problems,
			    "ORIGINS: expected origins like https://app.example.com, without a "
			    "slash at the end, found %s",
			    found_text(shown, origin));
	}
}

/* Warns of hosts that cannot be in the header Host, whose port does not count; an IPv6 address
 * stands in brackets there. */
static void environment_rules_check_hosts(const struct environment *env, struct problems *problems)
{
	char shown[FOUND_SIZE];
	for (size_t i = 0; i < env->allowed_hosts.count; i++) {
		const char *host = env->allowed_hosts.items[i];
		if (strpbrk(host, *host == '[' ? "/" : ":/"))
			problems_warn(problems,
			    "ALLOWED_HOST: expected names like app.example.com, without scheme and "
			    "port, found %s",
			    found_text(shown, host));
	}
	if (env->production && string_list_has(&env->allowed_hosts, "*"))
		problems_warn(problems, "ALLOWED_HOST allows every host name in production");
}

/* Warns of media types that are none, and so let nothing in; and checks the storage in the
 * cloud. */
static void environment_rules_check_media(const struct environment *env, struct problems *problems)
{
	char shown[FOUND_SIZE];
	for (size_t i = 0; i < env->media_allowed_types.count; i++) {
		const char *type = env->media_allowed_types.items[i];
		if (!strchr(type, '/'))
			problems_warn(problems,
			    "MEDIA_ALLOWED_CONTENT_TYPES: expected types like image/png, image/* "
			    "or */*, found %s",
			    found_text(shown, type));
	}
	if (strcmp(env->media_storage_type, "cloud") == 0 && !env->media_cloud_bucket[0])
		problems_add(problems,
		    "MEDIA_CLOUD_BUCKET: expected a bucket's name, because "
		    "MEDIA_STORAGE_TYPE is cloud, found nothing");
}

/* The directory must be there: nobody makes it later. */
static void environment_rules_check_body_path(
    const struct environment *env, struct problems *problems)
{
	struct stat st;
	char shown[FOUND_SIZE];
	if (env->body_path &&
	    (stat(env->body_path, &st) != 0 || !S_ISDIR(st.st_mode) ||
		access(env->body_path, W_OK | X_OK) != 0))
		problems_add(problems,
		    "BODY_TEMP_PATH: expected a directory that can be written, found %s",
		    found_text(shown, env->body_path));
}

/* Checks that traces and failures have somewhere to go, if they are to leave the service. */
static void environment_rules_check_telemetry(
    const struct environment *env, struct problems *problems)
{
	struct dsn dsn;
	char shown[FOUND_SIZE];
	if (env->otel_enabled && !env->otel_endpoint)
		problems_warn(problems,
		    "OTEL_ENABLED is on, but nothing is sent, because the "
		    "variable OTEL_EXPORTER_OTLP_ENDPOINT is not set");
	else if (env->otel_enabled && !url_valid(env->otel_endpoint))
		problems_add(problems,
		    "OTEL_EXPORTER_OTLP_ENDPOINT: expected " ADDRESS_EXPECTED ", found %s",
		    found_text(shown, env->otel_endpoint));
	if (!env->error_tracker_dsn)
		return;
	if (dsn_parse(env->error_tracker_dsn, &dsn))
		dsn_release(&dsn);
	else
		problems_add(problems,
		    "%s: expected an address like https://key@host/1, found other text",
		    environment_text("ERROR_TRACKER_DSN") ? "ERROR_TRACKER_DSN" : "SENTRY_DSN");
}

/* Whether any of these variables, which NULL ends, has a value. */
static bool environment_rules_is_any_set(const char *const *names)
{
	for (; *names; names++)
		if (environment_text(*names))
			return true;
	return false;
}

static bool environment_rules_fits(int64_t value, int bits)
{
	return value >> bits == 0;
}

/* Checks that the layout has room for a sequence, for this machine's numbers and for the present
 * time (doc/protocol.md#snowflakes). */
static void environment_rules_check_snowflake(struct environment *env, struct problems *problems)
{
	static const char *const names[] = {"SNOWFLAKE_EPOCH", "SNOWFLAKE_TOTAL_BITS",
	    "SNOWFLAKE_TIME_BITS", "SNOWFLAKE_NODE_BITS", "SNOWFLAKE_NODE_ID",
	    "SNOWFLAKE_WORKER_ID", "SNOWFLAKE_WORKER_BITS", NULL};
	const struct snowflake *s = &env->snowflake;
	int64_t age = clock_now() / 1000 - s->epoch_ms;
	env->use_snowflake = environment_rules_is_any_set(names);
	env->has_node = environment_text("SNOWFLAKE_NODE_ID");
	if (!env->use_snowflake)
		return;
	if (snowflake_sequence_bits(s) < 1)
		problems_add(problems,
		    "SNOWFLAKE_TOTAL_BITS: expected at least 2 bits more than "
		    "SNOWFLAKE_TIME_BITS, SNOWFLAKE_NODE_BITS and "
		    "SNOWFLAKE_WORKER_BITS have together, found %d",
		    s->total_bits);
	if (!environment_rules_fits(s->node_id, s->node_bits))
		problems_add(problems,
		    "SNOWFLAKE_NODE_ID: expected a number of %d bits, found %lld", s->node_bits,
		    (long long)s->node_id);
	if (!environment_rules_fits(s->worker_id, s->worker_bits))
		problems_add(problems,
		    "SNOWFLAKE_WORKER_ID: expected a number of %d bits, found %lld", s->worker_bits,
		    (long long)s->worker_id);
	if (age < 0)
		problems_add(problems, "SNOWFLAKE_EPOCH: expected a time in the past, found %lld",
		    (long long)s->epoch_ms);
	else if (!environment_rules_fits(age, s->time_bits))
		problems_add(problems,
		    "SNOWFLAKE_TIME_BITS: expected enough bits for the %lld "
		    "milliseconds since SNOWFLAKE_EPOCH, found %d",
		    (long long)age, s->time_bits);
}

void environment_hsts(const struct environment *env, bool below, struct buf *out)
{
	if (!env->security_headers || !env->hsts)
		return;
	below = below || env->root_path[0];
	if (below && !env->hsts_asked)
		return;
	bool subdomains = env->hsts_subdomains && (!below || env->hsts_subdomains_asked);
	buf_printf(out, "max-age=%lld%s%s", (long long)env->hsts_max_age,
	    subdomains ? "; includeSubDomains" : "", env->hsts_preload ? "; preload" : "");
}

void environment_read(struct environment *env, struct problems *problems)
{
	static const char *const hsts[] = {"HSTS_ENABLED", "HSTS_MAX_AGE", "HSTS_PRELOAD", NULL};
	environment_fill(env, problems);
	env->production = strcmp(env->mode, "production") == 0;
	environment_rules_apply_pages(env, problems);
	environment_rules_apply_cors(env, problems);
	environment_rules_check_words(env, problems);
	environment_rules_check_origins(env, problems);
	environment_rules_check_hosts(env, problems);
	environment_rules_check_media(env, problems);
	environment_rules_check_body_path(env, problems);
	environment_rules_check_telemetry(env, problems);
	environment_rules_check_snowflake(env, problems);
	env->hsts_subdomains_asked = environment_text("HSTS_INCLUDE_SUBDOMAINS");
	env->hsts_asked = env->hsts_subdomains_asked || environment_rules_is_any_set(hsts);
}

void environment_check_jwt(const struct environment *env, struct problems *problems)
{
	static const struct choice algorithms[] = {{"HS256", 1}, {"HS384", 1}, {"HS512", 1},
	    {"RS256", 0}, {"RS384", 0}, {"RS512", 0}, {"ES256", 0}, {"ES384", 0}, {"ES512", 0},
	    {NULL, 0}};
	int hmac = 0;
	char shown[FOUND_SIZE];
	if (!env->jwt_secret)
		problems_add(problems,
		    "JWT_SECRET_KEY: expected a value, because auth is \"jwt\", "
		    "found nothing");
	if (!env->jwt_algorithm)
		problems_add(problems,
		    "JWT_ALGORITHM: expected a value, because auth is \"jwt\", "
		    "found nothing");
	else if (!choice_find(algorithms, env->jwt_algorithm, &hmac)) {
		problems_add(problems,
		    "JWT_ALGORITHM: expected HS256, HS384, HS512, RS256, RS384, "
		    "RS512, ES256, ES384 or ES512, found %s",
		    found_text(shown, env->jwt_algorithm));
	} else if (env->jwt_secret && hmac) {
		/* A secret that can be guessed lets everybody in. */
		static const char text[] =
		    "JWT_SECRET_KEY: expected at least %d bytes for %s, found %zu";
		size_t len = strlen(env->jwt_secret);
		if (len < HMAC_SECRET_MIN) {
			if (env->production)
				problems_add(
				    problems, text, HMAC_SECRET_MIN, env->jwt_algorithm, len);
			else
				problems_warn(
				    problems, text, HMAC_SECRET_MIN, env->jwt_algorithm, len);
		}
	} else if (env->jwt_secret) {
		static const char armour[] = "-----BEGIN ";
		const char *key = env->jwt_secret + strspn(env->jwt_secret, " \t\r\n");
		if (strncmp(key, armour, strlen(armour)) != 0)
			problems_add(problems,
			    "JWT_SECRET_KEY: expected a public key as PEM for %s, "
			    "found other text",
			    env->jwt_algorithm);
	}
}

void environment_check_webhooks(const struct environment *env, struct problems *problems)
{
	static const char prefix[] = "whsec_";
	const char *secret = env->webhook_secret;
	size_t len = 0;
	if (!secret) {
		problems_add(problems,
		    "WEBHOOK_SECRET: expected a value, because runs.webhooks names addresses, found "
		    "nothing");
		return;
	}
	bool named = strncmp(secret, prefix, strlen(prefix)) == 0;
	char *key = named ? base64_decode(secret + strlen(prefix), &len) : NULL;
	if (!key || !len)
		problems_add(
		    problems, "WEBHOOK_SECRET: expected whsec_ and base64, found other text");
	else if (len < WEBHOOK_SECRET_MIN)
		problems_warn(problems, "WEBHOOK_SECRET: expected at least %d bytes, found %zu",
		    WEBHOOK_SECRET_MIN, len);
	free(key);
}
