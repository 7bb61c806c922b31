/* SPDX-License-Identifier: ISC */
/* Bearer tokens: which are let in, and what is said of the others. */
#include "access/authentication.h"

#include "base/json/json.h"
#include "base/memory.h"
#include "mint_fixture.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECRET "0123456789abcdef0123456789abcdef"
#define NOW 1000.0
#define GOOD "{\"user_id\":\"alice\",\"exp\":2000}"

static struct arena *arena;
static struct error err;
static struct jwt_claims claims;

static const struct jwt_auth hs256 = {.algorithm = "HS256", .secret = SECRET};

static bool check(const struct jwt_auth *auth, const char *token)
{
	arena_free(arena);
	arena = arena_new();
	error_release(&err);
	return jwt_auth_check(auth, token, NOW, arena, &claims, &err);
}

static bool check_payload(const struct jwt_auth *auth, const char *payload)
{
	char *token = mint_plain("HS256", SECRET, payload);
	bool good = check(auth, token);
	free(token);
	return good;
}

static bool check_header(const char *header)
{
	char *token = mint("HS256", SECRET, header, GOOD);
	bool good = check(&hs256, token);
	free(token);
	return good;
}

static bool said(enum error_kind kind, const char *text)
{
	bool same = err.kind == kind && !strcmp(err.detail, text);
	if (!same)
		printf("# %s: %s (%s)\n", error_code(err.kind), err.detail, err.cause);
	return same;
}

#define INVALID said(ERR_INVALID_TOKEN, "Invalid token, please login again")
#define EXPIRED said(ERR_EXPIRED_TOKEN, "Token has expired, please login again")
#define NOBODY said(ERR_INVALID_TOKEN, "Invalid token, user_id missing")

static void a_good_token_is_let_in(void)
{
	CU_ASSERT_FATAL(check_payload(&hs256, GOOD));
	CU_ASSERT_STRING_EQUAL(claims.user_id, "alice");
	CU_ASSERT_EQUAL(claims.expires, 2000);
}

/* ---- algorithms ---- */

static void check_pair(const char *algorithm)
{
	struct mint_keys keys = mint_keys_new(algorithm), others = mint_keys_new(algorithm);
	const struct jwt_auth auth = {.algorithm = algorithm, .secret = keys.public_pem};
	char *token = mint_plain(algorithm, keys.private_pem, GOOD);
	char *other = mint_plain(algorithm, others.private_pem, GOOD);
	char *longer = xasprintf("%sAAAA", token);
	CU_ASSERT(check(&auth, token));
	CU_ASSERT(!check(&auth, other) && INVALID);
	CU_ASSERT(!check(&auth, longer) && INVALID);
	token[strlen(token) - 4] = '\0';
	CU_ASSERT(!check(&auth, token) && INVALID);
	free(token);
	free(other);
	free(longer);
	mint_keys_free(&keys);
	mint_keys_free(&others);
}

static void every_algorithm_verifies(void)
{
	static const char *const pairs[] = {"RS256", "RS384", "RS512", "ES256", "ES384", "ES512"};
	static const char *const secrets[] = {"HS256", "HS384", "HS512"};
	for (size_t i = 0; i < 6; i++)
		check_pair(pairs[i]);
	for (size_t i = 0; i < 3; i++) {
		const struct jwt_auth auth = {.algorithm = secrets[i], .secret = SECRET};
		char *token = mint_plain(secrets[i], SECRET, GOOD);
		CU_ASSERT(check(&auth, token));
		free(token);
	}
}

static void only_the_configured_algorithm_counts(void)
{
	char *token = mint_plain("HS512", SECRET, GOOD);
	CU_ASSERT(!check(&hs256, token) && INVALID);
	free(token);
	CU_ASSERT(!check_header("{\"alg\":\"hs256\"}") && INVALID);
	CU_ASSERT(!check_header("{\"alg\":\"HS512\"}") && INVALID);
	CU_ASSERT(!check_header("{\"alg\":null}") && INVALID);
	CU_ASSERT(!check_header("{\"alg\":\"HS256\",\"alg\":\"none\"}") && INVALID);
	CU_ASSERT(!check_header("{}") && INVALID);
	CU_ASSERT(!check_header("[]") && INVALID);
}

static void none_is_never_one(void)
{
	static const char *const names[] = {"none", "None", "NONE", "nOnE", ""};
	for (size_t i = 0; i < 5; i++) {
		char *header = xasprintf("{\"alg\":\"%s\"}", names[i]);
		char *unsigned_token = mint("none", "", header, GOOD);
		char *signed_token = mint("HS256", SECRET, header, GOOD);
		CU_ASSERT(!check(&hs256, unsigned_token) && INVALID);
		CU_ASSERT(!check(&hs256, signed_token) && INVALID);
		free(header);
		free(unsigned_token);
		free(signed_token);
	}
}

static void a_public_key_is_no_secret(void)
{
	struct mint_keys keys = mint_keys_new("RS256");
	const struct jwt_auth auth = {.algorithm = "RS256", .secret = keys.public_pem};
	char *token = mint_plain("HS256", keys.public_pem, GOOD);
	char *lying = mint("HS256", keys.public_pem, "{\"alg\":\"RS256\"}", GOOD);
	CU_ASSERT(!check(&auth, token) && INVALID);
	CU_ASSERT(!check(&auth, lying) && INVALID);
	free(token);
	free(lying);
	mint_keys_free(&keys);
}

static void extensions_are_not_understood(void)
{
	CU_ASSERT(!check_header("{\"alg\":\"HS256\",\"crit\":[\"b64\"],\"b64\":false}") && INVALID);
	CU_ASSERT(check_header("{\"alg\":\"HS256\",\"kid\":\"1\"}"));
}

static void the_kind_of_a_token_does_not_matter(void)
{
	CU_ASSERT(check_header("{\"alg\":\"HS256\",\"typ\":\"at+jwt\"}"));
	CU_ASSERT(check_header("{\"alg\":\"HS256\",\"typ\":null}"));
	CU_ASSERT(check_header("{\"alg\":\"HS256\",\"typ\":7}"));
}

/* ---- the form ---- */

static void a_changed_token_is_refused(void)
{
	char *token = mint_plain("HS256", SECRET, GOOD);
	size_t len = strlen(token);
	for (size_t i = 0; i < len; i++) {
		char *changed = xstrdup(token);
		changed[i] = changed[i] == 'A' ? 'Z' : 'A';
		CU_ASSERT(!check(&hs256, changed) && INVALID);
		changed[i] = '\0';
		CU_ASSERT(!check(&hs256, changed) && INVALID);
		free(changed);
	}
	free(token);
}

/* Of the last digit of a signature two bits are left over. */
static void a_token_is_written_in_one_way(void)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	char *token = mint_plain("HS256", SECRET, GOOD);
	char *last = token + strlen(token) - 1, *at = strchr(digits, *last);
	for (int i = 1; i < 4; i++) {
		*last = at[i];
		CU_ASSERT(!check(&hs256, token) && INVALID);
	}
	free(token);
}

static void what_is_no_token_is_refused(void)
{
	static const char *const texts[] = {"", ".", "..", "...", "a.b.c", "a..c", "e30.e30.", "x",
	    "e30.e30.e30.e30", "e30 .e30.e30", "e30=.e30=.e30=", "\xff.\xff.\xff", ".e30.e30",
	    "e30..e30", "bnVsbA.bnVsbA.bnVsbA", "W10.W10.W10"};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		CU_ASSERT(!check(&hs256, texts[i]) && INVALID);
}

static void another_key_is_refused(void)
{
	char *token = mint_plain("HS256", SECRET "!", GOOD);
	CU_ASSERT(!check(&hs256, token) && INVALID);
	free(token);
}

static void a_token_has_a_size(void)
{
	char *filler = xcalloc(1, JWT_LONGEST + 1);
	memset(filler, 'x', JWT_LONGEST);
	char *payload = xasprintf("{\"user_id\":\"a\",\"exp\":2000,\"f\":\"%s\"}", filler);
	CU_ASSERT(!check_payload(&hs256, payload) && INVALID);
	filler[JWT_LONGEST / 2] = '\0';
	free(payload);
	payload = xasprintf("{\"user_id\":\"a\",\"exp\":2000,\"f\":\"%s\"}", filler);
	CU_ASSERT(check_payload(&hs256, payload));
	free(payload);
	free(filler);
}

static void a_payload_is_an_object_of_sane_json(void)
{
	CU_ASSERT(!check_payload(&hs256, "[]") && INVALID);
	CU_ASSERT(!check_payload(&hs256, "null") && INVALID);
	CU_ASSERT(!check_payload(&hs256, "") && INVALID);
	CU_ASSERT(!check_payload(&hs256, "{\"user_id\":\"a\",\"exp\":2000") && INVALID);
	CU_ASSERT(!check_payload(&hs256, "{\"user_id\":\"a\\u0000b\",\"exp\":2000}") && INVALID);
	CU_ASSERT(!check_payload(&hs256, "{\"user_id\":\"\xff\",\"exp\":2000}") && INVALID);
}

/* ---- what is remembered ---- */

static void a_good_signature_is_checked_once(void)
{
	struct jwt_auth auth = {.algorithm = "HS256", .secret = SECRET, .verified = verified_new()};
	char *token = mint_plain("HS256", SECRET, GOOD);
	CU_ASSERT(check(&auth, token));
	auth.secret = SECRET "!";
	CU_ASSERT(check(&auth, token));
	CU_ASSERT_STRING_EQUAL(claims.user_id, "alice");
	CU_ASSERT(!check_payload(&auth, "{\"user_id\":\"bob\",\"exp\":2000}") && INVALID);
	jwt_auth_release(&auth);
	free(token);
}

static void only_the_signature_is_remembered(void)
{
	struct jwt_auth auth = {.algorithm = "HS256", .secret = SECRET, .verified = verified_new()};
	char *token = mint_plain("HS256", SECRET, "{\"user_id\":\"a\",\"exp\":2000,\"iss\":\"b\"}");
	CU_ASSERT(check(&auth, token));
	error_release(&err);
	CU_ASSERT(!jwt_auth_check(&auth, token, 2000, arena, &claims, &err) && EXPIRED);
	auth.issuer = "c";
	CU_ASSERT(!check(&auth, token) && INVALID);
	jwt_auth_release(&auth);
	free(token);
}

static void a_bad_token_is_never_remembered(void)
{
	struct jwt_auth auth = {.algorithm = "HS256", .secret = SECRET, .verified = verified_new()};
	char *token = mint_plain("HS256", SECRET, GOOD), *other = mint_plain("HS256", "x", GOOD);
	for (int i = 0; i < 2; i++)
		CU_ASSERT(!check(&auth, other) && INVALID);
	CU_ASSERT(!verified_has(auth.verified, other) && !verified_has(auth.verified, token));
	CU_ASSERT(check(&auth, token) && verified_has(auth.verified, token));
	token[strlen(token) - 1] ^= 1;
	CU_ASSERT(!verified_has(auth.verified, token));
	jwt_auth_release(&auth);
	free(token);
	free(other);
}

static void one_token_makes_room_for_another(void)
{
	struct verified *verified = verified_new();
	char token[16];
	for (int i = 0; i < 3 * VERIFIED_SIZE; i++) {
		snprintf(token, sizeof(token), "%d", i);
		verified_add(verified, token);
		CU_ASSERT_FATAL(verified_has(verified, token));
	}
	size_t kept = 0;
	for (int i = 0; i < 3 * VERIFIED_SIZE; i++) {
		snprintf(token, sizeof(token), "%d", i);
		kept += verified_has(verified, token);
	}
	CU_ASSERT(kept > VERIFIED_SIZE / 2 && kept <= VERIFIED_SIZE);
	verified_free(verified);
}

/* ---- time ---- */

static void exp_is_required_and_a_number(void)
{
	CU_ASSERT(!check_payload(&hs256, "{\"user_id\":\"a\"}") && INVALID);
	CU_ASSERT(!check_payload(&hs256, "{\"user_id\":\"a\",\"exp\":null}") && INVALID);
	CU_ASSERT(!check_payload(&hs256, "{\"user_id\":\"a\",\"exp\":\"2000\"}") && INVALID);
	CU_ASSERT(!check_payload(&hs256, "{\"user_id\":\"a\",\"exp\":true}") && INVALID);
	CU_ASSERT(!check_payload(&hs256, "{\"user_id\":\"a\",\"exp\":[2000]}") && INVALID);
	CU_ASSERT(!check_payload(&hs256, "{\"user_id\":\"a\",\"EXP\":2000}") && INVALID);
}

static void a_token_ends_without_leeway(void)
{
	CU_ASSERT(!check_payload(&hs256, "{\"user_id\":\"a\",\"exp\":999}") && EXPIRED);
	CU_ASSERT(!check_payload(&hs256, "{\"user_id\":\"a\",\"exp\":1000}") && EXPIRED);
	CU_ASSERT(!check_payload(&hs256, "{\"user_id\":\"a\",\"exp\":-1}") && EXPIRED);
	CU_ASSERT(!check_payload(&hs256, "{\"user_id\":\"a\",\"exp\":0}") && EXPIRED);
	CU_ASSERT(check_payload(&hs256, "{\"user_id\":\"a\",\"exp\":1000.5}"));
	CU_ASSERT(check_payload(&hs256, "{\"user_id\":\"a\",\"exp\":1001}"));
	CU_ASSERT(check_payload(&hs256, "{\"user_id\":\"a\",\"exp\":1e300}"));
	CU_ASSERT_EQUAL(claims.expires, INT64_MAX);
}

static void the_signature_comes_before_the_end(void)
{
	char *token = mint_plain("HS256", SECRET "!", "{\"user_id\":\"a\",\"exp\":1}");
	CU_ASSERT(!check(&hs256, token) && INVALID);
	free(token);
	CU_ASSERT(!check_payload(&hs256, "{\"exp\":1}") && EXPIRED);
}

static void a_token_can_begin_later(void)
{
	CU_ASSERT(
	    !check_payload(&hs256, "{\"user_id\":\"a\",\"exp\":2000,\"nbf\":1001}") && INVALID);
	CU_ASSERT(
	    !check_payload(&hs256, "{\"user_id\":\"a\",\"exp\":2000,\"nbf\":\"1\"}") && INVALID);
	CU_ASSERT(check_payload(&hs256, "{\"user_id\":\"a\",\"exp\":2000,\"nbf\":1000}"));
}

/* ---- who it is from and for ---- */

static void the_issuer_must_match_when_configured(void)
{
	const struct jwt_auth auth = {.algorithm = "HS256", .secret = SECRET, .issuer = "me"};
	CU_ASSERT(check_payload(&auth, "{\"user_id\":\"a\",\"exp\":2000,\"iss\":\"me\"}"));
	CU_ASSERT(!check_payload(&auth, "{\"user_id\":\"a\",\"exp\":2000,\"iss\":\"ME\"}"));
	CU_ASSERT(INVALID);
	CU_ASSERT(!check_payload(&auth, "{\"user_id\":\"a\",\"exp\":2000,\"iss\":[\"me\"]}"));
	CU_ASSERT(!check_payload(&auth, GOOD) && INVALID);
	CU_ASSERT(check_payload(&hs256, "{\"user_id\":\"a\",\"exp\":2000,\"iss\":7}"));
}

static void the_audience_must_match_when_configured(void)
{
	const struct jwt_auth auth = {.algorithm = "HS256", .secret = SECRET, .audience = "us"};
	CU_ASSERT(check_payload(&auth, "{\"user_id\":\"a\",\"exp\":2000,\"aud\":\"us\"}"));
	CU_ASSERT(
	    check_payload(&auth, "{\"user_id\":\"a\",\"exp\":2000,\"aud\":[1,\"them\",\"us\"]}"));
	CU_ASSERT(!check_payload(&auth, "{\"user_id\":\"a\",\"exp\":2000,\"aud\":[\"them\"]}"));
	CU_ASSERT(INVALID);
	CU_ASSERT(!check_payload(&auth, "{\"user_id\":\"a\",\"exp\":2000,\"aud\":{\"x\":\"us\"}}"));
	CU_ASSERT(!check_payload(&auth, "{\"user_id\":\"a\",\"exp\":2000,\"aud\":[]}"));
	CU_ASSERT(!check_payload(&auth, GOOD) && INVALID);
	CU_ASSERT(check_payload(&hs256, "{\"user_id\":\"a\",\"exp\":2000,\"aud\":\"them\"}"));
}

static void a_user_id_is_required(void)
{
	static const char *const values[] = {
	    "null", "\"\"", "\" \\t\"", "\"\\u00a0\"", "true", "1.5", "[1]", "{}"};
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		char *payload =
		    xasprintf("{\"sub\":\"alice\",\"exp\":2000,\"user_id\":%s}", values[i]);
		CU_ASSERT(!check_payload(&hs256, payload) && NOBODY);
		free(payload);
	}
	CU_ASSERT(!check_payload(&hs256, "{\"sub\":\"alice\",\"exp\":2000}") && NOBODY);
}

static void an_integer_is_a_user_id_too(void)
{
	CU_ASSERT(check_payload(&hs256, "{\"user_id\":9007199254740993,\"exp\":2000}"));
	CU_ASSERT_STRING_EQUAL(claims.user_id, "9007199254740993");
	CU_ASSERT_STRING_EQUAL(json_str(claims.user, "user_id"), "9007199254740993");
	CU_ASSERT(check_payload(&hs256, "{\"user_id\":0,\"exp\":2000}"));
	CU_ASSERT_STRING_EQUAL(claims.user_id, "0");
}

static void claims_pass_through_unchanged(void)
{
	CU_ASSERT_FATAL(check_payload(&hs256,
	    "{\"user_id\":\"a\",\"exp\":2000,\"n\":9223372036854775807,\"f\":0.1,\"roles\":[\"x\"],"
	    "\"deep\":{\"a\":[null,true]},\"t\":\"\xc3\xa4\"}"));
	char *text = json_print(claims.user);
	CU_ASSERT_STRING_EQUAL(text,
	    "{\"user_id\":\"a\",\"exp\":2000,\"n\":9223372036854775807,\"f\":0.1,\"roles\":[\"x\"],"
	    "\"deep\":{\"a\":[null,true]},\"t\":\"\xc3\xa4\"}");
	free(text);
}

static void claims_may_hold_numbers_of_any_size(void)
{
	CU_ASSERT_FATAL(check_payload(
	    &hs256, "{\"user_id\":\"a\",\"exp\":2000,\"n\":100000000000000000000000000000001}"));
	char *text = json_print(claims.user);
	CU_ASSERT_STRING_EQUAL(
	    text, "{\"user_id\":\"a\",\"exp\":2000,\"n\":100000000000000000000000000000001}");
	free(text);
}

static void of_a_claim_twice_the_last_counts(void)
{
	CU_ASSERT(
	    check_payload(&hs256, "{\"user_id\":\"a\",\"exp\":1,\"user_id\":\"b\",\"exp\":2000}"));
	CU_ASSERT_STRING_EQUAL(claims.user_id, "b");
	CU_ASSERT(!check_payload(&hs256, "{\"user_id\":\"a\",\"exp\":2000,\"exp\":1}") && EXPIRED);
}

/* ---- the settings ---- */

static size_t init(struct jwt_auth *auth, const char *algorithm, const char *secret)
{
	const struct environment env = {
	    .jwt_algorithm = (char *)algorithm, .jwt_secret = (char *)secret};
	struct problems problems = {0};
	jwt_auth_release(auth);
	jwt_auth_init(auth, &env, &problems);
	size_t count = problems.count;
	problems_release(&problems);
	return count;
}

static void without_settings_every_token_is_refused(void)
{
	static const char *const settings[][2] = {
	    {NULL, SECRET}, {"HS256", NULL}, {NULL, NULL}, {"HS256", ""}};
	for (size_t i = 0; i < 4; i++) {
		struct jwt_auth auth = {0};
		CU_ASSERT_EQUAL(init(&auth, settings[i][0], settings[i][1]), 0);
		CU_ASSERT(!check_payload(&auth, GOOD) &&
		    said(ERR_JWT_SETTINGS, "JWT settings are not configured"));
		char *token = mint_plain("HS256", "", GOOD);
		CU_ASSERT(!check(&auth, token) &&
		    said(ERR_JWT_SETTINGS, "JWT settings are not configured"));
		free(token);
		jwt_auth_release(&auth);
	}
}

static void a_public_key_must_fit_the_algorithm(void)
{
	struct mint_keys rsa = mint_keys_new("RS256"), p256 = mint_keys_new("ES256"),
			 p384 = mint_keys_new("ES384");
	struct jwt_auth auth = {0};
	CU_ASSERT_EQUAL(init(&auth, "RS512", rsa.public_pem), 0);
	CU_ASSERT_EQUAL(init(&auth, "RS256", p256.public_pem), 1);
	CU_ASSERT_EQUAL(init(&auth, "RS256", rsa.private_pem), 1);
	CU_ASSERT_EQUAL(init(&auth, "ES256", p256.public_pem), 0);
	CU_ASSERT_EQUAL(init(&auth, "ES256", p384.public_pem), 1);
	CU_ASSERT_EQUAL(init(&auth, "ES256", rsa.public_pem), 1);
	CU_ASSERT_EQUAL(init(&auth, "ES384", "-----BEGIN PUBLIC KEY-----\nx\n"), 1);
	CU_ASSERT_EQUAL(init(&auth, "HS256", SECRET), 0);
	jwt_auth_release(&auth);
	mint_keys_free(&rsa);
	mint_keys_free(&p256);
	mint_keys_free(&p384);
}

static const struct unit_test tests[] = {
    {"a good token is let in", a_good_token_is_let_in},
    {"every algorithm verifies", every_algorithm_verifies},
    {"only the configured algorithm counts", only_the_configured_algorithm_counts},
    {"none is never an algorithm", none_is_never_one},
    {"a public key is no secret", a_public_key_is_no_secret},
    {"extensions are not understood", extensions_are_not_understood},
    {"the kind of a token does not matter", the_kind_of_a_token_does_not_matter},
    {"a changed token is refused", a_changed_token_is_refused},
    {"a token is written in one way", a_token_is_written_in_one_way},
    {"what is no token is refused", what_is_no_token_is_refused},
    {"another key is refused", another_key_is_refused},
    {"a token has a size", a_token_has_a_size},
    {"a good signature is checked once", a_good_signature_is_checked_once},
    {"only the signature is remembered", only_the_signature_is_remembered},
    {"a bad token is never remembered", a_bad_token_is_never_remembered},
    {"one token makes room for another", one_token_makes_room_for_another},
    {"a payload is an object of sane JSON", a_payload_is_an_object_of_sane_json},
    {"exp is required and a number", exp_is_required_and_a_number},
    {"a token ends without leeway", a_token_ends_without_leeway},
    {"the signature comes before the end", the_signature_comes_before_the_end},
    {"a token can begin later", a_token_can_begin_later},
    {"the issuer must match when configured", the_issuer_must_match_when_configured},
    {"the audience must match when configured", the_audience_must_match_when_configured},
    {"a user_id is required", a_user_id_is_required},
    {"an integer is a user_id, too", an_integer_is_a_user_id_too},
    {"claims pass through unchanged", claims_pass_through_unchanged},
    {"claims may hold numbers of any size", claims_may_hold_numbers_of_any_size},
    {"of a claim that came twice the last counts", of_a_claim_twice_the_last_counts},
    {"without settings every token is refused", without_settings_every_token_is_refused},
    {"a public key must fit the algorithm", a_public_key_must_fit_the_algorithm},
};

int main(void)
{
	memory_init();
	int status = unit_main("jwt", tests, UNIT_COUNT(tests));
	arena_free(arena);
	return status;
}
