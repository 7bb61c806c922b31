/* SPDX-License-Identifier: ISC */
/* Loading the configured container, opening and closing it. */
#include "access/container.h"

static bool container_load(
    struct container *container, const struct config *config, struct problems *problems)
{
	const struct plugin_want want = {
	    .key = "injectq",
	    .import_path = config->injectq,
	    .kind = AG_CONTAINER,
	    .what = "struct ag_container",
	};
	struct plugin plugin;
	if (!plugin_load(&plugin, config, &want, problems))
		return false;
	const struct ag_container *parts = plugin.table;
	if (!parts->open || parts->open(&container->data) == 0) {
		container->plugin = plugin;
		container->parts = parts;
		return true;
	}
	problems_add(problems, "%s: injectq: '%s' refused to open",
	    config->path ? config->path : "agentgraph.json", config->injectq);
	plugin_close(plugin.library);
	return false;
}

bool container_open(
    struct container *container, const struct config *config, struct problems *problems)
{
	*container = (struct container){0};
	return !config->injectq || container_load(container, config, problems);
}

void container_close(struct container *container)
{
	if (container->parts && container->parts->close)
		container->parts->close(container->data);
	plugin_close(container->plugin.library);
	*container = (struct container){0};
}
