/* SPDX-License-Identifier: ISC */
/* Signals of a daemon, as a descriptor, and writing without SIGPIPE. */
#include "base/os/process/process.h"

#include <pthread.h>
#include <sys/signalfd.h>
#include <time.h>

static void process_signals_sigpipe_alone(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGPIPE);
}

void sigpipe_block(sigset_t *before)
{
	sigset_t set;
	process_signals_sigpipe_alone(&set);
	pthread_sigmask(SIG_BLOCK, &set, before);
}

void sigpipe_restore(const sigset_t *before)
{
	sigset_t set;
	process_signals_sigpipe_alone(&set);
	if (!sigismember(before, SIGPIPE))
		while (sigtimedwait(&set, NULL, &(struct timespec){0}) > 0)
			continue;
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

int process_signals(const int *told)
{
	sigset_t set;
	signal(SIGCHLD, SIG_DFL); /* who started this process may have ignored it */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (!told)
		return -1;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigemptyset(&set);
	for (; *told; told++)
		sigaddset(&set, *told);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}
