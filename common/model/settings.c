/* SPDX-License-Identifier: ISC */
/* The settings of chat models: checked once, so that calls need not look again. */
#include "base/fields.h"
#include "base/http/url.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "config/environment/environment.h"
#include "config/environment/expand.h"
#include "model/provider.h"

#include <float.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DEFAULT_RETRIES 2

static const struct chat_provider *const providers[] = {
    &chat_openai, &chat_anthropic, &chat_gemini, NULL};

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

static bool settings_is_filled(const char *text)
{
	return *text;
}

static bool settings_is_variable(const char *name)
{
	return *name && !strchr(name, '=');
}

static enum field_fault settings_take_provider(
    const struct field_reader *reader, const struct field_row *f, const cJSON *value, void *slot)
{
	(void)reader;
	(void)f;
	for (size_t i = 0; providers[i]; i++) {
		if (strcmp(providers[i]->name, value->valuestring) != 0)
			continue;
		if (slot)
			*(const struct chat_provider **)slot = providers[i];
		return FIELD_FITS;
	}
	return FIELD_VALUE;
}

static enum field_fault settings_take_stop(
    const struct field_reader *reader, const struct field_row *f, const cJSON *value, void *slot)
{
	const cJSON *item;
	(void)reader;
	(void)f;
	(void)slot;
	if (cJSON_IsString(value))
		return *value->valuestring ? FIELD_FITS : FIELD_VALUE;
	cJSON_ArrayForEach(item, value) {
		if (!cJSON_IsString(item) || !*item->valuestring)
			return FIELD_VALUE;
	}
	return FIELD_FITS;
}

static const struct choice formats[] = {{"text", CHAT_FORMAT_TEXT},
    {"json_object", CHAT_FORMAT_OBJECT}, {"json_schema", CHAT_FORMAT_SCHEMA}, {NULL, 0}};

static const struct field_row format_rows[] = {
    FIELD_KNOWN("type"),
    FIELD_ONLY("schema", .expected = "an object, a JSON Schema"),
    FIELD_ONLY("name", .types = TYPE_STRING),
    FIELD_ONLY("strict", .types = TYPE_BOOLEAN),
    FIELDS_END,
};

static enum field_fault settings_take_format(
    const struct field_reader *reader, const struct field_row *f, const cJSON *value, void *slot)
{
	const struct field_reader inside = field_inside(reader, f->key);
	const char *type = json_str(value, "type");
	int format;
	if (!type || !choice_find(formats, type, &format))
		return FIELD_VALUE;
	if (slot)
		*(enum chat_format *)slot = (enum chat_format)format;
	bool fits = fields_read(&inside, value, format_rows, NULL);
	const cJSON *schema = json_get(value, "schema");
	if (format == CHAT_FORMAT_SCHEMA && !cJSON_IsObject(schema))
		return field_refuse(
		    &inside, fields_find(format_rows, "schema"), "schema", FIELD_VALUE, schema);
	return fits ? FIELD_FITS : FIELD_TOLD;
}

/* Takes the headers; the slot is the target itself. */
static enum field_fault settings_take_headers(
    const struct field_reader *reader, const struct field_row *f, const cJSON *value, void *slot)
{
	static const struct field_row no_text = {.types = TYPE_STRING};
	static const struct field_row no_value = {
	    .expected = "the environment variables that it names to be set"};
	const struct field_reader inside = field_inside(reader, f->key);
	enum field_fault fault = FIELD_FITS;
	struct chat_target *t = slot;
	const cJSON *header;
	if (t)
		t->headers = xcalloc((size_t)cJSON_GetArraySize(value), sizeof(*t->headers));
	cJSON_ArrayForEach(header, value) {
		char *unset = NULL;
		char *expanded =
		    cJSON_IsString(header) ? expand_variables(header->valuestring, &unset) : NULL;
		if (!expanded)
			fault = field_refuse(&inside, unset ? &no_value : &no_text, header->string,
			    unset ? FIELD_VALUE : FIELD_TYPE, header);
		if (expanded && t)
			t->headers[t->header_count++] =
			    (struct http_header){header->string, expanded};
		else
			free(expanded);
		free(unset);
	}
	return fault;
}

static const struct field_kind kind_provider = {
    .types = TYPE_STRING, .take = settings_take_provider};
static const struct field_kind kind_stop = {
    .types = TYPE_STRING | TYPE_ARRAY, .take = settings_take_stop};
static const struct field_kind kind_format = {.types = TYPE_OBJECT, .take = settings_take_format};
static const struct field_kind kind_headers = {.types = TYPE_OBJECT, .take = settings_take_headers};

/* ---- The keys */

#define SECONDS(member)                                                                      \
	FIELD(chat_times, member, .kind = &field_seconds, .min = DBL_TRUE_MIN, .max = 86400, \
	    .expected = "seconds, more than 0, at most 86400")
static const struct field_row times_rows[] = {
    SECONDS(connect), SECONDS(first_byte), SECONDS(idle), SECONDS(total), FIELDS_END};

static const struct choice apis[] = {
    {"chat_completions", CHAT_API_COMPLETIONS}, {"responses", CHAT_API_RESPONSES}, {NULL, 0}};

static const struct choice efforts[] = {
    {"none", 0}, {"minimal", 0}, {"low", 0}, {"medium", 0}, {"high", 0}, {NULL, 0}};

#define NUMBER(least, most) .kind = &field_number, .min = least, .max = most
#define INTEGER(least, most) .kind = &field_integer, .min = least, .max = most

const struct field_row chat_model_rows[] = {
    FIELD(chat_target, provider, .kind = &kind_provider,
	.expected = "\"openai\", \"anthropic\" or \"gemini\""),
    FIELD(chat_target, api, .kind = &field_choice, .choices = apis,
	.expected = "\"chat_completions\" or \"responses\""),
    FIELD(chat_target, model, .kind = &field_text, .valid = settings_is_filled, .required = true,
	.expected = "the name of a model"),
    FIELD_ONLY("base_url", .kind = &field_text, .valid = settings_is_web_url,
	.expected = "an http or https URL"),
    FIELD_ONLY("api_key_env", .kind = &field_text, .valid = settings_is_variable,
	.expected = "the name of an environment variable"),
    FIELD_ONLY("temperature", NUMBER(0, 2)),
    FIELD_ONLY("top_p", NUMBER(0, 1)),
    FIELD_ONLY("top_k", INTEGER(1, 1e6)),
    FIELD_ONLY("presence_penalty", NUMBER(-2, 2)),
    FIELD_ONLY("frequency_penalty", NUMBER(-2, 2)),
    FIELD_ONLY("max_tokens", INTEGER(1, 1e7)),
    FIELD_ONLY("seed", INTEGER(-9e18, 9e18), .expected = "an integer"),
    FIELD_ONLY("stop", .kind = &kind_stop, .expected = "a string or an array of strings"),
    FIELD_ONLY("reasoning_effort", .kind = &field_text, .choices = efforts,
	.expected = "\"none\", \"minimal\", \"low\", \"medium\" or \"high\""),
    FIELD_ONLY("reasoning_tokens", INTEGER(0, 1e6)),
    FIELD_AT("response_format", chat_target, format, .kind = &kind_format,
	.expected = "an object with type \"text\", \"json_object\" or \"json_schema\""),
    FIELD_ONLY("parallel_tool_calls", .kind = &field_bool),
    FIELD_ONLY("tool_images", .kind = &field_bool),
    FIELD(chat_target, stream, .kind = &field_bool),
    FIELD_ONLY("extra", .types = TYPE_OBJECT),
    {.key = "headers", .offset = 0, .kind = &kind_headers, .expected = "an object of strings"},
    FIELD_AT("timeouts", chat_target, times, .kind = &field_object, .rows = times_rows,
	.expected = "an object of seconds"),
    FIELD(chat_target, retries, INTEGER(0, 10)),
    FIELD_ONLY("fallbacks", .types = TYPE_ARRAY, .expected = "an array of objects"),
    FIELDS_END,
};

/* ---- Reporting */

/* Settings while they are read. */
struct spot {
	const struct chat_reporter *reporter;
	const char *fallback; /* "fallbacks/1", or NULL */
	bool wrong;
};

__attribute__((format(printf, 3, 4))) static void settings_problem(
    struct spot *s, const char *key, const char *fmt, ...)
{
	va_list args;
	s->wrong = true;
	if (!s->reporter)
		return;
	va_start(args, fmt);
	char *text = xvasprintf(fmt, args);
	va_end(args);
	char *path = xasprintf(
	    "%s%s%s", s->fallback ? s->fallback : "", s->fallback && *key ? "/" : "", key);
	s->reporter->problem(path, text, s->reporter->arg);
	free(path);
	free(text);
}

/* Reports a mistake.  A fallback that names no model has that of the first. */
static void settings_report(const struct field_reader *reader, const char *path,
    const struct field_row *f, enum field_fault fault, const cJSON *found)
{
	struct spot *s = reader->where;
	(void)found;
	if (fault == FIELD_MISSING && s->fallback)
		return;
	char *expected = field_expected(f);
	if (fault == FIELD_UNKNOWN)
		settings_problem(s, path, "unknown key");
	else
		settings_problem(s, path, "expected %s", expected);
	free(expected);
}

/* ---- Targets */

const char *provider_key(const char *named, const char *const *names)
{
	const char *value = named ? environment_text(named) : NULL;
	for (; !named && !value && *names; names++)
		value = environment_text(*names);
	return value;
}

/* Fills the target from settings, which are taken over and whose mistakes were reported. */
static void target_init(struct spot *s, struct chat_target *t, cJSON *settings)
{
	static const struct field_reader quiet = {.report = NULL};
	*t = (struct chat_target){.provider = &chat_openai,
	    .settings = settings,
	    .times = {10 * 1000, 300 * 1000, 120 * 1000, 600 * 1000},
	    .retries = DEFAULT_RETRIES,
	    .stream = true};
	fields_read(&quiet, settings, chat_model_rows, t);
	if (t->api == CHAT_API_RESPONSES && t->provider == &chat_openai)
		t->provider = &chat_openai_responses;
	const char *own = json_str(settings, "base_url");
	const char *variable = own ? NULL : environment_text(t->provider->url_env);
	if (variable && !settings_is_web_url(variable)) {
		settings_problem(s, "base_url",
		    "expected the environment variable %s to hold an http or https URL",
		    t->provider->url_env);
		variable = NULL;
	}
	t->base_url = url_base(own ? own : variable ? variable : t->provider->home);
	t->at_home = strcmp(t->base_url, t->provider->home) == 0;
	const char *named = json_str(settings, "api_key_env");
	const char *key = provider_key(named, t->provider->key_envs);
	t->key = xstrdup(key);
	if (!key && (named || t->at_home))
		settings_problem(s, "api_key_env",
		    "expected the environment variable %s, for the key, to be set",
		    named ? named : t->provider->key_envs[0]);
}

/* ---- Fallbacks */

/* The settings of a model: the members of own, and those members of above that own lacks and may
 * take over. */
static cJSON *settings_merged(const cJSON *own, const cJSON *above)
{
	/* what belongs to one service and must not be sent to another */
	static const struct field_row services_own[] = {FIELD_KNOWN("base_url"), FIELD_KNOWN("api"),
	    FIELD_KNOWN("api_key_env"), FIELD_KNOWN("headers"), FIELD_KNOWN("extra"), FIELDS_END};
	cJSON *out = cJSON_CreateObject();
	bool other = json_opt(own, "provider") || json_opt(own, "base_url");
	for (const struct field_row *f = chat_model_rows; f->key; f++) {
		const cJSON *value = json_opt(own, f->key);
		if (!value && !(other && fields_find(services_own, f->key)))
			value = json_opt(above, f->key);
		if (value && strcmp(f->key, "fallbacks") != 0)
			cJSON_AddItemToObject(out, f->key, cJSON_Duplicate(value, true));
	}
	return out;
}

/* Reads the settings of the first model, or of a fallback of above. */
static void settings_read(
    struct spot *s, const cJSON *settings, const cJSON *above, struct chat_target *t)
{
	static const char *const without[] = {
	    "top_k", "presence_penalty", "frequency_penalty", "seed", "stop"};
	const struct field_reader reader = {
	    .report = settings_report, .where = s, .joint = '/', .strict = true};
	if (above && json_get(settings, "fallbacks"))
		settings_problem(s, "fallbacks", "a fallback has no fallbacks");
	fields_read(&reader, settings, chat_model_rows, NULL);
	target_init(s, t, settings_merged(settings, above));
	/* keys that the interface does not have; what a fallback takes over of them is left out
	 * without a word */
	const char *provider = json_str(t->settings, "provider");
	if (json_opt(settings, "api") && provider && strcmp(provider, chat_openai.name) != 0)
		settings_problem(s, "api", "expected no such key for provider %s", provider);
	for (size_t i = 0; t->api == CHAT_API_RESPONSES && i < sizeof(without) / sizeof(*without);
	     i++)
		if (json_opt(settings, without[i]))
			settings_problem(s, without[i],
			    "expected no such key beside \"api\": \"responses\", which has none; "
			    "what another server has goes into extra");
}

struct chat_model *chat_model_new(const cJSON *settings, const struct chat_reporter *reporter)
{
	struct spot s = {.reporter = reporter};
	struct chat_model *m = xcalloc(1, sizeof(*m));
	const cJSON *fallbacks = json_opt(settings, "fallbacks"), *item;
	size_t i = 0;
	if (!cJSON_IsArray(fallbacks))
		fallbacks = NULL;
	m->targets = xcalloc(1 + (size_t)cJSON_GetArraySize(fallbacks), sizeof(*m->targets));
	if (cJSON_IsObject(settings))
		settings_read(&s, settings, NULL, &m->targets[m->count++]);
	else
		settings_problem(&s, "", "expected an object");
	cJSON_ArrayForEach(item, fallbacks) {
		char place[48];
		snprintf(place, sizeof(place), "fallbacks/%zu", i++);
		s.fallback = place;
		if (cJSON_IsObject(item))
			settings_read(&s, item, settings, &m->targets[m->count++]);
		else
			settings_problem(&s, "", "expected an object");
	}
	if (!s.wrong)
		return m;
	chat_model_free(m);
	return NULL;
}

void chat_model_free(struct chat_model *m)
{
	if (!m)
		return;
	for (struct chat_target *t = m->targets; t < m->targets + m->count; t++) {
		for (size_t i = 0; i < t->header_count; i++)
			free((char *)t->headers[i].value);
		free(t->headers);
		free(t->base_url);
		secret_free(t->key);
		cJSON_Delete(t->settings);
	}
	free(m->targets);
	free(m);
}

bool chat_model_wants_json(const struct chat_model *m)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->targets[i].format != CHAT_FORMAT_TEXT)
			return true;
	return false;
}
