/* SPDX-License-Identifier: ISC */
/*
 * A plug-in that decides who may use the service: by API keys in a file, and by a rule of its own.
 *
 * The file that AUTH_KEYS names has a line for each key: the key, the user, and the user's team;
 * other lines, and those that begin with "#", are comments.  A request presents a key as a bearer
 * token, or in the header X-Api-Key.  Members of a team may read each other's threads, but only the
 * team "staff" may delete any.
 */
#include <agentgraph.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

AG_PLUGIN;

#define FIELD 128

/* ---- Authentication ---- */

static int open_keys(void **data)
{
	const char *path = getenv("AUTH_KEYS");
	FILE *file = path ? fopen(path, "r") : NULL;
	if (!file) {
		fprintf(stderr, "auth.so: AUTH_KEYS must name a file that can be read, and is %s\n",
		    path ? path : "not set");
		return -1;
	}
	fclose(file);
	*data = strdup(path);
	return 0;
}

/* Compares in a time that does not tell how much of a key was guessed. */
static bool same(const char *known, const char *key)
{
	size_t len = strlen(known);
	unsigned differs = len ^ strlen(key);
	for (size_t i = 0; i < len && key[i]; i++)
		differs |= (unsigned char)known[i] ^ (unsigned char)key[i];
	return differs == 0;
}

/* Looks up a key, and fills in its user and team; false if there is none. */
static bool find_key(const char *path, const char *key, char user[FIELD], char team[FIELD])
{
	char line[512], known[FIELD], more[2];
	bool found = false, begins = true;
	FILE *file = fopen(path, "r");
	while (!found && file && fgets(line, sizeof(line), file)) {
		found = begins &&
		    sscanf(line, "%127s %127s %127s %1s", known, user, team, more) == 3 &&
		    *known != '#' && same(known, key);
		begins = strchr(line, '\n'); /* what follows may be the rest of a long line */
	}
	if (file)
		fclose(file);
	return found;
}

/* Reads the file for each request, so that a key is refused as soon as it is taken out. */
static ag_result check_key(ag_request *request, void *data)
{
	char user[FIELD], team[FIELD];
	const char *key = ag_request_credential(request);
	if (!key)
		key = ag_request_header(request, "x-api-key");
	if (!key)
		return ag_refuse(request, 401, "An API key is needed");
	if (!find_key(data, key, user, team))
		return ag_refuse(request, 403, "This API key is not known");
	if (strcmp(team, "suspended") == 0)
		return ag_refuse_account(
		    request, "ACCOUNT_SUSPENDED", "The account of %s is suspended", user);
	cJSON *who = cJSON_CreateObject();
	cJSON_AddStringToObject(who, "user_id", user);
	cJSON_AddStringToObject(who, "team", team);
	return ag_let_in(request, who);
}

const struct ag_auth keys = {
    .kind = AG_AUTH, .open = open_keys, .authenticate = check_key, .close = free};

/* ---- Authorization ---- */

static const char *team_of(const cJSON *user)
{
	const char *team = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(user, "team"));
	return team ? team : "";
}

/* A thread belongs to the team whose name its id begins with: "sales-42". */
static ag_decision decide(const cJSON *user, const char *resource, const char *action,
    const char *resource_id, void *data)
{
	const char *team = team_of(user);
	(void)resource, (void)data;
	if (strcmp(team, "staff") == 0)
		return AG_ALLOW;
	if (strcmp(action, "delete") == 0)
		return AG_DENY;
	if (!resource_id)
		return AG_ALLOW;
	size_t len = strlen(team);
	return len && strncmp(resource_id, team, len) == 0 && resource_id[len] == '-' ? AG_ALLOW
										      : AG_DENY;
}

/* Guests may only look; the others have the scopes of their own. */
static cJSON *scopes(const cJSON *user, void *data)
{
	(void)data;
	if (strcmp(team_of(user), "guests") != 0)
		return NULL;
	cJSON *list = cJSON_CreateArray();
	cJSON_AddItemToArray(list, cJSON_CreateString("graph:read"));
	cJSON_AddItemToArray(list, cJSON_CreateString("checkpointer:read"));
	return list;
}

const struct ag_authorization teams = {
    .kind = AG_AUTHORIZATION, .authorize = decide, .scopes_for = scopes};
