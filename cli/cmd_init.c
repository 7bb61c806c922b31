#include "base/buf.h"
#include "base/memory.h"
#include "command.h"
#include "texts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct project_file {
	const char *name; /* NULL: there are no more */
	const char *text;
	mode_t mode;
};

#define MOST_FILES 5

struct template
{
	const char *name;
	const char *about;
	struct project_file files[MOST_FILES + 1];
};

#define EXAMPLE(directory)                                                     \
	{                                                                      \
		{"agentgraph.json", text_##directory##_agentgraph_json, 0666}, \
		    {"graph.json", text_##directory##_graph_json, 0666},       \
		    {"README.md", text_##directory##_README_md, 0666},         \
		    {".gitignore", text_gitignore, 0666}, {NULL, NULL, 0},     \
	}

/* The first is made when none is named. */
static const struct template templates[] = {
    {"assistant", "tells the time, and repeats the rest; needs no model",
	{
	    {"agentgraph.json", text_agentgraph_json, 0666},
	    {"graph.json", text_graph_json, 0666},
	    {".env", text_dotenv, 0600},
	    {".gitignore", text_gitignore, 0666},
	    {"README.md", text_README_md, 0666},
	}},
    {"react", "a model that calls tools until it can answer", EXAMPLE(react_agent)},
    {"supervisor", "a model that hands requests over to two others", EXAMPLE(supervisor_agent)},
    {"approval", "a model whose tool waits for a person's yes", EXAMPLE(approval_agent)},
    {"knowledge", "a model with files, notes and memories", EXAMPLE(knowledge_agent)},
};

#define TEMPLATE_COUNT (sizeof(templates) / sizeof(templates[0]))

static int list_templates(void)
{
	for (size_t i = 0; i < TEMPLATE_COUNT; i++)
		printf("%-12s %s\n", templates[i].name, templates[i].about);
	return 0;
}

/* NULL with the names in a complaint when there is none of that name. */
static const struct template *template_find(const char *name)
{
	struct buf names = {0};
	for (size_t i = 0; i < TEMPLATE_COUNT; i++) {
		if (strcmp(templates[i].name, name) == 0) {
			buf_release(&names);
			return &templates[i];
		}
		buf_printf(&names, "%s%s", i ? ", " : "", templates[i].name);
	}
	complain(
	    EXIT_USAGE, "there is no template \"%s\"; choose one of %s", name, buf_str(&names));
	buf_release(&names);
	return NULL;
}

/* Whether dir has none of the files yet. */
static bool is_free(const char *dir, const struct project_file *files)
{
	bool free_of_all = true;

	for (; files->name; files++) {
		char *path = xasprintf("%s/%s", dir, files->name);

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

static int make_project(const char *dir, const struct template *template)
{
	if (mkdir(dir, 0777) != 0 && errno != EEXIST)
		return complain(1, "cannot make the directory %s: %s", dir, strerror(errno));
	if (!is_free(dir, template->files))
		return 1;
	for (const struct project_file *file = template->files; file->name; file++)
		if (!write_new(dir, file))
			return 1;
	printf("A new agent lies in %s.  Next:\n\n"
	       "    cd %s\n"
	       "    agentgraph check\n"
	       "    agentgraph serve\n\n"
	       "README.md there goes on from here.\n",
	    dir, dir);
	return 0;
}

int cmd_init(int argc, char **argv)
{
	bool list = false;
	const struct option_spec specs[] = {{"--list", OPTION_FLAG, &list, 0, 0}, OPTION_END};
	const struct template *template = &templates[0];

	if (argc == 2 && strcmp(argv[1], "--list") == 0)
		return list_templates();
	if (argc == 3 && argv[1][0] != '-' && argv[2][0] != '-') {
		template = template_find(argv[2]);
		argc = 2;
	}
	if (!template || !command_options(specs, argc, argv, 1))
		return EXIT_USAGE;
	if (list)
		return complain(
		    EXIT_USAGE, "init --list takes no argument; see agentgraph help init");
	return make_project(argv[0], template);
}
