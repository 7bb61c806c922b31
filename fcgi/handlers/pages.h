/* SPDX-License-Identifier: ISC */
/*
 * The files that the interactive pages are made of.
 *
 * The program itself contains an API reference of our own.  The two well-known ones, which come
 * from npm, lie in a directory `web`: beside the program in a build directory, in share/agentgraph
 * when it is installed.  If they are there, they are shown in place of our own.
 */
#ifndef AGENTGRAPH_FCGI_HANDLERS_PAGES_H
#define AGENTGRAPH_FCGI_HANDLERS_PAGES_H

#include "base/arena.h"
#include "base/buf.h"

#include <stddef.h>

struct request;

struct asset {
	const char *name;
	const char *type; /* PAGES_SCRIPT or PAGES_STYLE */
	const char *text; /* NULL: a file of the directory */
};

#define PAGES_SCRIPT "text/javascript; charset=utf-8"
#define PAGES_STYLE "text/css; charset=utf-8"

/* Opens a file of dir, which may be NULL, and tells its size; -1 when it is not there or is empty.
 * The caller closes it. */
int pages_open(const char *dir, const char *name, size_t *size);

/* The beginning of a page, up to its title, which is app_name followed by title. */
void pages_put_head(struct buf *out, const char *app_name, const char *title);

/* Appends text, escaped for an element or for an attribute in double quotes. */
void pages_put_text(struct buf *out, const char *text);

/* Sends the page, and releases html. */
void pages_reply_html(struct request *rq, struct buf *html);

/* Sends the asset, which browsers then keep for good; 404 when it is NULL or its file is not
 * there. */
void pages_reply_asset(struct request *rq, const struct asset *asset);

/* A word that changes whenever a file of the console does, in the arena.  It is a folder in their
 * addresses, and no query, because modules import each other by relative names. */
const char *console_build(const char *dir, struct arena *arena);

#endif
