/* SPDX-License-Identifier: ISC */
/* Standard output, for texts that a server says: at a terminal they must not reach it as commands.
 */
#ifndef AGENTGRAPH_CLI_TERMINAL_H
#define AGENTGRAPH_CLI_TERMINAL_H

/* Writes text with "?" for each control character but newline and tab. */
void terminal_put(const char *text);

/* The same at a terminal; elsewhere the text as it is. */
void terminal_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
