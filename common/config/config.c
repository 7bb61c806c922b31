/* SPDX-License-Identifier: ISC */
/* Finding the file and reading it, after its dotenv file; and what is served where there is
 * none. */
#include "config/config.h"

#include "base/json/json.h"
#include "base/json/json_scan.h"
#include "base/memory.h"
#include "base/texts.h"
#include "config/environment/dotenv.h"
#include "config/environment/environment.h"
#include "config/keys.h"
#include "config/text_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_FILE "agentgraph.json"
#define DEFAULT_STATE_DIR ".agentgraph"

/* The file's object, or NULL after a report. */
static cJSON *config_read_file(const char *file, struct problems *problems)
{
	size_t len;
	char *text = text_file_read(file, &len);
	if (!text) {
		problems_add(
		    problems, "%s: cannot read the configuration: %s", file, strerror(errno));
		return NULL;
	}
	enum json_fault fault;
	cJSON *root = json_parse(text, len, JSON_REQUEST_DEPTH, &fault);
	char *more = NULL;
	if (!root) {
		size_t line = json_scan_explain(text, len, &more);
		problems_add(problems, "%s: line %zu: the file %s%s", file, line,
		    json_fault_text(fault), more);
	} else if ((more = json_repeated_key(text, len, '.'))) {
		/* with two values for a key nobody knows which of them was meant */
		problems_add(problems, "%s: %s: expected the key once, found it twice", file, more);
	}
	free(more);
	free(text);
	if (root && !cJSON_IsObject(root)) {
		problems_add(
		    problems, "%s: expected an object, found %s", file, json_type_name(root));
		cJSON_Delete(root);
		root = NULL;
	}
	return root;
}

/*
 * Refuses to serve the demo beside a project of another service: whoever has one here hardly means
 * the demo, and would take its answers for those of a broken agent.
 */
static void config_refuse_others(struct problems *problems)
{
	static const char *const like_ours[] = {"agentflow.json", "10xgraph.json"};
	for (size_t i = 0; i < sizeof(like_ours) / sizeof(like_ours[0]); i++)
		if (text_file_exists(like_ours[i]))
			problems_add(problems,
			    "there is %s, but no " DEFAULT_FILE
			    ": make one with \"agentgraph init --from %s\", or name a configuration "
			    "with --config or GRAPH_PATH",
			    like_ours[i], like_ours[i]);
	if (text_file_exists("langgraph.json"))
		problems_add(problems,
		    "there is langgraph.json, but no " DEFAULT_FILE
		    ": its graphs are programs, which cannot be loaded; \"agentgraph init DIR\" makes "
		    "a project to put them into, and --config or GRAPH_PATH name a configuration");
}

/* `env` comes before all other keys, because it decides what they see of the environment. */
static void config_load_dotenv(const struct section *root, const char *dir)
{
	const cJSON *value = json_opt(root->object, "env");
	if (!value)
		return;
	if (!cJSON_IsString(value) || !value->valuestring[0]) {
		section_refuse(root, "env", value, "the name of a dotenv file");
		return;
	}
	char *path = path_absolute(dir, value->valuestring);
	char *source = xasprintf("%s: env", root->file);
	dotenv_load(path, source, root->problems);
	free(source);
	free(path);
}

char *config_state_dir(const struct config_source *source)
{
	const char *named = environment_text("AGENTGRAPH_STATE_DIR");
	if (source->state_dir)
		named = source->state_dir;
	return path_absolute(NULL, named ? named : DEFAULT_STATE_DIR);
}

static void config_expect(
    const char *state_dir, const struct config_source *source, struct problems *problems)
{
	/* what a command leaves that could not make the databases */
	static const char *const left[] = {".", "..", "shared.lock", "shared", "processes", NULL};
	char *path = xasprintf("%s/%s", state_dir, source->state_has);
	DIR *dir = source->state_may_be_empty ? opendir(state_dir) : NULL;
	const struct dirent *entry;
	bool empty = dir != NULL;
	while (empty && (entry = readdir(dir)))
		empty = texts_has(left, entry->d_name);
	if (dir)
		closedir(dir);
	if (!empty && access(path, F_OK) != 0)
		problems_add(problems,
		    "%s: %s; --state or AGENTGRAPH_STATE_DIR names the state directory", path,
		    strerror(errno));
	free(path);
}

struct config *config_load(const struct config_source *source, struct problems *problems)
{
	struct config *config = xcalloc(1, sizeof(*config));
	size_t errors_before = problems->errors;
	if (source->accepted && !text_files_take(source->accepted))
		problems_warn(
		    problems, "%s: cannot be read: %s", source->accepted, strerror(errno));
	if (source->environment)
		env_file_load(source->environment, problems);
	const char *file = source->file ? source->file : environment_text("GRAPH_PATH");
	if (!file && text_file_exists(DEFAULT_FILE))
		file = DEFAULT_FILE;
	if (!file && !source->storage_only)
		config_refuse_others(problems);
	cJSON *object = file ? config_read_file(file, problems) : cJSON_CreateObject();
	if (!file) /* nobody has configured anything */
		json_add_str(object, "agent", "builtin:demo");
	struct section root = {
	    .problems = problems, .file = file ? file : DEFAULT_FILE, .object = object};
	config->path = xstrdup(file);
	config->dir = path_directory(root.file);
	if (config->dir[0] != '/')
		problems_add(problems, "%s: cannot tell its directory", root.file);
	if (object)
		config_load_dotenv(&root, config->dir);
	environment_read(&config->env, problems);
	if (object)
		database_read(&root, config);
	if (object && !source->storage_only)
		keys_read(&root, config);
	if (source->state_dir && !source->state_dir[0])
		problems_add(problems, "--state: expected a directory, found an empty text");
	config->state_dir = config_state_dir(source);
	/* with a mistake above it may be another storage */
	if (source->state_has && !config->database && problems->errors == errors_before)
		config_expect(config->state_dir, source, problems);
	cJSON_Delete(object);
	if (problems->errors == errors_before)
		return config;
	config_free(config);
	return NULL;
}

struct config *config_load_or_print(const struct config_source *source, const char *who)
{
	struct problems problems = {0};
	struct config *config = config_load(source, &problems);
	problems_print_errors(&problems, who);
	problems_release(&problems);
	return config;
}

const char *config_agent_name(const struct config *config)
{
	const char *colon = strrchr(config->agent, ':');
	return colon ? colon + 1 : config->agent;
}

void config_free(struct config *config)
{
	if (!config)
		return;
	free(config->path);
	free(config->dir);
	free(config->state_dir);
	keys_release(config);
	environment_release(&config->env);
	free(config);
}
