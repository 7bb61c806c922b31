/* SPDX-License-Identifier: ISC */
/* The key `embeddings`: provider, model, dimensions and where its key is found. */
#include "config/keys.h"

#include "base/json/json.h"

#define DIMENSIONS_DEFAULT 1536

static const struct choice providers[] = {{"openai", EMBEDDINGS_OPENAI}, {NULL, 0}};

#define ROW(member, ...) FIELD(embeddings_config, member, __VA_ARGS__)

const struct field_row embeddings_rows[] = {
    ROW(provider, .kind = &field_choice, .choices = providers, .required = true,
	.expected = "\"openai\""),
    ROW(model, .kind = &field_string, .required = true),
    ROW(base_url, .kind = &field_url, .expected = "an http or https URL"),
    ROW(dimensions, .kind = &field_integer, .min = 1, .max = 65536),
    ROW(api_key_env, .kind = &field_string, .expected = "the name of a variable"),
    FIELDS_END,
};

void embeddings_read(const struct section *root, struct config *config)
{
	struct embeddings_config *e = &config->embeddings;
	struct section s;
	if (!section_open(&s, root, "embeddings"))
		return;
	e->provider = EMBEDDINGS_OPENAI;
	e->dimensions = DIMENSIONS_DEFAULT;
	e->ask_dimensions = json_opt(s.object, "dimensions") != NULL;
	section_read(&s, embeddings_rows, e);
}
