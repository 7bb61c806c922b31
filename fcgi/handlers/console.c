/* SPDX-License-Identifier: ISC */
/* The console: one page and its modules (doc/console.md). */
#include "fcgi/handlers/pages.h"

#include "base/hash.h"
#include "fcgi/handlers/handlers.h"
#include "fcgi/request/request.h"
#include "fcgi/server.h"
#include "fcgi/texts.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODULE(name)                                                \
	{                                                           \
#name ".js", PAGES_SCRIPT, text_console_##name##_js \
	}

static const struct asset assets[] = {
    {"console.css", PAGES_STYLE, text_console_console_css},
    MODULE(api),
    MODULE(app),
    MODULE(asked),
    MODULE(audio),
    MODULE(branches),
    MODULE(chat),
    MODULE(dom),
    MODULE(drawing),
    MODULE(evaluations),
    MODULE(files),
    MODULE(graph),
    MODULE(history),
    MODULE(list),
    MODULE(live),
    MODULE(memory),
    MODULE(message),
    MODULE(plot),
    MODULE(run),
    MODULE(runs),
    MODULE(service),
    MODULE(text),
    MODULE(thread),
    MODULE(threads),
    MODULE(turn),
};

/* Others' libraries, which the build found or not; the page does without any of them. */
static const struct asset libraries[] = {
    {"marked.js", PAGES_SCRIPT, NULL},
    {"diff.js", PAGES_SCRIPT, NULL},
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

const char *console_build(const char *dir, struct arena *arena)
{
	uint64_t hash = hash_text(HASH_START, AGENTGRAPH_VERSION);
	for (size_t i = 0; i < COUNT(assets); i++)
		hash = hash_text(hash, assets[i].text);
	for (size_t i = 0; i < COUNT(libraries); i++) {
		size_t size;
		struct stat st;
		int fd = pages_open(dir, libraries[i].name, &size);
		if (fd < 0)
			continue;
		if (fstat(fd, &st) == 0)
			hash = hash_text(hash,
			    arena_printf(arena, "%s %zu %lld", libraries[i].name, size,
				(long long)st.st_mtime));
		close(fd);
	}
	return arena_printf(arena, "%016" PRIx64, hash);
}

/* The modules of the view that is shown first.  The page names them all at once, so that none is
 * found only when another one has arrived. */
static const char *const chat_modules[] = {
    "api", "dom", "chat", "asked", "branches", "drawing", "list", "message", "text", "turn", NULL};
static const char *const live_modules[] = {"api", "dom", "live", NULL};

static bool console_has_library(const struct request *rq, const char *name)
{
	size_t size;
	int fd = pages_open(rq->server->pages, name, &size);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Addresses are relative to the page's, so that they hold below any prefix. */
void get_console(struct request *rq)
{
	const struct service *service = rq->server->service;
	const struct config *config = service->config;
	const char *const *module = service->graph->live ? live_modules : chat_modules;
	const char *path = config->env.console_path, *base;
	struct buf at = {0}, html = {0};
	pages_put_text(&at, strrchr(path, '/') + 1);
	buf_printf(&at, "/%s", rq->server->console);
	base = buf_str(&at);
	pages_put_head(&html, config->env.app_name, ": console");
	buf_printf(&html, "<link rel=\"stylesheet\" href=\"%s/console.css\">\n", base);
	for (; *module; module++)
		buf_printf(
		    &html, "<link rel=\"modulepreload\" href=\"%s/%s.js\">\n", base, *module);
	buf_printf(&html, "<script type=\"module\" src=\"%s/app.js\"></script>\n", base);
	/* after the page's own modules, as the first view does not need it */
	if (console_has_library(rq, "marked.js"))
		buf_printf(&html, "<script defer src=\"%s/marked.js\"></script>\n", base);
	buf_release(&at);
	buf_puts(&html, "<body data-root=\"./");
	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/'))
		buf_puts(&html, "../");
	buf_puts(&html, "\" data-name=\"");
	pages_put_text(&html, config->env.app_name);
	buf_puts(&html, "\"");
	/* what the page is told of the service, so that it need not ask */
	const struct {
		const char *name;
		bool yes;
	} facts[] = {
	    {"tokens", config->auth != AUTH_NONE},
	    {"live", service->graph->live},
	    {"store", service->memories},
	    {"evaluations", config->evals_served},
	    {"differences", console_has_library(rq, "diff.js")},
	};
	for (size_t i = 0; i < COUNT(facts); i++)
		buf_printf(&html, " data-%s=\"%s\"", facts[i].name, facts[i].yes ? "yes" : "");
	buf_puts(
	    &html, ">\n<noscript>The console needs JavaScript.</noscript>\n</body>\n</html>\n");
	rq->response->security = SECURITY_CONSOLE;
	pages_reply_html(rq, &html);
}

/* The address has the build: a file of another one would not fit the page that asks for it. */
void get_console_asset(struct request *rq)
{
	const char *build = rq->match.ids[0], *name = rq->match.ids[1];
	const struct asset *found = NULL;
	for (size_t i = 0; i < COUNT(assets); i++)
		if (!strcmp(assets[i].name, name))
			found = &assets[i];
	for (size_t i = 0; i < COUNT(libraries); i++)
		if (!strcmp(libraries[i].name, name))
			found = &libraries[i];
	pages_reply_asset(rq, strcmp(build, rq->server->console) == 0 ? found : NULL);
}
