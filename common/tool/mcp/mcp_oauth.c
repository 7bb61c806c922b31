/* SPDX-License-Identifier: ISC */
/* Finding out where tokens are given, asking for one, and keeping it. */
#include "tool/mcp/mcp_internal.h"

#include "base/base64.h"
#include "base/buf.h"
#include "base/http/percent.h"
#include "base/http/url.h"
#include "base/json/json.h"
#include "base/log/log.h"
#include "base/log/redact.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "base/os/process/process.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CALL_MS 15000
#define MOST_BODY ((size_t)1 << 20)
#define EARLY_MS 30000  /* how long before the end of a token another one is had */
#define LIFE_MS 3600000 /* how long a token lasts that does not say */
#define STOP_POLL_MS 100

struct mcp_oauth {
	struct mcp_oauth_settings settings;
	char *url; /* of the MCP server */

	pthread_mutex_t lock;
	pthread_cond_t changed; /* nobody asks any more; by CLOCK_MONOTONIC */

	/* guarded by lock */
	bool asking;            /* one thread asks for a token, for all */
	char why[MCP_WHY_SIZE]; /* why the latest to ask got none; "" where only its time ended */
	char *header;           /* NULL: there is no token */
	int64_t ends;

	/* guarded by lock; while a thread asks they are its own */
	char *token_url; /* NULL: not known yet */
	char *scope;     /* the scope that the server asks for, or NULL */
	bool post;       /* the secret goes into the body */
};

struct mcp_oauth *mcp_oauth_new(const struct mcp_oauth_settings *settings, const char *url)
{
	struct mcp_oauth *oauth = xcalloc(1, sizeof(*oauth));
	oauth->settings = *settings;
	oauth->url = xstrdup(url);
	oauth->token_url = xstrdup(settings->token_url);
	pthread_mutex_init(&oauth->lock, NULL);
	pthread_cond_init(&oauth->changed, NULL);
	return oauth;
}

static void oauth_forget_token(struct mcp_oauth *oauth)
{
	secret_free(oauth->header);
	oauth->header = NULL;
}

void mcp_oauth_free(struct mcp_oauth *oauth)
{
	if (!oauth)
		return;
	struct mcp_oauth_settings *s = &oauth->settings;
	oauth_forget_token(oauth);
	secret_free(s->client_secret);
	free(s->client_id);
	free(s->scope);
	free(s->issuer);
	free(s->token_url);
	free(oauth->url);
	free(oauth->token_url);
	free(oauth->scope);
	pthread_mutex_destroy(&oauth->lock);
	pthread_cond_destroy(&oauth->changed);
	free(oauth);
}

/* ---- Challenges (RFC 9110, 11.6.1) */

char *mcp_challenge_get(const char *challenge, const char *name)
{
	const char *p = challenge ? challenge : "";
	size_t len = strlen(name);
	while (*p) {
		bool here = strncasecmp(p, name, len) == 0 && p[len] == '=';
		while (*p && *p != '=' && *p != ' ' && *p != ',')
			p++;
		if (*p != '=') {
			p += *p != '\0';
			continue;
		}
		struct buf value = {0};
		bool quoted = *++p == '"';
		for (p += quoted; *p && (quoted ? *p != '"' : *p != ',' && *p != ' '); p++) {
			p += quoted && *p == '\\' && p[1];
			buf_putc(&value, *p);
		}
		p += quoted && *p;
		if (here)
			return buf_detach(&value);
		buf_release(&value);
	}
	return NULL;
}

/* ---- Requests */

/* What an answer says of its failure, or NULL. */
static const char *oauth_error_of(const cJSON *json)
{
	const char *description = json_str(json, "error_description");
	return description ? description : json_str(json, "error");
}

/* A JSON object at that address; NULL with why, in which no secret is repeated. */
static cJSON *oauth_call(const struct mcp_oauth *oauth, struct http_request *request,
    const struct mcp_wait *wait, const char *what, char why[MCP_WHY_SIZE])
{
	struct http_response response = {0};
	int64_t deadline = clock_monotonic_ms() + CALL_MS;
	request->deadline_ms = wait->deadline_ms < deadline ? wait->deadline_ms : deadline;
	request->max_body = MOST_BODY;
	request->stop = wait->stop;
	request->arg = wait->arg;
	enum http_end end = http_call(request, &response);
	cJSON *json =
	    json_parse(buf_str(&response.body), response.body.len, JSON_REQUEST_DEPTH, NULL);
	if (end == HTTP_DONE && response.status == 200 && cJSON_IsObject(json)) {
		http_response_release(&response);
		return json;
	}
	const char *error = oauth_error_of(json);
	/* why may come to the model and to clients, whom the place does not concern */
	if (end != HTTP_DONE) {
		snprintf(
		    why, MCP_WHY_SIZE, "%s cannot be had: %.200s", what, http_failure(&response));
		log_info("%s of an MCP server: %s", what, response.reason);
	} else {
		snprintf(why, MCP_WHY_SIZE, "%s cannot be had: the answer was %d%s%.200s", what,
		    response.status,
		    error      ? ": "
			: json ? ""
			       : ", without JSON",
		    error ? error : "");
		log_info("%s of an MCP server: asked of %.150s", what, request->url);
	}
	process_clean(why);
	redact_known(why, oauth->settings.client_secret);
	cJSON_Delete(json);
	http_response_release(&response);
	return NULL;
}

static cJSON *oauth_get(const struct mcp_oauth *oauth, const char *url, const struct mcp_wait *wait,
    const char *what, char why[MCP_WHY_SIZE])
{
	const struct http_header accept = {"Accept", "application/json"};
	struct http_request request = {.url = url, .headers = &accept, .header_count = 1};
	return oauth_call(oauth, &request, wait, what, why);
}

/* ---- Where tokens are given */

/* https://host/.well-known/NAME/path; malloc'd, NULL for no address. */
static char *oauth_well_known(const char *url, const char *name, bool with_path)
{
	char *site = url_site(url), *base = url_base(url);
	const char *host = with_path ? strstr(base, "://") : NULL;
	const char *path = host ? strchr(host + 3, '/') : NULL;
	char *out =
	    site ? xasprintf("%s/.well-known/%s%s", site, name, path && path[1] ? path : "") : NULL;
	free(base);
	free(site);
	return out;
}

/* Whether the resource that metadata is about is the server, or has the server below its path. */
static bool oauth_is_about(const char *resource, const char *url)
{
	char *about = resource ? url_normal(resource) : NULL, *own = url_normal(url);
	char *base = about ? url_base(about) : NULL;
	size_t len = base ? strlen(base) : 0;
	bool is = base && own && strncmp(base, own, len) == 0 &&
	    (own[len] == '\0' || own[len] == '/' || own[len] == '?');
	free(base);
	free(own);
	free(about);
	return is;
}

/* The metadata of the server, at the address that it named or at the usual ones; NULL with why. */
static cJSON *oauth_resource(struct mcp_oauth *oauth, const char *challenge,
    const struct mcp_wait *wait, char why[MCP_WHY_SIZE])
{
	static const char what[] = "the metadata of the server";
	char *named = mcp_challenge_get(challenge, "resource_metadata");
	cJSON *found = NULL;
	if (named)
		found = oauth_get(oauth, named, wait, what, why);
	for (int i = 0; !named && !found && i < 2; i++) {
		char *url = oauth_well_known(oauth->url, "oauth-protected-resource", i == 0);
		found = url ? oauth_get(oauth, url, wait, what, why) : NULL;
		free(url);
	}
	free(named);
	if (found && !oauth_is_about(json_str(found, "resource"), oauth->url)) {
		snprintf(why, MCP_WHY_SIZE, "the metadata of the server is about another one");
		cJSON_Delete(found);
		return NULL;
	}
	return found;
}

static bool oauth_same(const char *a, const char *b)
{
	char *x = url_base(a), *y = url_base(b);
	bool same = strcmp(x, y) == 0;
	free(x);
	free(y);
	return same;
}

/* The metadata of an authorization server; one that names another issuer is none. */
static cJSON *oauth_issuer(const struct mcp_oauth *oauth, const char *issuer,
    const struct mcp_wait *wait, char why[MCP_WHY_SIZE])
{
	char *base = url_base(issuer);
	char *urls[] = {oauth_well_known(issuer, "oauth-authorization-server", true),
	    oauth_well_known(issuer, "openid-configuration", true),
	    xasprintf("%s/.well-known/openid-configuration", base)};
	cJSON *found = NULL;
	for (size_t i = 0; i < sizeof(urls) / sizeof(*urls); i++) {
		if (!found && urls[i])
			found = oauth_get(oauth, urls[i], wait, "the metadata of the issuer", why);
		free(urls[i]);
	}
	free(base);
	const char *own = json_str(found, "issuer");
	if (found && (!own || !oauth_same(own, issuer))) {
		snprintf(why, MCP_WHY_SIZE, "the metadata of the issuer names another one");
		cJSON_Delete(found);
		return NULL;
	}
	return found;
}

/* Whether the list has the word; absent is the answer where there is no list. */
static bool oauth_lists(const cJSON *list, const char *word, bool absent)
{
	return list ? json_has_str(list, word) : absent;
}

/* Fills in where tokens are given and how. */
static bool oauth_discover(struct mcp_oauth *oauth, const char *challenge,
    const struct mcp_wait *wait, char why[MCP_WHY_SIZE])
{
	cJSON *resource = oauth_resource(oauth, challenge, wait, why);
	/* the issuer: that of the settings, or the first that the server names */
	const char *wanted = oauth->settings.issuer;
	char *issuer = NULL;
	const cJSON *item;
	cJSON_ArrayForEach(item, json_opt(resource, "authorization_servers")) {
		if (cJSON_IsString(item) && !issuer &&
		    (!wanted || oauth_same(wanted, item->valuestring)))
			issuer = xstrdup(item->valuestring);
	}
	if (resource && !issuer)
		snprintf(why, MCP_WHY_SIZE, "the server names no authorization server%s%.200s",
		    wanted ? " " : "", wanted ? wanted : "");
	cJSON *metadata = issuer ? oauth_issuer(oauth, issuer, wait, why) : NULL;
	const char *url = json_str(metadata, "token_endpoint");
	const cJSON *methods = json_opt(metadata, "token_endpoint_auth_methods_supported");
	if (metadata && (!url || !url_valid(url)))
		snprintf(why, MCP_WHY_SIZE, "the issuer names no token_endpoint");
	else if (metadata)
		oauth->token_url = xstrdup(url);
	oauth->post = !oauth_lists(methods, "client_secret_basic", true) &&
	    oauth_lists(methods, "client_secret_post", false);
	cJSON_Delete(metadata);
	free(issuer);
	cJSON_Delete(resource);
	return oauth->token_url != NULL;
}

/* ---- A token */

static void oauth_add(struct buf *form, const char *name, const char *value)
{
	if (!value)
		return;
	buf_printf(form, "%s%s=", form->len ? "&" : "", name);
	percent_add(form, value, "");
}

/* RFC 6749, 2.3.1: both parts are encoded before they are joined. */
static char *oauth_basic(const struct mcp_oauth_settings *s)
{
	struct buf pair = {0};
	percent_add(&pair, s->client_id, "");
	buf_putc(&pair, ':');
	percent_add(&pair, s->client_secret, "");
	char *coded = base64_encode(pair.data, pair.len), *value = xasprintf("Basic %s", coded);
	secret_free(buf_detach(&pair));
	secret_free(coded);
	return value;
}

/* Takes a token from the answer; false with why. */
static bool oauth_take(struct mcp_oauth *oauth, const cJSON *answer, char why[MCP_WHY_SIZE])
{
	const char *token = json_str(answer, "access_token"),
		   *type = json_str(answer, "token_type");
	int64_t seconds = 0;
	bool usable = token && *token && (!type || strcasecmp(type, "bearer") == 0);
	for (const char *p = token; usable && *p; p++)
		usable = *p > ' ' && *p <= '~';
	if (!usable) {
		const char *error = oauth_error_of(answer);
		snprintf(why, MCP_WHY_SIZE,
		    "the answer for a token has none that can be used%s%.200s", error ? ": " : "",
		    error ? error : "");
		process_clean(why);
		redact_known(why, oauth->settings.client_secret);
		return false;
	}
	json_integer(json_opt(answer, "expires_in"), &seconds);
	int64_t life = seconds > 0 && seconds < LIFE_MS ? seconds * 1000 : LIFE_MS;
	pthread_mutex_lock(&oauth->lock);
	oauth->header = xasprintf("Bearer %s", token);
	oauth->ends = clock_monotonic_ms() + (life > 2 * EARLY_MS ? life - EARLY_MS : life / 2);
	pthread_mutex_unlock(&oauth->lock);
	return true;
}

/* Asks for a token where tokens are given. */
static bool oauth_fetch(
    struct mcp_oauth *oauth, const struct mcp_wait *wait, char why[MCP_WHY_SIZE])
{
	const struct mcp_oauth_settings *s = &oauth->settings;
	struct buf form = {0};
	char *basic = oauth->post ? NULL : oauth_basic(s);
	const struct http_header headers[] = {{"Accept", "application/json"},
	    {"Content-Type", "application/x-www-form-urlencoded"}, {"Authorization", basic}};
	oauth_add(&form, "grant_type", "client_credentials");
	oauth_add(&form, "scope", s->scope ? s->scope : oauth->scope);
	oauth_add(&form, "resource", oauth->url);
	if (oauth->post) {
		oauth_add(&form, "client_id", s->client_id);
		oauth_add(&form, "client_secret", s->client_secret);
	}
	struct http_request request = {.url = oauth->token_url,
	    .headers = headers,
	    .header_count = basic ? 3 : 2,
	    .body = form.data,
	    .body_len = form.len};
	cJSON *answer = oauth_call(oauth, &request, wait, "a token", why);
	bool taken = answer && oauth_take(oauth, answer, why);
	secret_free(buf_detach(&form));
	secret_free(basic);
	cJSON_Delete(answer);
	return taken;
}

/* Waits until nobody asks for a token; with the lock held.  False with why when the time is up
 * before, or when whoever asked got none. */
static bool oauth_await(
    struct mcp_oauth *oauth, const struct mcp_wait *wait, char why[MCP_WHY_SIZE])
{
	bool waited = oauth->asking, over = false;
	while (oauth->asking && !over) {
		int64_t next = clock_monotonic_ms() + STOP_POLL_MS;
		clock_cond_wait(&oauth->changed, &oauth->lock,
		    next < wait->deadline_ms ? next : wait->deadline_ms);
		pthread_mutex_unlock(&oauth->lock);
		over = mcp_is_over(wait);
		pthread_mutex_lock(&oauth->lock);
	}
	if (oauth->asking)
		snprintf(why, MCP_WHY_SIZE, "a token was not to be had in time");
	else if (waited)
		snprintf(why, MCP_WHY_SIZE, "%s", oauth->why);
	return !*why;
}

/* Asks for a token, for all who wait for one; with the lock, which is not held meanwhile. */
static bool oauth_ask(struct mcp_oauth *oauth, const char *challenge, const struct mcp_wait *wait,
    char why[MCP_WHY_SIZE])
{
	oauth->asking = true;
	oauth_forget_token(oauth);
	pthread_mutex_unlock(&oauth->lock);
	bool got = (oauth->token_url || oauth_discover(oauth, challenge, wait, why)) &&
	    oauth_fetch(oauth, wait, why);
	bool failed = !got && !mcp_is_over(wait); /* else the next one may have the time for it */
	if (got)
		*why = '\0'; /* of addresses that were tried first */
	pthread_mutex_lock(&oauth->lock);
	oauth->asking = false;
	if (failed && !oauth->settings.token_url) { /* by the next time it may be given elsewhere */
		free(oauth->token_url);
		oauth->token_url = NULL;
	}
	snprintf(oauth->why, sizeof(oauth->why), "%s", failed ? why : "");
	pthread_cond_broadcast(&oauth->changed);
	return got;
}

char *mcp_oauth_header(struct mcp_oauth *oauth, const struct mcp_wait *wait, char why[MCP_WHY_SIZE])
{
	*why = '\0';
	pthread_mutex_lock(&oauth->lock);
	if (oauth_await(oauth, wait, why) && oauth->token_url &&
	    (!oauth->header || clock_monotonic_ms() >= oauth->ends))
		oauth_ask(oauth, NULL, wait, why);
	char *header = xstrdup(oauth->header);
	pthread_mutex_unlock(&oauth->lock);
	return header;
}

char *mcp_oauth_known(struct mcp_oauth *oauth)
{
	pthread_mutex_lock(&oauth->lock);
	char *header = xstrdup(oauth->header);
	pthread_mutex_unlock(&oauth->lock);
	return header;
}

bool mcp_oauth_refused(struct mcp_oauth *oauth, const char *header, const char *challenge,
    const struct mcp_wait *wait, char why[MCP_WHY_SIZE])
{
	*why = '\0';
	pthread_mutex_lock(&oauth->lock);
	bool may = oauth_await(oauth, wait, why);
	/* another thread may have got another one meanwhile */
	bool had = oauth->header && (!header || strcmp(oauth->header, header) != 0);
	if (may && !had) {
		char *scope = mcp_challenge_get(challenge, "scope");
		if (scope) {
			free(oauth->scope);
			oauth->scope = scope;
		}
		had = oauth_ask(oauth, challenge, wait, why);
	}
	pthread_mutex_unlock(&oauth->lock);
	return had;
}
