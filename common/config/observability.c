/* SPDX-License-Identifier: ISC */
/* The key `observability`: Logfire and LangSmith, and the variables with their tokens. */
#include "config/keys.h"

#include "base/json.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static const struct choice levels[] = {
    {"spans", TRACE_SPANS}, {"standard", TRACE_STANDARD}, {"full", TRACE_FULL}, {NULL, 0}};

#define ROW(member, ...) FIELD(exporter_config, member, __VA_ARGS__)
#define ENABLED ROW(enabled, .kind = &field_bool)
#define ENDPOINT ROW(endpoint, .kind = &field_url, .expected = "a URL")

static const struct field_row logfire_rows[] = {
    ENABLED,
    ENDPOINT,
    ROW(service_name, .kind = &field_string),
    FIELD_AT("send_to_logfire", exporter_config, send, .kind = &field_bool),
    ROW(console, .kind = &field_bool),
    FIELDS_END,
};

static const struct field_row langsmith_rows[] = {
    ENABLED,
    ENDPOINT,
    ROW(project, .kind = &field_string),
    FIELDS_END,
};

/* What the tokens decide is read by functions of its own. */
const struct field_row observability_rows[] = {
    FIELD(observability_config, level, .kind = &field_choice, .choices = levels,
	.expected = "\"spans\", \"standard\" or \"full\""),
    FIELD_KNOWN("logfire"),
    FIELD_KNOWN("langsmith"),
    FIELDS_END,
};

static char *token_from(const char *variable)
{
	const char *token = getenv(variable);
	return token && *token ? xstrdup(token) : NULL;
}

/* agentgraph.json(5): a backend without its token is reported and sends nothing. */
static void require_token(const struct section *s, struct exporter_config *e, const char *variable)
{
	if (!e->enabled || !e->send || e->token)
		return;
	section_warning(
	    s, "enabled", "nothing is sent, because the variable %s is not set", variable);
	e->send = false;
	e->enabled = e->console;
}

static void read_logfire(const struct section *parent, struct config *config)
{
	struct exporter_config *e = &config->observability.logfire;
	struct section s;
	if (!section_open(&s, parent, "logfire"))
		return;
	e->enabled = e->send = true;
	e->token = token_from("LOGFIRE_TOKEN");
	string_replace(&e->endpoint, "https://logfire-api.pydantic.dev");
	string_replace(&e->service_name, config->env.otel_service_name);
	section_read(&s, logfire_rows, e);
	require_token(&s, e, "LOGFIRE_TOKEN");
}

static void read_langsmith(const struct section *parent, struct exporter_config *e)
{
	struct section s;
	if (!section_open(&s, parent, "langsmith"))
		return;
	e->enabled = e->send = true;
	e->token = token_from("LANGSMITH_API_KEY");
	string_replace(&e->endpoint, "https://api.smith.langchain.com/otel");
	section_read(&s, langsmith_rows, e);
	require_token(&s, e, "LANGSMITH_API_KEY");
}

void observability_read(const struct section *root, struct config *config)
{
	struct section s;
	config->observability.level = TRACE_STANDARD;
	if (!section_open(&s, root, "observability"))
		return;
	section_read(&s, observability_rows, &config->observability);
	read_logfire(&s, config);
	read_langsmith(&s, &config->observability.langsmith);
}

void observability_release(struct observability_config *observability)
{
	fields_release(logfire_rows, &observability->logfire);
	fields_release(langsmith_rows, &observability->langsmith);
	free(observability->logfire.token);
	free(observability->langsmith.token);
}
