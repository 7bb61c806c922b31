/* SPDX-License-Identifier: ISC */
/* Uploaded files (doc/protocol-files.md): storing, describing and reading them. */
#ifndef AGENTGRAPH_SERVICE_FILES_FILES_H
#define AGENTGRAPH_SERVICE_FILES_FILES_H

#include "service/service.h"
#include "storage/files.h"

/* ---- storing ---- */

struct upload;

/* How many bytes a file, and the whole body of an upload, may have. */
int64_t upload_max_file(const struct config *config);
int64_t upload_max_body(const struct config *config);

/* Sets FILE_TOO_LARGE; always false. */
bool upload_too_large(struct call *call);

/*
 * Begins a file.  filename and content_type are as the client sent them; content_type is NULL or ""
 * where it said nothing.  NULL with the error set.  An upload that is not finished is gone when the
 * call ends, or the process dies.
 */
struct upload *upload_begin(struct call *call, const char *filename, const char *content_type);

/* Adds bytes to the file; false with the error set. */
bool upload_write(struct upload *upload, const void *data, size_t len);

/* Stores the file; on disk, where the store is durable.  Returns the data of the route, or NULL
 * with the error set. */
const cJSON *upload_finish(struct upload *upload);

/* That data, for upload.c; record has its text. */
cJSON *file_upload_data(struct call *call, const struct file_record *record);

/* ---- reading ---- */

/* Reads the record of a file that the caller may read; false with "File not found" or a storage
 * error set. */
bool file_find(struct call *call, const char *file_id, struct file_record *record);

/* Whether the caller may read the file; true also when there is no such file (any more).  False,
 * too, with a storage error set. */
bool file_allowed(struct call *call, const char *file_id);

/* The value of Content-Disposition for a file (doc/protocol-files.md). */
const char *file_disposition(struct arena *arena, const struct file_record *record);

/* Opens the bytes of a file, to be closed with the store's shut; NULL with the error set. */
struct blob *file_open(struct call *call, const struct file_record *record);

/* data of GET /v1/files/{file_id}/info, …/url and /v1/config/multimodal. */
cJSON *file_info(struct call *call, const char *file_id);
cJSON *file_url(struct call *call, const char *file_id);
cJSON *multimodal_info(struct call *call);

#endif
