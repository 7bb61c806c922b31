/* SPDX-License-Identifier: ISC */
/*
 * Graph documents: whatever the bytes, the result is problems with a text, or a graph with nodes.
 * The graph is the member "g".
 */
#include "base/memory.h"
#include "base/utf8.h"
#include "graph/graph.h"
#include "replay.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void check_problems(const struct problems *problems)
{
	for (size_t i = 0; i < problems->count; i++) {
		const char *text = problems->items[i].text;
		require(text[0] && utf8_valid(text, strlen(text)));
	}
}

static void load(const char *path)
{
	ag_graph *graph = graph_new("g");
	graph_document(graph, path, "g", &graph->problems);
	bool sound = graph->problems.errors == 0 && graph_compile(graph);
	require(sound == (graph->problems.errors == 0));
	require(!sound || (graph->node_count > 0 && graph->start));
	check_problems(&graph->problems);
	graph_free(graph);
}

/* Leaves out patterns: documents come from those who run the service, and a pattern can make libc's
 * compiler of regular expressions use any amount of memory. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	if (memmem(data, size, "matches", strlen("matches")))
		return 0;
	int fd = memfd_create("document", MFD_CLOEXEC);
	require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	load(path);
	close(fd);
	return 0;
}
