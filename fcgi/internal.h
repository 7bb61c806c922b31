/* SPDX-License-Identifier: ISC */
/*
 * What is for the machine itself and stands in no table of routes.
 *
 * A request is internal when the web server's own configuration says so, by the FastCGI parameter
 * AGENTGRAPH_INTERNAL: a header of a client always arrives as HTTP_…, so no client can set it.
 * Whoever can connect to the socket may ask.
 */
#ifndef AGENTGRAPH_FCGI_INTERNAL_H
#define AGENTGRAPH_FCGI_INTERNAL_H

struct request;

/* Answers it: the value `metrics` with numbers in Prometheus's text format, any other with 404. */
void internal_answer(struct request *rq);

#endif
