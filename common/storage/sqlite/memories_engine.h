/* SPDX-License-Identifier: ISC */
/* Memories in SQLite: what the files that do their operations share. */
#ifndef AGENTGRAPH_STORAGE_SQLITE_MEMORIES_ENGINE_H
#define AGENTGRAPH_STORAGE_SQLITE_MEMORIES_ENGINE_H

#include "storage/memories.h"
#include "storage/sqlite/pool.h"
#include "storage/sqlite/wal.h"
#include "storage/sqlite/writer.h"
#include "storage/vector/vector_file.h"

struct memories_engine {
	struct memory_set set; /* first, so that one pointer is both */
	char *path;            /* of store.db */
	char *state_dir;
	int64_t model; /* its key */
	size_t dimension;
	struct writer *writer;
	struct pool *pool;
	struct wal_keeper *wal_keeper;
	pthread_mutex_t opening; /* guards the opening of vectors */
	_Atomic(struct vector_file *) vectors;
};

static inline struct memories_engine *memories_engine_of(struct memory_set *set)
{
	return (struct memories_engine *)set;
}

#endif
