/* SPDX-License-Identifier: ISC */
/* What is done with a node that fails: the keys that all kinds of node have, in documents and by
 * ag_graph_policy. */
#include "base/json/json.h"
#include "base/memory.h"
#include "base/texts.h"
#include "graph/document/document.h"
#include "graph/message/template.h"

#include <stdlib.h>
#include <string.h>

struct policy_object {
	const cJSON *retry, *cache;
	const char *on_error;
	double timeout;
};

#define RETRY_ROWS                                                                            \
	FIELD(policy_object, retry, FIELD_OBJECT), FIELD(policy_object, cache, FIELD_OBJECT), \
	    FIELD(policy_object, on_error, .kind = &field_text)

const struct field_row document_retry_rows[] = {RETRY_ROWS, FIELDS_END};
const struct field_row document_policy_rows[] = {RETRY_ROWS,
    FIELD(policy_object, timeout, .kind = &field_number, .min = 0.001, .max = 900), FIELDS_END};

static const struct document_shape shape_policy = {"policy", {document_policy_rows}};

struct retry_object {
	int64_t attempts;
	double initial, factor, max;
};

DOCUMENT_SHAPE(retry, FIELD(retry_object, attempts, .kind = &field_integer, .min = 1, .max = 100),
    FIELD(retry_object, initial, .kind = &field_number, .max = 3600),
    FIELD(retry_object, factor, .kind = &field_number, .min = 1, .max = 100),
    FIELD(retry_object, max, .kind = &field_number, .max = 3600));

struct cache_object {
	const cJSON *key;
	double ttl;
};

DOCUMENT_SHAPE(cache, FIELD(cache_object, key, FIELD_ARRAY, .required = true),
    FIELD(
	cache_object, ttl, .kind = &field_number, .required = true, .min = 0.001, .max = 31536000));

/* on_error may name a node that is declared later; graph_compile finds it. */
static void policy_take(struct document *d, const struct place *at, struct node_policy *policy,
    const struct policy_object *given)
{
	struct retry_object retry = {.attempts = 3, .initial = 0.5, .factor = 2, .max = 60};
	if (given->retry) {
		document_read(d, PLACE_KEY(at, "retry"), given->retry, &shape_retry, &retry);
		policy->attempts = (int)retry.attempts;
		policy->initial = retry.initial;
		policy->factor = retry.factor;
		policy->max = retry.max;
	}
	if (given->cache) {
		const struct place *in = PLACE_KEY(at, "cache"), *key = PLACE_KEY(in, "key");
		struct cache_object cache = {0};
		document_read(d, in, given->cache, &shape_cache, &cache);
		const char *const *names = document_names(d, key, cache.key);
		for (size_t i = 0; names && names[i]; i++) {
			char *text = xasprintf("{{%s}}", names[i]);
			template_free(document_template(d, PLACE_INDEX(key, i), text, false));
			free(text);
		}
		texts_free(policy->cache.names);
		policy->cache.names = names;
		policy->cache.ttl = cache.ttl;
	}
	if (given->timeout > 0)
		policy->timeout = given->timeout;
	if (!given->on_error)
		return;
	free(policy->on_error);
	policy->on_error = xstrdup(given->on_error);
	if (d->nodes && strcmp(given->on_error, AG_END) != 0 &&
	    !json_get(d->nodes, given->on_error))
		document_problem(d, PLACE_KEY(at, "on_error"),
		    "there is no node '%s'; expected one, or END", given->on_error);
}

void document_policy(
    struct document *d, const struct place *at, const char *name, const cJSON *item)
{
	/* mistakes were reported with the other keys of the node */
	static const struct field_reader quiet = {.report = NULL};
	struct policy_object given = {0};
	int i = graph_node_index(d->graph, name);
	if (i < 0)
		return;
	fields_read(&quiet, item, document_policy_rows, &given);
	policy_take(d, at, &d->graph->nodes[i].policy, &given);
	if (given.cache) /* a node that is changed has other results */
		d->graph->nodes[i].policy.cache.described = json_print(item);
}

void ag_graph_policy(ag_graph *graph, const char *name, const char *policy)
{
	struct document d = {.graph = graph, .file = graph->name, .dir = "."};
	const struct place whole = {NULL, name ? name : "", 0};
	struct policy_object given = {0};
	int i = name ? graph_node_index(graph, name) : GRAPH_UNSET;
	cJSON *tree = policy ? json_parse(policy, strlen(policy), JSON_REQUEST_DEPTH, NULL) : NULL;
	if (i < 0 || graph->nodes[i].live)
		document_problem(
		    &d, &whole, "expected a policy for a node that runs, this is none");
	else if (!cJSON_IsObject(tree))
		document_problem(&d, &whole, "expected the policy as a JSON object");
	else if (document_read(&d, &whole, tree, &shape_policy, &given))
		policy_take(&d, &whole, &graph->nodes[i].policy, &given);
	cJSON_Delete(tree);
}
