/* SPDX-License-Identifier: ISC */
/* The table of versions. */
#include "tool/mcp/mcp_version.h"

#include <string.h>

const struct mcp_version mcp_versions[] = {
    {"2026-07-28", true, true},
    {MCP_LATEST_SESSION, false, true},
    {"2025-06-18", false, true},
    {"2025-03-26", false, false},
    {"2024-11-05", false, false},
};
const size_t mcp_version_count = sizeof(mcp_versions) / sizeof(mcp_versions[0]);

const struct mcp_version *mcp_version_find(const char *name)
{
	for (size_t i = 0; name && i < mcp_version_count; i++) {
		if (strcmp(mcp_versions[i].name, name) == 0)
			return &mcp_versions[i];
	}
	return NULL;
}
