/* SPDX-License-Identifier: ISC */
/* A list of frames, bounded in number and in bytes. */
#include "service/live/live_parts.h"

#include "base/log/log.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* A thousand of the largest frames would be a gigabyte. */
#define MOST_BYTES (64u << 20)
#define LOG_EACH 1000 /* dropped frames are logged once for so many */

void live_queue_init(struct live_queue *q, size_t most)
{
	*q = (struct live_queue){.most = most};
	q->last = &q->first;
}

void live_queue_clear(struct live_queue *q)
{
	while (q->first)
		free(live_queue_take(q));
}

struct live_input *live_queue_take(struct live_queue *q)
{
	struct live_input *input = q->first;
	if (!input)
		return NULL;
	q->first = input->next;
	if (!q->first)
		q->last = &q->first;
	q->count--;
	q->bytes -= input->len;
	return input;
}

void live_queue_push(struct live_queue *q, enum live_input_kind kind, const char *first,
    const void *data, size_t len)
{
	size_t whole = (first != NULL) + len;
	struct live_input *input = xmalloc(sizeof(*input) + whole + 1);
	while (q->first && (q->count >= q->most || q->bytes + whole > MOST_BYTES)) {
		if (q->dropped++ % LOG_EACH == 0)
			log_warning("the model does not keep up: frames of the client are dropped");
		free(live_queue_take(q));
	}
	*input = (struct live_input){.kind = kind, .len = whole};
	if (first)
		input->data[0] = *first;
	if (len)
		memcpy(input->data + whole - len, data, len);
	input->data[whole] = '\0';
	*q->last = input;
	q->last = &input->next;
	q->count++;
	q->bytes += whole;
}
