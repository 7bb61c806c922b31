/* SPDX-License-Identifier: ISC */
/* Names and bits of methods, and the list for Allow. */
#include "fcgi/route/route.h"

#include <stddef.h>
#include <string.h>

/* In alphabetical order, which is the order of Allow. */
static const struct {
	enum method method;
	const char *name;
} methods[] = {
    {METHOD_DELETE, "DELETE"},
    {METHOD_GET, "GET"},
    {METHOD_HEAD, "HEAD"},
    {METHOD_OPTIONS, "OPTIONS"},
    {METHOD_PATCH, "PATCH"},
    {METHOD_POST, "POST"},
    {METHOD_PUT, "PUT"},
};

#define METHOD_COUNT (sizeof(methods) / sizeof(methods[0]))

enum method method_parse(const char *name)
{
	for (size_t i = 0; i < METHOD_COUNT; i++)
		if (!strcmp(methods[i].name, name))
			return methods[i].method;
	return METHOD_OTHER;
}

const char *method_name(enum method method)
{
	for (size_t i = 0; i < METHOD_COUNT; i++)
		if (methods[i].method == method)
			return methods[i].name;
	return "?";
}

char *method_list(unsigned set, char out[METHOD_LIST_SIZE])
{
	char *end = out;
	*end = '\0';
	for (size_t i = 0; i < METHOD_COUNT; i++) {
		if (!(set & methods[i].method))
			continue;
		if (end != out)
			end = stpcpy(end, ", ");
		end = stpcpy(end, methods[i].name);
	}
	return out;
}
