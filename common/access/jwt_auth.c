/* SPDX-License-Identifier: ISC */
/* Taking a token apart, and checking its header, signature, times and claims in that order. */
#include "access/authentication.h"

#include "base/id.h"
#include "base/json/json.h"

#include <string.h>

#define NO_USER_ID "Invalid token, user_id missing"

/* ---- the key ---- */

void jwt_auth_init(struct jwt_auth *auth, const struct environment *env, struct problems *problems)
{
	*auth = (struct jwt_auth){.issuer = env->jwt_issuer, .audience = env->jwt_audience};
	/* An empty key would let every token in. */
	if (!env->jwt_secret || !*env->jwt_secret || !env->jwt_algorithm)
		return;
	auth->algorithm = env->jwt_algorithm;
	auth->secret = env->jwt_secret;
	auth->verified = verified_new();
	const struct signature_key key = {auth->algorithm, auth->secret};
	if (signature_is_hmac(auth->algorithm) || signature_key_fits(&key))
		return;
	int bits = signature_curve(auth->algorithm);
	if (bits)
		problems_add(problems,
		    "JWT_SECRET_KEY: expected the public key of a curve of %d bits as PEM for %s",
		    bits, auth->algorithm);
	else
		problems_add(problems, "JWT_SECRET_KEY: expected a public RSA key as PEM for %s",
		    auth->algorithm);
}

void jwt_auth_release(struct jwt_auth *auth)
{
	verified_free(auth->verified);
	auth->verified = NULL;
}

/* ---- the parts of a token ---- */

static bool jwt_auth_refuse(struct error *err, const char *why)
{
	error_set(err, ERR_INVALID_TOKEN, NULL);
	return error_cause(err, "token: %s", why);
}

/* Decodes base64url without padding (RFC 7515 2); NULL when it is none. */
static char *jwt_auth_decode(const char *text, size_t len, struct arena *a, size_t *size)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	char *out = arena_alloc(a, len + 1);
	uint32_t bits = 0;
	unsigned held = 0;
	*size = 0;
	for (size_t i = 0; i < len; i++) {
		const char *at = text[i] ? strchr(digits, text[i]) : NULL;
		if (!at)
			return NULL;
		bits = (bits << 6 | (uint32_t)(at - digits)) & 0xffffff;
		held += 6;
		if (held >= 8) {
			held -= 8;
			out[(*size)++] = (char)(bits >> held);
		}
	}
	/* bits left over must be zero, so that one token cannot be written in several ways (RFC
	 * 4648 3.5) */
	return len % 4 == 1 || bits & ((1U << held) - 1) ? NULL : out;
}

/* A part that holds a JSON object, or NULL. */
static cJSON *jwt_auth_decode_object(const char *text, size_t len, struct arena *a)
{
	size_t size;
	char *json = jwt_auth_decode(text, len, a, &size);
	cJSON *value = json ? json_parse(json, size, JSON_REQUEST_DEPTH, NULL) : NULL;
	arena_json(a, value);
	return cJSON_IsObject(value) ? value : NULL;
}

struct parts {
	cJSON *header;
	cJSON *payload;
	size_t signed_len; /* how much of the token is signed: up to the last dot */
	const char *signature;
	size_t signature_size;
};

/* Takes header.payload.signature apart, none of which is empty. */
static bool jwt_auth_take_apart(const char *token, struct arena *a, struct parts *parts)
{
	size_t header = strcspn(token, ".");
	const char *second = token + header + (token[header] == '.');
	size_t payload = strcspn(second, ".");
	const char *third = second + payload + (second[payload] == '.');
	if (!*third || strlen(token) > JWT_LONGEST)
		return false;
	parts->signed_len = (size_t)(third - token) - 1;
	parts->signature = jwt_auth_decode(third, strlen(third), a, &parts->signature_size);
	if (!parts->signature)
		return false;
	parts->header = jwt_auth_decode_object(token, header, a);
	parts->payload = parts->header ? jwt_auth_decode_object(second, payload, a) : NULL;
	return parts->payload != NULL;
}

/* ---- the claims ---- */

static bool jwt_auth_check_time(
    const cJSON *payload, double now, int64_t *expires, struct error *err)
{
	double exp, nbf;
	const cJSON *not_before = json_get(payload, "nbf");
	if (!json_number(json_get(payload, "exp"), &exp))
		return jwt_auth_refuse(err, "exp is missing or not a number");
	if (not_before && !json_number(not_before, &nbf))
		return jwt_auth_refuse(err, "nbf is not a number");
	if (not_before && now < nbf)
		return jwt_auth_refuse(err, "not yet valid");
	if (now >= exp)
		return error_set(err, ERR_EXPIRED_TOKEN, NULL);
	*expires = exp < 9e18 ? (int64_t)exp : INT64_MAX;
	return true;
}

static bool jwt_auth_is_text(const cJSON *item, const char *text)
{
	return cJSON_IsString(item) && strcmp(item->valuestring, text) == 0;
}

static bool jwt_auth_check_audience(
    const struct jwt_auth *auth, const cJSON *audience, struct error *err)
{
	const cJSON *item;
	if (!auth->audience || jwt_auth_is_text(audience, auth->audience))
		return true;
	if (cJSON_IsArray(audience)) {
		cJSON_ArrayForEach(item, audience) {
			if (jwt_auth_is_text(item, auth->audience))
				return true;
		}
	}
	return jwt_auth_refuse(err, "for another audience");
}

/*
 * The algorithm is our choice, not the token's: else a token could be signed with a public key as
 * if that were a secret, or not at all.  "crit" names extensions that must be understood (RFC 7515
 * 4.1.11); none is understood here.
 */
bool jwt_auth_check(const struct jwt_auth *auth, const char *token, double now, struct arena *a,
    struct jwt_claims *claims, struct error *err)
{
	const struct signature_key key = {auth->algorithm, auth->secret};
	struct parts parts;
	*claims = (struct jwt_claims){0};
	if (!auth->algorithm)
		return error_set(err, ERR_JWT_SETTINGS, NULL);
	if (!jwt_auth_take_apart(token, a, &parts))
		return jwt_auth_refuse(err, "malformed");
	if (!json_str_is(parts.header, "alg", auth->algorithm))
		return jwt_auth_refuse(err, "signed with another algorithm than is configured");
	if (json_get(parts.header, "crit"))
		return jwt_auth_refuse(err, "needs an extension that is not known");
	if (!auth->verified || !verified_has(auth->verified, token)) {
		if (!signature_verify(
			&key, token, parts.signed_len, parts.signature, parts.signature_size))
			return jwt_auth_refuse(err, "the signature does not verify");
		if (auth->verified)
			verified_add(auth->verified, token);
	}
	if (!jwt_auth_check_time(parts.payload, now, &claims->expires, err))
		return false;
	if (auth->issuer && !jwt_auth_is_text(json_get(parts.payload, "iss"), auth->issuer))
		return jwt_auth_refuse(err, "of another issuer");
	if (!jwt_auth_check_audience(auth, json_get(parts.payload, "aud"), err))
		return false;
	const char *id = id_user_text(json_get(parts.payload, "user_id"), a);
	if (!id)
		return error_set(err, ERR_INVALID_TOKEN, NO_USER_ID);
	json_set(parts.payload, "user_id", cJSON_CreateString(id));
	claims->user = parts.payload;
	claims->user_id = json_str(parts.payload, "user_id");
	return true;
}
