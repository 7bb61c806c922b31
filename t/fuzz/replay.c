/* SPDX-License-Identifier: ISC */
/*
 * The main program of fuzz targets in ordinary test runs: gives the target each file of its corpus,
 * and reports each in TAP.
 *
 *     NAME [FILE...]      without files: those of top_srcdir/t/fuzz/corpus/NAME
 */
#include "replay.h"

#include <errno.h>
#include <glob.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The file's bytes, in a block without spare room, so that AddressSanitizer notices a read beyond
 * the end.  NULL if it cannot be read. */
static uint8_t *read_input(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	if (!file || fseek(file, 0, SEEK_END) != 0)
		return NULL;
	long length = ftell(file);
	rewind(file);
	uint8_t *data = length < 0 ? NULL : malloc(length > 0 ? (size_t)length : 1);
	*size = data ? fread(data, 1, (size_t)length, file) : 0;
	fclose(file);
	return data;
}

static void replay(size_t number, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t size;
	uint8_t *data = read_input(path, &size);
	if (data)
		LLVMFuzzerTestOneInput(data, size);
	printf("%s %zu - survives %s%s%s\n", data ? "ok" : "not ok", number, name,
	    data ? "" : " # ", data ? "" : strerror(errno));
	fflush(stdout);
	free(data);
}

int main(int argc, char **argv)
{
	const char *top = getenv("top_srcdir");
	char pattern[PATH_MAX];
	glob_t found = {0};
	snprintf(
	    pattern, sizeof(pattern), "%s/t/fuzz/corpus/%s/*", top ? top : ".", basename(argv[0]));
	if (argc == 1 && glob(pattern, GLOB_ERR, NULL, &found) != 0) {
		printf("Bail out! there is no input: %s\n", pattern);
		return 1;
	}
	char **paths = argc > 1 ? argv + 1 : found.gl_pathv;
	size_t count = argc > 1 ? (size_t)argc - 1 : found.gl_pathc;
	printf("1..%zu\n", count);
	for (size_t i = 0; i < count; i++)
		replay(i + 1, paths[i]);
	globfree(&found);
	return 0;
}
