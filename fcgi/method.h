/* SPDX-License-Identifier: ISC */
/* The HTTP methods that routes can have, as bits, so that a set of them is one number. */
#ifndef AGENTGRAPH_FCGI_METHOD_H
#define AGENTGRAPH_FCGI_METHOD_H

enum method {
	METHOD_OTHER = 0,
	METHOD_DELETE = 1,
	METHOD_GET = 2,
	METHOD_HEAD = 4,
	METHOD_OPTIONS = 8,
	METHOD_POST = 16,
	METHOD_PUT = 32
};

#define METHOD_LIST_SIZE 64

/* METHOD_OTHER for every name that no route has; names are case-sensitive (RFC 9110 9.1). */
enum method method_parse(const char *name);
const char *method_name(enum method method);

/* "GET, HEAD, OPTIONS": the set in alphabetical order, for Allow.  Returns out. */
char *method_list(unsigned set, char out[METHOD_LIST_SIZE]);

#endif
