/*
 * Bytes in a bucket (s3.h).
 *
 * What arrives is collected in a file below the state directory and sent when it is whole, so a
 * client that gives up costs the bucket nothing.  The file is there, locked by its writer, until
 * the record is written: one that nobody has locked is what a dead process left, and says which
 * object may be there without a record.
 */
#ifndef AGENTGRAPH_STORAGE_BLOB_CLOUD_H
#define AGENTGRAPH_STORAGE_BLOB_CLOUD_H

#include "storage/blob.h"

/* The settings MEDIA_CLOUD_*, which s3_check accepts. */
struct blobs *blobs_cloud(const struct config *config);

#endif
