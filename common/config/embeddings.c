/* SPDX-License-Identifier: ISC */
/* The key `embeddings`: provider, model, dimensions and where its key is found. */
#include "config/keys.h"

#include "base/json.h"

#define DIMENSIONS_DEFAULT 1536
#define DIMENSIONS_MOST 65536

static const struct choice providers[] = {{"openai", EMBEDDINGS_OPENAI}, {NULL, 0}};

#define ROW(member, ...) FIELD(embeddings_config, member, __VA_ARGS__)

static const struct field rows[] = {
    ROW(provider, .kind = FIELD_CHOICE, .choices = providers, .required = true,
	.expected = "\"openai\""),
    ROW(model, .kind = FIELD_STRING, .required = true, .expected = EXPECTED_STRING),
    ROW(base_url, .kind = FIELD_URL, .expected = "an http or https URL"),
    ROW(dimensions, .kind = FIELD_INTEGER, .min = 1, .expected = "an integer from 1 to 65536"),
    ROW(api_key_env, .kind = FIELD_STRING, .expected = "the name of a variable"),
};
static const struct field_table table = FIELD_TABLE(rows);

void embeddings_read(const struct section *root, struct config *config)
{
	struct embeddings_config *e = &config->embeddings;
	struct section s;
	if (!section_open(&s, root, "embeddings"))
		return;
	e->provider = EMBEDDINGS_OPENAI;
	e->dimensions = DIMENSIONS_DEFAULT;
	e->ask_dimensions = json_opt(s.object, "dimensions") != NULL;
	fields_read(&s, &table, e);
	if (e->dimensions > DIMENSIONS_MOST)
		section_refuse(&s, "dimensions", json_opt(s.object, "dimensions"),
		    "an integer from 1 to 65536");
}

void embeddings_release(struct embeddings_config *embeddings)
{
	fields_release(&table, embeddings);
}
