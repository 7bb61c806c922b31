/* SPDX-License-Identifier: ISC */
/* A hash table of chains, in which a count of zero is no entry. */
#include "ws-bridge/relay/relay.h"

#include "base/hash.h"
#include "base/memory.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct tally_entry {
	struct tally_entry *next;
	int64_t count;
	char text[];
};

/* Texts are ids that the service signed: nobody can choose them to collide. */
static size_t relay_tally_bucket_of(const char *text)
{
	return hash_text_32(text) % TALLY_BUCKETS;
}

/* The link that leads to the entry of text, or that would if there were one. */
static struct tally_entry **relay_tally_find(struct tally_entry **link, const char *text)
{
	while (*link && strcmp((*link)->text, text) != 0)
		link = &(*link)->next;
	return link;
}

int64_t tally_count(const struct tally *tally, const char *text)
{
	struct tally_entry *first = tally->buckets[relay_tally_bucket_of(text)];
	struct tally_entry *entry = *relay_tally_find(&first, text);
	return entry ? entry->count : 0;
}

void tally_add(struct tally *tally, const char *text, int64_t change)
{
	struct tally_entry **link =
	    relay_tally_find(&tally->buckets[relay_tally_bucket_of(text)], text);
	struct tally_entry *entry = *link;
	if (!entry) {
		size_t size = strlen(text) + 1;
		*link = entry = xcalloc(1, sizeof(*entry) + size);
		memcpy(entry->text, text, size);
	}
	entry->count += change;
	if (entry->count == 0) {
		*link = entry->next;
		free(entry);
	}
}

void tally_clear(struct tally *tally)
{
	for (size_t i = 0; i < TALLY_BUCKETS; i++) {
		while (tally->buckets[i]) {
			struct tally_entry *entry = tally->buckets[i];
			tally->buckets[i] = entry->next;
			free(entry);
		}
	}
}
