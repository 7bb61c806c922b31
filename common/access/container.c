#include "access/container.h"

bool container_open(
    struct container *container, const struct config *config, struct problems *problems)
{
	const struct plugin_want want = {
	    .key = "injectq",
	    .import_path = config->injectq,
	    .kind = AG_CONTAINER,
	    .what = "struct ag_container",
	};
	*container = (struct container){0};
	if (!config->injectq)
		return true;
	if (!plugin_load(&container->plugin, config, &want, problems))
		return false;
	container->parts = container->plugin.table;
	if (!container->parts->open || container->parts->open(&container->data) == 0)
		return true;
	problems_add(problems, "%s: injectq: '%s' refused to open",
	    config->path ? config->path : "agentgraph.json", config->injectq);
	plugin_close(container->plugin.library);
	*container = (struct container){0};
	return false;
}

void container_close(struct container *container)
{
	if (container->parts && container->parts->close)
		container->parts->close(container->data);
	plugin_close(container->plugin.library);
	*container = (struct container){0};
}
