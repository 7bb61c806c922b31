/* Names of new threads (WIRE 2.5). */
#ifndef AGENTGRAPH_SERVICE_NAMES_H
#define AGENTGRAPH_SERVICE_NAMES_H

#include "service/service.h"

/* "" unless a generator is configured; builtin:names makes two lower-case words joined by a hyphen.
 */
const char *thread_name_make(struct call *call);

#endif
