/* SPDX-License-Identifier: ISC */
/* Loading libcurl. */
#include "base/http/http_curl.h"

#include "base/os/library.h"

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libcurl.so.4"
#define OLDEST 0x075700 /* 7.87.0: CURLOPT_QUICK_EXIT */

static struct http_curl functions;
static const char *trouble; /* NULL: libcurl can be used */

static bool http_curl_find_all(void *library)
{
	struct http_curl *f = &functions;
#define FIND(name) library_find(library, "curl_" #name, &f->name)
	return FIND(global_init) && FIND(version_info) && FIND(easy_init) && FIND(easy_reset) &&
	    FIND(easy_setopt) && FIND(easy_getinfo) && FIND(easy_strerror) && FIND(easy_cleanup) &&
	    FIND(multi_init) && FIND(multi_setopt) && FIND(multi_add_handle) &&
	    FIND(multi_remove_handle) && FIND(multi_perform) && FIND(multi_poll) &&
	    FIND(multi_info_read) && FIND(multi_cleanup) && FIND(slist_append) &&
	    FIND(slist_free_all) && FIND(getdate);
#undef FIND
}

/* Whether certificates lie in directory under the hashes of their names. */
static bool http_curl_has_hashed(const char *directory)
{
	DIR *dir = directory ? opendir(directory) : NULL;
	bool found = false;
	for (struct dirent *entry; dir && !found && (entry = readdir(dir));)
		found = strspn(entry->d_name, "0123456789abcdef") == 8 && entry->d_name[8] == '.';
	if (dir)
		closedir(dir);
	return found;
}

static const char *http_curl_variable(const char *name)
{
	const char *value = getenv(name);
	return value && *value ? value : NULL;
}

static void http_curl_load(void)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		trouble = LIBRARY " cannot be loaded";
		return;
	}
	if (!http_curl_find_all(library) ||
	    functions.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		trouble = LIBRARY " cannot be used";
		return;
	}
	const curl_version_info_data *about = functions.version_info(CURLVERSION_NOW);
	if (about->version_num < OLDEST) {
		trouble = LIBRARY " is older than 7.87";
	} else {
		/*
		 * SSL_CERT_FILE and SSL_CERT_DIR go first, as in other programs that use OpenSSL.
		 * Else the directory, where only the certificates that are needed are read: the
		 * bundle would be parsed for every connection, which takes some 60 ms and 0.8 MiB.
		 */
		functions.ca_file = http_curl_variable("SSL_CERT_FILE");
		functions.ca_directory = http_curl_variable("SSL_CERT_DIR");
		if (functions.ca_file || functions.ca_directory)
			return;
		if (http_curl_has_hashed(about->capath))
			functions.ca_directory = about->capath;
		else
			functions.ca_file = about->cainfo;
	}
}

const struct http_curl *http_curl(const char **why)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, http_curl_load);
	*why = trouble;
	return trouble ? NULL : &functions;
}
