/* SPDX-License-Identifier: ISC */
/*
 * The text of documents of each type (doc/protocol-files.md#upload), as pure functions from bytes
 * to text: nothing is opened, nothing is asked of the world, so that they run in the cage.
 *
 * Each returns NULL, or why there is no text: one sentence part, static.  PDF, RTF and DOC are read
 * by other programs.
 */
#ifndef AGENTGRAPH_EXTRACT_DOCUMENT_H
#define AGENTGRAPH_EXTRACT_DOCUMENT_H

#include "extract/prose.h"

#define DOCUMENT_UNPACKED (50 << 20) /* bytes that may come out of an archive, or be parsed */
#define DOCUMENT_RATIO 100
#define DOCUMENT_ENTRIES 10000

typedef const char *document_reader(struct prose *out, const char *data, size_t len);

/* Packages: XML in a ZIP archive. */
document_reader document_docx, document_pptx, document_xlsx, document_odt;

/* In UTF-8. */
document_reader document_html, document_xml, document_plain;

/* As many pages as this are too many, as are entries of an archive. */
#define HELPER_PAGES 10000

/*
 * PDF by pdftotext, RTF and DOC by catdoc.  Becomes the other program, which reads the document
 * from standard input and writes to standard output; so it returns only when there is no text: why,
 * static.
 */
const char *helper_pdf(void);
const char *helper_word(const char *data, size_t len);

#endif
