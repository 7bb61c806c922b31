/* SPDX-License-Identifier: ISC */
/* URLs of media that are no web addresses: bytes in themselves, or files of this service. */
#ifndef AGENTGRAPH_GRAPH_MESSAGE_MEDIA_URL_H
#define AGENTGRAPH_GRAPH_MESSAGE_MEDIA_URL_H

#include <cjson/cJSON.h>

/* The path below which the service stands on its site, "" or "/prefix"; said once, before there are
 * messages.  It lives as long as they. */
void media_url_below(const char *root_path);

/*
 * The members of a media object that url stands for, a new object: {"file_id"}, or {"data_base64",
 * "mime_type"}, whose base64 may be wrong.  NULL for every other URL.
 */
cJSON *media_url_read(const char *url);

#endif
