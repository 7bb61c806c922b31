/* SPDX-License-Identifier: ISC */
/* Signals of a daemon, as a descriptor. */
#include "base/process.h"

#include <signal.h>
#include <sys/signalfd.h>

int process_signals(const int *told)
{
	sigset_t set;
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
