/* SPDX-License-Identifier: ISC */
/* agentgraph init: a project from a template, or from another service's configuration. */
#include "base/buf.h"
#include "base/error.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "base/os/process/process.h"
#include "cli/command.h"
#include "cli/texts.h"
#include "config/text_file.h"
#include "config/words.h"

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

/* The first one is made when no template is named. */
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
    {"desks", "graphs within a graph, side by side; needs no model", EXAMPLE(desks_agent)},
    {"approval", "a model whose tool waits for a person's yes", EXAMPLE(approval_agent)},
    {"knowledge", "a model with files, notes and memories", EXAMPLE(knowledge_agent)},
};

#define TEMPLATE_COUNT (sizeof(templates) / sizeof(templates[0]))

/* The template of that name; NULL after a complaint that lists the names. */
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
static bool cmd_init_is_free(const char *dir, const struct project_file *files)
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

static bool cmd_init_write_new(const char *dir, const struct project_file *file)
{
	char *path = xasprintf("%s/%s", dir, file->name);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, file->mode);
	FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
	bool written = f && fputs(file->text, f) >= 0;
	if (f && fclose(f) != 0)
		written = false;
	if (!written)
		complain(1, "cannot write %s: %s", path, strerror(errno));
	if (!written && fd >= 0)
		unlink(path);
	free(path);
	return written;
}

/* Writes the files, or leaves none of them, so that the next try finds a free place. */
static bool cmd_init_write_all(const char *dir, const struct project_file *files)
{
	const struct project_file *file = files;
	while (file->name && cmd_init_write_new(dir, file))
		file++;
	if (!file->name)
		return true;
	for (; files < file; files++) {
		char *path = xasprintf("%s/%s", dir, files->name);
		unlink(path);
		free(path);
	}
	return false;
}

/* The path as a shell takes it, malloc'd. */
static char *cmd_init_quoted(const char *path)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				    "/._+-";
	struct buf out = {0};
	if (!path[strspn(path, plain)])
		return xstrdup(path);
	buf_putc(&out, '\'');
	for (; *path; path++)
		if (*path == '\'')
			buf_puts(&out, "'\\''");
		else
			buf_putc(&out, *path);
	buf_putc(&out, '\'');
	return buf_detach(&out);
}

/* Tells what to type next; this program by its name if PATH leads to it, else by its path. */
static void cmd_init_tell_next(const char *dir)
{
	char *found = process_find("agentgraph", NULL), *self = realpath("/proc/self/exe", NULL);
	struct stat named, own;
	bool in_path = found && stat(found, &named) == 0 && stat("/proc/self/exe", &own) == 0 &&
	    named.st_dev == own.st_dev && named.st_ino == own.st_ino;
	char *directory = cmd_init_quoted(dir);
	char *program = cmd_init_quoted(in_path || !self ? "agentgraph" : self);
	printf("\n    cd %s\n    %s check\n    %s serve\n", directory, program, program);
	free(directory);
	free(program);
	free(found);
	free(self);
}

/* ---- from the configuration of another service ---- */

#define FROM_AGENT "graph.json:assistant"

/* Tells what becomes of a key that cannot stay as it is. */
static void cmd_init_tell(const char *key, const char *text)
{
	printf("  %s: %s\n", key, text);
}

/* Whether the key has an import path that leads to no plug-in, no document and nothing built in. */
static bool cmd_init_is_foreign(const cJSON *object, const char *key)
{
	static const char *const ours[] = {".so", ".json"};
	const char *path = json_str(object, key);
	char *module, *attribute;
	bool foreign;
	if (!path || !import_split(path, &module, &attribute))
		return false;
	foreign = strcmp(module, "builtin") != 0;
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		size_t len = strlen(module), end = strlen(ours[i]);
		if (len > end && strcmp(module + len - end, ours[i]) == 0)
			foreign = false;
	}
	free(module);
	free(attribute);
	return foreign;
}

/* Replaces keys that name Python modules.  What decides who gets in is never left out: it stays,
 * and the service does not start until it is replaced. */
static void cmd_init_replace_imports(cJSON *root)
{
	static const struct {
		const char *key, *ours, *told;
	} keys[] = {
	    {"store", "builtin:store", "the built-in store is in the place of a Python one"},
	    {"thread_name_generator", "builtin:names",
		"the built-in names are in the place of a Python generator"},
	    {"injectq", NULL, "left out, because Python modules cannot be loaded"},
	};
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!cmd_init_is_foreign(root, keys[i].key))
			continue;
		json_set(root, keys[i].key,
		    keys[i].ours ? cJSON_CreateString(keys[i].ours) : cJSON_CreateNull());
		cmd_init_tell(keys[i].key, keys[i].told);
	}
	if (cmd_init_is_foreign(json_get(root, "auth"), "path"))
		cmd_init_tell("auth",
		    "still names a Python module, which cannot be loaded: use \"jwt\" or a plug-in; until "
		    "then the service does not start");
	if (cmd_init_is_foreign(root, "authorization"))
		cmd_init_tell("authorization",
		    "still names a Python module, which cannot be loaded: use a name, an object of "
		    "roles or a plug-in; until then the service does not start");
}

/* Has `env` lead to the same file from the new directory, or drops it if there is no such file. */
static void cmd_init_replace_env(cJSON *root, const char *file, const char *dir)
{
	const char *name = json_str(root, "env");
	char *from = path_directory(file), *to, *path, *project = xasprintf("%s/", dir);
	to = path_directory(project);
	path = name ? path_absolute(from, name) : NULL;
	if (path && access(path, F_OK) != 0) {
		json_set(root, "env", cJSON_CreateNull());
		cmd_init_tell("env", "left out, because the file that it names is not there");
	} else if (path && strcmp(from, to) != 0) {
		json_set(root, "env", cJSON_CreateString(path));
	}
	free(project);
	free(from);
	free(to);
	free(path);
}

/* The object in file, which has the keys of ours; NULL after a complaint. */
static cJSON *cmd_init_read_other(const char *file)
{
	size_t len = 0;
	char *text = text_file_read(file, &len);
	enum json_fault fault = JSON_INVALID;
	cJSON *root = text ? json_parse(text, len, JSON_REQUEST_DEPTH, &fault) : NULL;
	const char *wrong = NULL;
	if (!text)
		complain(1, "cannot read %s: %s", file, strerror(errno));
	else if (!root)
		complain(1, "%s: the file %s", file, json_fault_text(fault));
	else if (!cJSON_IsObject(root) || !json_str(root, "agent"))
		wrong = json_get(root, "graphs")
		    ? "its graphs are programs in Python or JavaScript, which cannot be loaded: make a "
		      "project with agentgraph init DIR, and put your agent's programs into it as nodes "
		      "of kind exec"
		    : "expected an object with the key agent, as agentflow.json and 10xgraph.json are";
	if (wrong) {
		complain(1, "%s: %s", file, wrong);
		cJSON_Delete(root);
		root = NULL;
	}
	free(text);
	return root;
}

/* Makes root, the configuration in file, one of a project in dir, and tells what was changed;
 * foreign says that its agent is another service's.  The text is malloc'd. */
static char *cmd_init_translate(cJSON *root, bool foreign, const char *file, const char *dir)
{
	printf("%s becomes %s/agentgraph.json, with its keys.\n", file, dir);
	if (foreign) {
		json_set(root, "agent", cJSON_CreateString(FROM_AGENT));
		cmd_init_tell("agent",
		    "Python modules cannot be loaded: graph.json is a graph that works, to put yours into; its "
		    "nodes and tools can be Python programs (kind exec)");
		if (cJSON_GetArraySize(json_get(root, "remote_tools")) > 0) {
			cJSON_DeleteItemFromObjectCaseSensitive(root, "remote_tools");
			cmd_init_tell("remote_tools",
			    "left out, because that graph has not their nodes; declare them again");
		}
	}
	cmd_init_replace_imports(root);
	cmd_init_replace_env(root, file, dir);
	char *printed = cJSON_Print(root);
	char *text = xasprintf("%s\n", printed);
	cJSON_free(printed);
	return text;
}

static int cmd_init_make_from(const char *file, const char *dir)
{
	struct project_file files[] = {
	    {"agentgraph.json", NULL, 0666}, {NULL, NULL, 0}, {NULL, NULL, 0}};
	cJSON *root = cmd_init_read_other(file);
	char *text = NULL;
	if (!root)
		return 1;
	bool foreign = cmd_init_is_foreign(root, "agent");
	if (foreign)
		files[1] = (struct project_file){"graph.json", text_graph_json, 0666};
	bool made = mkdir(dir, 0777) == 0 || errno == EEXIST;
	if (!made)
		complain(1, "cannot make the directory %s: %s", dir, strerror(errno));
	made = made && cmd_init_is_free(dir, files);
	if (made)
		files[0].text = text = cmd_init_translate(root, foreign, file, dir);
	made = made && cmd_init_write_all(dir, files);
	if (made) {
		printf("\nNext:\n");
		cmd_init_tell_next(dir);
	}
	cJSON_Delete(root);
	free(text);
	return made ? 0 : 1;
}

int cmd_init(int argc, char **argv)
{
	bool list = false;
	const char *from = NULL, *name = argv[0];
	const struct option_spec specs[] = {
	    {"--list", OPTION_FLAG, &list, 0, 0}, {"--from", OPTION_TEXT, &from, 0, 0}, OPTION_END};
	const struct template *template = &templates[0];
	struct error err = {0};
	int count = options_parse(specs, argc, argv, &err);
	if (count < 0)
		return complain(EXIT_USAGE, "%s; see agentgraph help %s", err.detail, name);
	if (list && (count || from))
		return complain(
		    EXIT_USAGE, "init --list takes no argument; see agentgraph help init");
	if (list) {
		for (size_t i = 0; i < TEMPLATE_COUNT; i++)
			printf("%-12s %s\n", templates[i].name, templates[i].about);
		return 0;
	}
	if (from && count > 1)
		return complain(EXIT_USAGE,
		    "init --from takes one directory, got %d; see agentgraph help init", count);
	if (from)
		return cmd_init_make_from(from, count ? argv[0] : ".");
	if (count == 2)
		template = template_find(argv[1]);
	else if (count != 1)
		return complain(EXIT_USAGE,
		    "init takes a directory and a template, got %d; see agentgraph help init",
		    count);
	if (!template)
		return EXIT_USAGE;
	const char *dir = argv[0];
	if (mkdir(dir, 0777) != 0 && errno != EEXIST)
		return complain(1, "cannot make the directory %s: %s", dir, strerror(errno));
	if (!cmd_init_is_free(dir, template->files) || !cmd_init_write_all(dir, template->files))
		return 1;
	printf("A new agent lies in %s.  Next:\n", dir);
	cmd_init_tell_next(dir);
	printf("\nREADME.md there goes on from here.\n");
	return 0;
}
