#include "service/names.h"

#include <stdint.h>
#include <string.h>

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

const char *thread_name_make(struct call *call)
{
	const char *generator = call->service->config->thread_name_generator;
	uint8_t pick[2];
	if (!generator || strcmp(generator, "builtin:names") != 0)
		return "";
	random_bytes(pick, sizeof(pick));
	return arena_printf(
	    call->arena, "%s-%s", first_words[pick[0] % WORDS], second_words[pick[1] % WORDS]);
}
