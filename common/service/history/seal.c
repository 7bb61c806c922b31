/* SPDX-License-Identifier: ISC */
/* Digest and HMAC of the lines of a history. */
#include "service/history/lines.h"

#include "base/id.h"
#include "base/json/json.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>

/* No ticket begins like this, so neither can be taken for the other. */
#define SEAL_OF "agentgraph history\n"

bool seal_begin(struct seal *seal, const char *state_dir, struct error *err)
{
	*seal = (struct seal){0};
	if (!ticket_key_load(&seal->key, state_dir, err))
		return false;
	seal->digest = EVP_MD_CTX_new();
	if (!seal->digest || !EVP_DigestInit_ex(seal->digest, EVP_sha256(), NULL))
		abort(); /* only memory can be missing */
	return true;
}

void seal_add(struct seal *seal, const char *line, size_t len)
{
	EVP_DigestUpdate(seal->digest, line, len);
}

void seal_add_first(struct seal *seal, const char *line, size_t len)
{
	cJSON *object = json_parse(line, len, JSON_TRUSTED_DEPTH, NULL);
	cJSON_DeleteItemFromObjectCaseSensitive(object, "thread_id");
	char *text = json_print(object);
	seal_add(seal, text, strlen(text));
	cJSON_free(text);
	cJSON_Delete(object);
}

const char *seal_end(struct seal *seal, char out[SEAL_SIZE])
{
	unsigned char text[sizeof(SEAL_OF) - 1 + EVP_MAX_MD_SIZE] = SEAL_OF, hash[EVP_MAX_MD_SIZE];
	unsigned len = 0;
	EVP_DigestFinal_ex(seal->digest, text + sizeof(SEAL_OF) - 1, &len);
	if (!HMAC(EVP_sha256(), seal->key.bytes, (int)sizeof(seal->key.bytes), text,
		sizeof(SEAL_OF) - 1 + len, hash, &len))
		abort(); /* only memory can be missing */
	return hex_text(hash, SEAL_SIZE / 2, out);
}

bool seal_is(const char seal[SEAL_SIZE], const char *other)
{
	return other && strlen(other) == SEAL_SIZE - 1 &&
	    CRYPTO_memcmp(seal, other, SEAL_SIZE - 1) == 0;
}

void seal_release(struct seal *seal)
{
	EVP_MD_CTX_free(seal->digest);
	seal->digest = NULL;
}
