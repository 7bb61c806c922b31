/* SPDX-License-Identifier: ISC */
/* The key `observability`: Logfire and LangSmith, and the variables with their tokens. */
#include "config/keys.h"

#include "base/http/url.h"
#include "base/memory.h"
#include "config/environment/environment.h"
#include "config/words.h"

#include <stdlib.h>

static const struct choice levels[] = {
    {"spans", TRACE_SPANS}, {"standard", TRACE_STANDARD}, {"full", TRACE_FULL}, {NULL, 0}};

#define ROW(member, ...) FIELD(exporter_config, member, __VA_ARGS__)
#define ENABLED ROW(enabled, .kind = &field_bool)
#define ENDPOINT ROW(endpoint, .kind = &field_url, .valid = url_valid, .expected = ADDRESS_EXPECTED)

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

/* The two backends depend on tokens, and are read by observability_read_backend. */
const struct field_row observability_rows[] = {
    FIELD(observability_config, level, .kind = &field_choice, .choices = levels,
	.expected = "\"spans\", \"standard\" or \"full\""),
    FIELD_KNOWN("logfire"),
    FIELD_KNOWN("langsmith"),
    FIELDS_END,
};

/* A backend's key in the file, its usual address, and the variable that has its token. */
struct backend {
	const char *key, *endpoint, *variable;
	const struct field_row *rows;
};

static const struct backend logfire = {
    "logfire", "https://logfire-api.pydantic.dev", "LOGFIRE_TOKEN", logfire_rows};
static const struct backend langsmith = {
    "langsmith", "https://api.smith.langchain.com/otel", "LANGSMITH_API_KEY", langsmith_rows};

/* agentgraph.json(5): a backend without its token is reported and sends nothing. */
static void observability_read_backend(
    const struct section *parent, const struct backend *backend, struct exporter_config *e)
{
	const char *token = environment_text(backend->variable);
	struct section s;
	if (!section_open(&s, parent, backend->key))
		return;
	e->enabled = e->send = true;
	e->token = xstrdup(token);
	string_replace(&e->endpoint, backend->endpoint);
	section_read(&s, backend->rows, e);
	if (!e->enabled || !e->send || e->token)
		return;
	section_warning(&s, "enabled", "nothing is sent, because the variable %s is not set",
	    backend->variable);
	e->send = false;
	e->enabled = e->console;
}

void observability_read(const struct section *root, struct config *config)
{
	struct section s;
	config->observability.level = TRACE_STANDARD;
	if (!section_open(&s, root, "observability"))
		return;
	section_read(&s, observability_rows, &config->observability);
	string_replace(&config->observability.logfire.service_name, config->env.otel_service_name);
	observability_read_backend(&s, &logfire, &config->observability.logfire);
	observability_read_backend(&s, &langsmith, &config->observability.langsmith);
}

void observability_release(struct observability_config *observability)
{
	fields_release(logfire_rows, &observability->logfire);
	fields_release(langsmith_rows, &observability->langsmith);
	free(observability->logfire.token);
	free(observability->langsmith.token);
}
