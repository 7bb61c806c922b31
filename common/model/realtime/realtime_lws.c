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

static void realtime_lws_load(void)
{
	struct realtime_lws *f = &functions;
	void *library = dlopen(LWS_SONAME, RTLD_NOW | RTLD_LOCAL);
#define FIND(name) library_find(library, "lws_" #name, &f->name)
	bool found = library && FIND(get_library_version) && FIND(set_log_level) &&
	    FIND(create_context) && FIND(context_destroy) && FIND(context_user) &&
	    FIND(get_context) && FIND(client_connect_via_info) && FIND(service) &&
	    FIND(cancel_service) && FIND(callback_on_writable) && FIND(close_reason) &&
	    FIND(write) && FIND(rx_flow_control) && FIND(remaining_packet_payload) &&
	    FIND(is_final_fragment) && FIND(add_http_header_by_name);
#undef FIND
	/* its structures are those of the headers it was compiled with, down to the minor
	 * version */
	char version[32];
	snprintf(version, sizeof(version), "%d.%d.", LWS_LIBRARY_VERSION_MAJOR,
	    LWS_LIBRARY_VERSION_MINOR);
	if (!library)
		trouble = LWS_SONAME " cannot be loaded";
	else if (!found)
		trouble = LWS_SONAME " cannot be used";
	else if (strncmp(f->get_library_version(), version, strlen(version)) != 0)
		trouble = LWS_SONAME " is of another version than this program was built for";
	else
		f->set_log_level(0, NULL); /* what it logs may hold keys */
}

const struct realtime_lws *realtime_lws(const char **why)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, realtime_lws_load);
	*why = trouble;
	return trouble ? NULL : &functions;
}
