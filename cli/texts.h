/* SPDX-License-Identifier: ISC */
/* Files that the build puts into the program (build-aux/embed-text), NUL-terminated. */
#ifndef AGENTGRAPH_CLI_TEXTS_H
#define AGENTGRAPH_CLI_TEXTS_H

/* nginx-conf/: templates with @NAME@ markers, filled in by nginx_conf.c. */
extern const char text_nginx_conf_in[];
extern const char text_snippet_conf_in[];
extern const char text_fastcgi_conf_in[];

/* cli/init/: the project that `agentgraph init` makes. */
extern const char text_agentgraph_json[];
extern const char text_graph_json[];
extern const char text_dotenv[];
extern const char text_gitignore[];
extern const char text_README_md[];

/* examples/: others that it can make. */
extern const char text_react_agent_agentgraph_json[];
extern const char text_react_agent_graph_json[];
extern const char text_react_agent_README_md[];
extern const char text_supervisor_agent_agentgraph_json[];
extern const char text_supervisor_agent_graph_json[];
extern const char text_supervisor_agent_README_md[];
extern const char text_desks_agent_agentgraph_json[];
extern const char text_desks_agent_graph_json[];
extern const char text_desks_agent_README_md[];
extern const char text_approval_agent_agentgraph_json[];
extern const char text_approval_agent_graph_json[];
extern const char text_approval_agent_README_md[];
extern const char text_knowledge_agent_agentgraph_json[];
extern const char text_knowledge_agent_graph_json[];
extern const char text_knowledge_agent_README_md[];

#endif
