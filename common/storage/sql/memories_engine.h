/* SPDX-License-Identifier: ISC */
/* Memories: what the files that do their operations share. */
#ifndef AGENTGRAPH_STORAGE_SQL_MEMORIES_ENGINE_H
#define AGENTGRAPH_STORAGE_SQL_MEMORIES_ENGINE_H

#include "storage/memories.h"
#include "storage/sql/pool.h"
#include "storage/sql/writer.h"
#include "storage/vector/vector_file.h"

struct memories_engine {
	struct memory_set set;   /* first, so that one pointer is both */
	struct db_source source; /* store.db */
	char *state_dir;
	int64_t model; /* its key */
	size_t dimension;
	struct writer *writer;
	struct pool *pool;
	void *keeper;            /* the driver's, or NULL */
	pthread_mutex_t opening; /* guards the opening of vectors */
	_Atomic(struct vector_file *) vectors;
};

static inline struct memories_engine *memories_engine_of(struct memory_set *set)
{
	return (struct memories_engine *)set;
}

#endif
