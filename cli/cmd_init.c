#include "base/memory.h"
#include "command.h"
#include "options.h"
#include "texts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct project_file {
	const char *name;
	const char *text;
	mode_t mode;
};

static const struct project_file files[] = {
    {"agentgraph.json", text_agentgraph_json, 0666},
    {"graph.json", text_graph_json, 0666},
    {".env", text_dotenv, 0600},
    {".gitignore", text_gitignore, 0666},
    {"README.md", text_README_md, 0666},
};

#define FILE_COUNT (sizeof(files) / sizeof(files[0]))

/* Whether dir has none of the files yet. */
static bool is_free(const char *dir)
{
	bool free_of_all = true;

	for (size_t i = 0; i < FILE_COUNT; i++) {
		char *path = xasprintf("%s/%s", dir, files[i].name);

		if (faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
			complain(
			    1, "%s exists and is left as it is; choose another directory", path);
			free_of_all = false;
		}
		free(path);
	}
	return free_of_all;
}

static bool write_new(const char *dir, const struct project_file *file)
{
	char *path = xasprintf("%s/%s", dir, file->name);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, file->mode);
	FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
	bool written = f && fputs(file->text, f) >= 0;

	if (f && fclose(f) != 0)
		written = false;
	if (!written)
		complain(1, "cannot write %s: %s", path, strerror(errno));
	free(path);
	return written;
}

int cmd_init(int argc, char **argv)
{
	static const struct option_spec none[] = {{NULL, OPTION_FLAG, NULL, 0, 0}};
	const char *dir;
	int operands;

	if (!options_parse(none, argc, argv, 1, &operands))
		return EXIT_USAGE;
	dir = argv[0];
	if (mkdir(dir, 0777) != 0 && errno != EEXIST)
		return complain(1, "cannot make the directory %s: %s", dir, strerror(errno));
	if (!is_free(dir))
		return 1;
	for (size_t i = 0; i < FILE_COUNT; i++)
		if (!write_new(dir, &files[i]))
			return 1;
	printf("A new agent lies in %s.  Next:\n\n"
	       "    cd %s\n"
	       "    agentgraph check\n"
	       "    agentgraph serve\n\n"
	       "README.md there goes on from here.\n",
	    dir, dir);
	return 0;
}
