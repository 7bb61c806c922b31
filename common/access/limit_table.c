/* SPDX-License-Identifier: ISC */
/*
 * The table is cut into shards, each with a lock of its own; a key's hash says which.
 *
 * A shard has entries, one for each key, in hash chains and in a list from the one asked for last
 * to the one not asked for longest; and blocks of marks, of which each entry has a chain, the
 * oldest mark first.  An entry's `used` and its chain of blocks say all that counts: they are
 * changed by single stores, in an order that leaves them true at any instant.  Everything else can
 * be made anew from them, which is done when a process has died while it held the lock.
 */
#include "access/limit_table.h"

#include "base/id.h"
#include "base/memory.h"

#include <openssl/evp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define SHARDS 16u
#define ENTRIES (LIMIT_KEYS / SHARDS)
#define BLOCKS 10000u
#define BUCKETS 4096u
#define BLOCK_MARKS 7u
#define US_PER_SECOND 1000000

/* A mark holds a time in microseconds and a number of requests: there is room for nine years. */
#define COUNT_BITS 16
#define COUNT_MAX ((1 << COUNT_BITS) - 1)

struct key {
	char text[64]; /* filled up with zeroes */
};

struct block { /* as long as a cache line */
	uint32_t next;
	uint16_t begin, end; /* the marks in use */
	uint64_t marks[BLOCK_MARKS];
};

/* Links are an index + 1, and 0 for none. */
struct entry {
	struct key key;
	uint32_t used;
	uint32_t chain;        /* the next entry of its bucket, or of the free ones */
	uint32_t newer, older; /* asked for later and earlier than this one */
	uint32_t first, last;  /* blocks; an entry has at least one */
	int64_t sum;           /* requests in its marks */
	int64_t seen;          /* when it was asked for last, in microseconds */
};

struct shard {
	pthread_mutex_t lock;
	uint32_t entries_used, blocks_used; /* those beyond were never touched */
	uint32_t free_entry, free_block;
	uint32_t newest, oldest;
	uint32_t count;
	uint32_t buckets[BUCKETS];
	struct entry entries[ENTRIES];
	struct block blocks[BLOCKS];
};

/* The layout of the region.  The first mutex of its head guards making it ready. */
struct limit_table {
	struct shared_head head;
	uint64_t seed;
	uint32_t ready;
	struct shard shards[SHARDS];
};

_Static_assert(sizeof(struct limit_table) <= SHARED_LIMITS_SIZE, "SHARED_LIMITS is too small");
_Static_assert(LIMIT_KEYS % SHARDS == 0, "shards have the same number of keys");
/* Even a log whose marks lie as badly as can be leaves room for that of a second key. */
_Static_assert((LIMIT_EXACT + 1) / BLOCK_MARKS + 2 < BLOCKS / 2, "a shard has room for two logs");

/* All that stands before this is stored before what follows, should the process be killed in
 * between. */
static void limit_table_in_order(void)
{
	atomic_signal_fence(memory_order_seq_cst);
}

static struct entry *entry_at(struct shard *s, uint32_t link)
{
	return link ? &s->entries[link - 1] : NULL;
}

static struct block *block_at(struct shard *s, uint32_t link)
{
	return link ? &s->blocks[link - 1] : NULL;
}

static uint32_t entry_link_of(const struct shard *s, const struct entry *e)
{
	return (uint32_t)(e - s->entries) + 1;
}

/* ---- keys ---- */

/* Writes the key.  One that is too long becomes its digest; no key of the service begins with
 * '#'. */
static void key_set(struct key *key, const char *text)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	size_t len = strlen(text);
	memset(key, 0, sizeof(*key));
	if (len < sizeof(key->text)) {
		memcpy(key->text, text, len);
		return;
	}
	if (EVP_Digest(text, len, digest, NULL, EVP_sha256(), NULL) != 1)
		abort();
	key->text[0] = '#';
	hex_text(digest, sizeof(key->text) / 2 - 1, key->text + 1);
}

/* Seeded, so that nobody can choose addresses that fall into one chain. */
static uint64_t key_hash(const struct key *key, uint64_t seed)
{
	uint64_t words[sizeof(*key) / sizeof(uint64_t)], h = seed;
	memcpy(words, key, sizeof(words));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		h = (h ^ words[i]) * 0x9E3779B97F4A7C15u;
		h ^= h >> 29;
	}
	return h;
}

static uint32_t *limit_table_bucket_of(struct shard *s, uint64_t hash)
{
	return &s->buckets[(hash >> 32) % BUCKETS];
}

/* ---- the order of asking ---- */

static void entry_leave_order(struct shard *s, struct entry *e)
{
	struct entry *newer = entry_at(s, e->newer), *older = entry_at(s, e->older);
	*(newer ? &newer->older : &s->newest) = e->older;
	*(older ? &older->newer : &s->oldest) = e->newer;
}

static void entry_enter_order(struct shard *s, struct entry *e)
{
	struct entry *newest = entry_at(s, s->newest);
	e->newer = 0;
	e->older = s->newest;
	s->newest = entry_link_of(s, e);
	*(newest ? &newest->newer : &s->oldest) = s->newest;
}

/* ---- marks ---- */

static int64_t limit_table_time_of(uint64_t mark)
{
	return (int64_t)(mark >> COUNT_BITS);
}

static int64_t limit_table_count_of(uint64_t mark)
{
	return (int64_t)(mark & COUNT_MAX);
}

static uint64_t limit_table_make_mark(int64_t when, int64_t count)
{
	return (uint64_t)when << COUNT_BITS | (uint64_t)count;
}

static void limit_table_free_block(struct shard *s, uint32_t link)
{
	block_at(s, link)->next = s->free_block;
	s->free_block = link;
}

/* The oldest mark, or NULL. */
static const uint64_t *entry_oldest_mark(struct shard *s, const struct entry *e)
{
	const struct block *b = block_at(s, e->first);
	return b->begin < b->end ? &b->marks[b->begin] : NULL;
}

/* Takes the oldest mark away, and its block when that was the last one in it. */
static void entry_drop_mark(struct shard *s, struct entry *e)
{
	uint32_t link = e->first;
	struct block *b = block_at(s, link);
	e->sum -= limit_table_count_of(b->marks[b->begin]);
	b->begin++;
	if (b->begin < b->end || !b->next)
		return;
	e->first = b->next;
	limit_table_in_order();
	limit_table_free_block(s, link);
}

/* ---- entries and blocks come and go ---- */

static void shard_forget_oldest(struct shard *s, uint64_t seed)
{
	uint32_t self = s->oldest;
	struct entry *e = entry_at(s, self);
	e->used = 0;
	limit_table_in_order();
	uint32_t *link = limit_table_bucket_of(s, key_hash(&e->key, seed));
	while (*link != self)
		link = &entry_at(s, *link)->chain;
	*link = e->chain;
	entry_leave_order(s, e);
	for (uint32_t block = e->first, next; block; block = next) {
		next = block_at(s, block)->next;
		limit_table_free_block(s, block);
	}
	e->chain = s->free_entry;
	s->free_entry = self;
	s->count--;
}

/* Takes an empty block.  A key that has all of them loses its own oldest marks. */
static uint32_t limit_table_take_block(struct shard *s, uint64_t seed)
{
	while (!s->free_block && s->blocks_used == BLOCKS) {
		if (s->newest == s->oldest)
			entry_drop_mark(s, entry_at(s, s->newest));
		else
			shard_forget_oldest(s, seed);
	}
	uint32_t link = s->free_block;
	if (link)
		s->free_block = block_at(s, link)->next;
	else
		link = ++s->blocks_used;
	struct block *b = block_at(s, link);
	b->next = 0;
	b->begin = b->end = 0;
	return link;
}

static struct entry *limit_table_add(
    struct shard *s, const struct key *key, uint64_t hash, uint64_t seed)
{
	uint32_t block = limit_table_take_block(s, seed), *bucket = limit_table_bucket_of(s, hash);
	if (!s->free_entry && s->entries_used == ENTRIES)
		shard_forget_oldest(s, seed);
	struct entry *e = entry_at(s, s->free_entry);
	if (e)
		s->free_entry = e->chain;
	else
		e = &s->entries[s->entries_used++];
	*e = (struct entry){.key = *key, .first = block, .last = block, .chain = *bucket};
	*bucket = entry_link_of(s, e);
	entry_enter_order(s, e);
	s->count++;
	limit_table_in_order();
	e->used = 1;
	return e;
}

/* ---- the window ---- */

/* The window in microseconds; thirty years are for ever. */
static int64_t limit_table_window_of(const struct limit_rule *rule)
{
	const int64_t longest = 1000000000;
	return (rule->window < longest ? rule->window : longest) * US_PER_SECOND;
}

/* Counts a request.  While a window has few of them, each has a mark of its own. */
static void entry_count_request(
    struct shard *s, struct entry *e, uint64_t seed, const struct limit_rule *rule, int64_t now)
{
	int64_t slot = limit_table_window_of(rule) / LIMIT_EXACT;
	struct block *b = block_at(s, e->last);
	uint64_t *last = b->begin < b->end ? &b->marks[b->end - 1] : NULL;
	if (last && rule->requests > LIMIT_EXACT && limit_table_count_of(*last) < COUNT_MAX &&
	    limit_table_time_of(*last) / slot == now / slot) {
		*last = limit_table_make_mark(now, limit_table_count_of(*last) + 1);
		e->sum++;
		return;
	}
	if (b->end == BLOCK_MARKS && b->begin == BLOCK_MARKS) { /* all its marks have left */
		b->begin = 0;
		limit_table_in_order();
		b->end = 0;
	} else if (b->end == BLOCK_MARKS) {
		uint32_t link = limit_table_take_block(s, seed);
		b->next = link;
		e->last = link;
		b = block_at(s, link);
	}
	b->marks[b->end] = limit_table_make_mark(now, 1);
	limit_table_in_order();
	b->end++;
	e->sum++;
}

/* ---- after a death ---- */

/*
 * Follows an entry's blocks and renews what depends on them.  claimed says which blocks have an
 * owner already: a process that died while it moved a block may have left it with two.
 */
static void entry_mend(struct shard *s, struct entry *e, unsigned char *claimed)
{
	uint32_t *link = &e->first;
	e->sum = 0;
	e->last = 0;
	while (*link && *link <= s->blocks_used && !claimed[*link - 1]) {
		struct block *b = block_at(s, *link);
		claimed[*link - 1] = 1;
		for (uint16_t i = b->begin; i < b->end && i < BLOCK_MARKS; i++)
			e->sum += limit_table_count_of(b->marks[i]);
		e->last = *link;
		link = &b->next;
	}
	*link = 0;
	if (!e->last) {
		e->used = 0;
		return;
	}
	/* a block whose last mark was just dropped may still stand before others */
	struct block *b = block_at(s, e->first);
	while (b->begin >= b->end && b->next) {
		claimed[e->first - 1] = 0;
		e->first = b->next;
		b = block_at(s, e->first);
	}
}

static int entry_by_seen(const void *left, const void *right)
{
	const struct entry *a = *(struct entry *const *)left, *b = *(struct entry *const *)right;
	return (a->seen > b->seen) - (a->seen < b->seen);
}

static void limit_table_mend(struct shard *s, uint64_t seed)
{
	unsigned char *claimed = xcalloc(BLOCKS, 1);
	struct entry **live = xcalloc(ENTRIES, sizeof(struct entry *));
	memset(s->buckets, 0, sizeof(s->buckets));
	s->free_entry = s->free_block = s->newest = s->oldest = s->count = 0;
	for (uint32_t i = 0; i < s->entries_used; i++) {
		struct entry *e = &s->entries[i];
		if (e->used)
			entry_mend(s, e, claimed);
		if (e->used) {
			live[s->count++] = e;
		} else {
			e->chain = s->free_entry;
			s->free_entry = i + 1;
		}
	}
	qsort(live, s->count, sizeof(*live), entry_by_seen);
	for (uint32_t i = 0; i < s->count; i++) {
		uint32_t *bucket = limit_table_bucket_of(s, key_hash(&live[i]->key, seed));
		live[i]->chain = *bucket;
		*bucket = entry_link_of(s, live[i]);
		entry_enter_order(s, live[i]);
	}
	for (uint32_t i = 0; i < s->blocks_used; i++)
		if (!claimed[i])
			limit_table_free_block(s, i + 1);
	free(live);
	free(claimed);
}

static void limit_table_lock(struct shard *s, uint64_t seed)
{
	if (shared_lock(&s->lock))
		limit_table_mend(s, seed);
}

/* ---- the table ---- */

struct limit_table *limit_table_of(struct shared *sh)
{
	struct limit_table *t = shared_region(sh, SHARED_LIMITS);
	shared_lock(&t->head.mutex[0]); /* who died inside has not set ready */
	if (!t->ready) {
		random_bytes(&t->seed, sizeof(t->seed));
		for (size_t i = 0; i < SHARDS; i++)
			shared_mutex_init(&t->shards[i].lock);
		limit_table_in_order();
		t->ready = 1;
	}
	shared_unlock(&t->head.mutex[0]);
	return t;
}

void limit_table_check(struct limit_table *table, const struct limit_rule *rule, const char *text,
    struct limit_verdict *verdict)
{
	struct key key;
	const uint64_t *mark;
	key_set(&key, text);
	uint64_t hash = key_hash(&key, table->seed);
	struct shard *s = &table->shards[hash % SHARDS];
	limit_table_lock(s, table->seed);
	struct entry *e = entry_at(s, *limit_table_bucket_of(s, hash));
	while (e && memcmp(&e->key, &key, sizeof(key)) != 0)
		e = entry_at(s, e->chain);
	if (e) {
		entry_leave_order(s, e);
		entry_enter_order(s, e);
	} else {
		e = limit_table_add(s, &key, hash, table->seed);
	}
	int64_t now = rule->now(), window = limit_table_window_of(rule);
	e->seen = now;
	while ((mark = entry_oldest_mark(s, e)) && limit_table_time_of(*mark) <= now - window)
		entry_drop_mark(s, e);
	verdict->allowed = e->sum < rule->requests;
	if (verdict->allowed) {
		entry_count_request(s, e, table->seed, rule, now);
		verdict->remaining = rule->requests - e->sum;
		verdict->reset_after = rule->window;
	} else {
		/* rounded up, so that whoever waits that long is let in */
		int64_t wait =
		    (limit_table_time_of(*mark) + window - now + US_PER_SECOND - 1) / US_PER_SECOND;
		verdict->remaining = 0;
		verdict->reset_after = wait < 1 ? 1 : wait;
	}
	shared_unlock(&s->lock);
}

size_t limit_table_count(struct limit_table *table)
{
	size_t count = 0;
	for (size_t i = 0; i < SHARDS; i++) {
		limit_table_lock(&table->shards[i], table->seed);
		count += table->shards[i].count;
		shared_unlock(&table->shards[i].lock);
	}
	return count;
}
