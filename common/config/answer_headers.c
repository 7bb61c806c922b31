/* SPDX-License-Identifier: ISC */
/* The names of the headers of every answer, and their values by the environment. */
#include "config/answer_headers.h"

#include "config/string_list.h"

#include <string.h>

void answer_security_headers(
    const struct environment *env, struct answer_header headers[SECURITY_HEADERS])
{
	const struct answer_header all[SECURITY_HEADERS] = {
	    [HEADER_SNIFFING] = {"X-Content-Type-Options", env->content_type_options},
	    {"X-Frame-Options", env->frame_options},
	    {"X-XSS-Protection", env->xss_protection},
	    {"Referrer-Policy", env->referrer_policy},
	    [HEADER_PERMISSIONS] = {"Permissions-Policy", env->permissions_policy},
	    [HEADER_POLICY] = {"Content-Security-Policy", env->csp_policy},
	};
	memcpy(headers, all, sizeof(all));
	for (size_t i = 0; !env->security_headers && i < SECURITY_HEADERS; i++)
		headers[i].value = NULL;
}

void answer_cors_headers(
    const struct environment *env, const char *origin, struct answer_header headers[CORS_HEADERS])
{
	bool credentials = env->cors_allow_credentials;
	bool any = !credentials && string_list_has(&env->origins, "*");
	const struct answer_header all[CORS_HEADERS] = {
	    {"Access-Control-Allow-Origin", any ? "*" : origin},
	    {"Vary", any ? NULL : "Origin"},
	    {"Access-Control-Allow-Credentials", credentials ? "true" : NULL},
	    [HEADER_EXPOSED] = {"Access-Control-Expose-Headers",
		"X-Request-ID, X-Timestamp, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, "
		"X-RateLimit-Reset, X-RateLimit-Reset-After, Content-Disposition, Content-Range, "
		"Accept-Ranges, ETag"},
	};
	memcpy(headers, all, sizeof(all));
}
