/* SPDX-License-Identifier: ISC */
/* Says so when a plug-in ends the command that loads it. */
#include "cli/examine/examine.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

#define CRASHES (sizeof(crashes) / sizeof(crashes[0]))

static struct sigaction before[CRASHES];
static volatile sig_atomic_t loading;

static void loading_tell(const char *text, size_t len)
{
	ssize_t ignored = write(STDERR_FILENO, text, len);
	(void)ignored;
}

/* Restores the signal's former action, which is taken when the instruction is executed again. */
static void loading_crashed(int signal)
{
	static const char text[] =
	    "agentgraph: error: the graph or a plug-in crashed while it was loaded\n";
	for (size_t i = 0; i < CRASHES; i++)
		if (crashes[i] == signal)
			sigaction(signal, &before[i], NULL);
	loading_tell(text, sizeof(text) - 1);
}

static void loading_exits(void)
{
	static const char text[] =
	    "agentgraph: error: the graph or a plug-in ended the process while it was loaded\n";
	if (!loading)
		return;
	loading_tell(text, sizeof(text) - 1);
	_exit(1);
}

void loading_begin(void)
{
	const struct sigaction tell = {.sa_handler = loading_crashed};
	loading = 1;
	atexit(loading_exits);
	for (size_t i = 0; i < CRASHES; i++)
		sigaction(crashes[i], &tell, &before[i]);
}

void loading_end(void)
{
	loading = 0;
	for (size_t i = 0; i < CRASHES; i++)
		sigaction(crashes[i], &before[i], NULL);
}
