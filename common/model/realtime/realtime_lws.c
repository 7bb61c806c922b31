/* SPDX-License-Identifier: ISC */
/* Loading libwebsockets. */
#include "model/realtime/realtime_lws.h"

#include "base/os/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static struct realtime_lws functions;
static const char *trouble; /* NULL: libwebsockets can be used */

static bool realtime_lws_find_all(void *library)
{
	struct realtime_lws *f = &functions;
#define FIND(name) library_find(library, "lws_" #name, &f->name)
	return FIND(get_library_version) && FIND(set_log_level) && FIND(create_context) &&
	    FIND(context_destroy) && FIND(context_user) && FIND(get_context) &&
	    FIND(client_connect_via_info) && FIND(service) && FIND(cancel_service) &&
	    FIND(callback_on_writable) && FIND(close_reason) && FIND(write) &&
	    FIND(rx_flow_control) && FIND(remaining_packet_payload) && FIND(is_final_fragment) &&
	    FIND(add_http_header_by_name);
#undef FIND
}

static void realtime_lws_load(void)
{
	void *library = dlopen(LWS_SONAME, RTLD_NOW | RTLD_LOCAL);
	char version[32];
	/* its structures are those of the headers it was compiled with, down to the minor
	 * version */
	snprintf(version, sizeof(version), "%d.%d.", LWS_LIBRARY_VERSION_MAJOR,
	    LWS_LIBRARY_VERSION_MINOR);
	if (!library)
		trouble = LWS_SONAME " cannot be loaded";
	else if (!realtime_lws_find_all(library))
		trouble = LWS_SONAME " cannot be used";
	else if (strncmp(functions.get_library_version(), version, strlen(version)) != 0)
		trouble = LWS_SONAME " is of another version than this program was built for";
	else
		functions.set_log_level(0, NULL); /* what it logs may hold keys */
}

const struct realtime_lws *realtime_lws(const char **why)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, realtime_lws_load);
	*why = trouble;
	return trouble ? NULL : &functions;
}
