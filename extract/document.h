/* SPDX-License-Identifier: ISC */
/*
 * Readers for each type of document (doc/protocol-files.md#upload), as pure functions from bytes to
 * text: they open nothing and ask nothing of the world, so that they can run in the cage.
 *
 * Each returns NULL, or why there is no text: part of a sentence, static.  PDF, RTF and DOC are
 * read by other programs.
 */
#ifndef AGENTGRAPH_EXTRACT_DOCUMENT_H
#define AGENTGRAPH_EXTRACT_DOCUMENT_H

#include "extract/prose.h"

#define DOCUMENT_UNPACKED (50 << 20) /* bytes that may come out of an archive, or be parsed */
#define DOCUMENT_RATIO 100           /* how many times an archive's size those may be */
#define DOCUMENT_ENTRIES 10000       /* an archive with more entries is refused */

typedef const char *document_reader(struct prose *out, const char *data, size_t len);

/* Packages: XML in a ZIP archive. */
document_reader document_docx, document_pptx, document_xlsx, document_odt;

/* Texts in UTF-8. */
document_reader document_html, document_xml, document_plain;

/* A PDF with so many pages is refused, as is an archive with so many entries. */
#define HELPER_PAGES 10000

/*
 * Read PDF by pdftotext, and RTF and DOC by catdoc.  This process becomes the other program, which
 * reads the document from standard input and writes to standard output.  So these return only if
 * there is no text: why, static.
 */
const char *helper_pdf(void);
const char *helper_word(const char *data, size_t len);

#endif
