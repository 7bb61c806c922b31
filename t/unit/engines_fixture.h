/* SPDX-License-Identifier: ISC */
/* Tests that run on every engine: SQLite's, the one in memory that is there for them, and with
 * AGENTGRAPH_ENGINE=postgresql PostgreSQL instead of both. */
#ifndef AGENTGRAPH_UNIT_ENGINES_FIXTURE_H
#define AGENTGRAPH_UNIT_ENGINES_FIXTURE_H

#include "base/os/clock.h"
#include "memory_engine_fixture.h"
#include "postgresql_fixture.h"
#include "storage/sql/db/db.h"
#include "unit.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* The engine that is opened; NULL: the one that config chooses. */
static const struct storage_engine *chosen_engine;

/* Before main, so that all processes that it makes know the server. */
__attribute__((constructor)) static void choose_engine(void)
{
	if (!postgresql_wanted())
		return;
	postgresql_start();
	chosen_engine = &postgresql_engine;
}

static inline struct storage *open_chosen(
    const struct config *config, struct shared *shared, struct error *err)
{
	if (chosen_engine == &postgresql_engine)
		return postgresql_open_for(config, shared, err);
	return chosen_engine ? storage_open_engine(chosen_engine, config, shared, err)
			     : storage_open(config, shared, err);
}

/* Whether each statement of sql/<file>.sql was used; those of the sweeper are a moment later. */
static inline void check_statements(const char *file)
{
	for (size_t i = 0; i < SQL_COUNT; i++) {
		if (strcmp(sql_statements[i].file, file) != 0)
			continue;
		for (int k = 0; k < 5000 && !db_was_used((enum sql_id)i); k++)
			clock_sleep_ms(1);
		if (!db_was_used((enum sql_id)i))
			printf("# no test uses %s\n", sql_statements[i].name);
		CU_ASSERT_TRUE(db_was_used((enum sql_id)i));
	}
}

static inline void choose_memory(void)
{
	chosen_engine = &memory_engine;
}

/*
 * Runs a program's tests: those of any engine and those of SQLite's own, then change_over, which
 * opens what follows with the engine in memory, and those of any engine again.  Tests that open
 * what they need themselves have choose_memory for that.
 */
static inline int storage_main(const char *name, const struct unit_test *any, size_t any_count,
    const struct unit_test *own, size_t own_count, void (*change_over)(void))
{
	struct unit_test all[128];
	static char sentences[64][128];
	size_t count = 0;
	if (postgresql_wanted())
		return unit_main(name, any, any_count);
	assert(any_count < 64 && 2 * any_count + own_count < 128);
	for (size_t i = 0; i < any_count; i++)
		all[count++] = any[i];
	for (size_t i = 0; i < own_count; i++)
		all[count++] = own[i];
	all[count++] = (struct unit_test){"an engine in memory opens", change_over};
	for (size_t i = 0; i < any_count; i++) {
		snprintf(sentences[i], sizeof(sentences[i]), "in memory %s", any[i].sentence);
		all[count++] = (struct unit_test){sentences[i], any[i].run};
	}
	return unit_main(name, all, count);
}

#endif
