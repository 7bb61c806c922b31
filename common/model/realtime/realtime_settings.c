/* SPDX-License-Identifier: ISC */
/* The settings of realtime providers. */
#include "base/http/url.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "config/environment/environment.h"
#include "model/provider.h"
#include "model/realtime/realtime_dialect.h"

#include <stdlib.h>
#include <string.h>

static const struct realtime_dialect *const dialects[] = {&realtime_openai, &realtime_gemini, NULL};

struct check {
	const struct realtime_reporter *reporter;
	bool wrong;
};

static void realtime_settings_problem(struct check *check, const char *key, const char *text)
{
	check->wrong = true;
	if (check->reporter)
		check->reporter->problem(key, text, check->reporter->arg);
}

struct realtime_settings *realtime_settings_new(
    const char *provider, const cJSON *object, const struct realtime_reporter *reporter)
{
	struct check check = {reporter, false};
	size_t i = 0;
	while (dialects[i] && strcmp(dialects[i]->name, provider) != 0)
		i++;
	if (!dialects[i])
		return NULL;
	struct realtime_settings *s = xcalloc(1, sizeof(*s));
	const cJSON *extra = json_opt(object, "extra");
	const char *model = json_str(object, "model");
	s->dialect = dialects[i];
	if (!model || !*model)
		realtime_settings_problem(&check, "model", "expected the name of a model");
	const char *own = json_str(object, "base_url");
	const char *variable = own ? NULL : environment_text(s->dialect->url_env);
	const char *url = own ? own : variable ? variable : s->dialect->home;
	struct realtime_address address = {0};
	if (!realtime_address_read(&address, url) || strpbrk(url, "?#")) {
		char *text = xasprintf("expected %s%s%sa ws, wss, http or https URL",
		    own ? "" : "the environment variable ", own ? "" : s->dialect->url_env,
		    own ? "" : " to be ");
		realtime_settings_problem(&check, "base_url", text);
		free(text);
	}
	realtime_address_release(&address);
	s->base_url = url_base(url);
	const char *named = json_str(object, "api_key_env");
	const char *const *envs = s->dialect->key_envs;
	const char *value = provider_key(named, envs);
	if (named && (!*named || strchr(named, '=')))
		realtime_settings_problem(
		    &check, "api_key_env", "expected the name of an environment variable");
	s->key = xstrdup(value);
	if (!value && (named || strcmp(s->base_url, s->dialect->home) == 0))
		s->lack = xstrdup(named ? named : envs[0]);
	s->extra = cJSON_IsObject(extra) ? cJSON_Duplicate(extra, true) : NULL;
	if (!check.wrong)
		return s;
	realtime_settings_free(s);
	return NULL;
}

void realtime_settings_free(void *settings)
{
	struct realtime_settings *s = settings;
	if (!s)
		return;
	free(s->base_url);
	secret_free(s->key);
	free(s->lack);
	cJSON_Delete(s->extra);
	free(s);
}

const char *realtime_settings_lack(const struct realtime_settings *settings)
{
	return settings->lack;
}
