/* SPDX-License-Identifier: ISC */
/*
 * The configuration: agentgraph.json, the dotenv file it names, and the environment
 * (agentgraph.json(5), doc/protocol-errors.md#startup-errors), read once at start into one
 * immutable struct.  Every key is validated here, whichever module uses it.
 */
#ifndef AGENTGRAPH_CONFIG_CONFIG_H
#define AGENTGRAPH_CONFIG_CONFIG_H

#include "base/id.h"
#include "base/log/log.h"
#include "base/problems.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum auth_method { AUTH_NONE, AUTH_JWT, AUTH_CUSTOM };
enum authorization_kind { AUTHZ_OWNERSHIP, AUTHZ_ALLOW_ALL, AUTHZ_RBAC, AUTHZ_CUSTOM };
enum rate_backend { RATE_MEMORY, RATE_CACHE, RATE_CUSTOM };
enum rate_by { RATE_BY_IP, RATE_BY_USER, RATE_BY_GLOBAL };
enum embeddings_provider { EMBEDDINGS_LOCAL, EMBEDDINGS_OPENAI };
enum trace_level { TRACE_SPANS, TRACE_STANDARD, TRACE_FULL };
enum history_level { HISTORY_OFF, HISTORY_RUNS, HISTORY_STEPS };

/* A declared client-executed tool (agentgraph.json(5)). */
struct remote_tool {
	char *node;
	char *name;
	char *description;
	cJSON *parameters; /* always with type, properties and required */
};

struct string_list {
	char **items;
	size_t count;
};

struct rate_limit_config {
	bool present; /* the block exists and enabled is true */
	enum rate_backend backend;
	int64_t requests;
	int64_t window; /* seconds */
	enum rate_by by;
	int64_t ipv6_prefix; /* bits; clients of one such network count as one */
	struct string_list exclude_paths;
	char *cache_url;    /* expanded, or NULL */
	char *cache_place;  /* what names it, for messages */
	char *cache_prefix; /* never NULL */
	bool fail_open;
	bool trusted_proxy_headers;
	int64_t trusted_proxy_hops;
	struct string_list trusted_proxies; /* syntax checked: IPv4/IPv6 address or CIDR */
};

struct websocket_config {
	int64_t max_connections;          /* 0: unlimited */
	int64_t max_connections_per_user; /* 0: unlimited */
	struct string_list realtime_models;
	struct string_list bearer_protocols;
};

/* Where traces are exported to: logfire or langsmith. */
struct exporter_config {
	bool enabled;
	char *service_name; /* logfire */
	char *project;      /* langsmith; NULL when unset */
	char *endpoint;     /* without trailing slash */
	bool send;          /* send_to_logfire; true for langsmith */
	bool console;
	char *token; /* from the environment, NULL when unset */
};

struct observability_config {
	enum trace_level level;
	struct exporter_config logfire;
	struct exporter_config langsmith;
};

/* What makes vectors of the store's memories. */
struct embeddings_config {
	enum embeddings_provider provider;
	char *model;
	char *base_url; /* NULL: the provider's own */
	int64_t dimensions;
	bool ask_dimensions; /* the file gives dimensions, so the provider is asked for as many */
	char *api_key_env;   /* the variable with the key; NULL: the provider's usual one */
};

/* Values of the environment variables of agentgraph.json(5). */
struct environment {
	bool synchronous_full; /* AGENTGRAPH_SYNCHRONOUS: commits wait for the disk */
	char *mode;            /* lower case */
	bool production;
	bool is_debug;
	enum log_level log_level;
	char *logger_name;
	enum log_format log_format;        /* AGENTGRAPH_LOG_FORMAT */
	int64_t processes, threads, drain; /* AGENTGRAPH_…; 0 processes: one a processor */
	int64_t read_timeout;              /* seconds; nginx waits for an answer's next piece */
	int64_t send_timeout;              /* seconds; for a client that reads nothing */
	char *access_log;                  /* AGENTGRAPH_ACCESS_LOG: a path, NULL for none */
	char *app_name, *app_version, *summary;
	struct string_list origins;
	struct string_list allowed_hosts;
	bool cors_allow_credentials; /* after the rule on wildcards in production */
	char *root_path;             /* "" or "/prefix", no trailing slash */
	char *docs_path, *redocs_path, *console_path; /* "" when off */
	char *database_url;
	char *cache_url;
	char *jwt_secret, *jwt_algorithm, *jwt_issuer, *jwt_audience; /* NULL when unset */
	char *webhook_secret; /* "whsec_" and base64, or NULL */
	char *error_tracker_dsn;
	double error_tracker_traces_rate;
	double error_tracker_profiles_rate; /* without effect: there are no profiles */
	bool otel_enabled;
	char *otel_service_name, *otel_endpoint;
	int64_t otel_delay_ms; /* how long an export waits for more runs */
	char *otel_headers;    /* "name=value,…", percent-encoded; NULL when unset */
	enum trace_level otel_level;
	bool security_headers;
	bool hsts;
	int64_t hsts_max_age;
	bool hsts_subdomains, hsts_preload;
	bool hsts_asked, hsts_subdomains_asked; /* a variable for it is set */
	char *frame_options, *content_type_options, *xss_protection,
	    *referrer_policy; /* "" drops the header */
	char *permissions_policy, *csp_policy;
	int64_t max_request_size; /* bytes */
	int64_t max_pending;      /* unfinished large bodies of one address */
	int64_t max_body_seconds; /* until one of them has to be complete */
	int64_t max_body_files;   /* bytes on disk of all of them together */
	char *body_path;          /* the directory where they are kept; NULL: the state directory */
	double media_max_size_mb;
	char *media_storage_type, *media_storage_path, *document_handling;
	struct string_list media_allowed_types;
	bool media_require_owner;
	char *media_cloud_provider, *media_cloud_bucket, *media_cloud_region, *media_cloud_prefix;
	char *media_cloud_endpoint, *media_cloud_key_id, *media_cloud_secret,
	    *media_cloud_session_token;
	char *media_cloud_project_id;  /* without effect */
	char *media_cloud_credentials; /* only for a message, where keys are missing */
	int64_t media_signed_url_ttl;  /* seconds */
	int64_t realtime_max_frame_bytes, realtime_input_queue, realtime_drain_timeout;
	bool use_snowflake;
	bool has_node; /* SNOWFLAKE_NODE_ID is given */
	struct snowflake snowflake;
};

/* The agent as a tool of MCP hosts. */
struct mcp_config {
	bool enabled;
	char *tool_name;                          /* NULL: the attribute of agent */
	char *tool_description;                   /* NULL: one is made */
	cJSON *input_schema;                      /* of its arguments, an object; or NULL */
	struct string_list authorization_servers; /* that issue tokens for it; none: not told */
};

/* The card of the agent among agents. */
struct a2a_config {
	bool enabled;
	char *name, *description, *version;    /* NULL: made */
	char *documentation_url, *icon_url;    /* NULL: not told */
	char *organization, *organization_url; /* who provides it; NULL: not told */
	cJSON *skills;                         /* an array of objects; NULL: one is made */
};

struct config {
	/* The file as given, for messages; NULL when there is none and builtin:demo is served. */
	char *path;
	char *dir; /* absolute directory that relative paths of the file start from */
	char *agent;
	enum auth_method auth;
	char *auth_path;
	enum authorization_kind authorization;
	char *authorization_path;
	cJSON *rbac; /* {"roles": {…}, "default_scopes": […], "isolation": "owner"|"none"} */
	char *injectq;
	char *store;
	struct embeddings_config embeddings;
	char *thread_name_generator;
	char *database;    /* DATABASE_URL, else the key, expanded; NULL: SQLite in state_dir */
	char *cache;       /* the key, expanded; else CACHE_URL, redis or REDIS_URL; or NULL */
	char *cache_place; /* which of them it is, for messages */
	struct remote_tool *remote_tools;
	size_t remote_tool_count;
	struct rate_limit_config rate_limit;
	struct websocket_config websocket;
	bool ag_ui_enabled, ag_ui_allow_client_tools;
	bool openai_enabled;
	char *openai_model; /* openai.model; NULL: the attribute of agent */
	bool langgraph_enabled;
	struct mcp_config mcp;
	struct a2a_config a2a;
	struct observability_config observability;
	double run_wait_timeout;          /* seconds, runs.wait_timeout */
	int64_t thread_max_bytes;         /* threads.max_bytes; 0: no limit */
	enum history_level history_level; /* history.level */
	int64_t history_keep;             /* history.keep; 0: all */
	bool history_trust_imports;       /* history.trust_imports */
	bool evals_served;                /* evaluation.serve */
	bool message_resumes;             /* runs.message_resumes */
	int64_t runs_keep;                /* runs.keep; 0: all */
	int64_t runs_background;          /* how many at a time; 0: the route is off */
	int64_t runs_queue;               /* how many that are due may wait */
	int64_t runs_keep_chunks;         /* for so many seconds after the end */
	int64_t runs_max_attempts;        /* from 1 */
	int64_t graph_parallel;           /* graph.parallel; from 1 */
	int64_t graph_elements;           /* graph.elements; from 1 */
	struct string_list runs_webhooks; /* prefixes, as url_normal has them */
	int64_t retention_threads_days, retention_files_days; /* retention; 0: never */
	char *state_dir;                                      /* absolute */
	struct environment env;
};

/* Where the configuration comes from; NULL members mean "not given". */
struct config_source {
	const char *file;        /* --config */
	const char *state_dir;   /* --state */
	const char *accepted;    /* --accepted: see text_files_take */
	const char *environment; /* --environment: see env_file_load */
	bool storage_only;       /* of the file only `env` and `database` are read */
	const char *state_has;   /* a file without which the state directory is a mistake, unless
				  * the storage is on a server, … */
	bool state_may_be_empty; /* … or this is set, and nothing is in it yet */
};

/*
 * Reads everything.  The file is source->file, else $GRAPH_PATH, else ./agentgraph.json.  If that
 * does not exist either `builtin:demo` is served with all defaults, unless there is a project of
 * another service, which is a mistake.  The variables of the dotenv file are put into the process's
 * environment, unless they exist there already.  The state directory is source->state_dir, else
 * $AGENTGRAPH_STATE_DIR, else ./.agentgraph; it is not created here.  Every mistake becomes one
 * entry of problems; the result is NULL when one of them is an error.
 */
struct config *config_load(const struct config_source *source, struct problems *problems);

/* The same, but mistakes are printed (problems_print_errors). */
struct config *config_load_or_print(const struct config_source *source, const char *who);

void config_free(struct config *config);

/* The state directory by the command line and the environment, which has a dotenv file's variables
 * once that was read; malloc'd.  For those who have to do without a configuration. */
char *config_state_dir(const struct config_source *source);

/* The name of the graph: what stands behind the colon of `agent`. */
const char *config_agent_name(const struct config *config);

#endif
