/* SPDX-License-Identifier: ISC */
/* Loading libwebsockets. */
#include "model/realtime_lws.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LIBRARY "libwebsockets.so.17"

static struct realtime_lws functions;
static const char *trouble; /* NULL: libwebsockets can be used */

/* dlsym gives an object pointer, which C does not convert to one to a function. */
static bool realtime_lws_find(void *library, const char *name, void *function)
{
	void *found = dlsym(library, name);
	memcpy(function, &found, sizeof(found));
	return found != NULL;
}

static bool realtime_lws_find_all(void *library)
{
	struct realtime_lws *f = &functions;
#define FIND(name) realtime_lws_find(library, "lws_" #name, &f->name)
	return FIND(get_library_version) && FIND(set_log_level) && FIND(create_context) &&
	    FIND(context_destroy) && FIND(context_user) && FIND(get_context) &&
	    FIND(client_connect_via_info) && FIND(service) && FIND(cancel_service) &&
	    FIND(callback_on_writable) && FIND(close_reason) && FIND(write) &&
	    FIND(rx_flow_control) && FIND(remaining_packet_payload) && FIND(is_final_fragment) &&
	    FIND(add_http_header_by_name);
#undef FIND
}

/* The structures that it is called with are those of its headers, to the minor version. */
static bool is_of_our_version(void)
{
	char version[32];
	snprintf(version, sizeof(version), "%d.%d.", LWS_LIBRARY_VERSION_MAJOR,
	    LWS_LIBRARY_VERSION_MINOR);
	return strncmp(functions.get_library_version(), version, strlen(version)) == 0;
}

static void realtime_lws_load(void)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		trouble = LIBRARY " cannot be loaded";
	else if (!realtime_lws_find_all(library))
		trouble = LIBRARY " cannot be used";
	else if (!is_of_our_version())
		trouble = LIBRARY " is of another version than this program was built for";
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
