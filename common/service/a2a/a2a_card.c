/* SPDX-License-Identifier: ISC */
/* The card of the agent (doc/protocol-a2a.md#the-card). */
#include "base/json/json.h"
#include "service/a2a/a2a_request.h"

#define BINDING "JSONRPC"
#define OLD_CARD "0.3.0" /* the full number of version 0.3 */

static void a2a_card_say(cJSON *card, const char *name, const char *value)
{
	if (value)
		json_add_str(card, name, value);
}

static void a2a_add_interface(cJSON *list, const char *url, const char *version)
{
	cJSON *item = json_append(list, cJSON_CreateObject());
	json_add_str(item, "url", url);
	json_add_str(item, "protocolBinding", BINDING);
	json_add_str(item, "protocolVersion", version);
}

static void a2a_add_texts(cJSON *card, const char *name, const char *const *texts)
{
	cJSON *list = json_add(card, name, cJSON_CreateArray());
	for (; *texts; texts++)
		json_append(list, cJSON_CreateString(*texts));
}

static void a2a_add_security(cJSON *card, bool old, bool jwt)
{
	cJSON *schemes = json_add(card, "securitySchemes", cJSON_CreateObject());
	cJSON *bearer = json_add(schemes, "bearer", cJSON_CreateObject());
	cJSON *scheme =
	    old ? bearer : json_add(bearer, "httpAuthSecurityScheme", cJSON_CreateObject());
	if (old)
		json_add_str(scheme, "type", "http");
	json_add_str(scheme, "scheme", "Bearer");
	if (jwt)
		json_add_str(scheme, "bearerFormat", "JWT");
	cJSON *list =
	    json_add(card, old ? "security" : "securityRequirements", cJSON_CreateArray());
	cJSON *need = json_append(list, cJSON_CreateObject());
	if (old) {
		json_add(need, "bearer", cJSON_CreateArray());
		return;
	}
	need = json_add(need, "schemes", cJSON_CreateObject());
	need = json_add(need, "bearer", cJSON_CreateObject());
	json_add(need, "list", cJSON_CreateArray());
}

/* Adds the skills of the configuration, or the one that any agent has. */
static void a2a_add_skills(cJSON *card, const struct config *config, const char *description)
{
	static const char *const tags[] = {"agent", NULL};
	if (config->a2a.skills) {
		json_add(card, "skills", cJSON_Duplicate(config->a2a.skills, true));
		return;
	}
	cJSON *list = json_add(card, "skills", cJSON_CreateArray());
	cJSON *skill = json_append(list, cJSON_CreateObject());
	json_add_str(skill, "id", config_agent_name(config));
	json_add_str(skill, "name", config_agent_name(config));
	json_add_str(skill, "description", description);
	a2a_add_texts(skill, "tags", tags);
}

cJSON *a2a_card(struct call *call, const char *version, const char *base)
{
	static const char *const in[] = {"text/plain", "application/json", NULL};
	static const char *const out[] = {"text/plain", NULL};
	const struct config *config = call->service->config;
	const struct a2a_config *own = &config->a2a;
	const char *url = arena_printf(call->arena, "%s/v1/a2a", base);
	const char *name = own->name ? own->name : config_agent_name(config);
	const char *description = own->description
	    ? own->description
	    : arena_printf(call->arena, "Talks to the agent %s.", name);
	cJSON *card = arena_json(call->arena, cJSON_CreateObject());
	bool old;
	/* a client of any other version gets the latest card, which says what versions there are */
	if (!a2a_version_read(call, version, &old))
		error_release(&call->error);
	json_add_str(card, "name", name);
	json_add_str(card, "description", description);
	json_add_str(card, "version", own->version ? own->version : config->env.app_version);
	a2a_card_say(card, "documentationUrl", own->documentation_url);
	a2a_card_say(card, "iconUrl", own->icon_url);
	if (own->organization) {
		cJSON *provider = json_add(card, "provider", cJSON_CreateObject());
		json_add_str(provider, "organization", own->organization);
		json_add_str(provider, "url", own->organization_url ? own->organization_url : base);
	}
	cJSON *interfaces = json_add(card, "supportedInterfaces", cJSON_CreateArray());
	a2a_add_interface(interfaces, url, A2A_LATEST);
	a2a_add_interface(interfaces, url, A2A_OLD);
	if (old) { /* what only version 0.3 has */
		cJSON *list = json_add(card, "additionalInterfaces", cJSON_CreateArray());
		cJSON *item = json_append(list, cJSON_CreateObject());
		json_add_str(item, "url", url);
		json_add_str(item, "transport", BINDING);
		json_add_str(card, "url", url);
		json_add_str(card, "preferredTransport", BINDING);
		json_add_str(card, "protocolVersion", OLD_CARD);
		json_add(card, "supportsAuthenticatedExtendedCard", cJSON_CreateFalse());
	}
	cJSON *can = json_add(card, "capabilities", cJSON_CreateObject());
	json_add(can, "streaming", cJSON_CreateTrue());
	json_add(can, "pushNotifications", cJSON_CreateBool(config->runs_webhooks.count > 0));
	if (!old)
		json_add(can, "extendedAgentCard", cJSON_CreateFalse());
	if (config->auth != AUTH_NONE)
		a2a_add_security(card, old, config->auth == AUTH_JWT);
	a2a_add_texts(card, "defaultInputModes", in);
	a2a_add_texts(card, "defaultOutputModes", out);
	a2a_add_skills(card, config, description);
	return card;
}
