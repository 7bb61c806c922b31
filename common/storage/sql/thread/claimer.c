/* SPDX-License-Identifier: ISC */
/* The number of this process, its lock, and a look at the locks of other processes. */
#include "storage/sql/thread/claimer.h"

#include "base/id.h"
#include "base/memory.h"
#include "base/os/owned.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct claimer {
	char *path;
	pthread_mutex_t lock; /* guards what follows */
	int file;             /* holds the lock; -1 until claimer_begin */
	int inquiry; /* the same file, opened again, since one's own lock cannot be seen through the
			descriptor that holds it */
	int64_t number;
};

struct claimer *claimer_new(const char *state_dir)
{
	struct claimer *c = xcalloc(1, sizeof(*c));
	c->path = xasprintf("%s/runners", state_dir);
	pthread_mutex_init(&c->lock, NULL);
	c->file = c->inquiry = -1;
	return c;
}

void claimer_free(struct claimer *c)
{
	if (!c)
		return;
	if (c->file >= 0)
		close(c->file);
	if (c->inquiry >= 0)
		close(c->inquiry);
	pthread_mutex_destroy(&c->lock);
	free(c->path);
	free(c);
}

static struct flock claimer_byte(int64_t number)
{
	return (struct flock){
	    .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)number, .l_len = 1};
}

static int64_t claimer_get(struct claimer *c, bool another, struct error *err)
{
	int64_t number;
	uint64_t bits;
	pthread_mutex_lock(&c->lock);
	if (another || !c->number) {
		/* the number must be below the largest offset that a lock can end at */
		random_bytes(&bits, sizeof(bits));
		number = (int64_t)(bits >> 2) + 1;
		struct flock lock = claimer_byte(number);

		if (c->file < 0)
			c->file = owned_open(c->path);
		if (c->file >= 0 && fcntl(c->file, F_OFD_SETLK, &lock) == 0) {
			c->number = number;
		} else {
			c->number = 0;
			error_set(err, ERR_STORAGE, NULL);
			error_cause(err, "%s cannot be locked: %s", c->path, strerror(errno));
		}
	}
	number = c->number;
	pthread_mutex_unlock(&c->lock);
	return number;
}

int64_t claimer_begin(struct claimer *c, struct error *err)
{
	return claimer_get(c, false, err);
}

int64_t claimer_renew(struct claimer *c, struct error *err)
{
	return claimer_get(c, true, err);
}

int64_t claimer_number(struct claimer *c)
{
	int64_t number;
	pthread_mutex_lock(&c->lock);
	number = c->number;
	pthread_mutex_unlock(&c->lock);
	return number;
}

bool claimer_lives(struct claimer *c, int64_t number)
{
	struct flock lock = claimer_byte(number);
	bool lives;
	pthread_mutex_lock(&c->lock);
	if (c->inquiry < 0)
		c->inquiry = owned_open(c->path);
	lives = number == c->number || c->inquiry < 0 ||
	    fcntl(c->inquiry, F_OFD_GETLK, &lock) < 0 || lock.l_type != F_UNLCK;
	pthread_mutex_unlock(&c->lock);
	return lives;
}
