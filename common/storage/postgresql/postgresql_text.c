/* SPDX-License-Identifier: ISC */
/* Making PostgreSQL's text of a statement: names of parameters become numbers. */
#include "storage/postgresql/postgresql_internal.h"

#include "base/buf.h"
#include "base/memory.h"

#include <assert.h>
#include <ctype.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static _Atomic(struct postgresql_text *) texts[SQL_COUNT];
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER; /* held while a text is made */

static int text_number(struct postgresql_text *t, const char *name, size_t len)
{
	for (int i = 0; i < t->count; i++)
		if (strlen(t->names[i]) == len && strncmp(t->names[i], name, len) == 0)
			return i + 1;
	assert(t->count < POSTGRESQL_PARAMETERS);
	t->names[t->count++] = xstrndup(name, len);
	return t->count;
}

/* Makes the text.  Quoted strings, and casts (::), stay as they are. */
static struct postgresql_text *text_make(const char *sql)
{
	struct postgresql_text *t = xcalloc(1, sizeof(*t));
	struct buf out = {0};
	const char *s = sql;
	while (*s) {
		if (*s == '\'') {
			size_t len = strcspn(s + 1, "'") + 2;
			buf_add(&out, s, len);
			s += len;
		} else if (strncmp(s, "::", 2) == 0) {
			buf_puts(&out, "::");
			s += 2;
		} else if (*s == ':' && isalpha((unsigned char)s[1])) {
			size_t len = 1;
			while (isalnum((unsigned char)s[len]) || s[len] == '_')
				len++;
			buf_printf(&out, "$%d", text_number(t, s, len));
			s += len;
		} else {
			buf_putc(&out, *s++);
		}
	}
	t->sql = xstrdup(buf_str(&out));
	t->gives_number = strncmp(t->sql, "INSERT", 6) == 0 && strstr(t->sql, "RETURNING");
	buf_release(&out);
	return t;
}

const struct postgresql_text *postgresql_text(enum sql_id id)
{
	struct postgresql_text *t = atomic_load(&texts[id]);
	if (t)
		return t;
	pthread_mutex_lock(&making);
	t = atomic_load(&texts[id]);
	if (!t) {
		t = text_make(sql_statements[id].postgresql);
		atomic_store(&texts[id], t);
	}
	pthread_mutex_unlock(&making);
	return t;
}
