/* SPDX-License-Identifier: ISC */
/*
 * Tokens: whatever the bytes, nobody is let in without the key.  An input is used twice: as a
 * token, which never verifies, and as the claims of one that does.
 */
#include "access/authentication.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "replay.h"
#include "t/unit/mint_fixture.h"

#include <stdlib.h>
#include <string.h>

#define SECRET "0123456789abcdef0123456789abcdef"

static const struct jwt_auth auth = {.algorithm = "HS256", .secret = SECRET};

static void check_token(const char *token)
{
	struct arena *a = arena_new();
	struct jwt_claims claims;
	struct error err = {0};
	require(!jwt_auth_check(&auth, token, 1000, a, &claims, &err));
	require(err.kind == ERR_INVALID_TOKEN);
	arena_free(a);
}

static void check_claims(const char *payload)
{
	struct arena *a = arena_new();
	struct jwt_claims claims;
	struct error err = {0};
	char *token = mint_plain("HS256", SECRET, payload);
	if (jwt_auth_check(&auth, token, 1000, a, &claims, &err)) {
		require(claims.expires >= 1000);
		require(!strcmp(json_str(claims.user, "user_id"), claims.user_id));
	} else {
		require(err.kind == ERR_INVALID_TOKEN || err.kind == ERR_EXPIRED_TOKEN);
	}
	free(token);
	arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	memory_init();
	check_token(text);
	check_claims(text);
	free(text);
	return 0;
}
