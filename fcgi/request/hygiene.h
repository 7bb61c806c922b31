/* SPDX-License-Identifier: ISC */
/*
 * What every answer carries and every request must satisfy, whatever the route: security headers
 * (doc/protocol.md#headers), CORS (doc/protocol.md#cors) and the Host check
 * (doc/protocol.md#allowed-hosts).  Built once from the environment, immutable afterwards.
 */
#ifndef AGENTGRAPH_FCGI_REQUEST_HYGIENE_H
#define AGENTGRAPH_FCGI_REQUEST_HYGIENE_H

#include "base/buf.h"
#include "config/config.h"

#include <stdbool.h>

struct hygiene;

/* env is borrowed and must outlive the result. */
struct hygiene *hygiene_new(const struct environment *env);
void hygiene_free(struct hygiene *hygiene);

/* The kind of answer: files are never sniffed, files that no page may display can do nothing
 * (doc/protocol-files.md#download), and the console may ask for the microphone. */
enum security { SECURITY_PLAIN, SECURITY_FILE, SECURITY_SANDBOX, SECURITY_CONSOLE, SECURITY_KINDS };

/* How the client came: over http, over https, or over https to a path below somebody's site. */
enum hygiene_place { HYGIENE_PLAIN, HYGIENE_HTTPS, HYGIENE_HTTPS_BELOW, HYGIENE_PLACES };

/* The header lines that never vary; Strict-Transport-Security is among them for https only. */
const struct buf *hygiene_headers(
    const struct hygiene *hygiene, enum security security, enum hygiene_place place);

/* Whether ORIGINS lets pages of this origin in; false for "", a request without Origin. */
bool hygiene_allows_origin(const struct hygiene *hygiene, const char *origin);

/* Appends the CORS lines of an answer to an origin that is allowed; more has names of headers that
 * its pages may read besides those of every answer, or is NULL. */
void hygiene_add_cors(
    const struct hygiene *hygiene, const char *origin, const char *more, struct buf *out);

/* Appends the lines that only the answer to a preflight has; headers is the value of
 * Access-Control-Request-Headers. */
void hygiene_add_preflight(const char *headers, struct buf *out);

/* Whether ALLOWED_HOST names the value of a Host header. */
bool hygiene_allows_host(const struct hygiene *hygiene, const char *host);

#endif
