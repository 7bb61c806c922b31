/* SPDX-License-Identifier: ISC */
/* Who sends a request, before it says so itself. */
#ifndef AGENTGRAPH_FCGI_ADMISSION_CALLER_H
#define AGENTGRAPH_FCGI_ADMISSION_CALLER_H

struct request;

/* The client's address, in its normal form. */
const char *caller_address(struct request *rq);

#endif
