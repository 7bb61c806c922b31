/* The OpenAPI document and the pages that show it (WIRE 9.2). */
#include "pages.h"

#include "base/buf.h"
#include "base/memory.h"
#include "handlers.h"
#include "request.h"
#include "server.h"
#include "texts.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct asset {
	const char *name;
	const char *type;
	const char *text; /* NULL: a file of the directory */
};

#define SCRIPT "text/javascript; charset=utf-8"
#define ASSETS_MAX 4

struct reference {
	const char *title;
	struct asset assets[ASSETS_MAX]; /* in the order in which they are needed */
};

static const struct reference docs = {"API reference",
    {{"swagger-ui.css", "text/css; charset=utf-8", NULL}, {"swagger-ui-bundle.js", SCRIPT, NULL},
	{"docs.js", SCRIPT, text_docs_js}}};

static const struct reference redocs = {"API reference",
    {{"redoc.standalone.js", SCRIPT, NULL}, {"redocs.js", SCRIPT, text_redocs_js}}};

/* ---- The directory ---- */

static char *directory(const char *parent, const char *name)
{
	char *path = xasprintf("%s%s", parent, name);
	struct stat st;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return path;
	free(path);
	return NULL;
}

char *pages_directory(void)
{
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *path = NULL;
	if (len > 0) {
		self[len] = '\0';
		*strrchr(self, '/') = '\0';
		path = directory(self, "/web");
		if (!path)
			path = directory(self, "/../../share/agentgraph/web");
	}
	return path ? path : directory(AGENTGRAPH_DATADIR, "/web");
}

/* Opens a file of the directory, and tells its size; -1 when it is not there. */
static int open_asset(const char *dir, const char *name, size_t *size)
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

static bool is_complete(const struct reference *page, const char *dir)
{
	for (size_t i = 0; i < ASSETS_MAX && page->assets[i].name; i++) {
		size_t size;
		if (page->assets[i].text)
			continue;
		int fd = open_asset(dir, page->assets[i].name, &size);
		if (fd < 0)
			return false;
		close(fd);
	}
	return true;
}

/* Text as it may stand in an element or between double quotes. */
static void put_text(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("&<>\"", *text))
			buf_printf(out, "&#%d;", *text);
		else
			buf_putc(out, *text);
	}
}

static void put_asset(struct buf *out, const struct asset *asset, const char *base)
{
	bool script = !strcmp(asset->type, SCRIPT);
	buf_puts(out, script ? "<script src=\"" : "<link rel=\"stylesheet\" href=\"");
	put_text(out, base);
	/* the version, because browsers keep it for good */
	buf_printf(out, "/assets/%s?v=" AGENTGRAPH_VERSION "\">%s\n", asset->name,
	    script ? "</script>" : "");
}

/* What is behind ROOT_PATH outside: base is the page, document the description. */
static void put_body(struct buf *out, const struct reference *page, const char *base,
    const char *document, bool complete)
{
	buf_puts(out, "<div id=\"page\" data-document=\"");
	put_text(out, document);
	buf_puts(out, "\">\n<p>");
	if (!complete)
		buf_puts(out, "This page is not installed: agentgraph was built without it. ");
	buf_puts(out, "The description of the API is <a href=\"");
	put_text(out, document);
	buf_puts(out, "\">openapi.json</a>.</p>\n</div>\n");
	for (size_t i = 0; complete && i < ASSETS_MAX && page->assets[i].name; i++)
		put_asset(out, &page->assets[i], base);
}

static void reply_page(struct request *rq, const struct reference *page, const char *path)
{
	const struct environment *env = &rq->server->service->config->env;
	const char *base = arena_printf(rq->call.arena, "%s%s", env->root_path, path);
	const char *document = arena_printf(rq->call.arena, "%s/openapi.json", env->root_path);
	struct buf html = {0};
	buf_puts(&html,
	    "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
	    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	    "<link rel=\"icon\" href=\"data:,\">\n<title>");
	put_text(&html, env->app_name);
	buf_printf(&html, ": %s</title>\n", page->title);
	put_body(&html, page, base, document, is_complete(page, rq->server->pages));
	reply_bytes(rq,
	    "Content-Type: text/html; charset=utf-8\r\n"
	    "Cache-Control: no-cache\r\n",
	    html.data, html.len);
	buf_release(&html);
}

void get_docs(struct request *rq)
{
	reply_page(rq, &docs, rq->server->service->config->env.docs_path);
}

void get_redocs(struct request *rq)
{
	reply_page(rq, &redocs, rq->server->service->config->env.redocs_path);
}

/* ---- Assets ---- */

static void send_asset(struct request *rq, const struct asset *asset, const char *data, size_t len)
{
	reply_bytes(rq,
	    arena_printf(rq->call.arena,
		"Content-Type: %s\r\n"
		"Cache-Control: public, max-age=31536000, immutable\r\n",
		asset->type),
	    data, len);
}

static bool send_file(struct request *rq, const struct asset *asset)
{
	size_t size;
	int fd = open_asset(rq->server->pages, asset->name, &size);
	if (fd < 0)
		return false;
	void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (data == MAP_FAILED)
		return false;
	send_asset(rq, asset, data, size);
	munmap(data, size);
	return true;
}

static void reply_asset(struct request *rq, const struct reference *page)
{
	const char *name = rq->match.ids[0];
	for (size_t i = 0; i < ASSETS_MAX && page->assets[i].name; i++) {
		const struct asset *asset = &page->assets[i];
		if (strcmp(asset->name, name) != 0)
			continue;
		if (asset->text)
			send_asset(rq, asset, asset->text, strlen(asset->text));
		else if (!send_file(rq, asset))
			break;
		return;
	}
	error_set(&rq->call.error, ERR_NOT_FOUND, "%s", error_fixed_text(ERR_NOT_FOUND));
	reply_error(rq);
}

void get_docs_asset(struct request *rq)
{
	reply_asset(rq, &docs);
}

void get_redocs_asset(struct request *rq)
{
	reply_asset(rq, &redocs);
}

/* ---- The document ---- */

void get_document(struct request *rq)
{
	const char *document = rq->server->document;
	reply_bytes(rq, "Content-Type: application/json\r\nCache-Control: no-store\r\n", document,
	    strlen(document));
}
