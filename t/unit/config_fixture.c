/* SPDX-License-Identifier: ISC */
/* A configuration from text, and what was said of it. */
#include "config_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Nothing that is set outside may leak into a test, and nothing of one test into the next. */
static void clear_environment(void)
{
	clearenv();
}

void fixture_init(void)
{
	clear_environment();
	if (chdir(unit_dir()) != 0)
		abort();
}

void fixture_write(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");
	if (!f || fputs(text, f) < 0 || fclose(f) != 0)
		abort();
}

void fixture_remove(const char *name)
{
	unlink(name);
}

struct load fixture_load_default(void)
{
	struct load l = {0};
	l.config = config_load(&(struct config_source){0}, &l.problems);
	return l;
}

struct load fixture_load(const char *text)
{
	fixture_write("agentgraph.json", text);
	struct load l = fixture_load_default();
	fixture_remove("agentgraph.json");
	return l;
}

struct load fixture_load_with(const char *text)
{
	char json[4096];
	snprintf(json, sizeof(json), "{\"agent\": \"builtin:demo\"%s}", text);
	return fixture_load(json);
}

static bool has(const struct load *l, bool warning, const char *part)
{
	for (size_t i = 0; i < l->problems.count; i++)
		if (l->problems.items[i].warning == warning &&
		    strstr(l->problems.items[i].text, part))
			return true;
	for (size_t i = 0; i < l->problems.count; i++)
		printf("# reported: %s\n", l->problems.items[i].text);
	return false;
}

bool fixture_has_error(const struct load *l, const char *part)
{
	return has(l, false, part);
}

bool fixture_has_warning(const struct load *l, const char *part)
{
	return has(l, true, part);
}

void fixture_end(struct load *l)
{
	config_free(l->config);
	problems_release(&l->problems);
	clear_environment();
}
