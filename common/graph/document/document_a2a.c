/* SPDX-License-Identifier: ISC */
/* The kind of node that asks another agent. */
#include "base/memory.h"
#include "graph/document/document.h"
#include "graph/message/template.h"
#include "graph/nodes/nodes.h"
#include "tool/a2a/a2a_peer.h"

#include <stdlib.h>
#include <string.h>

struct a2a_object {
	struct a2a_node node; /* first: what is run */
	struct template *template;
	const char *url, *text; /* live in the document */
	const cJSON *headers;
};

static bool document_a2a_is_url(const char *url)
{
	return http_tool_url_fits(url) && !strpbrk(url, "{}?#");
}

DOCUMENT_NODE_SHAPE(a2a, document_retry_rows,
    FIELD(a2a_object, url, .kind = &field_text, .required = true, .valid = document_a2a_is_url,
	.expected = "an http or https URL with a host, without query"),
    FIELD(a2a_object, text, .kind = &field_text), FIELD(a2a_object, headers, FIELD_OBJECT),
    FIELD_AT("timeout", a2a_object, node.timeout_ms, .kind = &field_seconds, .min = 0.001,
	.max = A2A_NODE_TIMEOUT_MS / 1000));

static char *document_a2a_text(ag_run *run, const ag_state *state, const void *arg)
{
	const struct values values = {run, state, NULL};
	return values_text(arg, &values);
}

static void document_a2a_free(void *data)
{
	struct a2a_object *object = data;
	a2a_peer_free(object->node.peer);
	template_free(object->template);
	free(object);
}

void document_a2a(struct document *d, const struct place *at, const char *name, const cJSON *item)
{
	struct a2a_object *object = xcalloc(1, sizeof(*object));
	size_t count = 0;
	object->node.timeout_ms = A2A_NODE_TIMEOUT_MS;
	ag_graph_on_free(d->graph, document_a2a_free, object);
	document_read(d, at, item, &shape_a2a, object);
	struct http_header *headers =
	    document_headers(d, PLACE_KEY(at, "headers"), object->headers, &count);
	object->node.peer = a2a_peer_new(object->url ? object->url : "", headers, count);
	if (object->text) {
		object->template = document_template(d, PLACE_KEY(at, "text"), object->text, false);
		object->node.arg = object->template;
		object->node.text = object->template ? document_a2a_text : NULL;
	}
	ag_graph_node(d->graph, name, a2a_node_run, object);
}
