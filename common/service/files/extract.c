/* SPDX-License-Identifier: ISC */
/* Starting the extractor for a file, few at a time, and taking its output. */
#include "service/files/extract.h"

#include "base/buf.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "base/os/process/process.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM "agentgraph-extract"
#define UTF8_MAX 4 /* bytes of a character */
#define ENOUGH ((size_t)EXTRACT_CHARACTERS * UTF8_MAX)

/* ---- turns ---- */

static struct {
	pthread_mutex_t lock; /* guards the rest */
	pthread_cond_t freed;
	unsigned count; /* 0: any number */
	unsigned taken, waiting;
} places = {.lock = PTHREAD_MUTEX_INITIALIZER, .freed = PTHREAD_COND_INITIALIZER};

void extract_places(unsigned count)
{
	pthread_mutex_lock(&places.lock);
	places.count = count;
	pthread_mutex_unlock(&places.lock);
}

/* Takes a place, or waits for one.  Only some threads may wait, since those that extract or wait
 * answer nobody else. */
static bool extract_take_place(void)
{
	int64_t end = clock_monotonic_ms() + EXTRACT_PATIENCE_MS;
	bool free, in_time = true;
	pthread_mutex_lock(&places.lock);
	if (places.count && places.waiting < places.count / 2) {
		places.waiting++;
		while (places.taken >= places.count && in_time)
			in_time = clock_cond_wait(&places.freed, &places.lock, end);
		places.waiting--;
	}
	free = !places.count || places.taken < places.count;
	places.taken += free;
	pthread_mutex_unlock(&places.lock);
	return free;
}

static void extract_leave_place(void)
{
	pthread_mutex_lock(&places.lock);
	places.taken--;
	pthread_cond_signal(&places.freed);
	pthread_mutex_unlock(&places.lock);
}

/* ---- the program ---- */

/* Keeps a piece; false, which ends the program, when there is enough. */
static bool extract_keep(const char *piece, size_t len, void *arg)
{
	struct buf *text = arg;
	buf_add(text, piece, len);
	return text->len < ENOUGH;
}

/* What the program wrote, as text of at most EXTRACT_CHARACTERS. */
static char *extract_finish(struct buf *text)
{
	size_t characters = 0, at = 0;
	buf_add(text, "", 0);
	for (size_t i = 0; i < text->len; i++)
		if (!text->data[i])
			text->data[i] = ' ';
	if (text->len)
		utf8_repair(text->data);
	while (at < text->len && characters < EXTRACT_CHARACTERS) {
		at += utf8_sequence(text->data + at, text->len - at);
		characters++;
	}
	text->len = at;
	if (text->data)
		text->data[at] = '\0';
	return buf_detach(text);
}

static char *extract_run(const char *path, int fd, const char *essence)
{
	struct buf text = {0};
	struct process_result result;
	char *const argv[] = {PROGRAM, (char *)essence, NULL};
	char *const environment[] = {NULL}; /* ours holds secrets */
	const struct process process = {
	    .path = path,
	    .argv = argv,
	    .envp = environment,
	    .input_fd = fd,
	    .deadline_ms = clock_monotonic_ms() + EXTRACT_SECONDS * 1000,
	    .max_output = 2 * ENOUGH,
	    .on_line = extract_keep,
	    .raw = true,
	    .arg = &text,
	};
	process_run(&process, &result);
	if ((result.end == PROCESS_EXITED && result.code == 0) ||
	    (result.end == PROCESS_REFUSED && text.len >= ENOUGH))
		return extract_finish(&text);
	char why[256];
	log_warning("no text was extracted from a file of type %s: %s", essence,
	    process_complaint(&result, why, sizeof(why)));
	buf_release(&text);
	return NULL;
}

char *extract_text(int fd, const char *essence)
{
	char *path = process_own(PROGRAM), *text = NULL;
	/* the same file opened once more, at its start and for reading alone */
	char *self = xasprintf("/proc/self/fd/%d", fd);
	int again = path ? open(self, O_RDONLY | O_CLOEXEC) : -1;
	free(self);
	if (!path)
		log_warning(
		    "no text was extracted from a file: the program " PROGRAM " is not installed");
	else if (again < 0)
		log_warning("no text was extracted from a file: %s", strerror(errno));
	else if (!extract_take_place())
		log_warning("no text was extracted from a file: too many others are read");
	else {
		text = extract_run(path, again, essence);
		extract_leave_place();
	}
	if (again >= 0)
		close(again);
	free(path);
	return text;
}
