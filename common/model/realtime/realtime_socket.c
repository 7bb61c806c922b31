/* SPDX-License-Identifier: ISC */
/* The thread of a connection, its two queues, and libwebsockets' callback. */
#include "model/realtime/realtime_socket.h"

#include "base/buf.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "model/realtime/realtime_lws.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define CONNECT_S 10
#define LONGEST_MESSAGE ((size_t)16 << 20)
#define QUEUED_MOST ((size_t)4 << 20) /* unread messages; then no more is read */
#define RX_BUFFER 16384
#define EXIT_WAIT_MS 300
/* Without this libwebsockets takes http_proxy, for TLS too, and knows no exceptions. */
#define NO_PROXY ":0"

struct message {
	struct message *next;
	size_t len;
	char data[]; /* in a message to be sent the text stands behind LWS_PRE bytes */
};

struct messages {
	struct message *first, **last;
	size_t bytes;
};

struct realtime_socket {
	const struct realtime_lws *lws;
	struct realtime_address address;
	char *header, *value;
	int wake;  /* an eventfd, for the owner */
	bool told; /* the owner was told of the end */

	/* the thread's own */
	struct lws *wsi;
	struct buf partial;
	bool open, paused, over;

	pthread_mutex_t lock;
	/* guarded by lock */
	struct lws_context *context; /* NULL when there is none */
	struct messages in, out;
	char *why; /* why it was closed; NULL: it was not yet */
	bool opened, closing;
	int owners;
};

/* ---- Messages */

static void realtime_socket_messages_add(struct messages *q, struct message *m)
{
	m->next = NULL;
	*(q->last ? q->last : &q->first) = m;
	q->last = &m->next;
	q->bytes += sizeof(*m) + m->len; /* else empty ones would cost nothing */
}

static struct message *realtime_socket_messages_take(struct messages *q)
{
	struct message *m = q->first;
	if (!m)
		return NULL;
	q->first = m->next;
	if (!q->first)
		q->last = NULL;
	q->bytes -= sizeof(*m) + m->len;
	return m;
}

static struct message *realtime_socket_message_new(const char *text, size_t len, size_t before)
{
	struct message *m = xmalloc(sizeof(*m) + before + len + 1);
	m->len = len;
	memcpy(m->data + before, text, len);
	m->data[before + len] = '\0';
	return m;
}

/* ---- Both sides */

static void realtime_socket_wake_owner(struct realtime_socket *s)
{
	uint64_t one = 1;
	if (write(s->wake, &one, sizeof(one)) < 0)
		return; /* it is full of wake-ups already */
}

static void realtime_socket_release(struct realtime_socket *s)
{
	struct message *m;
	pthread_mutex_lock(&s->lock);
	bool last = --s->owners == 0;
	pthread_mutex_unlock(&s->lock);
	if (!last)
		return;
	while ((m = realtime_socket_messages_take(&s->in)))
		free(m);
	while ((m = realtime_socket_messages_take(&s->out)))
		free(m);
	realtime_address_release(&s->address);
	secret_free(s->value);
	free(s->header);
	free(s->why);
	buf_release(&s->partial);
	close(s->wake);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* ---- The thread's side */

/* Ends the connection.  The first reason stays; why is taken over. */
static void realtime_socket_end(struct realtime_socket *s, char *why)
{
	pthread_mutex_lock(&s->lock);
	if (s->why)
		free(why);
	else
		s->why = why;
	pthread_mutex_unlock(&s->lock);
	s->over = true;
	realtime_socket_wake_owner(s);
}

/* The status and the reason of a close frame. */
static void realtime_socket_note_close(
    struct realtime_socket *s, const unsigned char *data, size_t len)
{
	pthread_mutex_lock(&s->lock);
	if (!s->why && len >= 2)
		s->why = xasprintf("it closed with %d%s%.*s", data[0] << 8 | data[1],
		    len > 2 ? ": " : "", (int)(len - 2), (const char *)data + 2);
	pthread_mutex_unlock(&s->lock);
}

static int realtime_socket_receive(struct realtime_socket *s, const char *data, size_t len)
{
	if (s->partial.len + len > LONGEST_MESSAGE) {
		realtime_socket_end(s, xstrdup("it sent a message of more than 16 MiB"));
		return -1;
	}
	buf_add(&s->partial, data, len);
	if (s->lws->remaining_packet_payload(s->wsi) > 0 || !s->lws->is_final_fragment(s->wsi))
		return 0;
	struct message *m = realtime_socket_message_new(buf_str(&s->partial), s->partial.len, 0);
	buf_reset(&s->partial);
	pthread_mutex_lock(&s->lock);
	realtime_socket_messages_add(&s->in, m);
	s->paused = s->in.bytes > QUEUED_MOST;
	pthread_mutex_unlock(&s->lock);
	if (s->paused)
		s->lws->rx_flow_control(s->wsi, 0);
	realtime_socket_wake_owner(s);
	return 0;
}

static bool realtime_socket_is_closing(struct realtime_socket *s)
{
	pthread_mutex_lock(&s->lock);
	bool closing = s->closing;
	pthread_mutex_unlock(&s->lock);
	return closing;
}

static int realtime_socket_send_next(struct realtime_socket *s)
{
	pthread_mutex_lock(&s->lock);
	struct message *m = realtime_socket_messages_take(&s->out);
	bool more = s->out.first;
	pthread_mutex_unlock(&s->lock);
	if (!m)
		return 0;
	unsigned char *text = (unsigned char *)m->data + LWS_PRE;
	int sent = s->lws->write(s->wsi, text, m->len, LWS_WRITE_TEXT);
	free(m);
	if (sent < 0)
		return -1;
	if (more)
		s->lws->callback_on_writable(s->wsi);
	else
		realtime_socket_wake_owner(s);
	return 0;
}

/* Looks at what the owner has done. */
static void realtime_socket_look(struct realtime_socket *s)
{
	if (!s->open)
		return;
	pthread_mutex_lock(&s->lock);
	bool more = s->out.first || s->closing,
	     resume = s->paused && s->in.bytes <= QUEUED_MOST / 2;
	pthread_mutex_unlock(&s->lock);
	if (more)
		s->lws->callback_on_writable(s->wsi);
	if (resume) {
		s->paused = false;
		s->lws->rx_flow_control(s->wsi, 1);
	}
}

static int realtime_socket_callback(
    struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t len)
{
	const char *unused;
	const struct realtime_lws *lws = realtime_lws(&unused);
	struct realtime_socket *s = lws->context_user(lws->get_context(wsi));
	(void)user;
	switch ((int)reason) {
	case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER:
		s->wsi = wsi;
		if (!s->value)
			return 0;
		return lws->add_http_header_by_name(wsi, (const unsigned char *)s->header,
		    (const unsigned char *)s->value, (int)strlen(s->value), in,
		    *(unsigned char **)in + len);
	case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
		/* what libwebsockets says does not concern clients */
		if (in)
			log_warning("no connection to %s: %.*s", s->address.host, (int)len,
			    (const char *)in);
		realtime_socket_end(s, xstrdup("it cannot be connected to"));
		return 0;
	case LWS_CALLBACK_CLIENT_ESTABLISHED:
		s->wsi = wsi;
		s->open = true;
		pthread_mutex_lock(&s->lock);
		s->opened = true;
		pthread_mutex_unlock(&s->lock);
		realtime_socket_wake_owner(s);
		realtime_socket_look(s);
		return 0;
	case LWS_CALLBACK_CLIENT_RECEIVE:
		return realtime_socket_receive(s, in, len);
	case LWS_CALLBACK_CLIENT_WRITEABLE:
		if (!realtime_socket_is_closing(s))
			return realtime_socket_send_next(s);
		lws->close_reason(wsi, LWS_CLOSE_STATUS_NORMAL, NULL, 0);
		return -1;
	case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
		realtime_socket_look(s);
		return 0;
	case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
		realtime_socket_note_close(s, in, len);
		return 0;
	case LWS_CALLBACK_CLIENT_CLOSED:
		s->open = false;
		realtime_socket_end(s, xstrdup("the connection broke"));
		return 0;
	}
	return 0;
}

static const struct lws_protocols protocols[] = {
    {.name = "realtime", .callback = realtime_socket_callback, .rx_buffer_size = RX_BUFFER},
    {.name = NULL}};

/* Gemini has been seen to take half a minute for a pong while nobody speaks. */
static const lws_retry_bo_t patience = {.secs_since_valid_ping = 20, .secs_since_valid_hangup = 65};

static void realtime_socket_connect(struct realtime_socket *s)
{
	const struct realtime_address *a = &s->address;
	const char *open = strchr(a->host, ':') ? "[" : "", *shut = *open ? "]" : "";
	char *host = a->port == (a->tls ? 443 : 80)
	    ? xasprintf("%s%s%s", open, a->host, shut)
	    : xasprintf("%s%s%s:%d", open, a->host, shut, a->port);
	const struct lws_client_connect_info info = {.context = s->context,
	    .address = a->host,
	    .port = a->port,
	    .path = a->path,
	    .host = host,
	    /* a redirect would get the key */
	    .ssl_connection = LCCSCF_HTTP_NO_FOLLOW_REDIRECT | (a->tls ? LCCSCF_USE_SSL : 0),
	    .local_protocol_name = "realtime",
	    .ietf_version_or_minus_one = -1,
	    .alpn = "http/1.1",
	    .retry_and_idle_policy = &patience,
	    .pwsi = &s->wsi};
	if (!s->lws->client_connect_via_info(&info))
		realtime_socket_end(s, xstrdup("it cannot be connected to"));
	free(host);
}

/* How many threads there are: a process that ends waits a little for them, so that providers are
 * told. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t less;
	int count;
} threads = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

static void realtime_socket_count_thread(int by)
{
	pthread_mutex_lock(&threads.lock);
	threads.count += by;
	pthread_cond_broadcast(&threads.less);
	pthread_mutex_unlock(&threads.lock);
}

static void realtime_socket_wait_for_threads(void)
{
	int64_t end = clock_monotonic_ms() + EXIT_WAIT_MS;
	pthread_mutex_lock(&threads.lock);
	while (threads.count > 0 && clock_cond_wait(&threads.less, &threads.lock, end))
		continue;
	pthread_mutex_unlock(&threads.lock);
}

static void realtime_socket_wait_at_exit(void)
{
	atexit(realtime_socket_wait_for_threads);
}

/* Whether the connection may go on. */
static bool realtime_socket_set_context(struct realtime_socket *s, struct lws_context *context)
{
	pthread_mutex_lock(&s->lock);
	s->context = context;
	bool closing = s->closing;
	pthread_mutex_unlock(&s->lock);
	return !closing;
}

static void *realtime_socket_serve(void *arg)
{
	struct realtime_socket *s = arg;
	const struct lws_context_creation_info info = {.port = CONTEXT_PORT_NO_LISTEN,
	    .protocols = protocols,
	    .gid = (gid_t)-1,
	    .uid = (uid_t)-1,
	    .options = s->address.tls ? LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT : 0,
	    .user = s,
	    .timeout_secs = CONNECT_S,
	    .connect_timeout_secs = CONNECT_S,
	    .fd_limit_per_thread = 8,
	    .http_proxy_address = NO_PROXY,
	    .retry_and_idle_policy = &patience};
	struct lws_context *context = s->lws->create_context(&info);
	if (!context) {
		realtime_socket_end(s, xstrdup("libwebsockets cannot be used"));
	} else if (realtime_socket_set_context(s, context)) {
		realtime_socket_connect(s);
		while (!s->over && (s->open || !realtime_socket_is_closing(s)) &&
		    s->lws->service(context, 0) >= 0) {
		}
	}
	realtime_socket_set_context(s, NULL);
	if (context)
		s->lws->context_destroy(context);
	realtime_socket_release(s);
	realtime_socket_count_thread(-1);
	return NULL;
}

/* ---- The owner's side */

struct realtime_socket *realtime_socket_open(
    const struct realtime_address *address, const char *header, const char *value, const char **why)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_t thread;
	const struct realtime_lws *lws = realtime_lws(why);
	if (!lws)
		return NULL;
	struct realtime_socket *s = xcalloc(1, sizeof(*s));
	s->lws = lws;
	s->address = *address;
	s->address.host = xstrdup(address->host);
	s->address.path = xstrdup(address->path);
	s->header = xstrdup(header);
	s->value = xstrdup(value);
	s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&s->lock, NULL);
	if (s->wake >= 0) {
		pthread_once(&once, realtime_socket_wait_at_exit);
		s->owners = 2; /* the thread is one */
		realtime_socket_count_thread(1);
		if (pthread_create(&thread, NULL, realtime_socket_serve, s) == 0) {
			pthread_detach(thread);
			return s;
		}
		realtime_socket_count_thread(-1);
	}
	*why = "a thread cannot be started";
	s->owners = 1;
	realtime_socket_release(s);
	return NULL;
}

static void realtime_socket_wake_thread(struct realtime_socket *s)
{
	if (s->context)
		s->lws->cancel_service(s->context);
}

void realtime_socket_close(struct realtime_socket *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->closing = true;
	realtime_socket_wake_thread(s);
	pthread_mutex_unlock(&s->lock);
	realtime_socket_release(s);
}

int realtime_socket_descriptor(const struct realtime_socket *s)
{
	return s->wake;
}

void realtime_socket_send(struct realtime_socket *s, const char *text)
{
	struct message *m = realtime_socket_message_new(text, strlen(text), LWS_PRE);
	pthread_mutex_lock(&s->lock);
	realtime_socket_messages_add(&s->out, m);
	realtime_socket_wake_thread(s);
	pthread_mutex_unlock(&s->lock);
}

size_t realtime_socket_waiting(struct realtime_socket *s)
{
	pthread_mutex_lock(&s->lock);
	size_t bytes = s->out.bytes;
	pthread_mutex_unlock(&s->lock);
	return bytes;
}

enum realtime_news realtime_socket_take(struct realtime_socket *s, char **text, size_t *len)
{
	uint64_t count;
	*text = NULL;
	*len = 0;
	if (read(s->wake, &count, sizeof(count)) < 0)
		count = 0; /* nothing new, but something may be left */
	pthread_mutex_lock(&s->lock);
	bool was_full = s->in.bytes > QUEUED_MOST / 2;
	struct message *m = s->opened ? NULL : realtime_socket_messages_take(&s->in);
	enum realtime_news news = REALTIME_NOTHING;
	if (s->opened) {
		s->opened = false;
		news = REALTIME_OPENED;
	} else if (m) {
		*len = m->len;
		*text = xmalloc(m->len + 1);
		memcpy(*text, m->data, m->len + 1);
		free(m);
		news = REALTIME_MESSAGE;
	} else if (s->why && !s->told) {
		s->told = true;
		*text = xstrdup(s->why);
		*len = strlen(*text);
		news = REALTIME_CLOSED;
	}
	if (was_full && s->in.bytes <= QUEUED_MOST / 2)
		realtime_socket_wake_thread(s);
	pthread_mutex_unlock(&s->lock);
	return news;
}
