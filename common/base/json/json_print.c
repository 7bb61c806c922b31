/* SPDX-License-Identifier: ISC */
/* Trees as compact text, every number so that it reads back as the same one. */
#include "base/json/json.h"
#include "base/json/json_quote.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 1000 /* what most trees need, so that few have to grow */

/* The shortest text that reads back as the same double; of a whole number, which may be an id, all
 * its digits. */
static void json_print_put_number(struct buf *out, double value)
{
	char text[32];
	if (!isfinite(value)) {
		buf_puts(out, "null");
		return;
	}
	if (fabs(value) < 1e15 && trunc(value) == value && !(value == 0 && signbit(value))) {
		buf_int(out, (int64_t)value); /* most numbers are such, and printf takes its time */
		return;
	}
	if (fabs(value) < 18446744073709551616.0 && trunc(value) == value) {
		buf_printf(out, "%.0f", value);
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	buf_puts(out, text);
}

void json_write(struct buf *out, const cJSON *item)
{
	bool object = cJSON_IsObject(item);
	const cJSON *child;
	if (cJSON_IsString(item)) {
		json_quote(out, item->valuestring);
		return;
	}
	if (cJSON_IsNumber(item)) {
		json_print_put_number(out, item->valuedouble);
		return;
	}
	if (!object && !cJSON_IsArray(item)) {
		/* a raw item that has no text is a null as well */
		const char *raw =
		    cJSON_IsRaw(item) && item->valuestring ? item->valuestring : "null";
		if (cJSON_IsBool(item))
			raw = cJSON_IsTrue(item) ? "true" : "false";
		buf_puts(out, raw);
		return;
	}
	buf_putc(out, object ? '{' : '[');
	cJSON_ArrayForEach(child, item) {
		if (child != item->child)
			buf_putc(out, ',');
		if (object) {
			json_quote(out, child->string);
			buf_putc(out, ':');
		}
		json_write(out, child);
	}
	buf_putc(out, object ? '}' : ']');
}

char *json_print(const cJSON *item)
{
	struct buf out = {0};
	buf_reserve(&out, ROOM);
	json_write(&out, item);
	return xrealloc(out.data, out.len + 1); /* runs keep many such texts to their end */
}
