/* SPDX-License-Identifier: ISC */
/* The key file, made once, and signing and checking tickets with it. */
#include "access/ticket/ticket.h"

#include "base/id.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "base/os/owned.h"

#include <errno.h>
#include <fcntl.h>
#include <jwt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_NAME "ticket.key"
#define ISSUER "agentgraph"
#define ALGORITHM "HS256"
#define LONGEST_TICKET 16384

/* ---- The key */

static bool ticket_cannot(struct error *err, const char *what, const char *path)
{
	return error_set(err, ERR_INTERNAL, "%s: cannot %s: %s", path, what, strerror(errno));
}

/* Reads an open key file, which must hold exactly a key, and be for nobody else. */
static bool ticket_read_key(int fd, struct ticket_key *key, const char *path, struct error *err)
{
	struct ticket_key found;
	struct stat st;
	if (fstat(fd, &st) != 0)
		return ticket_cannot(err, "read the key", path);
	if (!S_ISREG(st.st_mode) || (size_t)st.st_size != sizeof(key->bytes))
		return error_set(err, ERR_INTERNAL,
		    "%s: expected a file of %zu random bytes; remove it, and a new one is made",
		    path, sizeof(key->bytes));
	if (st.st_mode & (S_IRWXG | S_IRWXO))
		return error_set(
		    err, ERR_INTERNAL, "%s: the key must be its owner's alone (mode 600)", path);
	if (read(fd, found.bytes, sizeof(found.bytes)) != (ssize_t)sizeof(found.bytes))
		return ticket_cannot(err, "read the key", path);
	*key = found;
	explicit_bzero(&found, sizeof(found));
	return true;
}

bool ticket_place_check(const char *state_dir, struct error *err)
{
	char *path = xasprintf("%s/" KEY_NAME, state_dir);
	struct stat dir, key;
	bool there = stat(state_dir, &dir) == 0, safe = true;
	uid_t self = geteuid(), owner;
	if (there && self != 0 && dir.st_uid != self)
		safe = error_set(err, ERR_INTERNAL,
		    "the state directory %s belongs to user %lu, and this is user %lu: run the "
		    "service as its owner, or chown -R it",
		    state_dir, (unsigned long)dir.st_uid, (unsigned long)self);
	else if (there && (dir.st_mode & (S_IWGRP | S_IWOTH)))
		safe = error_set(err, ERR_INTERNAL,
		    "others may write to the state directory %s (mode %03o), and so put keys and "
		    "databases of their own there: chmod 700 it",
		    state_dir, dir.st_mode & 0777);
	else if (there && lstat(path, &key) == 0 && (owner = key.st_uid) != 0 && owner != self &&
	    (self != 0 || owner != dir.st_uid)) /* root may look after somebody's service */
		safe = error_set(err, ERR_INTERNAL,
		    "%s belongs to user %lu, who can open WebSockets as anybody with it: remove it, "
		    "and a new one is made",
		    path, (unsigned long)owner);
	free(path);
	return safe;
}

/*
 * Makes the key file with those bytes.  It appears under its name complete or not at all, and the
 * first one wins: others that came at the same moment read that one.  With replaces the last one
 * wins.
 */
static bool ticket_make_key(
    const char *path, const unsigned char *bytes, bool replaces, struct error *err)
{
	const ssize_t size = sizeof(((struct ticket_key *)0)->bytes);
	char *draft = xasprintf("%s.XXXXXX", path);
	int fd = mkostemp(draft, O_CLOEXEC); /* 0600 */
	if (fd >= 0)
		owned_give(path, fd);
	bool made = fd >= 0 && write(fd, bytes, (size_t)size) == size && fsync(fd) == 0;
	if (made)
		made =
		    replaces ? rename(draft, path) == 0 : link(draft, path) == 0 || errno == EEXIST;
	if (!made)
		ticket_cannot(err, "make the key", path);
	if (fd >= 0) {
		unlink(draft);
		close(fd);
	}
	free(draft);
	return made;
}

bool ticket_key_load(struct ticket_key *key, const char *state_dir, struct error *err)
{
	if (!ticket_place_check(state_dir, err))
		return false;
	const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	char *path = xasprintf("%s/" KEY_NAME, state_dir);
	bool loaded = false;
	int fd = open(path, flags);
	if (fd < 0 && errno == ENOENT) {
		struct ticket_key made;
		random_bytes(made.bytes, sizeof(made.bytes));
		if (ticket_make_key(path, made.bytes, false, err))
			fd = open(path, flags);
		explicit_bzero(&made, sizeof(made));
	}
	if (fd >= 0) {
		loaded = ticket_read_key(fd, key, path, err);
		close(fd);
	} else {
		ticket_cannot(err, "read the key", path); /* if ticket_make_key has not said why */
	}
	free(path);
	return loaded;
}

bool ticket_key_share(const char *state_dir, const unsigned char *secret, struct error *err)
{
	struct ticket_key key;
	if (!ticket_key_load(&key, state_dir, err))
		return false;
	bool same = memcmp(key.bytes, secret, sizeof(key.bytes)) == 0;
	explicit_bzero(&key, sizeof(key));
	if (same)
		return true;
	char *path = xasprintf("%s/" KEY_NAME, state_dir);
	bool made = ticket_make_key(path, secret, true, err);
	free(path);
	return made;
}

/* ---- Signing */

/* Adds the user as a claim of text that holds JSON: libjwt's own JSON would refuse or change some
 * of its numbers. */
void ticket_add_user(cJSON *claims, const cJSON *user)
{
	char *text = user ? json_print(user) : xstrdup("{}");
	json_add_str(claims, "user", text);
	free(text);
}

const char *ticket_sign_claims(
    const struct ticket_key *key, cJSON *claims, int64_t now, int64_t seconds, struct arena *a)
{
	jwt_t *jwt = NULL;
	char *text = NULL;
	json_add_str(claims, "iss", ISSUER);
	json_add_int(claims, "iat", now / 1000000);
	json_add_int(claims, "exp", now / 1000000 + seconds);
	char *json = json_print(claims);
	if (jwt_new(&jwt) == 0 && jwt_add_grants_json(jwt, json) == 0 &&
	    jwt_set_alg(jwt, JWT_ALG_HS256, key->bytes, sizeof(key->bytes)) == 0)
		text = jwt_encode_str(jwt);
	if (!text)
		abort(); /* the claims are JSON of our own, so only memory can be missing */
	const char *copy = arena_strdup(a, text);
	free(text);
	free(json);
	jwt_free(jwt);
	return copy;
}

const char *ticket_sign(const struct ticket_key *key, const struct ticket *ticket, struct arena *a)
{
	cJSON *claims = arena_json(a, cJSON_CreateObject());
	json_add_str(claims, "route", ticket->route);
	json_add_str(claims, "request_id", ticket->request_id);
	json_add_str(claims, "user_id", ticket->user_id);
	cJSON_AddBoolToObject(claims, "verified", ticket->verified);
	if (ticket->owner)
		json_add_str(claims, "owner", ticket->owner);
	if (ticket->subprotocol)
		json_add_str(claims, "subprotocol", ticket->subprotocol);
	if (ticket->address)
		json_add_str(claims, "address", ticket->address);
	json_add_int(claims, "credential_exp", ticket->credential_exp);
	ticket_add_user(claims, ticket->user);
	return ticket_sign_claims(key, claims, clock_of_machine(), TICKET_SECONDS, a);
}

/* ---- Checking */

struct identity ticket_identity(const struct ticket *ticket, cJSON *user)
{
	return (struct identity){.user = user,
	    .user_id = json_str(user, "user_id"),
	    .verified = ticket->verified,
	    .expires = ticket->credential_exp};
}

bool ticket_refuse(struct error *err, const char *why)
{
	error_set(err, ERR_INVALID_TOKEN, NULL);
	return error_cause(err, "ticket: %s", why);
}

/* A process of the service was stopped, or slow, so that the client may well come again. */
static void ticket_refuse_late(struct error *err)
{
	error_set(err, ERR_SERVICE_UNAVAILABLE, NULL);
	error_cause(err, "ticket: expired");
}

cJSON *ticket_user(const cJSON *claims, struct arena *a)
{
	/* it is the service's own JSON, and may be nested deeper than a request */
	const char *user = json_str(claims, "user");
	return arena_json(a, json_parse_own(user));
}

/* The claims that a signature is right over, if they are good too; NULL with err set. */
static const cJSON *ticket_check(jwt_t *jwt, int64_t now, struct arena *a, struct error *err)
{
	/* as a tree of our own, because libjwt's getters are lax about types */
	char *text = jwt_get_grants_json(jwt, NULL);
	const cJSON *claims =
	    arena_json(a, text ? json_parse(text, strlen(text), JSON_REQUEST_DEPTH, NULL) : NULL);
	free(text);
	/* libjwt checks the signature only, by whatever algorithm the ticket names */
	const char *algorithm = jwt_get_header(jwt, "alg");
	int64_t exp;
	bool good = false;
	if (jwt_get_alg(jwt) != JWT_ALG_HS256 || !algorithm || strcmp(algorithm, ALGORITHM) != 0)
		ticket_refuse(err, "signed in another way than " ALGORITHM);
	else if (!json_str_is(claims, "iss", ISSUER))
		ticket_refuse(err, "of another issuer");
	else if (!json_integer(json_get(claims, "exp"), &exp))
		ticket_refuse(err, "without a time of its end");
	else if (now / 1000000 >= exp)
		ticket_refuse_late(err);
	else
		good = true;
	return good ? claims : NULL;
}

/* Whether header.payload.signature has no empty part: what libjwt decodes such a part into has no
 * room for the end that it writes. */
static bool ticket_is_whole(const char *text)
{
	size_t header = strcspn(text, ".");
	const char *second = text + header + (text[header] == '.');
	size_t payload = strcspn(second, ".");
	return header && payload && second[payload] && second[payload + 1];
}

const cJSON *ticket_claims(
    const struct ticket_key *key, const char *text, int64_t now, struct arena *a, struct error *err)
{
	jwt_t *jwt = NULL;
	const cJSON *claims = NULL;
	if (!text || strlen(text) > LONGEST_TICKET)
		ticket_refuse(err, "none, or too long");
	else if (!ticket_is_whole(text))
		ticket_refuse(err, "malformed");
	else if (jwt_decode(&jwt, text, key->bytes, sizeof(key->bytes)) != 0)
		ticket_refuse(err, "malformed, or signed with another key");
	else
		claims = ticket_check(jwt, now, a, err);
	jwt_free(jwt);
	return claims;
}

bool ticket_verify(const struct ticket_key *key, const char *text, const char *route,
    struct arena *a, struct ticket *ticket, struct error *err)
{
	*ticket = (struct ticket){0};
	const cJSON *claims = ticket_claims(key, text, clock_of_machine(), a, err);
	if (!claims)
		return false;
	const cJSON *verified = json_get(claims, "verified");
	ticket->route = json_str(claims, "route");
	ticket->request_id = json_str(claims, "request_id");
	ticket->user_id = json_str(claims, "user_id");
	ticket->owner = json_str(claims, "owner");
	ticket->subprotocol = json_str(claims, "subprotocol");
	ticket->address = json_str(claims, "address");
	ticket->verified = cJSON_IsTrue(verified);
	ticket->user = ticket_user(claims, a);
	if (!ticket->route || !ticket->request_id || !ticket->user_id ||
	    !cJSON_IsObject(ticket->user) || !cJSON_IsBool(verified) ||
	    !json_integer(json_get(claims, "credential_exp"), &ticket->credential_exp))
		return ticket_refuse(err, "a claim is missing or of a wrong type");
	bool known =
	    strcmp(ticket->route, TICKET_TURNS) == 0 || strcmp(ticket->route, TICKET_LIVE) == 0;
	if (!known || (route && strcmp(ticket->route, route) != 0))
		return ticket_refuse(err, "for another route");
	return true;
}
