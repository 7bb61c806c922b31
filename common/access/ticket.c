/* SPDX-License-Identifier: ISC */
/* The key file, made once, and signing and checking tickets with it. */
#include "access/ticket.h"

#include "base/clock.h"
#include "base/id.h"
#include "base/json.h"
#include "base/memory.h"

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

static bool cannot(struct error *err, const char *what, const char *path)
{
	return error_set(err, ERR_INTERNAL, "%s: cannot %s: %s", path, what, strerror(errno));
}

/* The bytes of an open key file: exactly a key, and for nobody else. */
static bool ticket_read_key(int fd, struct ticket_key *key, const char *path, struct error *err)
{
	struct stat st;
	if (fstat(fd, &st) != 0)
		return cannot(err, "read the key", path);
	if (!S_ISREG(st.st_mode) || (size_t)st.st_size != sizeof(key->bytes))
		return error_set(err, ERR_INTERNAL,
		    "%s: expected a file of %zu random bytes; remove it, and a new one is made",
		    path, sizeof(key->bytes));
	if (st.st_mode & (S_IRWXG | S_IRWXO))
		return error_set(
		    err, ERR_INTERNAL, "%s: the key must be its owner's alone (mode 600)", path);
	if (read(fd, key->bytes, sizeof(key->bytes)) != (ssize_t)sizeof(key->bytes))
		return cannot(err, "read the key", path);
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

static bool write_key(int fd, const struct ticket_key *key)
{
	return write(fd, key->bytes, sizeof(key->bytes)) == (ssize_t)sizeof(key->bytes) &&
	    fsync(fd) == 0;
}

/*
 * Makes the file.  It appears under its name complete or not at all, and the first one wins: the
 * others who came at the same moment read that.
 */
static bool make_key(const char *path, struct error *err)
{
	struct ticket_key key;
	char *draft = xasprintf("%s.XXXXXX", path);
	int fd = mkostemp(draft, O_CLOEXEC); /* 0600 */
	bool made = fd >= 0;
	if (made) {
		random_bytes(key.bytes, sizeof(key.bytes));
		made = write_key(fd, &key) && (link(draft, path) == 0 || errno == EEXIST);
		explicit_bzero(&key, sizeof(key));
	}
	if (!made)
		cannot(err, "make the key", path);
	if (fd >= 0) {
		unlink(draft);
		close(fd);
	}
	free(draft);
	return made;
}

static int open_key(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

bool ticket_key_load(struct ticket_key *key, const char *state_dir, struct error *err)
{
	if (!ticket_place_check(state_dir, err))
		return false;
	char *path = xasprintf("%s/" KEY_NAME, state_dir);
	bool loaded = false;
	int fd = open_key(path);
	if (fd < 0 && errno == ENOENT && make_key(path, err))
		fd = open_key(path);
	if (fd >= 0) {
		loaded = ticket_read_key(fd, key, path, err);
		close(fd);
	} else {
		cannot(err, "read the key", path); /* unless make_key has said why */
	}
	free(path);
	return loaded;
}

/* ---- Signing */

static void add_opt(cJSON *claims, const char *name, const char *value)
{
	if (value)
		json_add_str(claims, name, value);
}

/*
 * The user context is a claim of text that holds JSON: libjwt's own JSON would refuse or change
 * some of its numbers.
 */
static char *claims_text(const struct ticket *ticket)
{
	cJSON *claims = cJSON_CreateObject();
	char *user = ticket->user ? json_print(ticket->user) : xstrdup("{}");
	int64_t now = clock_now() / 1000000;
	json_add_str(claims, "iss", ISSUER);
	json_add_int(claims, "iat", now);
	json_add_int(claims, "exp", now + TICKET_SECONDS);
	json_add_str(claims, "route", ticket->route);
	json_add_str(claims, "request_id", ticket->request_id);
	json_add_str(claims, "user_id", ticket->user_id);
	cJSON_AddBoolToObject(claims, "verified", ticket->verified);
	add_opt(claims, "owner", ticket->owner);
	add_opt(claims, "subprotocol", ticket->subprotocol);
	add_opt(claims, "address", ticket->address);
	json_add_int(claims, "credential_exp", ticket->credential_exp);
	json_add_str(claims, "user", user);
	char *text = json_print(claims);
	cJSON_Delete(claims);
	free(user);
	return text;
}

const char *ticket_sign(const struct ticket_key *key, const struct ticket *ticket, struct arena *a)
{
	jwt_t *jwt = NULL;
	char *claims = claims_text(ticket);
	char *text = NULL;
	if (jwt_new(&jwt) == 0 && jwt_add_grants_json(jwt, claims) == 0 &&
	    jwt_set_alg(jwt, JWT_ALG_HS256, key->bytes, sizeof(key->bytes)) == 0)
		text = jwt_encode_str(jwt);
	if (!text)
		abort(); /* the claims are JSON of our own, so only memory can be missing */
	const char *copy = arena_strdup(a, text);
	free(text);
	free(claims);
	jwt_free(jwt);
	return copy;
}

/* ---- Checking */

static bool ticket_refuse(struct error *err, const char *why)
{
	error_set(err, ERR_INVALID_TOKEN, NULL);
	return error_cause(err, "ticket: %s", why);
}

static bool is_route(const char *route)
{
	return strcmp(route, "/v1/graph/ws") == 0 || strcmp(route, "/v1/graph/live") == 0;
}

/* libjwt checks the signature only, by whatever algorithm the ticket names. */
static bool check_algorithm(jwt_t *jwt, struct error *err)
{
	const char *algorithm = jwt_get_header(jwt, "alg");
	return (jwt_get_alg(jwt) == JWT_ALG_HS256 && algorithm &&
		   strcmp(algorithm, ALGORITHM) == 0) ||
	    ticket_refuse(err, "signed in another way than " ALGORITHM);
}

static bool ticket_check_time(const cJSON *claims, struct error *err)
{
	const char *issuer = json_str(claims, "iss");
	int64_t exp;
	if (!issuer || strcmp(issuer, ISSUER) != 0)
		return ticket_refuse(err, "of another issuer");
	if (!json_integer(json_get(claims, "exp"), &exp))
		return ticket_refuse(err, "without a time of its end");
	return clock_now() / 1000000 < exp || ticket_refuse(err, "expired");
}

/* The user context is the service's own and may be nested deeper than a request. */
static cJSON *parse_user(const char *text)
{
	cJSON *user = text ? json_parse(text, strlen(text), JSON_TRUSTED_DEPTH, NULL) : NULL;
	if (cJSON_IsObject(user))
		return user;
	cJSON_Delete(user);
	return NULL;
}

static bool take_claims(const cJSON *claims, struct arena *a, struct ticket *ticket)
{
	const cJSON *verified = json_get(claims, "verified");
	ticket->route = json_str(claims, "route");
	ticket->request_id = json_str(claims, "request_id");
	ticket->user_id = json_str(claims, "user_id");
	ticket->owner = json_str(claims, "owner");
	ticket->subprotocol = json_str(claims, "subprotocol");
	ticket->address = json_str(claims, "address");
	ticket->verified = cJSON_IsTrue(verified);
	ticket->user = arena_json(a, parse_user(json_str(claims, "user")));
	return ticket->route && ticket->request_id && ticket->user_id && ticket->user &&
	    cJSON_IsBool(verified) &&
	    json_integer(json_get(claims, "credential_exp"), &ticket->credential_exp);
}

/* As a tree of ours: libjwt's getters are lax about types. */
static cJSON *read_claims(jwt_t *jwt, struct arena *a)
{
	char *text = jwt_get_grants_json(jwt, NULL);
	cJSON *claims = text ? json_parse(text, strlen(text), JSON_REQUEST_DEPTH, NULL) : NULL;
	free(text);
	return arena_json(a, claims);
}

static bool ticket_check(
    jwt_t *jwt, const char *route, struct arena *a, struct ticket *ticket, struct error *err)
{
	const cJSON *claims = read_claims(jwt, a);
	if (!check_algorithm(jwt, err) || !ticket_check_time(claims, err))
		return false;
	if (!take_claims(claims, a, ticket))
		return ticket_refuse(err, "a claim is missing or of a wrong type");
	if (!is_route(ticket->route) || (route && strcmp(ticket->route, route) != 0))
		return ticket_refuse(err, "for another route");
	return true;
}

/* Of header.payload.signature none may be empty: what libjwt decodes such a part into has no room
 * for the end that it writes. */
static bool ticket_is_whole(const char *text)
{
	size_t header = strcspn(text, ".");
	const char *second = text + header + (text[header] == '.');
	size_t payload = strcspn(second, ".");
	return header && payload && second[payload] && second[payload + 1];
}

bool ticket_verify(const struct ticket_key *key, const char *text, const char *route,
    struct arena *a, struct ticket *ticket, struct error *err)
{
	jwt_t *jwt = NULL;
	*ticket = (struct ticket){0};
	if (!text || strlen(text) > LONGEST_TICKET)
		return ticket_refuse(err, "none, or too long");
	if (!ticket_is_whole(text))
		return ticket_refuse(err, "malformed");
	if (jwt_decode(&jwt, text, key->bytes, sizeof(key->bytes)) != 0)
		return ticket_refuse(err, "malformed, or signed with another key");
	bool good = ticket_check(jwt, route, a, ticket, err);
	jwt_free(jwt);
	return good;
}
