/* SPDX-License-Identifier: ISC */
/* Walking through an archive, and feeding its parts to parsers within the limits. */
#include "extract/package.h"

#include "base/memory.h"
#include "extract/document.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK 65536

/* The text of one part. */
struct piece {
	unsigned long order;
	size_t place; /* in the archive */
	struct prose out;
};

struct reading {
	const struct package *package;
	struct archive *archive;
	size_t packed;          /* bytes of the archive */
	int64_t told, unpacked; /* bytes that it says it unpacks to, and those that were unpacked */
	size_t entries;
	struct piece *pieces;
	size_t count;
	size_t characters; /* in all pieces */
	const char *why;   /* NULL while all is well */
};

static bool package_refuse(struct reading *r, const char *why)
{
	if (!r->why)
		r->why = why;
	return false;
}

static bool package_fits(struct reading *r, int64_t unpacked)
{
	if (unpacked > DOCUMENT_UNPACKED)
		return package_refuse(r, "the archive unpacks to more than 50 MiB");
	if (unpacked / DOCUMENT_RATIO > (int64_t)r->packed)
		return package_refuse(r, "the archive unpacks to more than 100 times its size");
	return true;
}

/* ---- one part ---- */

static void package_read_part(struct reading *r, unsigned long order)
{
	void *state = xcalloc(1, r->package->state_size);
	r->pieces = xrealloc(r->pieces, (r->count + 1) * sizeof(*r->pieces));
	r->pieces[r->count] = (struct piece){.order = order, .place = r->count};
	struct part part = {
	    .out = &r->pieces[r->count++].out, .state = state, .shared = r->package->shared};
	part.xml = xml_new(r->package->events, &part, XML_AS_DECLARED);
	char chunk[CHUNK];
	la_ssize_t n;
	for (bool more = true;
	     more && (n = archive_read_data(r->archive, chunk, sizeof(chunk))) != 0;) {
		if (n < 0) {
			package_refuse(r, "the archive is damaged or encrypted");
			break;
		}
		r->unpacked += n;
		more = package_fits(r, r->unpacked) && xml_feed(part.xml, chunk, (size_t)n);
	}
	const char *why = xml_end(part.xml);
	if (why)
		package_refuse(r, why);
	xml_free(part.xml);
	free(state);
}

/* ---- all of them ---- */

static int package_compare(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

/* Drops the last pieces, if those before them fill the text already. */
static void package_drop_surplus(struct reading *r)
{
	for (;;) {
		struct piece *last = NULL;
		for (size_t i = 0; i < r->count; i++)
			if (r->pieces[i].out.characters &&
			    (!last || package_compare(&r->pieces[i], last) > 0))
				last = &r->pieces[i];
		if (!last || r->characters - last->out.characters < PROSE_CHARACTERS)
			return;
		r->characters -= last->out.characters;
		prose_release(&last->out);
		last->out = (struct prose){0};
	}
}

static bool package_admit(struct reading *r, struct archive_entry *entry)
{
	if (++r->entries > DOCUMENT_ENTRIES)
		return package_refuse(r, "the archive has more than 10000 entries");
	if (archive_entry_is_encrypted(entry))
		return package_refuse(r, "the archive is encrypted");
	int64_t size = archive_entry_size(entry);
	r->told += size > 0 && size <= DOCUMENT_UNPACKED ? size : 0;
	return size > DOCUMENT_UNPACKED ? package_fits(r, size) : package_fits(r, r->told);
}

/* Whether the pieces before a part of that order leave room for any of it. */
static bool package_has_room(const struct reading *r, unsigned long order)
{
	const struct piece next = {.order = order, .place = r->count};
	size_t before = 0;
	for (size_t i = 0; i < r->count; i++)
		if (package_compare(&r->pieces[i], &next) < 0)
			before += r->pieces[i].out.characters;
	return before < PROSE_CHARACTERS;
}

const char *package_read(
    const struct package *p, struct prose *out, const char *data, size_t len, size_t *count)
{
	struct reading r = {.package = p, .packed = len, .archive = archive_read_new()};
	struct archive_entry *entry;
	unsigned long order;
	int got;
	if (!r.archive)
		abort();
	archive_read_support_format_zip_seekable(r.archive);
	if (archive_read_open_memory(r.archive, data, len) != ARCHIVE_OK)
		package_refuse(&r, "it is no ZIP archive, or a damaged one");
	/* the whole archive: an entry that nobody reads may make it a bomb */
	while (!r.why && (got = archive_read_next_header(r.archive, &entry)) != ARCHIVE_EOF) {
		if (got != ARCHIVE_OK && got != ARCHIVE_WARN) {
			package_refuse(&r, "it is no ZIP archive, or a damaged one");
			break;
		}
		const char *name = archive_entry_pathname_utf8(entry);
		if (!name)
			name = archive_entry_pathname(entry);
		if (!package_admit(&r, entry) || !p->wanted(name ? name : "", &order) ||
		    !package_has_room(&r, order))
			continue;
		package_read_part(&r, order);
		r.characters += r.pieces[r.count - 1].out.characters;
		if (r.characters > PROSE_CHARACTERS)
			package_drop_surplus(&r);
	}
	archive_read_free(r.archive);
	*count = r.count;
	if (r.count)
		qsort(r.pieces, r.count, sizeof(*r.pieces), package_compare);
	for (size_t i = 0; i < r.count; i++) {
		prose_break(out);
		prose_add(out, buf_str(&r.pieces[i].out.out), r.pieces[i].out.out.len);
		prose_release(&r.pieces[i].out);
	}
	free(r.pieces);
	return r.why;
}

bool package_number(const char *name, const char *prefix, unsigned long *order)
{
	size_t len = strlen(prefix);
	if (strncmp(name, prefix, len) != 0 || !strchr("0123456789", name[len]) || !name[len])
		return false;
	char *end;
	*order = strtoul(name + len, &end, 10);
	return strcmp(end, ".xml") == 0;
}
