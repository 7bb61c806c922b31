/* SPDX-License-Identifier: ISC */
/* Waiting on a word of memory: the kernel's futex, within one process or between those that share
 * the memory. */
#ifndef AGENTGRAPH_STORAGE_FUTEX_H
#define AGENTGRAPH_STORAGE_FUTEX_H

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum futex_scope { FUTEX_OF_PROCESS = FUTEX_PRIVATE_FLAG, FUTEX_OF_ALL = 0 };

/* Sleeps while *word is value, at most timeout_ms (negative: for ever).  May return early: look
 * again. */
static inline void futex_wait(
    _Atomic uint32_t *word, uint32_t value, int64_t timeout_ms, enum futex_scope scope)
{
	struct timespec t = {.tv_sec = timeout_ms / 1000, .tv_nsec = timeout_ms % 1000 * 1000000};
	syscall(
	    SYS_futex, word, FUTEX_WAIT | (int)scope, value, timeout_ms < 0 ? NULL : &t, NULL, 0);
}

/* Wakes one sleeper. */
static inline void futex_wake(_Atomic uint32_t *word, enum futex_scope scope)
{
	syscall(SYS_futex, word, FUTEX_WAKE | (int)scope, 1, NULL, NULL, 0);
}

static inline void futex_wake_all(_Atomic uint32_t *word, enum futex_scope scope)
{
	syscall(SYS_futex, word, FUTEX_WAKE | (int)scope, INT_MAX, NULL, NULL, 0);
}

#endif
