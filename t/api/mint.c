/* SPDX-License-Identifier: ISC */
/*
 * Makes tokens for the tests of authentication.
 *
 *     mint ALGORITHM KEY PAYLOAD [HEADER]     prints a token; KEY is the secret, or @FILE with it
 *     mint --keys ALGORITHM PRIVATE PUBLIC    writes a new pair of keys into two files
 */
#include "base/memory.h"
#include "t/unit/mint_fixture.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_MAX 16384

static int fail(const char *what)
{
	fprintf(stderr, "mint: %s\n", what);
	return 2;
}

static char *read_key(const char *argument)
{
	if (*argument != '@')
		return xstrdup(argument);
	FILE *file = fopen(argument + 1, "r");
	char *text = xcalloc(1, KEY_MAX);
	if (!file || !fread(text, 1, KEY_MAX - 1, file))
		exit(fail("cannot read the key"));
	fclose(file);
	return text;
}

static bool write_key(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");
	return file && fputs(text, file) >= 0 && fclose(file) == 0;
}

static int make_keys(char **argv)
{
	struct mint_keys keys = mint_keys_new(argv[2]);
	bool written = write_key(argv[3], keys.private_pem) && write_key(argv[4], keys.public_pem);
	mint_keys_free(&keys);
	return written ? EXIT_SUCCESS : fail("cannot write the keys");
}

int main(int argc, char **argv)
{
	memory_init();
	if (argc == 5 && !strcmp(argv[1], "--keys"))
		return make_keys(argv);
	if (argc != 4 && argc != 5)
		return fail("usage: mint ALGORITHM KEY PAYLOAD [HEADER]");
	char *key = read_key(argv[2]);
	char *token =
	    argc == 5 ? mint(argv[1], key, argv[4], argv[3]) : mint_plain(argv[1], key, argv[3]);
	puts(token);
	free(token);
	free(key);
	return EXIT_SUCCESS;
}
