/* SPDX-License-Identifier: ISC */
/* Handles that are kept between calls, for the connections in them. */
#include "base/http/http.h"
#include "base/http/http_curl.h"
#include "base/memory.h"
#include "base/os/clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_MS 110000 /* libcurl itself uses no connection that was idle for longer than 118 s */
#define CONNECTIONS 4L /* most connections that a handle keeps, to as many origins */

/* The latest first.  The lock guards the list. */
static struct {
	pthread_mutex_t lock;
	struct http_handle *first;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void http_pool_before_fork(void)
{
	pthread_mutex_lock(&pool.lock);
}

static void http_pool_after_fork(void)
{
	pthread_mutex_unlock(&pool.lock);
}

/* Forgets the parent's handles without freeing them: to close them would end TLS on the parent's
 * connections. */
static void http_pool_in_child(void)
{
	pool.first = NULL;
	pthread_mutex_init(&pool.lock, NULL);
}

static void http_pool_watch_forks(void)
{
	pthread_atfork(http_pool_before_fork, http_pool_after_fork, http_pool_in_child);
}

static void http_pool_free_all(const struct http_curl *curl, struct http_handle *h)
{
	while (h) {
		struct http_handle *next = h->next;
		curl->easy_cleanup(h->easy);
		curl->multi_cleanup(h->multi);
		free(h->origin);
		free(h);
		h = next;
	}
}

/* Takes the first that went to origin last, or NULL. */
static struct http_handle *http_pool_take_kept(const char *origin)
{
	pthread_mutex_lock(&pool.lock);
	struct http_handle **at = &pool.first;
	while (*at && strcmp((*at)->origin, origin) != 0)
		at = &(*at)->next;
	if (!*at)
		at = &pool.first;
	struct http_handle *h = *at;
	if (h)
		*at = h->next;
	pthread_mutex_unlock(&pool.lock);
	return h;
}

static struct http_handle *http_pool_make(const struct http_curl *curl)
{
	struct http_handle *h = xcalloc(1, sizeof(*h));
	h->easy = curl->easy_init();
	h->multi = curl->multi_init();
	if (h->easy && h->multi) {
		curl->multi_setopt(h->multi, CURLMOPT_MAXCONNECTS, CONNECTIONS);
		return h;
	}
	http_pool_free_all(curl, h);
	return NULL;
}

struct http_handle *http_handle_take(const struct http_curl *curl, const char *url)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, http_pool_watch_forks);
	const char *host = strstr(url, "://");
	size_t scheme = host ? (size_t)(host - url) + 3 : 0;
	/* "https://host:port" of "https://host:port/path?query" */
	char *origin = xstrndup(url, scheme + strcspn(url + scheme, "/?#"));
	struct http_handle *h = http_pool_take_kept(origin);
	if (!h)
		h = http_pool_make(curl);
	if (!h) {
		free(origin);
		return NULL;
	}
	free(h->origin);
	h->origin = origin;
	h->message[0] = '\0';
	return h;
}

void http_handle_give(const struct http_curl *curl, struct http_handle *h)
{
	curl->easy_reset(h->easy);
	h->idle_since = clock_monotonic_ms();
	pthread_mutex_lock(&pool.lock);
	h->next = pool.first;
	pool.first = h;
	/* handles that were idle for too long are at the end of the list, and are cut off */
	struct http_handle **at = &pool.first;
	while (*at && h->idle_since - (*at)->idle_since < KEPT_MS)
		at = &(*at)->next;
	struct http_handle *stale = *at;
	*at = NULL;
	pthread_mutex_unlock(&pool.lock);
	http_pool_free_all(curl, stale);
}

void http_close_kept(void)
{
	pthread_mutex_lock(&pool.lock);
	struct http_handle *all = pool.first;
	pool.first = NULL;
	pthread_mutex_unlock(&pool.lock);
	const char *why;
	if (all)
		http_pool_free_all(http_curl(&why), all);
}
