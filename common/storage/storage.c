/* SPDX-License-Identifier: ISC */
/* Opening and closing the storage, with the engine that the configuration chooses. */
#include "storage/storage.h"

#include "base/memory.h"
#include "config/config.h"
#include "storage/defer.h"
#include "storage/sql/copy.h"
#include "storage/sql/reserve.h"

#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#define START_ROOM (1 << 20) /* bytes that a start may need */

struct storage *storage_open_engine(const struct storage_engine *engine,
    const struct config *config, struct shared *shared, struct error *err)
{
	struct storage *st = engine->open(config, shared, err);
	if (!st)
		return NULL;
	st->engine = engine;
	st->threads = engine->threads;
	st->runs = engine->runs;
	st->history = engine->history;
	st->thread_max_bytes = config->thread_max_bytes;
	st->runs_keep = config->runs_keep;
	st->history_keep = config->history_keep;
	st->chunks_keep = config->runs_keep_chunks * 1000000;
	st->deferrals = deferrals_new(st, err);
	if (st->deferrals)
		return st;
	engine->close(st);
	return NULL;
}

/* A new engine joins here; the scheme of its URLs is its name. */
static const struct storage_engine *const engines[] = {&sqlite_engine, &postgresql_engine};

static const struct storage_engine *engine_of_url(const char *url)
{
	size_t scheme = strcspn(url, ":");
	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		if (strlen(engines[i]->name) == scheme &&
		    strncmp(engines[i]->name, url, scheme) == 0 && url[scheme])
			return engines[i];
	}
	return NULL;
}

const struct storage_engine *storage_engine_of(const struct config *config, struct error *err)
{
	const char *url = config->database;
	const struct storage_engine *engine = url ? engine_of_url(url) : &sqlite_engine;
	const char *place = config->env.database_url ? "DATABASE_URL" : config->path;
	const char *key = config->env.database_url ? "" : ": database";
	if (!engine) {
		/* without the slashes the text before the colon may be a password */
		size_t scheme = strcspn(url, ":");
		bool is_url = strncmp(url + scheme, "://", 3) == 0;
		error_set(err, ERR_STORAGE,
		    "%s%s: expected a URL of a database that can be had here (sqlite: or postgresql:), found %s%.*s",
		    place, key, is_url ? "" : "no URL",
		    is_url ? (int)(scheme < 32 ? scheme + 1 : 32) : 0, url);
	} else if (engine == &sqlite_engine && url && strcmp(url, "sqlite:") != 0) {
		error_set(err, ERR_STORAGE,
		    "%s%s: SQLite lies in the state directory: expected sqlite: alone", place, key);
		return NULL;
	}
	return engine;
}

struct storage *storage_open(const struct config *config, struct shared *shared, struct error *err)
{
	const struct storage_engine *engine = storage_engine_of(config, err);
	return engine ? storage_open_engine(engine, config, shared, err) : NULL;
}

bool storage_backs_up(const struct config *config, struct error *err)
{
	const struct storage_engine *engine = storage_engine_of(config, err);
	return engine &&
	    (engine->can.backup ||
		error_set(err, ERR_STORAGE, "%s has its own tools for that: %s", engine->name,
		    engine->backup_tools));
}

bool storage_may_restore(
    const struct config *config, const char *backup, bool overwrite, struct error *err)
{
	return storage_backs_up(config, err) &&
	    storage_engine_of(config, err)->may_restore(config->state_dir, backup, overwrite, err);
}

bool storage_restore(const struct config *config, const char *backup, struct error *err)
{
	const struct storage_engine *engine = storage_engine_of(config, err);
	return engine && engine->restore(config->state_dir, backup, err);
}

bool storage_copy(const char *from, const char *to, struct copy_report *report, struct error *err)
{
	const struct storage_engine *source = engine_of_url(from), *target = engine_of_url(to);
	if (source && target && source->copy && target->copy && source != target)
		return sql_copy(source->copy, from, target->copy, to, report, err);
	return error_set(err, ERR_STORAGE,
	    "expected sqlite:DIRECTORY and postgresql://..., one of them --from and the other one --to");
}

void storage_close(struct storage *st)
{
	if (!st)
		return;
	deferrals_free(st->deferrals);
	st->engine->close(st);
}

void storage_make_room_to_start(const char *state_dir)
{
	char *path = xasprintf("%s/reserve", state_dir);
	struct statvfs fs;
	if (statvfs(state_dir, &fs) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize < START_ROOM)
		reserve_give_up(path);
	free(path);
}
