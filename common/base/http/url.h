/* SPDX-License-Identifier: ISC */
/* Addresses of http and https (RFC 3986), in a normal form, so that they can be compared. */
#ifndef AGENTGRAPH_BASE_HTTP_URL_H
#define AGENTGRAPH_BASE_HTTP_URL_H

#include <stdbool.h>

/*
 * The normal form of an address: scheme and host in small letters, no port where it is the scheme's
 * own, escapes as RFC 3986 6.2.2 writes them, a path without "."  and "..", and no fragment;
 * malloc'd.  NULL for what is no such address, has a user or password in it, or has characters that
 * do not belong into an address: so everybody reads the result in the same way.
 */
char *url_normal(const char *text);

/* Whether some server may find a segment "." or ".." in the path of an address.  A normal one has
 * none that everybody sees. */
bool url_climbs(const char *text);

/* The beginning of the normal form, "https://host:port" or "https://host"; malloc'd, NULL
 * likewise. */
char *url_site(const char *text);

/* The address without slashes at its end, otherwise unchanged; malloc'd. */
char *url_base(const char *text);

/* Whether text is such an address, for tables of fields. */
bool url_valid(const char *text);

#endif
