/* SPDX-License-Identifier: ISC */
/* Uploaded files (doc/protocol-files.md): storing, describing and reading them. */
#ifndef AGENTGRAPH_SERVICE_FILES_FILES_H
#define AGENTGRAPH_SERVICE_FILES_FILES_H

#include "service/service.h"
#include "storage/files.h"

/* ---- storing ---- */

struct upload;

/* Bytes that a file, and an upload's whole body, may have. */
int64_t upload_max_file(const struct config *config);
int64_t upload_max_body(const struct config *config);

/* Refuses what is too large: false with FILE_TOO_LARGE set. */
bool upload_too_large(struct call *call);

/*
 * Begins a file.  filename is the client's, with whatever it has in front and inside; so is
 * content_type, NULL or "" where the client said nothing.  NULL with the error set.  What is not
 * finished is gone when the call ends, also when the process dies.
 */
struct upload *upload_begin(struct call *call, const char *filename, const char *content_type);

/* Takes more of its bytes; false with the error set. */
bool upload_write(struct upload *upload, const void *data, size_t len);

/* Stores it, on disk where the store is durable.  The data of the route, or NULL with the error
 * set. */
const cJSON *upload_finish(struct upload *upload);

/* The same data, for upload.c; record has its text. */
cJSON *file_upload_data(struct call *call, const struct file_record *record);

/* ---- reading ---- */

/* The record of a file that the caller may read; false with "File not found" or a storage error
 * set. */
bool file_find(struct call *call, const char *file_id, struct file_record *record);

/* Whether the caller may read it, or there is none (any more);
 * false with a storage error set, too. */
bool file_allowed(struct call *call, const char *file_id);

/* What Content-Disposition says of it (doc/protocol-files.md). */
const char *file_disposition(struct arena *arena, const struct file_record *record);

/* Its bytes: NULL with the error set.  Closed with the store's shut. */
struct blob *file_open(struct call *call, const struct file_record *record);

/* data of GET /v1/files/{file_id}/info, …/url and /v1/config/multimodal. */
cJSON *file_info(struct call *call, const char *file_id);
cJSON *file_url(struct call *call, const char *file_id);
cJSON *multimodal_info(struct call *call);

#endif
