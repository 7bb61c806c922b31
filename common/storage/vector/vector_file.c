/* SPDX-License-Identifier: ISC */
/* Mapping the file chunk by chunk, its locks, and filling, dropping and sketching slots. */
#include "storage/vector/vector_file.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "base/os/descriptor.h"
#include "base/os/owned.h"
#include "base/os/shared.h"
#include "storage/vector/vector_sketch.h"
#include "storage/vector/vectors.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096
#define CHUNKS_MAX 65536
#define DEAD_FEW 64  /* so few empty slots are not worth looking for */
#define DEAD_PART 16 /* nor is less than this part of all, which would take many looks for each */

/* At the file's beginning; the centre follows, and then the bounds of the chunks. */
struct vector_header {
	pthread_mutex_t lock;
	_Atomic uint64_t count;    /* slots that were ever filled */
	_Atomic uint64_t sketched; /* of these, from the first on, with a sketch */
	_Atomic int64_t applied;
	int64_t newest;  /* the highest row ever added */
	uint64_t dead;   /* empty slots below count */
	uint64_t cursor; /* where to look for the next of them */
	uint64_t capacity;
};

/* The lowest and the highest row that a chunk ever had, so that most chunks need not be searched
 * for a row.  Guarded by the lock. */
struct vector_bounds {
	int64_t low, high; /* 0: it had none */
};

struct vector_file {
	int fd;
	size_t padded, dimension;
	size_t header_size, chunk_size;
	struct vector_header *header;
	pthread_mutex_t mapping; /* guards the filling of chunks */
	_Atomic(char *) *chunks;
};

uint64_t vector_word(const char *text)
{
	uint64_t hash = hash_text(HASH_START, text);
	return hash ? hash : 1;
}

/* ---- opening ---- */

static size_t vector_file_pages(size_t size)
{
	return (size + PAGE - 1) / PAGE * PAGE;
}

static bool vector_file_fail(struct error *err, const char *what)
{
	bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
	error_set(err, full ? ERR_TRANSIENT_STORAGE : ERR_STORAGE, NULL);
	return error_cause(err, "vectors: cannot %s: %s", what, strerror(errno));
}

static float *vector_header_centre(const struct vector_file *f)
{
	return (float *)(f->header + 1);
}

static struct vector_bounds *vector_bounds_of(const struct vector_file *f, uint64_t slot)
{
	return (struct vector_bounds *)(vector_header_centre(f) + f->padded) + slot / CHUNK_SLOTS;
}

/* Allocates the space now, since a page that cannot be allocated later would be a SIGBUS. */
static bool vector_file_claim(int fd, size_t size)
{
	if (fallocate(fd, 0, 0, (off_t)size) == 0)
		return true;
	return (errno == EOPNOTSUPP || errno == ENOSYS) && ftruncate(fd, (off_t)size) == 0;
}

/* Call with the start-up lock held, so that nobody is between the two locks of the file. */
static bool vector_file_open_header(struct vector_file *f, struct error *err)
{
	const int both = PROT_READ | PROT_WRITE;
	bool alone = descriptor_lock(f->fd, LOCK_EX | LOCK_NB) == 0;
	if (!alone && errno != EWOULDBLOCK)
		return vector_file_fail(err, "lock their file");
	if (alone && (ftruncate(f->fd, 0) < 0 || !vector_file_claim(f->fd, f->header_size)))
		return vector_file_fail(err, "make their file");
	void *p = mmap(NULL, f->header_size, both, MAP_SHARED, f->fd, 0);
	if (p == MAP_FAILED)
		return vector_file_fail(err, "map their file");
	f->header = p;
	if (alone)
		shared_mutex_init(&f->header->lock);
	return descriptor_lock(f->fd, LOCK_SH) == 0 || vector_file_fail(err, "lock their file");
}

static int vector_file_open_named(const char *state_dir, const char *name, struct error *err)
{
	char *path = xasprintf("%s/%s", state_dir, name);
	int fd = owned_open(path);
	if (fd < 0)
		vector_file_fail(err, "open their file");
	free(path);
	return fd;
}

struct vector_file *vector_file_open(
    const char *state_dir, int64_t model, size_t dimension, struct error *err)
{
	char name[40];
	int start = vector_file_open_named(state_dir, "vectors.lock", err);
	if (start < 0)
		return NULL;
	struct vector_file *f = xcalloc(1, sizeof(*f));
	pthread_mutex_init(&f->mapping, NULL);
	f->dimension = dimension;
	f->padded = vector_padded(dimension);
	f->header_size = vector_file_pages(sizeof(*f->header) + f->padded * sizeof(float) +
	    CHUNKS_MAX * sizeof(struct vector_bounds));
	size_t slot = sizeof(int64_t) + 2 * sizeof(uint64_t) + 3 * sizeof(float);
	f->chunk_size = vector_file_pages(
	    CHUNK_SLOTS * (slot + sketch_signs(f->padded) / 8 + f->padded * sizeof(float)));
	f->chunks = xcalloc(CHUNKS_MAX, sizeof(*f->chunks));
	snprintf(name, sizeof(name), "vectors-%" PRId64, model);
	f->fd = vector_file_open_named(state_dir, name, err);
	bool ok =
	    f->fd >= 0 && descriptor_lock(start, LOCK_EX) == 0 && vector_file_open_header(f, err);
	close(start);
	if (ok)
		return f;
	if (!error_is_set(err))
		vector_file_fail(err, "lock their start-up");
	vector_file_close(f);
	return NULL;
}

void vector_file_close(struct vector_file *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < CHUNKS_MAX && f->chunks[i]; i++)
		munmap(f->chunks[i], f->chunk_size);
	if (f->header)
		munmap(f->header, f->header_size);
	if (f->fd >= 0)
		close(f->fd);
	pthread_mutex_destroy(&f->mapping);
	free(f->chunks);
	free(f);
}

/* ---- reading ---- */

size_t vector_file_padded(const struct vector_file *f)
{
	return f->padded;
}

uint64_t vector_file_count(const struct vector_file *f)
{
	return atomic_load_explicit(&f->header->count, memory_order_acquire);
}

int64_t vector_file_applied(const struct vector_file *f)
{
	return atomic_load_explicit(&f->header->applied, memory_order_acquire);
}

uint64_t vector_file_sketched(const struct vector_file *f)
{
	return atomic_load_explicit(&f->header->sketched, memory_order_acquire);
}

const float *vector_file_centre(const struct vector_file *f)
{
	return vector_header_centre(f);
}

bool vector_file_chunk(
    struct vector_file *f, size_t index, struct vector_chunk *c, struct error *err)
{
	assert(index < CHUNKS_MAX);
	char *p = atomic_load_explicit(&f->chunks[index], memory_order_acquire);
	if (!p) {
		pthread_mutex_lock(&f->mapping);
		p = atomic_load(&f->chunks[index]);
		if (!p) {
			off_t at = (off_t)(f->header_size + index * f->chunk_size);
			p = mmap(
			    NULL, f->chunk_size, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, at);
			p = p == MAP_FAILED ? NULL : p;
			atomic_store(&f->chunks[index], p);
		}
		pthread_mutex_unlock(&f->mapping);
	}
	if (!p)
		return vector_file_fail(err, "map them");
	c->rows = (_Atomic int64_t *)p;
	c->owners = (uint64_t *)(c->rows + CHUNK_SLOTS);
	c->threads = c->owners + CHUNK_SLOTS;
	c->norms = (float *)(c->threads + CHUNK_SLOTS);
	c->scales = c->norms + CHUNK_SLOTS;
	c->bases = c->scales + CHUNK_SLOTS;
	c->vectors = c->bases + CHUNK_SLOTS;
	c->sketches = (uint8_t *)(c->vectors + CHUNK_SLOTS * f->padded);
	return true;
}

/* ---- writing ---- */

/* A process that died with the lock has published only whole slots, so nothing is repaired. */
void vector_file_lock(struct vector_file *f)
{
	shared_lock(&f->header->lock);
}

void vector_file_unlock(struct vector_file *f)
{
	shared_unlock(&f->header->lock);
}

static int vector_file_compare_rows(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

bool vector_file_drop(struct vector_file *f, int64_t *rows, size_t count, struct error *err)
{
	uint64_t filled = count ? vector_file_count(f) : 0;
	struct vector_chunk c;
	if (filled)
		qsort(rows, count, sizeof(*rows), vector_file_compare_rows);
	for (uint64_t slot = 0; slot < filled; slot += CHUNK_SLOTS) {
		const struct vector_bounds *b = vector_bounds_of(f, slot);
		if (b->high < rows[0] || b->low > rows[count - 1])
			continue;
		if (!vector_file_chunk(f, slot / CHUNK_SLOTS, &c, err))
			return false;
		for (size_t at = 0; at < CHUNK_SLOTS && slot + at < filled; at++) {
			int64_t row = c.rows[at];
			if (!row ||
			    !bsearch(&row, rows, count, sizeof(row), vector_file_compare_rows))
				continue;
			atomic_store(&c.rows[at], 0);
			f->header->dead++;
		}
	}
	return true;
}

/* Finds an empty slot that was used before; false when there is none. */
static bool vector_file_find_dead(struct vector_file *f, uint64_t *slot, struct error *err)
{
	struct vector_header *h = f->header;
	uint64_t count = vector_file_count(f);
	struct vector_chunk c;
	if (h->dead < DEAD_FEW || h->dead < count / DEAD_PART)
		return false;
	for (uint64_t tries = 0; tries < count; tries++) {
		*slot = h->cursor++ % count;
		if (!vector_file_chunk(f, *slot / CHUNK_SLOTS, &c, err))
			return false;
		if (!c.rows[*slot % CHUNK_SLOTS]) {
			h->dead--;
			return true;
		}
	}
	h->dead = 0;
	return false;
}

static void vector_file_sketch_slot(
    struct vector_file *f, const struct vector_chunk *c, size_t at, float *work)
{
	const float *vector = c->vectors + at * f->padded, *centre = vector_header_centre(f);
	size_t signs = sketch_signs(f->padded), block = at / BLOCK_SLOTS;
	float *rest = work + signs;
	for (size_t i = 0; i < f->padded; i++)
		rest[i] = vector[i] - centre[i];
	c->bases[at] = vector_kernels()->dot(centre, rest, f->padded);
	sketch_rotate(rest, f->padded, work);
	c->scales[at] = sketch_make(
	    work, signs, at % BLOCK_SLOTS, c->sketches + block * BLOCK_SLOTS * signs / 8);
}

static float *vector_file_sketch_work(const struct vector_file *f)
{
	return xmalloc((sketch_signs(f->padded) + f->padded) * sizeof(float));
}

static bool vector_file_fill_slot(
    struct vector_file *f, uint64_t slot, const struct vector_entry *e, struct error *err)
{
	size_t at = slot % CHUNK_SLOTS;
	struct vector_chunk c;
	if (!vector_file_chunk(f, slot / CHUNK_SLOTS, &c, err))
		return false;
	float *vector = c.vectors + at * f->padded;
	memcpy(vector, e->vector, f->dimension * sizeof(float));
	memset(vector + f->dimension, 0, (f->padded - f->dimension) * sizeof(float));
	c.norms[at] = sqrtf(vector_kernels()->dot(vector, vector, f->padded));
	c.owners[at] = e->owner;
	c.threads[at] = e->thread;
	if (slot < vector_file_sketched(f)) {
		float *work = vector_file_sketch_work(f);
		vector_file_sketch_slot(f, &c, at, work);
		free(work);
	}
	struct vector_bounds *b = vector_bounds_of(f, slot);
	if (!b->low || e->row < b->low)
		b->low = e->row;
	if (e->row > b->high)
		b->high = e->row;
	atomic_store_explicit(&c.rows[at], e->row, memory_order_release);
	return true;
}

static bool vector_file_add_one(
    struct vector_file *f, const struct vector_entry *e, struct error *err)
{
	struct vector_header *h = f->header;
	uint64_t slot;
	if (vector_file_find_dead(f, &slot, err))
		return vector_file_fill_slot(f, slot, e, err);
	if (error_is_set(err))
		return false;
	slot = vector_file_count(f);
	if (slot >= h->capacity) {
		uint64_t chunks = h->capacity / CHUNK_SLOTS + 1;
		if (chunks > CHUNKS_MAX)
			errno = EFBIG;
		if (chunks > CHUNKS_MAX ||
		    !vector_file_claim(f->fd, f->header_size + chunks * f->chunk_size))
			return vector_file_fail(err, "make room for them");
		h->capacity = chunks * CHUNK_SLOTS;
	}
	if (!vector_file_fill_slot(f, slot, e, err))
		return false;
	atomic_store_explicit(&h->count, slot + 1, memory_order_release);
	return true;
}

bool vector_file_add(struct vector_file *f, const struct vector_entry *entries, size_t count,
    int64_t applied, struct error *err)
{
	/* rows that may be there already: those that are no newer than the newest */
	int64_t *rows = xmalloc(count * sizeof(*rows));
	size_t older = 0;
	for (size_t i = 0; i < count; i++) {
		if (entries[i].row <= f->header->newest)
			rows[older++] = entries[i].row;
		else
			f->header->newest = entries[i].row;
	}
	bool ok = vector_file_drop(f, rows, older, err);
	free(rows);
	for (size_t i = 0; ok && i < count; i++)
		ok = vector_file_add_one(f, &entries[i], err);
	if (!ok)
		return false;
	atomic_store_explicit(&f->header->applied, applied, memory_order_release);
	return true;
}

/* ---- sketches ---- */

#define CENTRE_SAMPLE 65536
#define SKETCH_STEP 256 /* some ten milliseconds */
#define BETWEEN_MS 1    /* without it whoever waits for the lock would hardly get it */

static bool vector_file_find_centre(struct vector_file *f, uint64_t count, struct error *err)
{
	float *centre = vector_header_centre(f);
	uint64_t taken = 0;
	struct vector_chunk c;
	if (count > CENTRE_SAMPLE)
		count = CENTRE_SAMPLE;
	memset(centre, 0, f->padded * sizeof(*centre));
	for (uint64_t slot = 0; slot < count; slot++) {
		size_t at = slot % CHUNK_SLOTS;
		if (at == 0 && !vector_file_chunk(f, slot / CHUNK_SLOTS, &c, err))
			return false;
		if (!c.rows[at])
			continue;
		taken++;
		for (size_t i = 0; i < f->padded; i++)
			centre[i] += c.vectors[at * f->padded + i];
	}
	for (size_t i = 0; taken && i < f->padded; i++)
		centre[i] /= (float)taken;
	return true;
}

/* Makes some of the sketches that are missing.  The lock is held. */
static bool vector_file_sketch_some(struct vector_file *f, struct error *err)
{
	uint64_t slot = vector_file_sketched(f), end = slot + SKETCH_STEP;
	struct vector_chunk c;
	float *work;
	if (end > vector_file_count(f))
		end = vector_file_count(f);
	if (slot == 0 && !vector_file_find_centre(f, vector_file_count(f), err))
		return false;
	work = vector_file_sketch_work(f);
	for (; slot < end; slot++) {
		if (!vector_file_chunk(f, slot / CHUNK_SLOTS, &c, err))
			break;
		vector_file_sketch_slot(f, &c, slot % CHUNK_SLOTS, work);
	}
	atomic_store_explicit(&f->header->sketched, slot, memory_order_release);
	free(work);
	return slot == end;
}

bool vector_file_sketch(struct vector_file *f, uint64_t count, struct error *err)
{
	bool ok = true;
	while (ok && vector_file_sketched(f) < count) {
		vector_file_lock(f);
		ok = vector_file_sketch_some(f, err);
		vector_file_unlock(f);
		if (vector_file_sketched(f) < count)
			clock_sleep_ms(BETWEEN_MS);
	}
	return ok;
}
