/* SPDX-License-Identifier: ISC */
/*
 * A storage engine that keeps everything in the memory of its process, until it is closed: there to
 * show that the headers of the storage say all that an engine must do.
 */
#ifndef AGENTGRAPH_UNIT_MEMORY_ENGINE_FIXTURE_H
#define AGENTGRAPH_UNIT_MEMORY_ENGINE_FIXTURE_H

#include "storage/storage.h"

extern const struct storage_engine memory_engine;

#endif
