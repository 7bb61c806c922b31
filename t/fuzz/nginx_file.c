/* SPDX-License-Identifier: ISC */
/* What nginx -T prints of somebody's configuration: whatever it is, the directives that are read
 * from it are whole. */
#include "cli/nginx/nginx_file.h"
#include "replay.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nginx_file file = {0};
	struct problems problems = {0};
	char *text = strndup((const char *)data, size);
	nginx_file_parse(&file, text, &problems);
	require(problems.errors == 0);
	require(!file.group || file.user);
	require(file.sockets.len == 0 || file.sockets.data[file.sockets.len - 1] == '\n');
	nginx_file_passes(&file, text);
	nginx_file_passes(&file, "/run/agentgraph/fcgi.sock");
	nginx_file_release(&file);
	problems_release(&problems);
	free(text);
	return 0;
}
