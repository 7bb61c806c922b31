/* SPDX-License-Identifier: ISC */
/* The settings of chat models: checked once, so that calls need not look again. */
#include "base/json.h"
#include "base/json_members.h"
#include "base/memory.h"
#include "config/environment.h"
#include "config/expand.h"
#include "model/provider.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DEFAULT_RETRIES 2
#define MAX_SECONDS 86400

static const struct chat_provider *const providers[] = {
    &chat_openai, &chat_anthropic, &chat_gemini, NULL};

/* ---- Reporting */

/* Where one is in the settings. */
struct spot {
	const struct chat_reporter *reporter;
	char path[256];
	bool *wrong;
};

static void settings_problem(const struct spot *s, const char *key, const char *text)
{
	char path[512];
	snprintf(path, sizeof(path), "%s%s%s", s->path, *s->path && *key ? "/" : "", key);
	*s->wrong = true;
	if (s->reporter)
		s->reporter->problem(path, text, s->reporter->arg);
}

static struct spot below(const struct spot *s, const char *key)
{
	struct spot out = {.reporter = s->reporter, .wrong = s->wrong};
	snprintf(out.path, sizeof(out.path), "%s%s%s", s->path, *s->path ? "/" : "", key);
	return out;
}

/* ---- The keys */

enum kind {
	K_NAME, /* string that is not empty */
	K_URL,
	K_VARIABLE,
	K_PROVIDER,
	K_EFFORT,
	K_NUMBER,
	K_INTEGER,
	K_BOOL,
	K_STOP,
	K_FORMAT,
	K_OBJECT,
	K_HEADERS,
	K_TIMES,
	K_FALLBACKS
};

struct key {
	const char *name;
	enum kind kind;
	double least, most;
	const char *expected; /* "expected …" */
};

static const struct key keys[] = {
    {"provider", K_PROVIDER, 0, 0, "\"openai\", \"anthropic\" or \"gemini\""},
    {"model", K_NAME, 0, 0, "the name of a model"},
    {"base_url", K_URL, 0, 0, "an http or https URL"},
    {"api_key_env", K_VARIABLE, 0, 0, "the name of an environment variable"},
    {"temperature", K_NUMBER, 0, 2, "a number from 0 to 2"},
    {"top_p", K_NUMBER, 0, 1, "a number from 0 to 1"},
    {"top_k", K_INTEGER, 1, 1e6, "an integer from 1 to 1000000"},
    {"presence_penalty", K_NUMBER, -2, 2, "a number from -2 to 2"},
    {"frequency_penalty", K_NUMBER, -2, 2, "a number from -2 to 2"},
    {"max_tokens", K_INTEGER, 1, 1e7, "an integer from 1 to 10000000"},
    {"seed", K_INTEGER, -9e18, 9e18, "an integer"},
    {"stop", K_STOP, 0, 0, "a string or an array of strings"},
    {"reasoning_effort", K_EFFORT, 0, 0, "\"none\", \"minimal\", \"low\", \"medium\" or \"high\""},
    {"reasoning_tokens", K_INTEGER, 0, 1e6, "an integer from 0 to 1000000"},
    {"response_format", K_FORMAT, 0, 0,
	"an object with type \"text\", \"json_object\" or \"json_schema\""},
    {"parallel_tool_calls", K_BOOL, 0, 0, "true or false"},
    {"tool_images", K_BOOL, 0, 0, "true or false"},
    {"stream", K_BOOL, 0, 0, "true or false"},
    {"extra", K_OBJECT, 0, 0, "an object"},
    {"headers", K_HEADERS, 0, 0, "an object of strings"},
    {"timeouts", K_TIMES, 0, 0, "an object of seconds"},
    {"retries", K_INTEGER, 0, 10, "an integer from 0 to 10"},
    {"fallbacks", K_FALLBACKS, 0, 0, "an array of objects"},
};

#define KEYS (sizeof(keys) / sizeof(*keys))

const char *const chat_model_keys[] = {"provider", "model", "base_url", "api_key_env",
    "temperature", "top_p", "top_k", "presence_penalty", "frequency_penalty", "max_tokens", "seed",
    "stop", "reasoning_effort", "reasoning_tokens", "response_format", "parallel_tool_calls",
    "tool_images", "stream", "extra", "headers", "timeouts", "retries", "fallbacks", NULL};

_Static_assert(sizeof(chat_model_keys) / sizeof(*chat_model_keys) == KEYS + 1, "a key is missing");

/* What belongs to one service and must not be sent to another. */
static const char *const services_own[] = {"base_url", "api_key_env", "headers", "extra", NULL};

static bool settings_is_one_of(const char *const *words, const char *word)
{
	while (words && *words && strcmp(*words, word) != 0)
		words++;
	return words && *words;
}

static const struct chat_provider *provider_named(const char *name)
{
	for (size_t i = 0; name && providers[i]; i++)
		if (strcmp(providers[i]->name, name) == 0)
			return providers[i];
	return NULL;
}

/* ---- Values */

static bool settings_is_web_url(const char *url)
{
	size_t scheme = strncasecmp(url, "https://", 8) == 0 ? 8
	    : strncasecmp(url, "http://", 7) == 0            ? 7
							     : 0;
	if (scheme == 0 || strcspn(url + scheme, "/?#") == 0)
		return false;
	for (const char *p = url; *p; p++)
		if ((unsigned char)*p <= ' ' || *p == 0x7f)
			return false;
	return true;
}

static bool settings_in_range(const struct key *key, const cJSON *value)
{
	double number;
	return json_number(value, &number) && number >= key->least && number <= key->most;
}

static bool is_stop(const cJSON *value)
{
	const cJSON *item;
	if (cJSON_IsString(value))
		return *value->valuestring != '\0';
	if (!cJSON_IsArray(value))
		return false;
	cJSON_ArrayForEach(item, value) {
		if (!cJSON_IsString(item) || !*item->valuestring)
			return false;
	}
	return true;
}

static void check_members(const struct spot *s, const cJSON *object, const char *const *known)
{
	const cJSON *member;
	cJSON_ArrayForEach(member, object) {
		if (!settings_is_one_of(known, member->string))
			settings_problem(s, member->string, "unknown key");
	}
}

static bool settings_check_format(const struct spot *s, const cJSON *value)
{
	static const char *const members[] = {"type", "schema", "name", "strict", NULL};
	static const char *const types[] = {"text", "json_object", "json_schema", NULL};
	const char *type = json_str(value, "type");
	if (!type || !settings_is_one_of(types, type))
		return false;
	struct spot at = below(s, "response_format");
	check_members(&at, value, members);
	if (strcmp(type, "json_schema") == 0 && !cJSON_IsObject(json_get(value, "schema")))
		settings_problem(&at, "schema", "expected an object, a JSON Schema");
	if (json_opt(value, "name") && !json_str(value, "name"))
		settings_problem(&at, "name", "expected a string");
	if (json_opt(value, "strict") && !cJSON_IsBool(json_get(value, "strict")))
		settings_problem(&at, "strict", "expected true or false");
	return true;
}

static void check_headers(const struct spot *s, const cJSON *value)
{
	const cJSON *header;
	struct spot at = below(s, "headers");
	cJSON_ArrayForEach(header, value) {
		char *unset = NULL, *text = NULL;
		if (!cJSON_IsString(header))
			settings_problem(&at, header->string, "expected a string");
		else if (!(text = expand_variables(header->valuestring, &unset)))
			settings_problem(&at, header->string,
			    "expected the environment variables that it names to be set");
		free(text ? text : unset);
	}
}

static void check_times(const struct spot *s, const cJSON *value)
{
	static const char *const members[] = {"connect", "first_byte", "idle", "total", NULL};
	struct spot at = below(s, "timeouts");
	const cJSON *time;
	double seconds;
	check_members(&at, value, members);
	cJSON_ArrayForEach(time, value) {
		if (!json_number(time, &seconds) || seconds <= 0 || seconds > MAX_SECONDS)
			settings_problem(
			    &at, time->string, "expected seconds, more than 0, at most 86400");
	}
}

static bool settings_fits(const struct spot *s, const struct key *key, const cJSON *value)
{
	static const char *const efforts[] = {"none", "minimal", "low", "medium", "high", NULL};
	const char *text = cJSON_IsString(value) ? value->valuestring : NULL;
	int64_t integer;
	switch (key->kind) {
	case K_NAME:
		return text && *text;
	case K_URL:
		return text && settings_is_web_url(text);
	case K_VARIABLE:
		return text && *text && !strchr(text, '=');
	case K_PROVIDER:
		return provider_named(text) != NULL;
	case K_EFFORT:
		return text && settings_is_one_of(efforts, text);
	case K_NUMBER:
		return settings_in_range(key, value);
	case K_INTEGER:
		return json_integer(value, &integer) && settings_in_range(key, value);
	case K_BOOL:
		return cJSON_IsBool(value);
	case K_STOP:
		return is_stop(value);
	case K_FORMAT:
		return cJSON_IsObject(value) && settings_check_format(s, value);
	case K_OBJECT:
		return cJSON_IsObject(value);
	case K_HEADERS:
		if (cJSON_IsObject(value))
			check_headers(s, value);
		return cJSON_IsObject(value);
	case K_TIMES:
		if (cJSON_IsObject(value))
			check_times(s, value);
		return cJSON_IsObject(value);
	case K_FALLBACKS:
		return cJSON_IsArray(value);
	}
	return false;
}

/* The object's own members; null is as if absent. */
static void settings_check(
    const struct spot *s, const cJSON *settings, const char *const *also, bool top)
{
	const cJSON *member;
	cJSON_ArrayForEach(member, settings) {
		bool known = settings_is_one_of(chat_model_keys, member->string);
		if (!top && strcmp(member->string, "fallbacks") == 0)
			settings_problem(s, member->string, "a fallback has no fallbacks");
		else if (!known && !settings_is_one_of(also, member->string))
			settings_problem(s, member->string, "unknown key");
	}
	for (size_t i = 0; i < KEYS; i++) {
		const cJSON *value = json_opt(settings, keys[i].name);
		if (!value || settings_fits(s, &keys[i], value))
			continue;
		char *text = xasprintf("expected %s", keys[i].expected);
		settings_problem(s, keys[i].name, text);
		free(text);
	}
}

/* ---- Targets */

static char *trimmed_url(const char *url)
{
	size_t len = strlen(url);
	while (len > 0 && url[len - 1] == '/')
		len--;
	return xstrndup(url, len);
}

static void find_url(const struct spot *s, struct chat_target *t)
{
	const char *own = json_str(t->settings, "base_url");
	const char *variable = own ? NULL : environment_text(t->provider->url_env);
	if (variable && !settings_is_web_url(variable)) {
		char *text =
		    xasprintf("expected the environment variable %s to hold an http or https URL",
			t->provider->url_env);
		settings_problem(s, "base_url", text);
		free(text);
		variable = NULL;
	}
	t->base_url = trimmed_url(own ? own : variable ? variable : t->provider->home);
	t->at_home = strcmp(t->base_url, t->provider->home) == 0;
}

static void find_key(const struct spot *s, struct chat_target *t)
{
	const char *named = json_str(t->settings, "api_key_env");
	const char *value = named ? environment_text(named) : NULL;
	for (size_t i = 0; !named && !value && t->provider->key_envs[i]; i++)
		value = environment_text(t->provider->key_envs[i]);
	t->key = xstrdup(value);
	if (value || (!named && !t->at_home))
		return;
	char *text = xasprintf("expected the environment variable %s, for the key, to be set",
	    named ? named : t->provider->key_envs[0]);
	settings_problem(s, "api_key_env", text);
	free(text);
}

static void settings_read_headers(struct chat_target *t)
{
	const cJSON *headers = json_opt(t->settings, "headers"), *header;
	t->headers = xcalloc((size_t)cJSON_GetArraySize(headers), sizeof(*t->headers));
	cJSON_ArrayForEach(header, headers) {
		char *unset = NULL;
		char *value =
		    cJSON_IsString(header) ? expand_variables(header->valuestring, &unset) : NULL;
		free(unset);
		if (value)
			t->headers[t->header_count++] = (struct http_header){header->string, value};
	}
}

static int64_t seconds(const struct chat_target *t, const char *name, int64_t otherwise)
{
	double value;
	if (!json_number(json_opt(json_opt(t->settings, "timeouts"), name), &value) || value <= 0)
		value = (double)otherwise;
	int64_t ms = (int64_t)(value * 1000);
	return ms > 0 ? ms : 1;
}

/* The settings are taken over. */
static void target_init(const struct spot *s, struct chat_target *t, cJSON *settings)
{
	int64_t retries = DEFAULT_RETRIES;
	t->settings = settings;
	t->provider = provider_named(json_str(settings, "provider"));
	t->provider = t->provider ? t->provider : &chat_openai;
	t->model = json_str(settings, "model");
	if (!json_opt(settings, "model"))
		settings_problem(s, "model", "expected the name of a model");
	find_url(s, t);
	find_key(s, t);
	settings_read_headers(t);
	t->times = (struct chat_times){seconds(t, "connect", 10), seconds(t, "first_byte", 300),
	    seconds(t, "idle", 120), seconds(t, "total", 600)};
	json_integer(json_opt(settings, "retries"), &retries);
	t->retries = (int)retries;
	t->stream = !cJSON_IsFalse(json_opt(settings, "stream"));
}

static void target_release(struct chat_target *t)
{
	for (size_t i = 0; i < t->header_count; i++)
		free((char *)t->headers[i].value);
	free(t->headers);
	free(t->base_url);
	if (t->key)
		explicit_bzero(t->key, strlen(t->key));
	free(t->key);
	cJSON_Delete(t->settings);
}

/* ---- Fallbacks */

/* The members of own that a model has; of above those that own lacks and may have. */
static cJSON *merged(const cJSON *own, const cJSON *above)
{
	cJSON *out = cJSON_CreateObject();
	bool other = json_opt(own, "provider") || json_opt(own, "base_url");
	for (size_t i = 0; chat_model_keys[i]; i++) {
		const char *key = chat_model_keys[i];
		bool inherits = !(other && settings_is_one_of(services_own, key));
		const cJSON *value = json_opt(own, key);
		if (!value && inherits)
			value = json_opt(above, key);
		if (value && strcmp(key, "fallbacks") != 0)
			cJSON_AddItemToObject(out, key, cJSON_Duplicate(value, true));
	}
	return out;
}

static void read_fallbacks(const struct spot *s, struct chat_model *m, const cJSON *settings)
{
	const cJSON *fallbacks = json_opt(settings, "fallbacks"), *item;
	size_t i = 0;
	if (!cJSON_IsArray(fallbacks))
		return;
	cJSON_ArrayForEach(item, fallbacks) {
		char key[48];
		snprintf(key, sizeof(key), "fallbacks/%zu", i++);
		if (!cJSON_IsObject(item)) {
			settings_problem(s, key, "expected an object");
			continue;
		}
		struct spot at = below(s, key);
		settings_check(&at, item, NULL, false);
		target_init(&at, &m->targets[m->count++], merged(item, settings));
	}
}

struct chat_model *chat_model_new(
    const cJSON *settings, const char *const *also, const struct chat_reporter *reporter)
{
	bool wrong = false;
	struct spot s = {.reporter = reporter, .wrong = &wrong};
	struct chat_model *m = xcalloc(1, sizeof(*m));
	const cJSON *fallbacks = json_opt(settings, "fallbacks");
	m->targets = xcalloc(1 + (size_t)cJSON_GetArraySize(fallbacks), sizeof(*m->targets));
	if (cJSON_IsObject(settings)) {
		settings_check(&s, settings, also, true);
		target_init(&s, &m->targets[m->count++], merged(settings, NULL));
		read_fallbacks(&s, m, settings);
	} else {
		settings_problem(&s, "", "expected an object");
	}
	if (!wrong)
		return m;
	chat_model_free(m);
	return NULL;
}

void chat_model_free(struct chat_model *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->count; i++)
		target_release(&m->targets[i]);
	free(m->targets);
	free(m);
}

enum chat_format chat_target_format(const struct chat_target *t)
{
	const char *type = json_str(json_opt(t->settings, "response_format"), "type");
	if (!type || strcmp(type, "text") == 0)
		return CHAT_FORMAT_TEXT;
	return strcmp(type, "json_schema") == 0 ? CHAT_FORMAT_SCHEMA : CHAT_FORMAT_OBJECT;
}

bool chat_model_wants_json(const struct chat_model *m)
{
	for (size_t i = 0; i < m->count; i++)
		if (chat_target_format(&m->targets[i]) != CHAT_FORMAT_TEXT)
			return true;
	return false;
}
