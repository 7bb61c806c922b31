/* SPDX-License-Identifier: ISC */
/*
 * Extracting the text of a document, by a child program: code that reads foreign files may crash or
 * loop, and must not take a worker with it.
 *
 * The program is agentgraph-extract, beside this one or in the libexec directory.  It is given the
 * file as its standard input, which it can seek in, and the media type, without parameters and in
 * lower case, as its one argument.  It writes the text in UTF-8 to its standard output and exits
 * with status 0; anything else is a failure.
 */
#ifndef AGENTGRAPH_SERVICE_FILES_EXTRACT_H
#define AGENTGRAPH_SERVICE_FILES_EXTRACT_H

#define EXTRACT_SECONDS 30
#define EXTRACT_PATIENCE_MS 1000   /* how long a file waits for its turn */
#define EXTRACT_CHARACTERS 1000000 /* the text is cut there */

/*
 * Limits how many texts are extracted side by side from now on; at first there is no limit.  Half
 * as many more may wait, for EXTRACT_PATIENCE_MS; any other file gets no text.
 */
void extract_places(unsigned count);

/* The text of the file behind fd, malloc'd; NULL, and a line in the log, when there is none.  The
 * position of fd does not matter and stays. */
char *extract_text(int fd, const char *essence);

#endif
