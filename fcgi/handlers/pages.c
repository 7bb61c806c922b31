/* SPDX-License-Identifier: ISC */
/* The page at /, the OpenAPI document, and the pages that show it
 * (doc/protocol.md#the-openapi-document). */
#include "fcgi/handlers/pages.h"

#include "base/buf.h"
#include "base/memory.h"
#include "fcgi/handlers/handlers.h"
#include "fcgi/request/request.h"
#include "fcgi/server.h"
#include "fcgi/texts.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCRIPT PAGES_SCRIPT
#define STYLE PAGES_STYLE

/* The assets of each reference, in the order in which they are needed. */
static const struct asset docs[] = {{"swagger-ui.css", STYLE, NULL},
    {"swagger-ui-bundle.js", SCRIPT, NULL}, {"docs.js", SCRIPT, text_docs_js}, {NULL, NULL, NULL}};

static const struct asset redocs[] = {{"redoc.standalone.js", SCRIPT, NULL},
    {"redocs.js", SCRIPT, text_redocs_js}, {NULL, NULL, NULL}};

/* Stands for either of them where its files are not there. */
static const struct asset own[] = {{"reference.css", STYLE, text_reference_css},
    {"reference.js", SCRIPT, text_reference_js}, {NULL, NULL, NULL}};

/* ---- The directory ---- */

int pages_open(const char *dir, const char *name, size_t *size)
{
	struct stat st;
	char *path = xasprintf("%s/%s", dir ? dir : ".", name);
	int fd = dir ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	free(path);
	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	*size = (size_t)st.st_size;
	return fd;
}

/* ---- Pages ---- */

static bool pages_is_complete(const struct asset *asset, const char *dir)
{
	for (; asset->name; asset++) {
		size_t size;
		if (asset->text)
			continue;
		int fd = pages_open(dir, asset->name, &size);
		if (fd < 0)
			return false;
		close(fd);
	}
	return true;
}

void pages_put_text(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("&<>\"", *text))
			buf_printf(out, "&#%d;", *text);
		else
			buf_putc(out, *text);
	}
}

static void pages_put_asset(struct buf *out, const struct asset *asset, const char *base)
{
	bool script = !strcmp(asset->type, SCRIPT);
	buf_puts(out, script ? "<script src=\"" : "<link rel=\"stylesheet\" href=\"");
	pages_put_text(out, base);
	/* the version, because browsers keep it for good */
	buf_printf(out, "/assets/%s?v=" AGENTGRAPH_VERSION "\">%s\n", asset->name,
	    script ? "</script>" : "");
}

void pages_put_head(struct buf *out, const char *app_name, const char *title)
{
	buf_puts(out,
	    "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
	    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	    "<link rel=\"icon\" href=\"data:,\">\n<title>");
	pages_put_text(out, app_name);
	buf_printf(out, "%s</title>\n", title);
}

static void pages_put_link(struct buf *out, const char *root, const char *path, const char *words)
{
	buf_puts(out, "<a href=\"");
	pages_put_text(out, root);
	pages_put_text(out, path);
	buf_printf(out, "\">%s</a>", words);
}

void pages_reply_html(struct request *rq, struct buf *html)
{
	reply_bytes(rq,
	    "Content-Type: text/html; charset=utf-8\r\n"
	    "Cache-Control: no-cache\r\n",
	    html->data, html->len);
	buf_release(html);
}

/* Links have ROOT_PATH before them: what the paths are outside. */
static void pages_reply_reference(struct request *rq, const struct asset *assets, const char *path)
{
	const struct environment *env = &rq->server->service->config->env;
	const char *base = arena_printf(rq->call.arena, "%s%s", env->root_path, path);
	struct buf html = {0};
	if (!pages_is_complete(assets, rq->server->pages))
		assets = own;
	pages_put_head(&html, env->app_name, ": API reference");
	buf_puts(&html, "<div id=\"page\" data-document=\"");
	pages_put_text(&html, env->root_path);
	buf_puts(&html, "/openapi.json\">\n<p>The description of the API is ");
	pages_put_link(&html, env->root_path, "/openapi.json", "openapi.json");
	buf_puts(&html, ".</p>\n</div>\n");
	for (; assets->name; assets++)
		pages_put_asset(&html, assets, base);
	pages_reply_html(rq, &html);
}

/* Says what is served, and where to go from there.  Only the last part of the graph's path is
 * shown, because the folders of the machine are nobody's business. */
void get_home(struct request *rq)
{
	const struct config *config = rq->server->service->config;
	const struct environment *env = &config->env;
	const char *pages[] = {env->console_path, env->docs_path, env->redocs_path};
	const char *words[] = {"Console, to talk to the graph and see what it did",
	    "API reference, to try requests out", "API reference, to read"};
	const char *slash = strrchr(config->agent, '/');
	const char *style = NULL;
	struct buf html = {0}, links = {0};
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		if (!*pages[i])
			continue;
		buf_puts(&links, "<li>");
		pages_put_link(&links, env->root_path, pages[i], words[i]);
		buf_puts(&links, "</li>\n");
		style = style || i == 0 ? style : pages[i];
	}
	pages_put_head(&html, env->app_name, "");
	if (style)
		pages_put_asset(
		    &html, &own[0], arena_printf(rq->call.arena, "%s%s", env->root_path, style));
	buf_puts(&html, "<h1>");
	pages_put_text(&html, env->app_name);
	buf_puts(&html, "</h1>\n<p>");
	pages_put_text(&html, env->summary);
	buf_puts(&html, "</p>\n<p>The graph <code>");
	pages_put_text(&html, slash ? slash + 1 : config->agent);
	buf_puts(&html, "</code> is served by agentgraph " AGENTGRAPH_VERSION ".</p>\n<ul>\n");
	buf_puts(&html, buf_str(&links));
	buf_puts(&html, "<li>");
	pages_put_link(&html, env->root_path, "/openapi.json", "Description of the API");
	buf_puts(&html, "</li>\n<li>");
	pages_put_link(&html, env->root_path, "/ping", "Is it up?");
	buf_puts(&html, "</li>\n</ul>\n");
	buf_release(&links);
	pages_reply_html(rq, &html);
}

void get_docs(struct request *rq)
{
	pages_reply_reference(rq, docs, rq->server->service->config->env.docs_path);
}

void get_redocs(struct request *rq)
{
	pages_reply_reference(rq, redocs, rq->server->service->config->env.redocs_path);
}

/* ---- Assets ---- */

static void pages_send_asset(
    struct request *rq, const struct asset *asset, const char *data, size_t len)
{
	reply_bytes(rq,
	    arena_printf(rq->call.arena,
		"Content-Type: %s\r\n"
		"Cache-Control: public, max-age=31536000, immutable\r\n",
		asset->type),
	    data, len);
}

void pages_reply_asset(struct request *rq, const struct asset *asset)
{
	size_t size = 0;
	if (asset && asset->text) {
		pages_send_asset(rq, asset, asset->text, strlen(asset->text));
		return;
	}
	int fd = asset ? pages_open(rq->server->pages, asset->name, &size) : -1;
	void *data = fd >= 0 ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
	if (fd >= 0)
		close(fd);
	if (data == MAP_FAILED) {
		error_set(&rq->call.error, ERR_NOT_FOUND, NULL);
		reply_error(rq);
		return;
	}
	pages_send_asset(rq, asset, data, size);
	munmap(data, size);
}

static const struct asset *pages_find_asset(const struct asset *assets, const char *name)
{
	while (assets->name && strcmp(assets->name, name) != 0)
		assets++;
	return assets->name ? assets : NULL;
}

static void pages_reply_named(struct request *rq, const struct asset *assets)
{
	const char *name = rq->match.ids[0];
	const struct asset *asset = pages_find_asset(assets, name);
	pages_reply_asset(rq, asset ? asset : pages_find_asset(own, name));
}

void get_docs_asset(struct request *rq)
{
	pages_reply_named(rq, docs);
}

void get_redocs_asset(struct request *rq)
{
	pages_reply_named(rq, redocs);
}

/* ---- The document ---- */

void get_document(struct request *rq)
{
	const char *document = rq->server->document;
	reply_bytes(rq, "Content-Type: application/json\r\nCache-Control: no-store\r\n", document,
	    strlen(document));
}
