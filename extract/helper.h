/* SPDX-License-Identifier: ISC */
/* Documents that other programs read: PDF by pdftotext, RTF and DOC by catdoc.  The programs read
 * standard input, which holds the document, and write to standard output. */
#ifndef AGENTGRAPH_EXTRACT_HELPER_H
#define AGENTGRAPH_EXTRACT_HELPER_H

#include <stddef.h>

/* As many pages as this are too many, as are entries of an archive. */
#define HELPER_PAGES 10000

/* Becomes the other program, so it returns only when there is no text: why, static. */
const char *helper_pdf(void);
const char *helper_word(const char *data, size_t len);

#endif
