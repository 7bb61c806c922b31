/* SPDX-License-Identifier: ISC */
/*
 * Many runs with tools of all kinds leave nothing behind: no descriptor, no process, no memory.
 * SOAK_RUNS says how many; few by default.
 */
#include "base/http/http.h"
#include "base/memory.h"
#include "document_fixture.h"
#include "unit.h"

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUNS 200
#define WARM_UP 50

/* In /proc/self/task, with . and ..; ThreadSanitizer has a thread of its own. */
#ifdef __SANITIZE_THREAD__
#define TASKS 4
#else
#define TASKS 3
#endif

/* An MCP server: the tool `twice` answers, `die` ends it. */
static const char server[] =
    "#!/usr/bin/env python3\n"
    "import json, sys\n"
    "for line in sys.stdin:\n"
    "    m = json.loads(line)\n"
    "    if m['method'] == 'initialize':\n"
    "        r = {'protocolVersion': '2025-06-18', 'capabilities': {'tools': {}},\n"
    "             'serverInfo': {'name': 's', 'version': '1'}}\n"
    "    elif m['method'] == 'tools/list':\n"
    "        r = {'tools': [{'name': n, 'inputSchema': {'type': 'object', 'properties':\n"
    "            {'n': {'type': 'integer', 'maximum': 5}}}} for n in ('twice', 'die')]}\n"
    "    elif m['method'] == 'tools/call':\n"
    "        if m['params']['name'] == 'die':\n"
    "            sys.exit(1)\n"
    "        r = {'content': [{'type': 'text', 'text': str(2 * m['params']['arguments']['n'])}]}\n"
    "    else:\n"
    "        continue\n"
    "    print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], 'result': r}), flush=True)\n";

static const char document[] =
    "{\"g\": {\"nodes\": {\"agent\": {\"kind\": \"exec\", \"command\": \"./agent.sh\"}, \"tools\": "
    "{\"kind\": \"tools\", \"tools\": [{\"mcp\": {\"command\": \"./server.py\"}}, {\"name\": "
    "\"nowhere\", \"description\": \"\", \"http\": {\"url\": \"http://127.0.0.1:9/{{a}}\"}}, "
    "{\"name\": \"run\", \"description\": \"\", \"command\": [\"cat\"]}]}}, \"edges\": "
    "[{\"from\": \"START\", \"to\": \"agent\"}, {\"from\": \"agent\", \"to\": \"tools\"}, "
    "{\"from\": \"tools\", \"to\": \"END\"}]}}";

#define CALL(id, name, args) \
	"{\"type\": \"tool_call\", \"id\": \"" id "\", \"name\": \"" name "\", \"args\": " args "}"

static const char agent[] =
    "#!/bin/sh\nread -r state\ncase $state in *'\"user_text\":\"die\"'*) name=die ;; *) "
    "name=twice ;; esac\n"
    "echo '{\"message\": {\"role\": \"assistant\", \"content\": [" CALL(
	"1", "'$name'", "{\"n\": 4}") "," CALL("2", "twice", "{\"n\": 7}") "," CALL("3", "nowhere",
	"{\"a\": 1}") "," CALL("4", "run", "{\"a\": 1}") "]}}'\n";

static size_t count_entries(const char *folder)
{
	size_t count = 0;
	DIR *dir = opendir(folder);
	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

static size_t heap_in_use(void)
{
	struct mallinfo2 info = mallinfo2();
	return info.uordblks + info.hblkhd;
}

/* Each on a thread of its own, so that no history grows. */
static void run(struct talk *talk, const char *text, size_t tools)
{
	struct storage *storage = talk->storage;
	ag_graph *graph = talk->graph;
	const char *heard = talk_say(talk, text);
	size_t found = 0;
	for (const char *p = heard; (p = strstr(p, "tool: ")); p++)
		found++;
	CU_ASSERT_EQUAL(found, tools);
	talk_renew(talk);
	CU_ASSERT_PTR_EQUAL(talk->storage, storage);
	CU_ASSERT_PTR_EQUAL(talk->graph, graph);
}

static void many_runs_leave_nothing_behind(void)
{
	const char *wanted = getenv("SOAK_RUNS");
	long runs = wanted ? strtol(wanted, NULL, 10) : RUNS;
	struct talk talk;
	size_t files = 0, heap = 0;
	write_file("server.py", server);
	write_file("agent.sh", agent);
	talk_open(&talk, document);
	for (long i = 0; i < WARM_UP + runs; i++) {
		if (i == WARM_UP) {
			files = count_entries("/proc/self/fd");
			heap = heap_in_use();
		}
		run(&talk, i % 20 == 10 ? "die" : "go", 4);
	}
	run(&talk, "go", 4); /* the server is there, as it was before */
	size_t grown = heap_in_use() > heap ? heap_in_use() - heap : 0;
	printf("# %ld runs: heap grew by %zu bytes, descriptors from %zu to %zu\n", runs, grown,
	    files, count_entries("/proc/self/fd"));
	CU_ASSERT_TRUE(count_entries("/proc/self/fd") <= files + 2);
	CU_ASSERT_TRUE(grown < 500000);
	talk_close(&talk);
	http_close_kept();
	CU_ASSERT_EQUAL(count_entries("/proc/self/task"), TASKS);
}

static const struct unit_test tests[] = {
    {"many runs leave nothing behind", many_runs_leave_nothing_behind},
};

int main(void)
{
	memory_init();
	return unit_main("tools_soak", tests, UNIT_COUNT(tests));
}
