/* SPDX-License-Identifier: ISC */
/* Pairing calls with results by id, and taking out what is left without a partner. */
#include "service/thread/threads.h"

#include "base/json/json.h"
#include "graph/message/message.h"

#include <stdlib.h>
#include <string.h>

/* One mention of a call id: by a call, or by a result. */
struct use {
	const char *id;
	int message;
	bool is_call;
	struct group *group;
	int place; /* index in order */
};

/*
 * The uses of one id, which follow each other in repair.order.  Those from top on are settled:
 * calls that nothing answers, and results that were removed.
 */
struct group {
	int begin, end, top;
};

struct entry {
	const cJSON *message;
	int first, count; /* its uses */
	bool is_assistant, is_tool, gone;
};

struct repair {
	struct entry *entries;
	struct use *uses, **order; /* uses in the order of the messages; order sorts them by id,
				      then by message */
	int use_count;
	int *queue; /* assistant messages with a call that nothing answers, at most one for each
		       call */
	int queued;
	cJSON *removed;
};

/* Within a message results sort before calls, because they do not answer them. */
static int orphans_by_id(const void *left, const void *right)
{
	const struct use *a = *(struct use *const *)left, *b = *(struct use *const *)right;
	int order = strcmp(a->id, b->id);
	if (order)
		return order;
	if (a->message != b->message)
		return a->message < b->message ? -1 : 1;
	return a->is_call - b->is_call;
}

static void orphans_add_use(struct repair *r, int message, const char *id, bool is_call)
{
	if (id)
		r->uses[r->use_count++] =
		    (struct use){.id = id, .message = message, .is_call = is_call};
}

static void orphans_add_entry(struct repair *r, int i, const cJSON *message)
{
	struct entry *entry = &r->entries[i];
	const cJSON *item;
	*entry = (struct entry){.message = message, .first = r->use_count};
	entry->is_assistant = message_is(message, "assistant");
	entry->is_tool = message_is(message, "tool");
	cJSON_ArrayForEach(item, json_get(message, "content")) {
		if (entry->is_assistant && block_is_call(item))
			orphans_add_use(r, i, json_str(item, "id"), true);
		orphans_add_use(r, i, json_str(item, "call_id"), false);
	}
	cJSON_ArrayForEach(item, json_get(message, "tools_calls"))
		orphans_add_use(r, i, entry->is_assistant ? json_str(item, "id") : NULL, true);
	entry->count = r->use_count - entry->first;
}

static void orphans_sort_uses(struct repair *r, struct arena *arena)
{
	struct group *groups = arena_alloc(arena, ((size_t)r->use_count + 1) * sizeof(*groups));
	struct group *group = groups;
	for (int i = 0; i < r->use_count; i++)
		r->order[i] = &r->uses[i];
	qsort(r->order, (size_t)r->use_count, sizeof(struct use *), orphans_by_id);
	for (int i = 0; i < r->use_count; i++) {
		struct use *use = r->order[i];
		if (i == 0 || strcmp(r->order[i - 1]->id, use->id) != 0)
			(++group)->begin = i;
		group->top = group->end = i + 1;
		use->group = group;
		use->place = i;
	}
}

/* Moves top down to the last result that is left, and queues the calls above it. */
static void orphans_settle(struct repair *r, struct group *group)
{
	for (; group->top > group->begin; group->top--) {
		const struct use *use = r->order[group->top - 1];
		if (use->is_call)
			r->queue[r->queued++] = use->message;
		else if (!r->entries[use->message].gone)
			return;
	}
}

static void orphans_take_out(struct repair *r, struct entry *entry)
{
	if (entry->gone)
		return;
	entry->gone = true;
	cJSON_AddItemToArray(r->removed, cJSON_CreateString(message_id(entry->message)));
	for (int i = 0; i < entry->count; i++)
		orphans_settle(r, r->uses[entry->first + i].group);
}

/* Takes out the tool messages that answered a call of a removed message: those before another
 * message uses the id for a call of its own. */
static void orphans_take_answers(struct repair *r, const struct use *call)
{
	const struct group *group = call->group;
	for (int i = call->place + 1; i < group->end; i++) {
		const struct use *use = r->order[i];
		struct entry *entry = &r->entries[use->message];
		if (use->is_call)
			return;
		if (entry->is_tool)
			orphans_take_out(r, entry);
	}
}

static void orphans_take(struct repair *r, struct entry *entry)
{
	orphans_take_out(r, entry);
	for (int i = 0; i < entry->count; i++) {
		if (r->uses[entry->first + i].is_call)
			orphans_take_answers(r, &r->uses[entry->first + i]);
	}
}

cJSON *orphans_find(struct arena *arena, const cJSON *messages)
{
	size_t size = 1; /* the most uses there can be; a block may have an id of both kinds */
	struct repair r = {.removed = arena_json(arena, cJSON_CreateArray())};
	const cJSON *message;
	int count = 0;
	cJSON_ArrayForEach(message, messages)
		size += 2 * (size_t)cJSON_GetArraySize(json_get(message, "content")) +
		    (size_t)cJSON_GetArraySize(json_get(message, "tools_calls"));
	r.entries =
	    arena_alloc(arena, ((size_t)cJSON_GetArraySize(messages) + 1) * sizeof(*r.entries));
	r.uses = arena_alloc(arena, size * sizeof(*r.uses));
	r.order = arena_alloc(arena, size * sizeof(struct use *));
	r.queue = arena_alloc(arena, size * sizeof(*r.queue));
	cJSON_ArrayForEach(message, messages)
		orphans_add_entry(&r, count++, message);
	orphans_sort_uses(&r, arena);
	for (int i = 0; i < r.use_count; i++)
		orphans_settle(&r, r.uses[i].group);
	for (int next = 0; next < r.queued; next++)
		if (!r.entries[r.queue[next]].gone)
			orphans_take(&r, &r.entries[r.queue[next]]);
	return r.removed;
}
