/* SPDX-License-Identifier: ISC */
/* Finding the kept lines to remove: those with a message of certain ids, or with a state. */
#include "service/thread/forget.h"

#include "base/json/json_quote.h"
#include "service/run/stream/kept_line.h"
#include "storage/runs.h"

#include <stdlib.h>
#include <string.h>

#define MEMBER "\"message_id\":"

/* Ids in quotes, as JSON has them, sorted. */
struct forget_ids {
	const char **quoted;
	size_t count;
};

static int forget_order(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* A JSON string in a line, to be compared with such an id; it is not ended by NUL. */
struct forget_text {
	const char *text;
	size_t len;
};

static int forget_compare(const void *left, const void *right)
{
	const struct forget_text *found = left;
	const char *id = *(const char *const *)right;
	int order = strncmp(found->text, id, found->len);
	return order ? order : id[found->len] ? -1 : 0;
}

/* The length of a JSON string, both quotes included; 0: text is none. */
static size_t forget_quoted(const char *text, size_t len)
{
	if (len == 0 || *text != '"')
		return 0;
	for (size_t i = 1; i < len; i++) {
		if (text[i] == '\\')
			i++;
		else if (text[i] == '"')
			return i + 1;
	}
	return 0;
}

/* Whether a line has a message with one of the ids.  Quotes within strings are escaped, so what
 * looks like the member is the member. */
static bool forget_has_id(void *arg, const char *line, size_t len)
{
	const struct forget_ids *ids = arg;
	const char *end = line + len, *at;
	while ((at = memmem(line, (size_t)(end - line), MEMBER, strlen(MEMBER)))) {
		line = at + strlen(MEMBER);
		const struct forget_text found = {line, forget_quoted(line, (size_t)(end - line))};
		if (found.len &&
		    bsearch(&found, ids->quoted, ids->count, sizeof(*ids->quoted), forget_compare))
			return true;
	}
	return false;
}

bool forget_messages(struct call *call, int64_t thread_row, const char *const *ids, size_t count)
{
	struct storage *storage = call->service->storage;
	struct forget_ids sought = {
	    arena_alloc(call->arena, (count + 1) * sizeof(*sought.quoted)), count};
	struct buf text = {0};
	for (size_t i = 0; i < count; i++) {
		buf_reset(&text);
		json_quote(&text, ids[i]);
		sought.quoted[i] = arena_strdup(call->arena, buf_str(&text));
	}
	buf_release(&text);
	qsort(sought.quoted, count, sizeof(*sought.quoted), forget_order);
	return !count ||
	    storage->runs->chunks_forget(
		storage, &call->ctx, thread_row, forget_has_id, &sought, &call->error);
}

/* Whether a line has a state; the aside of a chunk may have its fields, too (chunk_aside.h). */
static bool forget_has_state(void *arg, const char *line, size_t len)
{
	static const char fields[] = "\"fields\":{";
	const char *aside = memchr(line, KEPT_ASIDE, len);
	(void)arg;
	return memchr(line, KEPT_STATE, len) ||
	    (aside && memmem(aside, (size_t)(line + len - aside), fields, strlen(fields)));
}

bool forget_states(struct call *call, int64_t thread_row)
{
	struct storage *storage = call->service->storage;
	return storage->runs->chunks_forget(
	    storage, &call->ctx, thread_row, forget_has_state, NULL, &call->error);
}
