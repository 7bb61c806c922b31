/* SPDX-License-Identifier: ISC */
/*
 * Conditions on a memory's metadata (doc/protocol-store.md#filters): an object with a condition
 * for each key.  A value means equality, an array one of its values, an object some of gt, gte, lt,
 * lte, ne and exists, all of which must hold.
 */
#ifndef AGENTGRAPH_STORAGE_MEMORY_FILTER_H
#define AGENTGRAPH_STORAGE_MEMORY_FILTER_H

#include "base/error.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/* Conditions, operators and values of lists together. */
#define MEMORY_FILTER_MOST 1000

/* Whether filters, an object at path ("body.filters"), is one of conditions; else err has each
 * mistake. */
bool memory_filter_check(const cJSON *filters, const char *path, struct error *err);

/* Whether metadata, an object, fulfils filters that were checked. */
bool memory_filter_fits(const cJSON *metadata, const cJSON *filters);

#endif
