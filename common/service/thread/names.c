/* SPDX-License-Identifier: ISC */
/* A word from each of two lists, or what the plug-in says, cleaned and cut. */
#include "service/thread/names.h"

#include "base/buf.h"
#include "base/id.h"
#include "base/utf8.h"
#include "graph/message/message.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 255

static const char *const first_words[] = {"amber", "ancient", "autumn", "bold", "brave", "bright",
    "calm", "clear", "crimson", "eager", "early", "gentle", "golden", "green", "hidden", "honest",
    "kind", "late", "little", "lively", "lucky", "misty", "modest", "northern", "patient", "plain",
    "quiet", "rapid", "silver", "steady", "sunny", "warm"};

static const char *const second_words[] = {"anchor", "badger", "beacon", "birch", "bridge", "brook",
    "canyon", "cedar", "cloud", "comet", "falcon", "field", "finch", "forest", "garden", "harbor",
    "heron", "island", "lantern", "maple", "meadow", "mill", "ocean", "orchard", "otter", "pebble",
    "river", "sparrow", "stone", "summit", "valley", "willow"};

#define WORDS (sizeof(first_words) / sizeof(first_words[0]))
_Static_assert(WORDS == sizeof(second_words) / sizeof(second_words[0]), "lists of one length");

/* ---- the generator ---- */

bool names_open(struct names *names, const struct config *config, struct problems *problems)
{
	const char *generator = config->thread_name_generator;
	*names = (struct names){.builtin = generator && strcmp(generator, "builtin:names") == 0};
	if (!generator || names->builtin)
		return true;
	const struct plugin_want want = {
	    .key = "thread_name_generator",
	    .import_path = generator,
	    .kind = AG_THREAD_NAMES,
	    .what = "struct ag_thread_names",
	};
	if (!plugin_load(&names->plugin, config, &want, problems))
		return false;
	names->table = names->plugin.table;
	if (names->table->name && (!names->table->open || names->table->open(&names->data) == 0))
		return true;
	problems_add(problems, "%s: thread_name_generator: '%s' %s",
	    config->path ? config->path : "agentgraph.json", generator,
	    names->table->name ? "refused to open" : "has no function name");
	plugin_close(names->plugin.library);
	*names = (struct names){0};
	return false;
}

void names_close(struct names *names)
{
	if (names->table && names->table->close)
		names->table->close(names->data);
	plugin_close(names->plugin.library);
	*names = (struct names){0};
}

/* ---- a name ---- */

const char *names_make(const struct names *names, const cJSON *messages, struct arena *arena)
{
	uint8_t pick[2];
	struct buf texts = {0};
	const cJSON *message;
	if (names->builtin) {
		random_bytes(pick, sizeof(pick));
		return arena_printf(
		    arena, "%s-%s", first_words[pick[0] % WORDS], second_words[pick[1] % WORDS]);
	}
	if (!names->table)
		return "";
	cJSON_ArrayForEach(message, messages) {
		if (!message_is(message, "user"))
			continue;
		if (texts.len)
			buf_putc(&texts, '\n');
		message_text(message, &texts);
	}
	char *made = names->table->name(buf_str(&texts), names->data);
	char *name = arena_strdup(arena, made ? made : "");
	free(made);
	buf_release(&texts);
	/* whatever the plug-in says is to be a name */
	utf8_repair(name);
	if (strlen(name) > NAME_MAX_BYTES)
		name[utf8_cut(name, NAME_MAX_BYTES)] = '\0';
	for (char *p = name; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = ' ';
	return name;
}
