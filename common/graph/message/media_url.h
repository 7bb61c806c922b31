/* SPDX-License-Identifier: ISC */
/* URLs of media that are no web addresses: bytes in themselves, or files of this service. */
#ifndef AGENTGRAPH_GRAPH_MESSAGE_MEDIA_URL_H
#define AGENTGRAPH_GRAPH_MESSAGE_MEDIA_URL_H

#include <cjson/cJSON.h>
#include <stdbool.h>

/* The path below which the service stands on its site, "" or "/prefix"; said once, before there are
 * messages.  It lives as long as they. */
void media_url_below(const char *root_path);

/*
 * The members of a media object that url stands for, a new object: {"file_id"}, or {"data_base64",
 * "mime_type"}, whose base64 may be wrong.  NULL for every other URL.
 */
cJSON *media_url_read(const char *url);

/* Whether text is base64 with its padding, and whether url is a web address. */
bool media_base64_valid(const char *text);
bool media_url_is_http(const char *url);

/* Whether a block takes that as its url; for tables of other protocols, whose members have names of
 * their own. */
bool media_url_valid(const char *url);
#define MEDIA_URL_EXPECTED "an http or https URL, or a data URL with valid base64"

#endif
