/* SPDX-License-Identifier: ISC */
/*
 * Memories, records of files and records of traces of the engine in memory.
 *
 * What is kept belongs to a state directory and stays until the program ends, so a storage that is
 * opened again finds it, and two that are open see the same.
 */
#ifndef AGENTGRAPH_UNIT_MEMORY_RECORDS_FIXTURE_H
#define AGENTGRAPH_UNIT_MEMORY_RECORDS_FIXTURE_H

#include "storage/file_records.h"
#include "storage/memories.h"
#include "storage/trace/trace_records.h"

/* What a storage with these subjects begins with. */
struct records_storage {
	struct storage storage; /* first, so that one pointer is both */
	struct kept *kept;
};

/* All that belongs to a state directory. */
struct kept *records_kept(const char *state_dir);

extern const struct memory_ops memory_memories;
extern const struct file_record_ops memory_file_records;
extern const struct trace_record_ops memory_trace_records;

#endif
