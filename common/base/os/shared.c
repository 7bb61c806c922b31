/* SPDX-License-Identifier: ISC */
/* Opening and mapping the file, its mutexes, and the slots by which processes are told alive. */
#include "base/os/shared.h"

#include "base/memory.h"
#include "base/os/descriptor.h"
#include "base/os/directory.h"
#include "base/os/owned.h"
#include "base/os/rest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "agshared"
#define LAYOUT 14 /* goes up with every change of what the regions hold */

#define HEADER_SIZE 4096u

static const size_t region_size[SHARED_REGIONS] = {
    [SHARED_IDS] = SHARED_IDS_SIZE,
    [SHARED_WRITER] = SHARED_WRITER_SIZE,
    [SHARED_LEASES] = SHARED_LEASES_SIZE,
    [SHARED_OWNERS] = SHARED_OWNERS_SIZE,
    [SHARED_LIMITS] = SHARED_LIMITS_SIZE,
    [SHARED_TRACES] = SHARED_TRACES_SIZE,
    [SHARED_METRICS] = SHARED_METRICS_SIZE,
    [SHARED_FILES] = SHARED_FILES_SIZE,
    [SHARED_STORE] = SHARED_STORE_SIZE,
    [SHARED_BALANCE] = SHARED_BALANCE_SIZE,
    [SHARED_FILE_RECORDS] = SHARED_FILE_RECORDS_SIZE,
    [SHARED_PENDING] = SHARED_PENDING_SIZE,
    [SHARED_RUNS] = SHARED_RUNS_SIZE,
    [SHARED_INSTANCE] = SHARED_INSTANCE_SIZE,
};

#define TOTAL_SIZE                                                                              \
	(HEADER_SIZE + SHARED_FILE_RECORDS_SIZE + SHARED_IDS_SIZE + SHARED_WRITER_SIZE +        \
	    SHARED_LEASES_SIZE + SHARED_OWNERS_SIZE + SHARED_LIMITS_SIZE + SHARED_TRACES_SIZE + \
	    SHARED_METRICS_SIZE + SHARED_FILES_SIZE + SHARED_STORE_SIZE + SHARED_BALANCE_SIZE + \
	    SHARED_PENDING_SIZE + SHARED_RUNS_SIZE + SHARED_INSTANCE_SIZE)

/* The head of the file.  identity is compared as bytes: two builds share the file only when they
 * agree on all of it. */
struct header {
	struct identity {
		char magic[8];
		uint32_t layout;
		uint32_t mutex_size;
		uint64_t sizes[SHARED_REGIONS];
	} identity;
	_Atomic uint32_t next_slot; /* where the next process begins its search */
};

_Static_assert(sizeof(struct header) <= HEADER_SIZE, "the header has one page");
_Static_assert(sizeof(struct shared_head) <= SHARED_IDS_SIZE, "every region begins with its head");

struct shared {
	char *base;
	int file;    /* <state>/shared; its flock says that somebody uses it */
	int slots;   /* <state>/processes; holds the lock on this process's slot */
	int inquiry; /* the same file opened again: a lock is seen only from another description */
	uint32_t slot;
	struct rest rest;
};

static bool shared_fail(struct error *err, const char *what, const char *path)
{
	return error_set(err, ERR_STORAGE, "cannot %s %s: %s", what, path, strerror(errno));
}

static int shared_open_file(const char *dir, const char *name, struct error *err)
{
	char *path = xasprintf("%s/%s", dir, name);
	int fd = owned_open(path);
	if (fd < 0)
		shared_fail(err, "open", path);
	free(path);
	return fd;
}

/* ---- The file ---- */

static struct identity shared_our_identity(void)
{
	struct identity id = {.layout = LAYOUT, .mutex_size = sizeof(pthread_mutex_t)};
	memcpy(id.magic, MAGIC, sizeof(id.magic));
	for (int i = 0; i < SHARED_REGIONS; i++)
		id.sizes[i] = region_size[i];
	return id;
}

void shared_mutex_init(pthread_mutex_t *m)
{
	pthread_mutexattr_t attr;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(m, &attr);
	pthread_mutexattr_destroy(&attr);
}

static bool shared_map(struct shared *sh, const char *dir, struct error *err)
{
	void *base = mmap(NULL, TOTAL_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, sh->file, 0);
	if (base == MAP_FAILED)
		return shared_fail(err, "map the shared memory of", dir);
	sh->base = base;
	return true;
}

/* Starts the file from zeroes, while nobody else has it open. */
static bool shared_start_afresh(struct shared *sh, const char *dir, struct error *err)
{
	/* A file that has all its space from an earlier life is kept: what is given back on a full
	 * disk may not be had again. */
	struct stat st;
	bool kept = fstat(sh->file, &st) == 0 && st.st_size == TOTAL_SIZE &&
	    (uint64_t)st.st_blocks * 512 >= TOTAL_SIZE;
	/* Else the space is claimed now, where the file system can: a page that cannot be had
	 * later, on a full disk, would be a SIGBUS in the middle of a request. */
	bool claimed = kept ||
	    (ftruncate(sh->file, 0) == 0 && ftruncate(sh->file, TOTAL_SIZE) == 0 &&
		(fallocate(sh->file, 0, 0, TOTAL_SIZE) == 0 || errno == EOPNOTSUPP ||
		    errno == ENOSYS));
	if (!claimed)
		return shared_fail(err, "make room for the shared memory of", dir);
	if (!shared_map(sh, dir, err))
		return false;
	if (kept && fallocate(sh->file, FALLOC_FL_ZERO_RANGE, 0, TOTAL_SIZE) != 0) {
		memset(sh->base, 0, TOTAL_SIZE);
		/* the file has the zeroes now, and this process need not have all of them in its
		 * memory */
		madvise(sh->base, TOTAL_SIZE, MADV_DONTNEED);
	}
	for (int i = 0; i < SHARED_REGIONS; i++) {
		struct shared_head *head = shared_region(sh, (enum shared_region)i);
		for (size_t m = 0; m < sizeof(head->mutex) / sizeof(head->mutex[0]); m++)
			shared_mutex_init(&head->mutex[m]);
	}
	((struct header *)sh->base)->identity = shared_our_identity();
	return true;
}

static bool shared_join(struct shared *sh, const char *dir, struct error *err)
{
	struct stat st;
	if (fstat(sh->file, &st) < 0)
		return shared_fail(err, "look at the shared memory of", dir);
	struct identity ours = shared_our_identity();
	if (st.st_size == TOTAL_SIZE && !shared_map(sh, dir, err))
		return false;
	if (sh->base && memcmp(sh->base, &ours, sizeof(ours)) == 0)
		return true;
	return error_set(err, ERR_STORAGE,
	    "%s/shared is in use by another version of agentgraph; stop that one first", dir);
}

/* Called with the start-up lock, so that nobody else is between the two flocks. */
static bool shared_open_memory(struct shared *sh, const char *dir, struct error *err)
{
	sh->file = shared_open_file(dir, "shared", err);
	if (sh->file < 0)
		return false;
	bool alone = descriptor_lock(sh->file, LOCK_EX | LOCK_NB) == 0;
	if (!alone && errno != EWOULDBLOCK)
		return shared_fail(err, "lock the shared memory of", dir);
	if (alone ? !shared_start_afresh(sh, dir, err) : !shared_join(sh, dir, err))
		return false;
	return descriptor_lock(sh->file, LOCK_SH) == 0 ||
	    shared_fail(err, "lock the shared memory of", dir);
}

/* ---- Process slots ---- */

static struct flock shared_slot_lock(uint32_t slot)
{
	return (struct flock){
	    .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)slot, .l_len = 1};
}

/* Begins at another place each time, so that the slot of a process that died is not soon taken for
 * its successor's. */
static bool shared_take_slot(struct shared *sh, const char *dir, struct error *err)
{
	const uint32_t count = SHARED_PROCESSES - 1;
	struct header *header = (struct header *)sh->base;
	sh->slots = shared_open_file(dir, "processes", err);
	sh->inquiry = sh->slots < 0 ? -1 : shared_open_file(dir, "processes", err);
	if (sh->inquiry < 0)
		return false;
	for (uint32_t tries = 0; tries < count; tries++) {
		uint32_t slot = atomic_fetch_add(&header->next_slot, 1) % count + 1;
		struct flock lock = shared_slot_lock(slot);
		if (fcntl(sh->slots, F_OFD_SETLK, &lock) == 0) {
			sh->slot = slot;
			return true;
		}
		if (errno != EAGAIN && errno != EACCES && errno != EINTR)
			return shared_fail(err, "lock a process slot in", dir);
	}
	return error_set(err, ERR_STORAGE, "%s is used by more than %u processes", dir, count);
}

uint32_t shared_self(const struct shared *sh)
{
	return sh->slot;
}

/* When the kernel cannot say, the process counts as alive: taking over from the living does harm,
 * waiting for the dead does not. */
bool shared_alive(const struct shared *sh, uint32_t slot)
{
	if (slot == 0 || slot >= SHARED_PROCESSES)
		return false;
	struct flock lock = shared_slot_lock(slot);
	return slot == sh->slot || fcntl(sh->inquiry, F_OFD_GETLK, &lock) < 0 ||
	    lock.l_type != F_UNLCK;
}

/* ---- Opening and closing ---- */

/* The file keeps what the pages hold; whoever looks at one again has it from there. */
static void shared_give_back(void *arg)
{
	struct shared *sh = arg;
	madvise(sh->base, TOTAL_SIZE, MADV_DONTNEED);
}

struct shared *shared_open(const char *state_dir, struct error *err)
{
	int start = shared_open_file(state_dir, "shared.lock", err);
	if (start < 0)
		return NULL;
	struct shared *sh = xcalloc(1, sizeof(*sh));
	sh->file = sh->slots = sh->inquiry = -1;
	bool opened = descriptor_lock(start, LOCK_EX) == 0
	    ? shared_open_memory(sh, state_dir, err) && shared_take_slot(sh, state_dir, err)
	    : shared_fail(err, "lock the start-up of", state_dir);
	if (opened) {
		rest_join(&sh->rest, shared_give_back, sh);
	} else {
		shared_close(sh);
		sh = NULL;
	}
	close(start);
	return sh;
}

struct shared *shared_make(const char *state_dir, struct error *err)
{
	if (directory_make(state_dir) || errno == EEXIST)
		return shared_open(state_dir, err);
	error_set(err, ERR_STORAGE, "the state directory %s cannot be made: %s", state_dir,
	    strerror(errno));
	return NULL;
}

void shared_close(struct shared *sh)
{
	if (!sh)
		return;
	rest_leave(&sh->rest);
	if (sh->base)
		munmap(sh->base, TOTAL_SIZE);
	descriptor_close(&sh->inquiry);
	descriptor_close(&sh->slots);
	descriptor_close(&sh->file);
	free(sh);
}

void *shared_region(struct shared *sh, enum shared_region region)
{
	size_t offset = HEADER_SIZE;
	for (int i = 0; i < (int)region; i++)
		offset += region_size[i];
	return sh->base + offset;
}

/* ---- Mutexes ---- */

bool shared_lock(pthread_mutex_t *m)
{
	int status = pthread_mutex_lock(m);
	if (status == 0)
		return false;
	/* Consistent from here on: should this process die during the repair, the next one is told
	 * again, because the mutex is then held by a dead process once more. */
	if (status != EOWNERDEAD || pthread_mutex_consistent(m) != 0)
		abort();
	return true;
}

void shared_unlock(pthread_mutex_t *m)
{
	if (pthread_mutex_unlock(m) != 0)
		abort();
}
