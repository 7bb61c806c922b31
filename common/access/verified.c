/* SPDX-License-Identifier: ISC */
/* A table of fixed size in which a digest has one place; a newer token takes it over. */
#include "access/verified.h"

#include "base/memory.h"

#include <openssl/sha.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct digest {
	unsigned char bytes[SHA256_DIGEST_LENGTH]; /* all zero: an empty place */
};

struct verified {
	pthread_mutex_t lock; /* guards places */
	struct digest places[VERIFIED_SIZE];
};

static struct digest digest_of(const char *token)
{
	struct digest digest;
	SHA256((const unsigned char *)token, strlen(token), digest.bytes);
	return digest;
}

static struct digest *place_of(struct verified *verified, const struct digest *digest)
{
	return &verified->places[(digest->bytes[0] | digest->bytes[1] << 8) % VERIFIED_SIZE];
}

bool verified_has(struct verified *verified, const char *token)
{
	const struct digest digest = digest_of(token);
	const struct digest *place = place_of(verified, &digest);
	pthread_mutex_lock(&verified->lock);
	bool has = memcmp(place, &digest, sizeof(digest)) == 0;
	pthread_mutex_unlock(&verified->lock);
	return has;
}

void verified_add(struct verified *verified, const char *token)
{
	const struct digest digest = digest_of(token);
	struct digest *place = place_of(verified, &digest);
	pthread_mutex_lock(&verified->lock);
	*place = digest;
	pthread_mutex_unlock(&verified->lock);
}

struct verified *verified_new(void)
{
	struct verified *verified = xcalloc(1, sizeof(*verified));
	pthread_mutex_init(&verified->lock, NULL);
	return verified;
}

void verified_free(struct verified *verified)
{
	if (!verified)
		return;
	pthread_mutex_destroy(&verified->lock);
	free(verified);
}
