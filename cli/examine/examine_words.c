/* SPDX-License-Identifier: ISC */
/* Variables and scopes that mean nothing to the service, and look like others that do. */
#include "base/json/json.h"
#include "base/memory.h"
#include "cli/examine/examine.h"
#include "config/environment/environment.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LONGEST_NAME 64
#define SHORTEST_NAME 6 /* in shorter ones two letters are too many to say which was meant */

/* ---- variables ---- */

static size_t examine_words_least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* How many letters have to be changed, added or left out to make the one name of the other. */
static size_t examine_words_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t row[LONGEST_NAME + 1];
	if (a_len > LONGEST_NAME || b_len > LONGEST_NAME)
		return LONGEST_NAME;
	for (size_t j = 0; j <= b_len; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		size_t diagonal = row[0];
		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			size_t above = row[j];
			size_t kept = diagonal + (a[i - 1] != b[j - 1]);
			row[j] =
			    examine_words_least(kept, examine_words_least(above, row[j - 1]) + 1);
			diagonal = above;
		}
	}
	return row[b_len];
}

static void examine_words_judge_variable(const char *name, size_t len, struct problems *problems)
{
	const char *known, *near = NULL;
	size_t best = 3;
	for (size_t i = 0; (known = environment_name(i)); i++) {
		size_t known_len = strlen(known);
		/* known names end in one more word: JWT_SECRET for JWT_SECRET_KEY */
		bool lacks_word = memchr(name, '_', len) && strncmp(known, name, len) == 0 &&
		    known[len] == '_' && !strchr(known + len + 1, '_');
		size_t apart = lacks_word ? 1 : examine_words_distance(name, len, known, known_len);
		if (apart == 0)
			return;
		/* the first word is right in most slips, and tells apart what is somebody else's */
		if (apart < best && len >= SHORTEST_NAME && known_len >= SHORTEST_NAME &&
		    name[0] == known[0]) {
			near = known;
			best = apart;
		}
	}
	if (near)
		problems_warn(problems,
		    "the variable %.*s is none of the service's; %s is one: was that meant?",
		    (int)len, name, near);
}

void variables_examine(struct problems *problems)
{
	for (char **variable = environ; *variable; variable++)
		examine_words_judge_variable(*variable, strcspn(*variable, "="), problems);
}

/* ---- scopes ---- */

/* Takes the scope at the end of a line of the table of routes. */
static bool examine_words_take_scope(const char *line, size_t len, void *arg)
{
	const char *blank = strrchr(line, ' ');
	(void)len;
	if (blank && strchr(blank, ':'))
		cJSON_AddItemToArray(arg, cJSON_CreateString(blank + 1));
	return true;
}

static void examine_words_judge_scopes(const cJSON *scopes, const cJSON *granted, const char *where,
    const char *file, struct problems *problems)
{
	const cJSON *scope;
	cJSON_ArrayForEach(scope, granted) {
		if (strcmp(scope->valuestring, "*") != 0 &&
		    !json_has_str(scopes, scope->valuestring))
			problems_warn(problems,
			    "%s: authorization.%s: no route takes the scope \"%.80s\"; agentgraph "
			    "routes shows those that there are",
			    file, where, scope->valuestring);
	}
}

void scopes_examine(
    const struct config_source *source, const struct config *config, struct problems *problems)
{
	const cJSON *roles = json_get(config->rbac, "roles"), *role;
	cJSON *scopes = cJSON_CreateArray();
	struct process_result result = {0};
	if (config->rbac)
		routes_read(source, examine_words_take_scope, scopes, &result);
	if (cJSON_GetArraySize(scopes) > 0) {
		cJSON_ArrayForEach(role, roles) {
			char *where = xasprintf("roles.%s", role->string);
			examine_words_judge_scopes(scopes, role, where, config->path, problems);
			free(where);
		}
		examine_words_judge_scopes(scopes, json_get(config->rbac, "default_scopes"),
		    "default_scopes", config->path, problems);
	}
	cJSON_Delete(scopes);
}
