/* SPDX-License-Identifier: ISC */
/* Tokens and heads of HTTP/1.1, as they arrive at the programs that speak it themselves: a first
 * line, fields, and a blank line (RFC 9112, 2.1). */
#ifndef AGENTGRAPH_BASE_HTTP_HTTP_HEAD_H
#define AGENTGRAPH_BASE_HTTP_HTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>

/* The length of the head that data begins with, its blank line included; 0 while that is
 * missing. */
size_t http_head_length(const char *data, size_t len);

/* Cuts the next line off *rest, a string, without its CR and LF; NULL at the blank line. */
char *http_head_line(char **rest);

/* The length of the token that text begins with (RFC 9110, 5.6.2), 0 where none does; and whether
 * text is one. */
size_t http_token_length(const char *text);
bool http_is_token(const char *text);

/* Sets a field that may come once only; false when it is set already. */
bool http_head_once(const char **field, const char *value);

#endif
