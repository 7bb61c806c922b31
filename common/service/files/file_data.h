/* SPDX-License-Identifier: ISC */
/* What is shown of a file (doc/protocol-files.md), for upload.c and files.c. */
#ifndef AGENTGRAPH_SERVICE_FILES_FILE_DATA_H
#define AGENTGRAPH_SERVICE_FILES_FILE_DATA_H

#include "service/files/files.h"

/* data of the upload route; record has its text. */
cJSON *file_upload_data(struct call *call, const struct file_record *record);

#endif
