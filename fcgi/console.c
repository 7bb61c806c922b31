/* SPDX-License-Identifier: ISC */
/* The console: one page and its modules (doc/console.md). */
#include "pages.h"

#include "base/hash.h"
#include "handlers.h"
#include "request.h"
#include "server.h"
#include "texts.h"

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
    MODULE(audio),
    MODULE(branches),
    MODULE(chat),
    MODULE(differences),
    MODULE(dom),
    MODULE(drawing),
    MODULE(evaluations),
    MODULE(files),
    MODULE(graph),
    MODULE(history),
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

/* Addresses are relative to the page's, so that they hold below any prefix. */
void get_console(struct request *rq)
{
	const struct config *config = rq->server->service->config;
	const char *path = config->env.console_path;
	const char *base =
	    arena_printf(rq->call.arena, "%s/%s", strrchr(path, '/') + 1, rq->server->console);
	struct buf html = {0};
	pages_put_head(&html, config->env.app_name, ": console");
	buf_puts(&html, "<link rel=\"stylesheet\" href=\"");
	pages_put_text(&html, base);
	buf_puts(&html, "/console.css\">\n");
	for (size_t i = 0; i < COUNT(libraries); i++) {
		size_t size;
		int fd = pages_open(rq->server->pages, libraries[i].name, &size);
		if (fd < 0)
			continue;
		close(fd);
		buf_puts(&html, "<script defer src=\"");
		pages_put_text(&html, base);
		buf_printf(&html, "/%s\"></script>\n", libraries[i].name);
	}
	buf_puts(&html, "<script type=\"module\" src=\"");
	pages_put_text(&html, base);
	buf_puts(&html, "/app.js\"></script>\n<body data-root=\"./");
	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/'))
		buf_puts(&html, "../");
	buf_puts(&html, "\" data-name=\"");
	pages_put_text(&html, config->env.app_name);
	buf_printf(&html, "\" data-tokens=\"%s\" data-evaluations=\"%s\">\n",
	    config->auth == AUTH_NONE ? "" : "yes", config->evals_served ? "yes" : "");
	buf_puts(&html, "<noscript>The console needs JavaScript.</noscript>\n</body>\n</html>\n");
	rq->response->security = SECURITY_CONSOLE;
	pages_reply_html(rq, &html);
}

/* Files of another build are not those that the page means. */
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
