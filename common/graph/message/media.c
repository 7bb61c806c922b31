/* SPDX-License-Identifier: ISC */
/* What agentgraph.h offers of the files that messages carry. */
#include "base/base64.h"
#include "base/json/json.h"
#include "base/log/log.h"
#include "graph/run_internal.h"
#include "storage/files.h"

#include <stdlib.h>
#include <string.h>

/* The media object of a block, or the object itself where it is one. */
static const cJSON *media_of(const cJSON *item)
{
	const cJSON *media = json_opt(item, "media");
	return media ? media : item;
}

static void graph_media_log_failure(const char *file_id, struct error *err)
{
	if (error_is_set(err))
		log_error("file %s cannot be read: %s", file_id, error_why(err));
	error_release(err);
}

/* Notes that the file is in use, also where nobody asks for its bytes. */
static void graph_media_touch(ag_run *run, const char *file_id)
{
	struct arena *arena = arena_new();
	struct file_record record;
	struct error ignored = {0};
	if (files_get(run->setup.files, &run->setup.ctx, arena, file_id, &record, &ignored))
		files_touch(run->setup.files, &run->setup.ctx, &record);
	error_release(&ignored);
	arena_free(arena);
}

char *ag_media_text(ag_run *run, const cJSON *media)
{
	const char *file_id = json_str(media_of(media), "file_id");
	struct error err = {0};
	if (!file_id || !run->setup.files)
		return NULL;
	char *text = files_text(run->setup.files, &run->setup.ctx, file_id, &err);
	graph_media_log_failure(file_id, &err);
	if (text)
		graph_media_touch(run, file_id);
	return text;
}

static void *graph_media_stored_bytes(ag_run *run, const char *file_id, size_t max, size_t *len)
{
	struct files *files = run->setup.files;
	struct arena *arena = arena_new();
	struct file_record record;
	struct error err = {0};
	char *data = NULL;
	if (files && files_get(files, &run->setup.ctx, arena, file_id, &record, &err)) {
		files_touch(files, &run->setup.ctx, &record);
		*len = (size_t)record.size;
		if (*len <= max)
			data = files_read(files, &record, (int64_t)max, &err);
	}
	graph_media_log_failure(file_id, &err);
	arena_free(arena);
	return data;
}

static void *graph_media_inline_bytes(const char *base64, size_t max, size_t *len)
{
	if (strlen(base64) / 4 * 3 > max + 2)
		return NULL;
	char *data = base64_decode(base64, len);
	if (!data || *len <= max)
		return data;
	free(data);
	*len = 0;
	return NULL;
}

void *run_media_data(ag_run *run, const cJSON *media, size_t max, size_t *len)
{
	const cJSON *object = media_of(media);
	const char *file_id = json_str(object, "file_id");
	const char *base64 = json_str(object, "data_base64");
	*len = 0;
	if (file_id)
		return graph_media_stored_bytes(run, file_id, max, len);
	return base64 ? graph_media_inline_bytes(base64, max, len) : NULL;
}

void *ag_media_data(ag_run *run, const cJSON *media, size_t max, size_t *len)
{
	void *data = run_media_data(run, media, max, len);
	*len = data ? *len : 0;
	return data;
}
