/* SPDX-License-Identifier: ISC */
/* Listing the directory, reading what has changed, and numbering the runs of a set. */
#include "service/evals/evals.h"

#include "base/json/json.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "service/evals/eval_file.h"
#include "service/evals/eval_values.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The most that a process remembers: files, and bytes of text of each. */
#define KEEP_FILES 65536
#define KEEP_TEXT 1024

/* A file that was changed so recently can be changed again within the same tick of its times; some
 * file systems count in steps of two seconds. */
#define SETTLED_US 3000000

struct entry {
	char *file;
	struct stat stat; /* of the file as it was read */
	bool is_report;   /* the rest is set only then: */
	char *set_id, *set_name;
	double timestamp, pass_rate;
	int64_t cases;
};

struct entries {
	struct entry *items; /* sorted by file */
	size_t count;
};

struct eval_cache {
	pthread_mutex_t lock; /* guards entries, and lets one thread read at a time */
	struct entries entries;
};

static void entry_release(struct entry *entry)
{
	free(entry->file);
	free(entry->set_id);
	free(entry->set_name);
}

static void entries_release(struct entries *entries)
{
	for (size_t i = 0; i < entries->count; i++)
		entry_release(&entries->items[i]);
	free(entries->items);
}

static int entry_compare_files(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->file, ((const struct entry *)b)->file);
}

struct eval_cache *eval_cache_new(void)
{
	struct eval_cache *cache = xcalloc(1, sizeof(*cache));
	pthread_mutex_init(&cache->lock, NULL);
	return cache;
}

void eval_cache_free(struct eval_cache *cache)
{
	if (!cache)
		return;
	entries_release(&cache->entries);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

/* ---- Reading ---- */

static char *eval_reports_take_text(struct json_span root, const char *key)
{
	cJSON *item = json_skim_parse(json_skim_member(root, key));
	char *text = xstrdup(cJSON_IsString(item) ? item->valuestring : "");
	cJSON_Delete(item);
	return text;
}

static void entry_read(struct entry *entry, int dir)
{
	struct eval_file file;
	if (!eval_file_read(&file, dir, entry->file, &entry->stat))
		return;
	/* A timestamp may be missing, but must be a number where it is given. */
	cJSON *top = cJSON_CreateObject();
	cJSON *timestamp = json_skim_parse(json_skim_member(file.root, "timestamp"));
	entry->is_report = !timestamp || json_is_number(timestamp);
	if (timestamp)
		cJSON_AddItemToObject(top, "timestamp", timestamp);
	entry->timestamp = eval_number(top, "timestamp");
	cJSON_Delete(top);
	if (entry->is_report) {
		entry->set_id = eval_reports_take_text(file.root, "eval_set_id");
		entry->set_name = eval_reports_take_text(file.root, "eval_set_name");
		cJSON *summary = json_skim_parse(json_skim_member(file.root, "summary"));
		entry->pass_rate = eval_number(summary, "pass_rate");
		entry->cases = json_int(summary, "total_cases", 0);
		cJSON_Delete(summary);
	}
	eval_file_release(&file);
}

static bool eval_reports_same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* Collects the names and the stat of the files that can be reports, sorted. */
static void eval_reports_look(struct entries *found, DIR *dir)
{
	const struct dirent *d;
	struct stat st;
	while ((d = readdir(dir))) {
		if (fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !eval_file_counts(d->d_name, &st))
			continue;
		found->items = xgrow(found->items, found->count, sizeof(*found->items));
		found->items[found->count++] =
		    (struct entry){.file = xstrdup(d->d_name), .stat = st};
	}
	if (found->count)
		qsort(found->items, found->count, sizeof(*found->items), entry_compare_files);
}

/* Takes over from known, which is sorted as well, what has not changed. */
static bool eval_reports_recall(struct entry *entry, struct entries *known, size_t *at)
{
	while (*at < known->count && strcmp(known->items[*at].file, entry->file) < 0)
		++*at;
	struct entry *old = *at < known->count ? &known->items[*at] : NULL;
	if (!old || strcmp(old->file, entry->file) != 0 || old->stat.st_dev != entry->stat.st_dev ||
	    old->stat.st_ino != entry->stat.st_ino || old->stat.st_size != entry->stat.st_size ||
	    !eval_reports_same_time(&old->stat.st_mtim, &entry->stat.st_mtim) ||
	    !eval_reports_same_time(&old->stat.st_ctim, &entry->stat.st_ctim))
		return false;
	char *file = old->file;
	struct entry taken = *old;
	*old = (struct entry){.file = file};
	taken.file = entry->file;
	*entry = taken;
	return true;
}

/* Keeps in the cache the entries that can be used again: those with little text, of files that had
 * settled when they were read. */
static void eval_reports_remember(struct eval_cache *cache, struct entries *found, int64_t read_us)
{
	size_t kept = 0;
	for (size_t i = 0; i < found->count; i++) {
		struct entry *entry = &found->items[i];
		const struct timespec *changed = &entry->stat.st_ctim;
		int64_t changed_us = changed->tv_sec * INT64_C(1000000) + changed->tv_nsec / 1000;
		size_t text =
		    entry->is_report ? strlen(entry->set_id) + strlen(entry->set_name) : 0;
		if (kept < KEEP_FILES && text <= KEEP_TEXT && changed_us < read_us - SETTLED_US)
			found->items[kept++] = *entry;
		else
			entry_release(entry);
	}
	found->count = kept;
	entries_release(&cache->entries);
	cache->entries = *found;
}

/* ---- The reports ---- */

static int eval_reports_compare_times(const void *a, const void *b)
{
	const struct eval_report *x = a, *y = b;
	if (x->timestamp != y->timestamp)
		return x->timestamp < y->timestamp ? -1 : 1;
	return strcmp(x->file, y->file);
}

static int eval_reports_compare_sets(const void *a, const void *b)
{
	const struct eval_report *x = *(struct eval_report *const *)a;
	const struct eval_report *y = *(struct eval_report *const *)b;
	int order = strcmp(x->set_id, y->set_id);
	return order ? order : (x > y) - (x < y);
}

/* Numbers the runs of each set, which come in order. */
static void eval_reports_number_runs(struct eval_reports *reports)
{
	struct eval_report **sets = xcalloc(reports->count + 1, sizeof(*sets));
	for (size_t i = 0; i < reports->count; i++)
		sets[i] = &reports->items[i];
	qsort(sets, reports->count, sizeof(*sets), eval_reports_compare_sets);
	for (size_t i = 0; i < reports->count; i++) {
		bool follows = i && !strcmp(sets[i]->set_id, sets[i - 1]->set_id);
		sets[i]->previous = follows ? sets[i - 1] : NULL;
		sets[i]->run = follows ? sets[i - 1]->run + 1 : 1;
	}
	free(sets);
}

void eval_reports_load(struct eval_reports *reports, struct eval_cache *cache, struct arena *arena)
{
	*reports = (struct eval_reports){0};
	DIR *dir = opendir(EVAL_DIRECTORY);
	if (!dir) {
		if (errno != ENOENT)
			log_warning("%s: cannot be read: %s", EVAL_DIRECTORY, strerror(errno));
		return;
	}
	struct entries found = {0};
	int64_t read_us = clock_now();
	size_t at = 0;
	pthread_mutex_lock(&cache->lock);
	eval_reports_look(&found, dir);
	for (size_t i = 0; i < found.count; i++)
		if (!eval_reports_recall(&found.items[i], &cache->entries, &at))
			entry_read(&found.items[i], dirfd(dir));
	reports->items = arena_alloc(arena, found.count * sizeof(*reports->items) + 1);
	for (size_t i = 0; i < found.count; i++) {
		const struct entry *entry = &found.items[i];
		if (!entry->is_report)
			continue;
		reports->items[reports->count++] = (struct eval_report){
		    .file = arena_strdup(arena, entry->file),
		    .set_id = arena_strdup(arena, entry->set_id),
		    .set_name = arena_strdup(arena, entry->set_name),
		    .timestamp = entry->timestamp,
		    .pass_rate = entry->pass_rate,
		    .cases = entry->cases,
		};
	}
	eval_reports_remember(cache, &found, read_us);
	pthread_mutex_unlock(&cache->lock);
	closedir(dir);
	qsort(reports->items, reports->count, sizeof(*reports->items), eval_reports_compare_times);
	eval_reports_number_runs(reports);
}
