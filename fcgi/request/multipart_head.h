/* SPDX-License-Identifier: ISC */
/* The texts of a multipart body: the boundary that announces it, and the header lines of its parts.
 */
#ifndef AGENTGRAPH_FCGI_REQUEST_MULTIPART_HEAD_H
#define AGENTGRAPH_FCGI_REQUEST_MULTIPART_HEAD_H

#include "fcgi/request/multipart.h"

/* The boundary of a Content-Type; false when that is no multipart/form-data or names none that is
 * allowed. */
bool multipart_boundary(const char *content_type, char out[MULTIPART_BOUNDARY_MAX + 1]);

/* Takes apart the lines of a part's head, the blank one included, whose texts then lie in the
 * buffer; false when they are no header lines. */
bool multipart_head(struct buf *head, struct multipart_part *part);

#endif
