/* SPDX-License-Identifier: ISC */
/* Media types of uploaded files: how they are compared, found out, listed and served
 * (doc/protocol-files.md). */
#ifndef AGENTGRAPH_SERVICE_FILES_MEDIA_TYPE_H
#define AGENTGRAPH_SERVICE_FILES_MEDIA_TYPE_H

#include "base/arena.h"
#include "config/config.h"

#include <stdbool.h>
#include <stddef.h>

#define MEDIA_TYPE_UNKNOWN "application/octet-stream"

/*
 * Whether text is a media type, type/subtype with parameters, that can be recorded and served as it
 * is.  A comma is refused even where the grammar has room for one: browsers take what follows it
 * for another type, and would believe that.
 */
bool media_type_valid(const char *text);

/* The type without its parameters, in lower case, in the arena. */
const char *media_type_essence(struct arena *arena, const char *type);

/* Whether essence is among the patterns, which may have parameters: exactly,
 * or as top/ and a star. */
bool media_type_among(const char *essence, const struct string_list *patterns);

/* The type by the extension of a file's name; NULL when that says nothing. */
const char *media_type_of_name(const char *filename);

/* The type by the first bytes of a file, in the arena, as libmagic says.  The first
 * MEDIA_TYPE_PREFIX bytes tell as much as all. */
#define MEDIA_TYPE_PREFIX (1 << 20)
const char *media_type_of_bytes(struct arena *arena, const void *data, size_t len);

/* Whether a browser may show files of this type; all others are only for saving. */
bool media_type_is_shown(const char *essence);

/* Whether text can be extracted from files of this type. */
bool media_type_has_text(const char *essence);

/* The kind of block that stands for media of this type in a message
 * (doc/protocol-messages.md#media): image, audio, video, or document. */
const char *media_type_block(const char *mime_type);

#endif
