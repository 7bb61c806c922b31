/* SPDX-License-Identifier: ISC */
/* Running pdftotext, pdfinfo and catdoc in the cage, in this process's place or beside it. */
#include "extract/cage.h"
#include "extract/document.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define INFO_SIZE 65536
#define NOT_BECOME 127 /* status of a child that could not become the other program */

#define NO_CAGE "the kernel offers no cage for it (Landlock and seccomp are needed)"

static const char *helper_find(const char *const paths[])
{
	while (*paths && access(*paths, X_OK) != 0)
		paths++;
	return *paths;
}

/* Becomes the program; returns only when it cannot. */
static void helper_become(const char *path, const char *const argv[])
{
	char *const environment[] = {"LC_ALL=C", "PATH=/usr/bin:/bin", NULL};
	if (lseek(STDIN_FILENO, 0, SEEK_SET) == 0 && cage_close_for(path))
		execve(path, (char *const *)argv, environment);
}

/* ---- PDF ---- */

/* Runs a child and takes up to size - 1 bytes of its standard output.  Returns its exit status, or
 * -1. */
static int helper_output_of(const char *path, const char *const argv[], char *out, size_t size)
{
	int fds[2], status = -1;
	pid_t child = pipe(fds) == 0 ? fork() : -1;
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(fds[1], STDOUT_FILENO);
		close(fds[0]);
		close(fds[1]);
		helper_become(path, argv);
		_exit(NOT_BECOME);
	}
	if (child < 0)
		return -1;
	close(fds[1]);
	size_t len = 0;
	for (ssize_t n; len < size - 1 && (n = read(fds[0], out + len, size - 1 - len)) > 0;)
		len += (size_t)n;
	out[len] = '\0';
	close(fds[0]);
	if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* The number on the line "Pages: N", -1 when there is none. */
static long helper_pages_in(const char *info)
{
	const char *line = strncmp(info, "Pages:", 6) == 0 ? info - 1 : strstr(info, "\nPages:");
	return line ? strtol(line + strlen("\nPages:"), NULL, 10) : -1;
}

const char *helper_pdf(void)
{
	static const char *const paths[] = {"/usr/bin/pdftotext", "/usr/local/bin/pdftotext", NULL};
	static const char *const argv[] = {
	    "pdftotext", "-q", "-enc", "UTF-8", "-nopgbrk", "-", "-", NULL};
	static const char *const info_paths[] = {
	    "/usr/bin/pdfinfo", "/usr/local/bin/pdfinfo", NULL};
	static const char *const info_argv[] = {"pdfinfo", "-", NULL};
	static char info[INFO_SIZE];
	const char *path = helper_find(paths), *info_path = helper_find(info_paths);
	if (!path)
		return "pdftotext is not installed";
	if (!info_path)
		return "pdfinfo is not installed";
	int status = helper_output_of(info_path, info_argv, info, sizeof(info));
	if (status == NOT_BECOME)
		return NO_CAGE;
	if (status != 0)
		return "it is no PDF, or a damaged, encrypted or too large one";
	if (helper_pages_in(info) < 0 || helper_pages_in(info) >= HELPER_PAGES)
		return "the PDF has 10000 pages or more";
	helper_become(path, argv);
	return NO_CAGE;
}

/* ---- DOC, RTF ---- */

/* catdoc takes any other file for plain text, so it gets only what begins like one of the two. */
const char *helper_word(const char *data, size_t len)
{
	static const char compound[] = {'\xd0', '\xcf', '\x11', '\xe0'}, rtf[] = "{\\rtf";
	static const char *const paths[] = {"/usr/bin/catdoc", "/usr/local/bin/catdoc", NULL};
	static const char *const argv[] = {"catdoc", "-w", "-d", "utf-8", NULL};
	const char *path = helper_find(paths);
	if (!(len >= sizeof(compound) && memcmp(data, compound, sizeof(compound)) == 0) &&
	    !(len >= strlen(rtf) && memcmp(data, rtf, strlen(rtf)) == 0))
		return "it is neither RTF nor a Word document";
	if (!path)
		return "catdoc is not installed";
	helper_become(path, argv);
	return NO_CAGE;
}
