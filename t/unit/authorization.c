/* SPDX-License-Identifier: ISC */
/* What somebody may do: scopes, roles, owners, and a plug-in's word. */
#include "access/authorization.h"

#include "access/authentication.h"
#include "agentgraph.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "storage_fixture.h"

#include <stdlib.h>

static struct arena *arena;
static struct error err;

static cJSON *parse(const char *text)
{
	return arena_json(arena, json_parse(text, strlen(text), JSON_REQUEST_DEPTH, NULL));
}

static void begin(void)
{
	arena_free(arena);
	arena = arena_new();
	error_release(&err);
}

/* Prints a tree as text of the arena. */
static const char *text_of(const cJSON *item)
{
	char *text = json_print(item);
	const char *copy = arena_strdup(arena, text);
	free(text);
	return copy;
}

/* ---- scopes ---- */

static const char *scopes(const struct authorization *z, const char *user)
{
	begin();
	const cJSON *resolved = authorization_scopes(z, parse(user), arena);
	return resolved ? text_of(resolved) : "all";
}

static void the_claim_counts_when_it_is_an_array(void)
{
	const struct authorization z = {.kind = AUTHZ_OWNERSHIP};
	CU_ASSERT_STRING_EQUAL(scopes(&z, "{}"), "all");
	CU_ASSERT_STRING_EQUAL(scopes(&z, "{\"scopes\":null}"), "all");
	CU_ASSERT_STRING_EQUAL(scopes(&z, "{\"scopes\":\"graph:read\"}"), "all");
	CU_ASSERT_STRING_EQUAL(scopes(&z, "{\"scopes\":{\"a\":\"graph:read\"}}"), "all");
	CU_ASSERT_STRING_EQUAL(scopes(&z, "{\"scopes\":[]}"), "[]");
	CU_ASSERT_STRING_EQUAL(
	    scopes(&z, "{\"scopes\":[\"graph:read\",7,null,\"*\"]}"), "[\"graph:read\",\"*\"]");
}

static bool holds(const char *list, const char *resource, const char *action)
{
	const struct permission permission = {resource, action, NULL};
	begin();
	return scopes_hold(list ? parse(list) : NULL, &permission, arena);
}

static void a_list_allows_what_it_names(void)
{
	CU_ASSERT(holds(NULL, "graph", "invoke"));
	CU_ASSERT(holds("[\"store:read\",\"graph:invoke\"]", "graph", "invoke"));
	CU_ASSERT_FALSE(holds("[]", "graph", "invoke"));
	CU_ASSERT_FALSE(holds("[\"graph:invok\",\"graph:invoke2\",\"graph\"]", "graph", "invoke"));
	CU_ASSERT_FALSE(holds("[\"*\",\"graph:*\",\"GRAPH:INVOKE\"]", "graph", "invoke"));
}

/* ---- roles ---- */

static const char *role_scopes(const char *user)
{
	const char *text = "{\"roles\":{\"reader\":[\"graph:read\"],\"writer\":[\"graph:invoke\"],"
			   "\"admin\":[\"*\"],\"none\":[]},"
			   "\"default_scopes\":[\"config:read\"],\"isolation\":\"none\"}";
	cJSON *rbac = json_parse(text, strlen(text), JSON_REQUEST_DEPTH, NULL);
	const struct authorization z = {.kind = AUTHZ_RBAC, .rbac = rbac};
	const char *result = scopes(&z, user);
	cJSON_Delete(rbac);
	return result;
}

static void roles_grant_scopes(void)
{
	CU_ASSERT_STRING_EQUAL(
	    role_scopes("{\"roles\":[\"reader\"]}"), "[\"config:read\",\"graph:read\"]");
	CU_ASSERT_STRING_EQUAL(
	    role_scopes("{\"roles\":\"writer\"}"), "[\"config:read\",\"graph:invoke\"]");
	CU_ASSERT_STRING_EQUAL(role_scopes("{\"roles\":[\"reader\",\"writer\",5]}"),
	    "[\"config:read\",\"graph:read\",\"graph:invoke\"]");
	CU_ASSERT_STRING_EQUAL(
	    role_scopes("{\"role\":\"reader\"}"), "[\"config:read\",\"graph:read\"]");
	CU_ASSERT_STRING_EQUAL(role_scopes("{\"role\":\"reader\",\"roles\":null}"),
	    "[\"config:read\",\"graph:read\"]");
}

static void roles_win_over_role_and_over_the_claim(void)
{
	CU_ASSERT_STRING_EQUAL(
	    role_scopes("{\"roles\":[],\"role\":\"admin\"}"), "[\"config:read\"]");
	CU_ASSERT_STRING_EQUAL(role_scopes("{\"roles\":\"none\",\"role\":\"admin\",\"scopes\":["
					   "\"graph:invoke\"]}"),
	    "[\"config:read\"]");
}

static void unknown_roles_add_nothing(void)
{
	CU_ASSERT_STRING_EQUAL(role_scopes("{}"), "[\"config:read\"]");
	CU_ASSERT_STRING_EQUAL(role_scopes("{\"roles\":[\"root\",\"*\"]}"), "[\"config:read\"]");
	CU_ASSERT_STRING_EQUAL(role_scopes("{\"roles\":{\"admin\":true}}"), "[\"config:read\"]");
	CU_ASSERT_STRING_EQUAL(role_scopes("{\"roles\":[[\"admin\"]]}"), "[\"config:read\"]");
	CU_ASSERT_STRING_EQUAL(
	    role_scopes("{\"roles\":{},\"role\":\"reader\"}"), "[\"config:read\",\"graph:read\"]");
}

static void an_asterisk_of_a_role_grants_all(void)
{
	CU_ASSERT_STRING_EQUAL(role_scopes("{\"roles\":[\"reader\",\"admin\"]}"), "all");
	CU_ASSERT_STRING_EQUAL(role_scopes("{\"role\":\"admin\",\"scopes\":[]}"), "all");
}

/* ---- a plug-in ---- */

static cJSON *given_scopes(const cJSON *user, void *data)
{
	(void)data;
	const cJSON *given = json_get(user, "given");
	return given ? cJSON_Duplicate(given, true) : NULL;
}

static ag_decision decide(const cJSON *user, const char *resource, const char *action,
    const char *resource_id, void *data)
{
	(void)resource, (void)action, (void)data;
	double value = ag_number(json_get(user, "decision"));
	return resource_id && !strcmp(resource_id, "secret") ? AG_DENY : (ag_decision)(int)value;
}

static const char *everybodys(void *data)
{
	return data;
}

static void a_plugin_gives_scopes_or_leaves_it(void)
{
	static const struct ag_authorization table = {.scopes_for = given_scopes};
	const struct authorization z = {.kind = AUTHZ_CUSTOM, .plugin = {.table = &table}};
	CU_ASSERT_STRING_EQUAL(
	    scopes(&z, "{\"given\":[\"a:b\",1],\"scopes\":[\"c:d\"]}"), "[\"a:b\"]");
	CU_ASSERT_STRING_EQUAL(scopes(&z, "{\"given\":[],\"scopes\":[\"c:d\"]}"), "[]");
	CU_ASSERT_STRING_EQUAL(scopes(&z, "{\"scopes\":[\"c:d\"]}"), "[\"c:d\"]");
	CU_ASSERT_STRING_EQUAL(scopes(&z, "{}"), "all");
	CU_ASSERT_STRING_EQUAL(scopes(&z, "{\"given\":\"nonsense\"}"), "[]");
	static const struct ag_authorization silent = {0};
	const struct authorization without = {.kind = AUTHZ_CUSTOM, .plugin = {.table = &silent}};
	CU_ASSERT_STRING_EQUAL(scopes(&without, "{\"scopes\":[\"c:d\"]}"), "[\"c:d\"]");
}

static void only_its_yes_allows(void)
{
	static const struct ag_authorization table = {.authorize = decide};
	const struct authorization z = {.kind = AUTHZ_CUSTOM, .plugin = {.table = &table}};
	const struct permission permission = {"graph", "read", NULL};
	const struct permission secret = {"graph", "read", "secret"};
	begin();
	CU_ASSERT(authorization_allows(&z, parse("{\"decision\":1}"), &permission));
	CU_ASSERT_FALSE(authorization_allows(&z, parse("{\"decision\":1}"), &secret));
	CU_ASSERT_FALSE(authorization_allows(&z, parse("{\"decision\":0}"), &permission));
	CU_ASSERT_FALSE(authorization_allows(&z, parse("{\"decision\":2}"), &permission));
	CU_ASSERT_FALSE(authorization_allows(&z, parse("{\"decision\":-1}"), &permission));
}

static const char *isolation(const char *answer)
{
	static const struct ag_authorization table = {.isolation_scope = everybodys};
	const struct authorization z = {
	    .kind = AUTHZ_CUSTOM, .plugin = {.table = &table}, .data = (void *)answer};
	return authorization_isolation(&z);
}

static void isolation_is_the_owners_unless_none(void)
{
	static const struct ag_authorization silent = {0};
	const struct authorization without = {.kind = AUTHZ_CUSTOM, .plugin = {.table = &silent}};
	const struct authorization all = {.kind = AUTHZ_ALLOW_ALL}, own = {.kind = AUTHZ_OWNERSHIP};
	CU_ASSERT_STRING_EQUAL(authorization_isolation(&without), "owner");
	CU_ASSERT_STRING_EQUAL(isolation("none"), "none");
	CU_ASSERT_STRING_EQUAL(isolation("owner"), "owner");
	CU_ASSERT_STRING_EQUAL(isolation("nonsense"), "owner");
	CU_ASSERT_STRING_EQUAL(isolation(NULL), "owner");
	CU_ASSERT_STRING_EQUAL(authorization_isolation(&all), "none");
	CU_ASSERT_STRING_EQUAL(authorization_isolation(&own), "owner");
}

/* ---- the decision table ---- */

static struct storage *storage;

static struct access *open_access(enum auth_method auth, enum authorization_kind kind, cJSON *rbac)
{
	static struct config config;
	struct problems problems = {0};
	config = (struct config){.auth = auth, .authorization = kind, .rbac = rbac};
	struct access *access =
	    access_open(&config, storage, opened[opened_at(storage)].shared, &problems);
	CU_ASSERT_PTR_NOT_NULL_FATAL(access);
	return access;
}

static bool permits(struct access *access, const char *user_id, const char *resource,
    const char *action, const char *id)
{
	const struct permission permission = {resource, action, id};
	begin();
	struct identity identity = {.user = parse("{\"authz\":1}"), .user_id = user_id};
	bool permitted = access_permit(access, &identity, &permission, &err);
	CU_ASSERT_EQUAL(permitted, !error_is_set(&err));
	return permitted;
}

static void open_threads(void)
{
	struct thread t = sample_thread("hers");
	storage = open_storage("threads");
	if (!thread_exists(storage, "hers", NULL))
		must_put(storage, &t, NULL);
}

static void check_guarded(struct access *access)
{
	static const char *const actions[][2] = {{"graph", "invoke"}, {"graph", "stream"},
	    {"graph", "stop"}, {"graph", "fix"}, {"graph", "read"}, {"checkpointer", "read"},
	    {"checkpointer", "write"}, {"checkpointer", "delete"}};
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		const char *resource = actions[i][0], *action = actions[i][1];
		CU_ASSERT_FALSE(permits(access, NULL, resource, action, NULL));
		CU_ASSERT_FALSE(permits(access, NULL, resource, action, "new"));
		CU_ASSERT(permits(access, "bob", resource, action, NULL));
		CU_ASSERT(permits(access, "bob", resource, action, "nobodys"));
		CU_ASSERT(permits(access, "alice", resource, action, "hers"));
		CU_ASSERT_FALSE(permits(access, "bob", resource, action, "hers"));
		CU_ASSERT_STRING_EQUAL(
		    err.detail, arena_printf(arena, "Not authorized to %s %s", action, resource));
		CU_ASSERT_STRING_EQUAL(error_code(err.kind), "PERMISSION_ERROR");
		CU_ASSERT_FALSE(permits(access, "Alice", resource, action, "hers"));
	}
	CU_ASSERT(permits(access, "bob", "store", "read", "hers"));
	CU_ASSERT(permits(access, "bob", "files", "read", "hers"));
	CU_ASSERT(permits(access, NULL, "config", "read", NULL));
}

static void ownership_keeps_to_its_table(void)
{
	open_threads();
	struct access *access = open_access(AUTH_JWT, AUTHZ_OWNERSHIP, NULL);
	check_guarded(access);
	access_close(access);
	close_storage(storage);
}

/* Roles that grant everything to everybody, with that isolation. */
static cJSON *lenient(const char *isolation_word)
{
	cJSON *rbac = cJSON_CreateObject();
	cJSON *scopes_of_all = cJSON_AddArrayToObject(rbac, "default_scopes");
	static const char *const all[] = {"graph:invoke", "graph:stream", "graph:stop", "graph:fix",
	    "graph:read", "checkpointer:read", "checkpointer:write", "checkpointer:delete",
	    "store:read", "files:read", "config:read"};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		cJSON_AddItemToArray(scopes_of_all, cJSON_CreateString(all[i]));
	cJSON_AddStringToObject(rbac, "isolation", isolation_word);
	return rbac;
}

static void roles_inherit_the_table(void)
{
	cJSON *owner = lenient("owner"), *none = lenient("none");
	open_threads();
	struct access *access = open_access(AUTH_JWT, AUTHZ_RBAC, owner);
	check_guarded(access);
	CU_ASSERT_FALSE(permits(access, "alice", "graph", "setup", NULL));
	CU_ASSERT_STRING_EQUAL(err.detail, "Missing required scope: graph:setup");
	access_close(access);

	access = open_access(AUTH_JWT, AUTHZ_RBAC, none);
	CU_ASSERT(permits(access, "bob", "graph", "invoke", "hers"));
	CU_ASSERT(permits(access, NULL, "checkpointer", "read", "hers"));
	access_close(access);
	close_storage(storage);
	cJSON_Delete(owner);
	cJSON_Delete(none);
}

static void allow_all_asks_for_nobody(void)
{
	open_threads();
	struct access *access = open_access(AUTH_JWT, AUTHZ_ALLOW_ALL, NULL);
	CU_ASSERT(permits(access, "bob", "graph", "invoke", "hers"));
	CU_ASSERT(permits(access, NULL, "checkpointer", "delete", "hers"));
	access_close(access);
	close_storage(storage);
}

static void without_authentication_nothing_is_asked(void)
{
	open_threads();
	struct access *access = open_access(AUTH_NONE, AUTHZ_OWNERSHIP, NULL);
	CU_ASSERT(permits(access, "bob", "graph", "invoke", "hers"));
	CU_ASSERT(permits(access, NULL, "graph", "invoke", "hers"));
	access_close(access);
	close_storage(storage);
}

/* A storage whose lookups fail. */
static bool failing_owner(struct storage *st, const struct storage_context *ctx, struct arena *a,
    const char *thread_id, const char **owner, struct error *failure)
{
	(void)st, (void)ctx, (void)a, (void)thread_id, (void)owner;
	return error_set(failure, ERR_TRANSIENT_STORAGE, NULL);
}

static void a_failing_lookup_denies(void)
{
	open_threads();
	struct access *access = open_access(AUTH_JWT, AUTHZ_OWNERSHIP, NULL);
	const struct thread_ops *real = storage->threads;
	struct thread_ops broken = *real;
	broken.owner = failing_owner;
	storage->threads = &broken;
	CU_ASSERT_FALSE(permits(access, "alice", "graph", "invoke", "hers"));
	CU_ASSERT_STRING_EQUAL(err.detail, "Not authorized to invoke graph");
	CU_ASSERT_FALSE(permits(access, "alice", "graph", "invoke", "nobodys"));
	storage->threads = real;
	CU_ASSERT(permits(access, "alice", "graph", "invoke", "hers"));
	access_close(access);
	close_storage(storage);
}

static void a_storage_without_owners_allows(void)
{
	open_threads();
	const struct thread_ops *real = storage->threads;
	struct thread_ops poor = *real;
	poor.owner = NULL;
	storage->threads = &poor;
	struct access *access = open_access(AUTH_JWT, AUTHZ_OWNERSHIP, NULL);
	CU_ASSERT(permits(access, "bob", "graph", "invoke", "hers"));
	CU_ASSERT_FALSE(permits(access, NULL, "graph", "invoke", "hers"));
	access_close(access);
	storage->threads = real;
	close_storage(storage);
}

static void a_thread_that_came_in_between_is_noticed(void)
{
	const struct permission permission = {"graph", "invoke", "hers"};
	const struct identity bob = {.user_id = "bob"}, nobody = {0};
	open_threads();
	struct access *access = open_access(AUTH_JWT, AUTHZ_OWNERSHIP, NULL);
	begin();
	CU_ASSERT(access_owns(access, &bob, &permission, "bob", &err));
	CU_ASSERT_FALSE(access_owns(access, &bob, &permission, "alice", &err));
	CU_ASSERT_STRING_EQUAL(err.detail, "Not authorized to invoke graph");
	CU_ASSERT_FALSE(access_owns(access, &nobody, &permission, "anonymous", &err));
	access_close(access);
	close_storage(storage);
}

static void what_was_decided_is_stamped(void)
{
	const struct permission permission = {"graph", "invoke", NULL};
	open_threads();
	struct access *access = open_access(AUTH_JWT, AUTHZ_OWNERSHIP, NULL);
	begin();
	struct identity identity = {
	    .user = parse("{\"user_id\":\"a\",\"authz\":\"forged\"}"), .user_id = "a"};
	CU_ASSERT(access_permit(access, &identity, &permission, &err));
	CU_ASSERT_STRING_EQUAL(text_of(json_get(identity.user, "authz")),
	    "{\"user_id\":\"a\",\"scope\":\"owner\",\"scopes\":null}");
	identity.user = parse("{\"scopes\":[\"graph:invoke\"]}");
	CU_ASSERT(access_permit(access, &identity, &permission, &err));
	CU_ASSERT_STRING_EQUAL(text_of(json_get(identity.user, "authz")),
	    "{\"user_id\":\"a\",\"scope\":\"owner\",\"scopes\":[\"graph:invoke\"]}");
	access_close(access);
	close_storage(storage);
}

static const char *reach(enum auth_method auth, enum authorization_kind kind, const char *user_id)
{
	const struct identity identity = {.user_id = user_id};
	struct access *access = open_access(auth, kind, NULL);
	const char *reached = access_reach(access, &identity);
	access_close(access);
	return reached ? reached : "all";
}

static void listings_reach_what_they_should(void)
{
	open_threads();
	CU_ASSERT_STRING_EQUAL(reach(AUTH_NONE, AUTHZ_OWNERSHIP, "anonymous"), "all");
	CU_ASSERT_STRING_EQUAL(reach(AUTH_JWT, AUTHZ_OWNERSHIP, "bob"), "bob");
	CU_ASSERT_STRING_EQUAL(reach(AUTH_JWT, AUTHZ_OWNERSHIP, NULL), "anonymous");
	CU_ASSERT_STRING_EQUAL(reach(AUTH_JWT, AUTHZ_ALLOW_ALL, "bob"), "all");
	close_storage(storage);
}

/* ---- an authentication that a plug-in brings ---- */

static ag_result answer_by_header(ag_request *rq, void *data)
{
	(void)data;
	const char *how = ag_request_header(rq, "x-how");
	if (!strcmp(how, "in"))
		return ag_let_in(rq, cJSON_Parse(ag_request_header(rq, "x-user")));
	if (!strcmp(how, "account"))
		return ag_refuse_account(rq, ag_request_header(rq, "x-code"), "%s", "You? No.");
	if (!strcmp(how, "status"))
		return ag_refuse(rq, atoi(ag_request_header(rq, "x-code")), "%s", "Not now");
	if (!strcmp(how, "changed"))
		return ag_refuse(rq, 418, "tea"), AG_OK;
	return !strcmp(how, "nothing") ? AG_OK : AG_ERROR;
}

static const char *headers[3];

static const char *header(void *arg, const char *name)
{
	(void)arg;
	return !strcmp(name, "x-how") ? headers[0] : headers[1];
}

static struct identity identity;

static bool ask_plugin(const char *how, const char *argument)
{
	static const struct ag_auth table = {AG_AUTH, NULL, answer_by_header, NULL};
	const struct custom_auth auth = {.plugin = {.table = &table}};
	const struct presented presented = {.method = "GET", .path = "/", .header = header};
	begin();
	headers[0] = how;
	headers[1] = argument;
	return custom_auth_check(&auth, &presented, arena, &identity, &err);
}

static bool refused_as(int status, const char *code, const char *detail)
{
	bool same = error_status_of(&err) == status && !strcmp(error_code_of(&err), code) &&
	    !strcmp(err.detail, detail);
	if (!same)
		printf("# %d %s %s\n", error_status_of(&err), error_code_of(&err), err.detail);
	return same;
}

static void a_plugin_lets_in(void)
{
	CU_ASSERT_FATAL(ask_plugin("in", "{\"user_id\":\"a\",\"x\":[1]}"));
	CU_ASSERT_STRING_EQUAL(identity.user_id, "a");
	CU_ASSERT(identity.verified);
	CU_ASSERT_STRING_EQUAL(text_of(identity.user), "{\"user_id\":\"a\",\"x\":[1]}");
	CU_ASSERT_FATAL(ask_plugin("in", "{\"user_id\":42}"));
	CU_ASSERT_STRING_EQUAL(identity.user_id, "42");
}

static void without_a_user_id_it_is_anonymous(void)
{
	static const char *const users[] = {"{}", "{\"user_id\":null}", "{\"user_id\":\" \"}",
	    "{\"user_id\":true}", "{\"user_id\":[\"a\"]}"};
	for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++) {
		CU_ASSERT(ask_plugin("in", users[i]));
		CU_ASSERT_PTR_NULL(identity.user_id);
		CU_ASSERT_FALSE(identity.verified);
		CU_ASSERT_STRING_EQUAL(text_of(identity.user), "{}");
	}
	CU_ASSERT(ask_plugin("nothing", ""));
	CU_ASSERT_PTR_NULL(identity.user_id);
	CU_ASSERT(ask_plugin("in", "no JSON"));
	CU_ASSERT_PTR_NULL(identity.user_id);
	CU_ASSERT(ask_plugin("in", "{\"team\":\"x\"}"));
	CU_ASSERT_STRING_EQUAL(text_of(identity.user), "{\"team\":\"x\"}");
}

static void a_plugin_refuses_accounts(void)
{
	CU_ASSERT(!ask_plugin("account", "ON_HOLIDAY"));
	CU_ASSERT(refused_as(403, "ON_HOLIDAY", "You? No."));
	CU_ASSERT(!ask_plugin("account", NULL));
	CU_ASSERT(refused_as(403, "USER_ACCOUNT_DISABLE", "You? No."));
	CU_ASSERT(!ask_plugin("account", "bad code\r\n"));
	CU_ASSERT(refused_as(403, "USER_ACCOUNT_DISABLE", "You? No."));
}

static void a_plugin_refuses_with_a_status(void)
{
	CU_ASSERT(!ask_plugin("status", "402"));
	CU_ASSERT(refused_as(402, "AUTHENTICATION_FAILED", "Not now"));
	CU_ASSERT(!ask_plugin("status", "503"));
	CU_ASSERT(refused_as(503, "AUTHENTICATION_FAILED", "Not now"));
	CU_ASSERT(!ask_plugin("changed", ""));
	CU_ASSERT(refused_as(418, "AUTHENTICATION_FAILED", "tea"));
}

static void a_plugin_that_fails_is_a_500(void)
{
	const char *text = "An unexpected error occurred. Please contact support.";
	CU_ASSERT(!ask_plugin("fail", ""));
	CU_ASSERT(refused_as(500, "INTERNAL_ERROR", text));
	CU_ASSERT(!ask_plugin("status", "200"));
	CU_ASSERT(refused_as(500, "INTERNAL_ERROR", text));
	CU_ASSERT(!ask_plugin("status", "99999"));
	CU_ASSERT(refused_as(500, "INTERNAL_ERROR", text));
	CU_ASSERT(!ask_plugin("in", "[1]"));
	CU_ASSERT(refused_as(500, "INTERNAL_ERROR", text));
}

static const struct unit_test tests[] = {
    {"the scopes claim counts when it is an array", the_claim_counts_when_it_is_an_array},
    {"a list of scopes allows what it names", a_list_allows_what_it_names},
    {"roles grant scopes", roles_grant_scopes},
    {"roles win over role and over the claim", roles_win_over_role_and_over_the_claim},
    {"unknown roles add nothing", unknown_roles_add_nothing},
    {"an asterisk of a role grants all", an_asterisk_of_a_role_grants_all},
    {"a plug-in gives scopes or leaves it to the claim", a_plugin_gives_scopes_or_leaves_it},
    {"only a plug-in's yes allows", only_its_yes_allows},
    {"isolation is the owner's unless none", isolation_is_the_owners_unless_none},
    {"ownership keeps to its table", ownership_keeps_to_its_table},
    {"roles inherit the table", roles_inherit_the_table},
    {"allow_all asks for nobody", allow_all_asks_for_nobody},
    {"without authentication nothing is asked", without_authentication_nothing_is_asked},
    {"a failing lookup denies", a_failing_lookup_denies},
    {"a storage that knows no owners allows", a_storage_without_owners_allows},
    {"a thread that came in between is noticed", a_thread_that_came_in_between_is_noticed},
    {"what was decided is stamped", what_was_decided_is_stamped},
    {"listings reach what they should", listings_reach_what_they_should},
    {"a plug-in lets in", a_plugin_lets_in},
    {"without a user_id it is anonymous", without_a_user_id_it_is_anonymous},
    {"a plug-in refuses accounts", a_plugin_refuses_accounts},
    {"a plug-in refuses with a status", a_plugin_refuses_with_a_status},
    {"a plug-in that fails is a 500", a_plugin_that_fails_is_a_500},
};

int main(void)
{
	memory_init();
	int status = unit_main("authorization", tests, UNIT_COUNT(tests));
	arena_free(arena);
	return status;
}
