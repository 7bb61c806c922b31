/* SPDX-License-Identifier: ISC */
/* Values that go to PostgreSQL as parameters, and come from it in columns. */
#include "storage/postgresql/postgresql_internal.h"

#include "base/memory.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Types of the server's catalogue, which never change their numbers. */
enum {
	TYPE_BOOL = 16,
	TYPE_BYTEA = 17,
	TYPE_INT8 = 20,
	TYPE_INT4 = 23,
	TYPE_TEXT = 25,
	TYPE_FLOAT8 = 701,
	TYPE_NUMERIC = 1700
};

/* ---- parameters ---- */

/* The index of a parameter; -1: the statement does not have it.  Most code binds parameters in the
 * order of the text, so the search begins with the next one. */
static int postgresql_parameter(struct query *q, const char *name)
{
	const struct postgresql_text *t = ((struct postgresql_query *)q->stmt)->text;
	for (int i = 0; i < t->count; i++) {
		int at = (q->bound + i) % t->count;
		if (strcmp(t->names[at], name) == 0) {
			q->bound = at + 1;
			return at;
		}
	}
	return -1;
}

void postgresql_bind_text(struct query *q, const char *name, const char *value, size_t len)
{
	struct postgresql_query *p = q->stmt;
	int at = postgresql_parameter(q, name);
	if (at < 0)
		return;
	free(p->owned[at]);
	/* libpq reads text up to its NUL */
	p->owned[at] = value && value[len] ? xstrndup(value, len) : NULL;
	p->values[at] = p->owned[at] ? p->owned[at] : value;
	p->types[at] = TYPE_TEXT;
	if (strcmp(name, ":filters") == 0)
		p->filters_at = at;
}

void postgresql_bind_integer(struct query *q, const char *name, int64_t value)
{
	struct postgresql_query *p = q->stmt;
	int at = postgresql_parameter(q, name);
	if (at < 0)
		return;
	free(p->owned[at]);
	p->values[at] = p->owned[at] = xasprintf("%" PRId64, value);
	p->types[at] = TYPE_INT8;
}

void postgresql_bind_blob(struct query *q, const char *name, const void *value, size_t size)
{
	struct postgresql_query *p = q->stmt;
	int at = postgresql_parameter(q, name);
	if (at < 0)
		return;
	p->values[at] = value;
	p->lengths[at] = (int)size;
	p->formats[at] = 1;
	p->types[at] = TYPE_BYTEA;
}

/* ---- columns ---- */

static bool value_is_null(struct query *q, int column)
{
	const struct postgresql_query *p = q->stmt;
	const struct libpq *pq = postgresql_pq_of(q->db);
	return column >= pq->nfields(p->result) || pq->getisnull(p->result, p->row, column);
}

enum db_kind postgresql_column_kind(struct query *q, int column)
{
	const struct postgresql_query *p = q->stmt;
	if (value_is_null(q, column))
		return DB_NULL;
	switch (postgresql_pq_of(q->db)->ftype(p->result, column)) {
	case TYPE_BOOL:
	case TYPE_INT4:
	case TYPE_INT8:
	case TYPE_NUMERIC:
		return DB_INT;
	case TYPE_FLOAT8:
		return DB_DOUBLE;
	case TYPE_BYTEA:
		return DB_BLOB;
	default:
		return DB_TEXT;
	}
}

const char *postgresql_column_text(struct query *q, int column)
{
	const struct postgresql_query *p = q->stmt;
	return value_is_null(q, column)
	    ? NULL
	    : postgresql_pq_of(q->db)->getvalue(p->result, p->row, column);
}

static uint64_t value_bits(const unsigned char *value, int len)
{
	uint64_t bits = 0;
	for (int i = 0; i < len; i++)
		bits = bits << 8 | value[i];
	return bits;
}

/* Reads a whole number in base 10000, sent as: number of digits, weight of the first, sign, scale,
 * digits. */
static int64_t value_numeric(const unsigned char *value)
{
	int digits = (int)value_bits(value, 2), weight = (int16_t)value_bits(value + 2, 2);
	bool negative = value_bits(value + 4, 2) == 0x4000;
	int64_t number = 0;
	for (int i = 0; i <= weight; i++)
		number =
		    number * 10000 + (i < digits ? (int64_t)value_bits(value + 8 + 2 * i, 2) : 0);
	return negative ? -number : number;
}

static double value_double(const unsigned char *value)
{
	uint64_t bits = value_bits(value, 8);
	double number;
	memcpy(&number, &bits, sizeof(number));
	return number;
}

int64_t postgresql_column_int(struct query *q, int column)
{
	const struct postgresql_query *p = q->stmt;
	const struct libpq *pq = postgresql_pq_of(q->db);
	const unsigned char *value;
	if (value_is_null(q, column))
		return 0;
	value = (const unsigned char *)pq->getvalue(p->result, p->row, column);
	switch (pq->ftype(p->result, column)) {
	case TYPE_BOOL:
		return *value;
	case TYPE_INT4:
		return (int32_t)value_bits(value, 4);
	case TYPE_INT8:
		return (int64_t)value_bits(value, 8);
	case TYPE_NUMERIC:
		return value_numeric(value);
	case TYPE_FLOAT8:
		return (int64_t)value_double(value);
	default:
		assert(!"a column that is no number");
		return 0;
	}
}

double postgresql_column_double(struct query *q, int column)
{
	const struct postgresql_query *p = q->stmt;
	const struct libpq *pq = postgresql_pq_of(q->db);
	if (value_is_null(q, column))
		return 0;
	if (pq->ftype(p->result, column) == TYPE_FLOAT8)
		return value_double((const unsigned char *)pq->getvalue(p->result, p->row, column));
	return (double)postgresql_column_int(q, column);
}

const void *postgresql_column_blob(struct query *q, int column, size_t *size)
{
	const struct postgresql_query *p = q->stmt;
	const struct libpq *pq = postgresql_pq_of(q->db);
	*size = 0;
	if (value_is_null(q, column))
		return NULL;
	*size = (size_t)pq->getlength(p->result, p->row, column);
	return pq->getvalue(p->result, p->row, column);
}
