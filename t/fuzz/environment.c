/* SPDX-License-Identifier: ISC */
/*
 * The environment: the input is lines NAME=value.  Whatever they are, there are problems with a
 * text, and each setting has a value that the service can work with.
 */
#include "config/environment/environment.h"
#include "base/utf8.h"
#include "replay.h"
#include "storage/blob/s3.h"

#include <stdlib.h>
#include <string.h>

#define VARIABLES 100

static void check(const struct environment *env)
{
	require(env->mode && env->media_storage_type && env->app_name && env->root_path);
	require(env->max_request_size > 0 && env->media_max_size_mb > 0);
	require(env->media_signed_url_ttl > 0 && env->realtime_max_frame_bytes > 0);
	require(!strpbrk(env->csp_policy, "\r\n") && !strpbrk(env->frame_options, "\r\n"));
	require(!env->root_path[0] || env->root_path[0] == '/');
	for (size_t i = 0; i < env->origins.count; i++)
		require(env->origins.items[i][0] != '\0');
}

static void check_bucket(const struct environment *env)
{
	struct error err = {0};
	bool ok = s3_check(env, &err);
	require(ok != error_is_set(&err));
	if (ok) {
		struct arena *arena = arena_new();
		struct s3 *s3 = s3_new(env);
		const struct s3_answer answer = {"text/plain", "inline"};
		require(!strpbrk(s3_sign(s3, "0123", &answer, 60, arena), " \r\n\""));
		s3_free(s3);
		arena_free(arena);
	}
	error_release(&err);
}

static void set(char *text)
{
	clearenv();
	for (int i = 0; text && i < VARIABLES; i++) {
		char *line = strsep(&text, "\n"), *value = strchr(line, '=');
		if (!value || value == line)
			continue;
		*value++ = '\0';
		setenv(line, value, 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct environment *env = calloc(1, sizeof(*env));
	struct problems problems = {0};
	char *text = strndup((const char *)data, size);
	set(text);
	environment_read(env, &problems);
	environment_check_jwt(env, &problems);
	for (size_t i = 0; i < problems.count; i++) {
		const char *said = problems.items[i].text;
		require(said[0] && utf8_valid(said, strlen(said)));
	}
	check(env);
	check_bucket(env);
	environment_release(env);
	problems_release(&problems);
	free(env);
	free(text);
	return 0;
}
