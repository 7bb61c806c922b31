/* SPDX-License-Identifier: ISC */
/*
 * A child process with limits: time, output, and no way to outlive what it was started for.
 *
 * The child leads a process group of its own and is killed with the thread that started it.  It
 * inherits nothing but its three standard streams.  The caller is never blocked by a child that
 * does not read, does not write, or leaves others behind that hold its streams open.  SIGCHLD must
 * not be ignored by the process.
 */
#ifndef AGENTGRAPH_BASE_OS_PROCESS_PROCESS_H
#define AGENTGRAPH_BASE_OS_PROCESS_PROCESS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROCESS_TAIL 4096     /* how much of the end of standard error is kept */
#define PROCESS_GRACE_MS 2000 /* between SIGTERM and SIGKILL */

struct process {
	const char *path;    /* the executable; see process_find */
	char *const *argv;   /* ends with NULL */
	char *const *envp;   /* ends with NULL; NULL: the caller's environment */
	const char *cwd;     /* NULL: the caller's */
	const char *input;   /* bytes for standard input */
	size_t input_len;    /* 0: standard input is at its end at once */
	int input_fd;        /* used as standard input instead of input; 0: none */
	int64_t deadline_ms; /* by clock_monotonic_ms */
	size_t max_line;     /* bytes, without the newline */
	size_t max_output;   /* bytes of standard output in total */

	/* Called for each line of standard output, NUL-terminated, without its newline; the last
	 * one may lack it.  False ends the child: PROCESS_REFUSED. */
	bool (*on_line)(const char *line, size_t len, void *arg);
	bool raw; /* on_line gets the output in pieces as they come, newlines included */
	void *arg;
};

enum process_end {
	PROCESS_EXITED,    /* code: its status */
	PROCESS_SIGNALLED, /* code: the signal that it died of */
	PROCESS_TIMED_OUT,
	PROCESS_REFUSED,
	PROCESS_LINE_TOO_LONG,
	PROCESS_TOO_MUCH_OUTPUT,
	PROCESS_NOT_STARTED /* code: errno; tail says what could not be done */
};

struct process_result {
	enum process_end end;
	int code;
	char tail[PROCESS_TAIL + 1]; /* the last of standard error, as the child wrote it */
};

/* Runs the child to its end, whatever that is.  Afterwards it and its group are gone. */
void process_run(const struct process *p, struct process_result *result);

/*
 * Kills the groups of all children that are not reaped yet.  For a process that is about to end
 * while threads still wait for children: these would die with it, but not what they have started.
 */
void process_end_all(void);

/*
 * For main: blocks SIGTERM, SIGINT and SIGHUP, so that no handler runs anywhere, and ignores
 * SIGPIPE and SIGXFSZ (a limit on file sizes is a full disk, no end).  Returns a descriptor,
 * close-on-exec and non-blocking, from which the signals in told are read as struct
 * signalfd_siginfo; told ends with 0 and names some of the three, and the others have no effect.
 * -1 with errno set on failure.  With told NULL the three keep their meaning, and -1 is returned.
 */
int process_signals(const int *told);

/* Put these around writes to what the other end may have closed; the thread then gets no SIGPIPE,
 * whatever its disposition.  *before keeps the mask for the second, which drops a signal that came
 * meanwhile. */
void sigpipe_block(sigset_t *before);
void sigpipe_restore(const sigset_t *before);

/*
 * Finds an executable: a name with a slash is relative to dir, another one is looked up in PATH.
 * The malloc'd path, or NULL with errno set.
 */
char *process_find(const char *name, const char *dir);

/*
 * Finds a program of this package: beside the one that runs, so that a build directory works
 * uninstalled, else in the libexec directory of where it is installed, else in that of this build.
 * The malloc'd path, or NULL.
 */
char *process_own(const char *name);

/* The same for a file that is no program, such as a module. */
char *process_part(const char *name);

/*
 * Finds a file or directory of this package's data, for a program that is in the libexec directory:
 * likewise beside it, else in the data directory of where it is installed, else in that of this
 * build. The malloc'd path, or NULL.
 */
char *process_data(const char *name);

/*
 * Says in one sentence part, as UTF-8 without control characters, how a child failed: "exited with
 * status 3", "timed out", …  The second one is for clients: it prefers the last line that an exited
 * child wrote to standard error, and names no path of a child that could not be started.  Returns
 * out.
 */
char *process_describe(const struct process_result *result, char *out, size_t size);
char *process_complaint(const struct process_result *result, char *out, size_t size);

/* Replaces bytes that are no UTF-8 or control characters by '?', in place; returns text. */
char *process_clean(char *text);

#endif
