/* SPDX-License-Identifier: ISC */
/* The media of a conversation: what is sent for each, and how much for all together. */
#include "base/base64.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "model/provider.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a request's media before base64.  A stored file counts as often as it is named: to name
 * one is short, but what that brings is not.  Providers take less than this. */
#define MAX_MEDIA ((size_t)64 << 20)

/* A stored file, which is read once however many blocks name it. */
struct media_file {
	const char *id;
	bool asked;
	bool used; /* the text of a part is this text */
	bool too_large;
	bool is_text;               /* text is what the file says, else base64 */
	char *text;                 /* NULL: it was not read */
	size_t len;                 /* of that text, or of the bytes */
	char *mime_type, *filename; /* or NULL */
};

struct media_item {
	const cJSON *block;
	struct chat_part_media part;
};

struct chat_media_list {
	struct media_item *items; /* in the order of the conversation */
	size_t count, next;
	struct media_file *files; /* by id */
	size_t file_count;
	size_t room; /* bytes that may still be sent */
};

/* The name that a media object or block goes by in texts; never NULL. */
static const char *media_name(const cJSON *media)
{
	const char *names[] = {
	    json_str(media, "filename"), json_str(media, "url"), json_str(media, "file_id")};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i] && *names[i])
			return names[i];
	return "unnamed";
}

/* ---- Stored files */

static int media_by_id(const void *a, const void *b)
{
	return strcmp(((const struct media_file *)a)->id, ((const struct media_file *)b)->id);
}

/* Asks the caller what the file is (max 0), or for its bytes; false when it cannot be had. */
static bool media_ask(
    const struct chat_build *b, struct media_file *file, const cJSON *media, size_t max)
{
	struct chat_media had = {.max = max};
	bool found = b->request->media(media, &had, b->request->arg);
	if (!found)
		*b->problem = xasprintf("the file %s cannot be found", media_name(media));
	file->is_text = had.text;
	file->len = had.text ? strlen(had.text) : had.len;
	file->text = had.text ? had.text : had.data ? base64_encode(had.data, had.len) : NULL;
	if (!file->asked) {
		file->mime_type = had.mime_type;
		file->filename = had.filename;
	} else {
		free(had.mime_type);
		free(had.filename);
	}
	file->asked = true;
	free(had.data);
	return found;
}

/* Decides what is sent for a file that a block names. */
static void media_take_file(const struct chat_build *b, struct chat_media_list *list,
    struct media_item *item, const cJSON *media)
{
	struct chat_part_media *part = &item->part;
	const struct media_file wanted = {.id = json_str(media, "file_id")};
	struct media_file *file =
	    bsearch(&wanted, list->files, list->file_count, sizeof(wanted), media_by_id);
	assert(file);
	part->kind = MEDIA_LEFT_OUT;
	if (!b->request->media || (!file->asked && !media_ask(b, file, media, 0)))
		return;
	part->mime_type = file->mime_type ? file->mime_type : part->mime_type;
	part->filename = file->filename ? file->filename : part->filename;
	bool takes = b->target->provider->takes(item->block, part->mime_type);
	if (takes && !file->text && !file->too_large && list->room > 0 &&
	    !media_ask(b, file, media, list->room))
		return;
	if (!takes && !file->is_text) {
		part->kind = MEDIA_BYTES;
	} else if (file->text && file->len <= list->room) {
		part->kind = file->is_text ? MEDIA_TEXT : MEDIA_BYTES;
		part->text = file->text;
		file->used = true;
		list->room -= file->len;
	} else if (!file->used) { /* there will be no more room than now */
		free(file->text);
		file->text = NULL;
		file->too_large = true;
	}
}

/* ---- The media of the turns */

static void media_take(
    const struct chat_build *b, struct chat_media_list *list, struct media_item *item)
{
	const cJSON *media = json_opt(item->block, "media");
	const char *data = json_str(media, "data_base64");
	const char *text = data ? data : json_str(media, "url");
	const char *mime_type = json_str(media, "mime_type");
	struct chat_part_media *part = &item->part;
	*part = (struct chat_part_media){.kind = data ? MEDIA_BYTES : MEDIA_URL,
	    .text = text ? text : "",
	    .mime_type = mime_type ? mime_type : "",
	    .filename = media_name(media)};
	if (json_str(media, "file_id")) {
		part->text = "";
		media_take_file(b, list, item, media);
	} else if (data && b->target->provider->takes(item->block, part->mime_type)) {
		size_t len = strlen(data) / 4 * 3;
		if (len > list->room)
			part->kind = MEDIA_LEFT_OUT;
		else
			list->room -= len;
	}
}

struct chat_media_list *chat_media_list_new(const struct chat_build *b)
{
	struct chat_media_list *list = xcalloc(1, sizeof(*list));
	list->room = MAX_MEDIA;
	for (size_t i = 0; i < b->turns->count; i++) {
		const struct chat_turn *turn = &b->turns->items[i];
		bool sent = turn->role == ROLE_USER ||
		    (turn->role == ROLE_ASSISTANT && b->target->provider->assistant_media);
		for (size_t j = 0; sent && j < turn->count; j++) {
			if (!chat_block_is_media(turn->blocks[j]))
				continue;
			list->items = xgrow(list->items, list->count, sizeof(*list->items));
			list->items[list->count++] = (struct media_item){.block = turn->blocks[j]};
		}
	}
	/* each file that blocks name gets a place, once */
	size_t named = 0;
	list->files = xcalloc(list->count + 1, sizeof(*list->files));
	for (size_t i = 0; i < list->count; i++) {
		const char *id = json_str(json_opt(list->items[i].block, "media"), "file_id");
		if (id)
			list->files[named++].id = id;
	}
	qsort(list->files, named, sizeof(*list->files), media_by_id);
	for (size_t i = 0; i < named; i++) {
		struct media_file *last = list->files + list->file_count;
		if (i == 0 || strcmp(list->files[i].id, last[-1].id) != 0)
			list->files[list->file_count++].id = list->files[i].id;
	}
	for (size_t i = list->count; i-- > 0 && !*b->problem;)
		media_take(b, list, &list->items[i]);
	return list;
}

void chat_media_list_free(struct chat_media_list *list)
{
	for (size_t i = 0; i < list->file_count; i++) {
		free(list->files[i].text);
		free(list->files[i].mime_type);
		free(list->files[i].filename);
	}
	free(list->files);
	free(list->items);
	free(list);
}

struct chat_part_media chat_media_next(const struct chat_build *b, const cJSON *block)
{
	struct chat_media_list *list = b->media;
	assert(list->next < list->count && list->items[list->next].block == block);
	return list->items[list->next++].part;
}

bool chat_media_is_whole(const struct chat_part_media *media)
{
	return media->kind == MEDIA_BYTES || media->kind == MEDIA_URL;
}

char *chat_media_note(const cJSON *block, const struct chat_part_media *media)
{
	if (media->kind == MEDIA_TEXT)
		return xasprintf("%s:\n%s", media->filename, media->text);
	const char *type = json_str(block, "type");
	return xasprintf("[%s %s%s%s: %s]", type ? type : "file", media->filename,
	    *media->mime_type ? ", " : "", media->mime_type,
	    media->kind == MEDIA_LEFT_OUT ? "left out, because all media together are too large"
					  : "this model cannot read it");
}
