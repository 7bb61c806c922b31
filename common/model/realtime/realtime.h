/* SPDX-License-Identifier: ISC */
/*
 * Realtime providers for live agents: OpenAI Realtime and Gemini Live, over WebSockets.
 *
 * Both are one struct ag_live_provider, whose data are settings made here; the settings name the
 * provider.
 */
#ifndef AGENTGRAPH_MODEL_REALTIME_REALTIME_H
#define AGENTGRAPH_MODEL_REALTIME_REALTIME_H

#include "agentgraph.h"

#include <cjson/cJSON.h>

struct realtime_settings;

/* Who is told what is wrong with settings: the key, and a sentence. */
struct realtime_reporter {
	void (*problem)(const char *key, const char *text, void *arg);
	void *arg;
};

/*
 * The settings of provider "openai" or "gemini", from the environment and object's members
 * base_url, api_key_env and extra.  NULL when something was wrong, which the reporter was told.
 */
struct realtime_settings *realtime_settings_new(
    const char *provider, const cJSON *object, const struct realtime_reporter *reporter);

/* NULL is fine. */
void realtime_settings_free(void *settings);

/* The environment variable that should hold the key, and does not; NULL when nothing is missing. */
const char *realtime_settings_lack(const struct realtime_settings *settings);

extern const struct ag_live_provider realtime_provider;

/* A sensitivity of the settings of voice activity from 0 to 1; below 0: not given, or no
 * sensitivity. */
double realtime_sensitivity(const cJSON *vad, const char *name);

#endif
