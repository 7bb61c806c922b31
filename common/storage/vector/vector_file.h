/* SPDX-License-Identifier: ISC */
/*
 * The vectors of one model, in memory that all processes of an instance share.
 *
 * <state>/vectors-<model> is a copy of what store.db holds, made to be scanned.  It is only trusted
 * while somebody has it open: a process that opens it while no other has it open begins with an
 * empty one, and fills it from the database.  A slot is filled before it is published, so a process
 * that dies in between leaves nothing half done that anybody reads.
 */
#ifndef AGENTGRAPH_STORAGE_VECTOR_VECTOR_FILE_H
#define AGENTGRAPH_STORAGE_VECTOR_VECTOR_FILE_H

#include "base/error.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHUNK_SLOTS 2048
#define BLOCK_SLOTS 32 /* whose sketches lie interleaved */

struct vector_file;

/* Slots are in chunks; these are the columns of one. */
struct vector_chunk {
	_Atomic int64_t *rows; /* 0: nothing in this slot */
	uint64_t *owners;      /* vector_word of the user, and of the thread (0: none) */
	uint64_t *threads;
	float *norms;
	float *vectors; /* padded, one after another */
	float *scales;  /* this and what follows only below vector_file_sketched */
	float *bases;   /* the product of what was sketched with the centre */
	uint8_t
	    *sketches; /* for each block of slots, the groups as vector_kernels.sum32 has them */
};

/* A text as a number that is never 0.  Two texts may have the same number, so what it selects must
 * be checked again. */
uint64_t vector_word(const char *text);

/* Opens or makes the file; NULL with err set. */
struct vector_file *vector_file_open(
    const char *state_dir, int64_t model, size_t dimension, struct error *err);
void vector_file_close(struct vector_file *f);

/* How many numbers a stored vector has, and how many slots were ever filled. */
size_t vector_file_padded(const struct vector_file *f);
uint64_t vector_file_count(const struct vector_file *f);

/* Gives a chunk that has published slots; false when it cannot be mapped. */
bool vector_file_chunk(
    struct vector_file *f, size_t index, struct vector_chunk *chunk, struct error *err);

/* The writer's lock, over all processes. */
void vector_file_lock(struct vector_file *f);
void vector_file_unlock(struct vector_file *f);

/* The number of the latest change of the database that is in the file. */
int64_t vector_file_applied(const struct vector_file *f);

/* A vector as the database has it, dimension numbers, without alignment. */
struct vector_entry {
	int64_t row;
	uint64_t owner, thread;
	const void *vector;
};

/* With the lock held: puts entries in place of what their rows have, then notes the change. */
bool vector_file_add(struct vector_file *f, const struct vector_entry *entries, size_t count,
    int64_t applied, struct error *err);

/* With the lock held: takes rows out.  They need not be there. */
bool vector_file_drop(struct vector_file *f, int64_t *rows, size_t count, struct error *err);

/* The point that sketches are taken around, padded; and how many slots have one.
 * vector_file_sketch makes those that the first count slots lack: it takes the lock several times,
 * so that others have it in between. */
const float *vector_file_centre(const struct vector_file *f);
uint64_t vector_file_sketched(const struct vector_file *f);
bool vector_file_sketch(struct vector_file *f, uint64_t count, struct error *err);

#endif
