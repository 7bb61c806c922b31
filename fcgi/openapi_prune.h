/* Takes out of an OpenAPI document the components that no operation leads to. */
#ifndef AGENTGRAPH_FCGI_OPENAPI_PRUNE_H
#define AGENTGRAPH_FCGI_OPENAPI_PRUNE_H

#include <cjson/cJSON.h>

/* In place. */
void openapi_prune(cJSON *document);

#endif
