/* SPDX-License-Identifier: ISC */
/* Addresses of http and https (RFC 3986), written in one way, so that they can be compared. */
#ifndef AGENTGRAPH_BASE_HTTP_URL_H
#define AGENTGRAPH_BASE_HTTP_URL_H

#include <stdbool.h>

/*
 * The address with scheme and host in small letters, no port where it is the scheme's own, escapes
 * as RFC 3986 6.2.2 writes them, a path without "." and "..", and no fragment; malloc'd.  NULL for
 * what is no such address, has user or password in it, or has characters that belong into none, so
 * that whoever asks for it later reads it the same way.
 */
char *url_normal(const char *text);

/* "https://host:port" of it, or without the port, as url_normal writes it;
 * malloc'd, NULL likewise. */
char *url_site(const char *text);

/* An address without the slashes at its end, malloc'd, and else as it is. */
char *url_base(const char *text);

/* Whether it is one, for tables of fields. */
bool url_valid(const char *text);

#endif
